package lineshell

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// scripts runs programs of a system, by its name in Go. Where that does not know what the first line of a script means, a
// script of a shell is read by this one, and one of another program is given to that.
func scripts(system string) func(interp.ExecHandlerFunc) interp.ExecHandlerFunc {
	run := interp.DefaultExecHandler(grace)
	if system != "windows" {
		return func(interp.ExecHandlerFunc) interp.ExecHandlerFunc { return run }
	}
	foreign := func(ctx context.Context, args []string) error {
		hc := interp.HandlerCtx(ctx)
		path := args[0]
		if !filepath.IsAbs(path) {
			path = filepath.Join(hc.Dir, path)
		}
		first := firstLine(path)
		if !strings.HasPrefix(first, "#!") {
			return run(ctx, args)
		}
		words := strings.Fields(first[2:])
		if len(words) > 0 && filepath.Base(filepath.ToSlash(words[0])) == "env" {
			words = words[1:]
		}
		if len(words) == 0 {
			return run(ctx, args)
		}
		program := words[0][strings.LastIndexByte(words[0], '/')+1:]
		switch program {
		case "sh", "bash", "dash", "ash":
			return script(ctx, hc, path, args[1:])
		}
		return run(ctx, slices.Concat([]string{program}, words[1:], []string{path}, args[1:]))
	}
	return func(interp.ExecHandlerFunc) interp.ExecHandlerFunc { return foreign }
}

// firstLine is the first line of a file with a path, which says what runs it; "" for others.
func firstLine(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 256))
	if err != nil {
		return ""
	}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return strings.TrimSpace(string(line))
}

// script runs a script of a shell in this one.
func script(ctx context.Context, hc interp.HandlerContext, path string, args []string) error {
	src, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	file, err := syntax.NewParser().Parse(bytes.NewReader(src), path)
	if err != nil {
		return errors.Join(err, interp.ExitStatus(2))
	}
	var env []string
	hc.Env.Each(func(name string, v expand.Variable) bool {
		if v.Exported && v.Kind == expand.String {
			env = append(env, name+"="+v.Str)
		}
		return true
	})
	r, err := interp.New(interp.Dir(hc.Dir), interp.Env(expand.ListEnviron(env...)), interp.StdIO(hc.Stdin, hc.Stdout, hc.Stderr),
		interp.ExecHandlers(scripts("windows")), interp.Params(append([]string{"--"}, args...)...))
	if err != nil {
		return err
	}
	return r.Run(ctx, file)
}
