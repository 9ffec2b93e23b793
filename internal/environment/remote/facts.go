package remote

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"path"
	"strings"

	"hermes/internal/shellstate"
	"hermes/internal/system"
)

// facts is what a place says of itself. It is asked once.
type facts struct {
	state   string // the state folder
	dir     string // the folder in which scripts start
	home    string
	shell   string // runs command lines
	plain   string // runs scripts of this package
	setsid  string // words that start a program in a session of its own; "" if none do
	arch    string
	system  string
	environ []string // the place's own variables
}

// asking is the question to a place. facts and err are set when done is closed.
type asking struct {
	done  chan struct{}
	facts *facts
	err   error
}

//go:embed ask.sh
var askScript string

// known returns the facts, nil if the place was not asked with success.
func (p *place) known() *facts {
	p.mu.Lock()
	a := p.asking
	p.mu.Unlock()
	if a == nil {
		return nil
	}
	select {
	case <-a.done:
		return a.facts
	default:
		return nil
	}
}

// know asks the place what it is, unless that is known. The question goes on when ctx
// ends, since the first script may have to start the place.
func (p *place) know(ctx context.Context) (*facts, error) {
	p.mu.Lock()
	a := p.asking
	if a == nil {
		a = &asking{done: make(chan struct{})}
		p.asking = a
		p.active.Add(1)
		go func() { // ends with the answer, or with the last view; release waits
			defer p.active.Done()
			defer close(a.done)
			if a.facts, a.err = p.ask(); a.err != nil {
				p.mu.Lock()
				p.asking = nil // the next one asks again
				p.mu.Unlock()
			}
		}()
	}
	p.mu.Unlock()
	select {
	case <-a.done:
		return a.facts, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (p *place) ask() (*facts, error) {
	if err := p.note(); err != nil {
		return nil, err
	}
	mark := "hermes:" + word()
	var out, problem bounded
	code, err := p.exec(p.life, Script{Text: arguments(statePrefix+p.word, mark) + askScript, Stdout: &out, Stderr: &problem})
	if err != nil {
		return nil, err
	}
	f, err := parseFacts(out.String(), mark)
	if err != nil {
		return nil, fmt.Errorf("%w (exit status %d: %s)", err, code, strings.TrimSpace(firstLine(problem.String())))
	}
	if p.shell != "" {
		f.shell = p.shell
	}
	p.endAbandoned(f)
	return f, nil
}

// parseFacts reads the answer of ask.sh.
func parseFacts(text, mark string) (*facts, error) {
	_, text, begun := strings.Cut(text, mark+"\n")
	text, _, ended := strings.Cut(text, mark)
	if !begun || !ended {
		return nil, errors.New("the place did not say what it is; it needs a POSIX shell")
	}
	lines, variables, _ := strings.Cut(text, "\nvariables\n")
	said := map[string]string{}
	release := ""
	for line := range strings.Lines(lines) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if name == "release" {
			release += value + "\n"
			continue
		}
		said[name] = value
	}
	f := &facts{state: said["state"], dir: said["dir"], home: said["home"], plain: or(said["sh"], "sh"), arch: goarch(said["machine"])}
	f.shell = or(said["bash"], f.plain)
	switch {
	case said["setsid"] != "":
		f.setsid = "setsid"
	case said["perl"] != "":
		f.setsid = "perl -MPOSIX=setsid -e setsid;exec@ARGV --"
	}
	switch kernel := said["kernel"]; {
	case kernel == "Linux" || kernel == "":
		f.system = system.ReleaseName(release, said["build"])
	case kernel == "Darwin":
		f.system = strings.TrimSpace("macOS " + said["macos"])
	default:
		f.system = kernel
	}
	switch {
	case !path.IsAbs(f.state):
		return nil, errors.New("the place has no folder that commands can write: not /tmp, /var/tmp, /dev/shm, nor the home folder")
	case !path.IsAbs(f.dir):
		return nil, errors.New("the place did not say which folder it starts in")
	}
	state, _ := shellstate.Whole(variables)
	vars := shellstate.Parse(state)
	delete(vars, "PWD")
	f.environ = shellstate.Merge(nil, vars, nil)
	return f, nil
}

// or returns how the place calls a program, if it has it: a path, or the bare name of one
// that is part of its shell.
func or(s, otherwise string) string {
	if s == "" || strings.ContainsAny(s, " \t=\"'") {
		return otherwise
	}
	return s
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// goarch converts what uname -m says to the words of runtime.GOARCH.
func goarch(machine string) string {
	switch machine {
	case "x86_64", "amd64":
		return "amd64"
	case "aarch64", "arm64":
		return "arm64"
	case "i386", "i486", "i586", "i686":
		return "386"
	case "riscv64", "s390x", "ppc64le", "ppc64":
		return machine
	case "loongarch64":
		return "loong64"
	}
	if strings.HasPrefix(machine, "armv") {
		return "arm"
	}
	return machine
}

// bounded is a buffer that keeps the first bytes only: a place may say too much.
type bounded struct{ bytes.Buffer }

// Write says that all was written.
func (b *bounded) Write(p []byte) (int, error) {
	if room := shellstate.Max - b.Len(); room > 0 {
		b.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}
