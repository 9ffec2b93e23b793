// Package lineshell is a POSIX shell that is part of the program, so that a command line that a
// user has configured runs on every system in the same way.
//
// The shell reads redirections and patterns itself, so it never runs in the process that wants the
// line: that starts itself once more, with [Name] as its first argument, inside of walls if there
// are any. Start at Main.
package lineshell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// Name is the first argument with which a program is this shell; "-c" and a line follow.
const Name = "hermes-line"

// grace is how long a program that the shell started may take to end when the shell is told to.
const grace = 2 * time.Second

// Main runs a line with the variables and streams of the process, and does not return then. The exit
// status is that of the line, 2 for a line that cannot be read. It returns at once if the
// process was not started as this shell.
func Main() {
	if len(os.Args) < 4 || os.Args[1] != Name || os.Args[2] != "-c" {
		return
	}
	os.Exit(run(context.Background(), runtime.GOOS, os.Args[3], os.Stdin, os.Stdout, os.Stderr))
}

// run runs a line on a system and returns its exit status.
func run(ctx context.Context, system, line string, in io.Reader, out, errs io.Writer) int {
	file, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil {
		fmt.Fprintln(errs, err)
		return 2
	}
	r, err := interp.New(interp.StdIO(in, out, errs), interp.ExecHandlers(scripts(system)))
	if err != nil {
		fmt.Fprintln(errs, err)
		return 2
	}
	err = r.Run(ctx, file)
	if status, ok := errors.AsType[interp.ExitStatus](err); ok {
		return int(status)
	}
	if err != nil {
		fmt.Fprintln(errs, err)
		return 126
	}
	return 0
}
