// Package remote is what all backends that run commands somewhere else share: in a
// container, on another machine, in a rented sandbox. A backend is a [Runner], which
// runs one shell script and no more. The rest of a [hermes.Environment] is written once
// over it: the remembered folder and variables, files, background processes, limits, and
// the end of what a stopped command left running.
//
// How that works is told in docs/execution.md. The package knows no particular backend.
// Start reading at runner.go, then exec.go.
package remote

import (
	"context"
	"errors"
	"io"

	"hermes"
)

// Runner runs shell scripts in one place. Its methods may be called concurrently.
type Runner interface {
	// Exec runs a script with the place's POSIX shell and returns when it has ended and
	// its output is written. The first call makes the place ready, such as by starting a
	// container. A non-zero exit code is not an error; code follows the shell, with
	// 128+n for signal n. An error means that the script did not run, which wraps
	// [ErrNotRun], or that its outcome is unknown.
	//
	// When ctx ends, Exec cuts its connection to the script and returns the context's
	// cause soon after. It need not end the script in the place: who calls it does that
	// with another script.
	Exec(ctx context.Context, s Script) (code int, err error)
	// Close frees what the place uses here, and ends or keeps the place as it was
	// configured to. It is called once, when no Exec runs.
	Close() error
}

// Script is what a Runner runs.
type Script struct {
	// Text is read by the shell as after sh -c. It may be longer than one argument can
	// be; it sets its own folder and variables. It may hold secrets that the session has
	// exported.
	Text string
	// Stdin is the input; nil is empty.
	Stdin io.Reader
	// Running runs the script only in a place that is known to run: nothing is started, woken or made
	// for it. It is not run otherwise, which wraps [ErrNotRun].
	Running bool
	// Stdout and Stderr receive output as it arrives; nil discards it. They may be the
	// same writer. A place that cannot tell them apart writes everything to Stdout.
	Stdout, Stderr io.Writer
}

// ErrNotRun means that a script certainly did not run, so that it may be run again.
var ErrNotRun = errors.New("the command was not run")

// Optional methods of a [Runner].
type (
	// Describer says what is known of the place without asking it: isolation and network.
	// What it leaves empty (system, architecture, home, shell) is asked of the place.
	Describer interface {
		Describe() hermes.Description
	}
	// Terminals runs scripts on a pseudo-terminal of the place.
	Terminals interface {
		// Terminal is Exec with a terminal of the place: input and output are raw, and
		// both streams go to s.Stdout.
		Terminal(ctx context.Context, s Script, columns, rows int) (code int, err error)
	}
	// Lasting is a place that goes on when this program is killed, with what runs there.
	Lasting interface {
		// Place names it: the same for all Runners of one place, and for no other. It is
		// empty for a place that ends with its session.
		Place() string
	}
	// FileServer has files of its own, such as over sftp, instead of those over scripts,
	// which it gets for what it cannot do itself.
	FileServer interface {
		Files(scripts ScriptFiles) hermes.Files
	}
	// ScriptFiles are files over scripts.
	ScriptFiles interface {
		hermes.Files
		hermes.LinklessFiles
	}
)

// maxText is the longest script that Argv passes on: Linux starts no program whose
// arguments and variables are together more than 2 MB.
const maxText = 1 << 20

// Argv returns the arguments of a shell that runs a script, for a backend that starts a
// program with arguments: sh -c and the script, in pieces where it is longer than one
// argument may be. It reports false if the script is too long for arguments at all.
func Argv(text string) ([]string, bool) {
	if len(text) <= maxArgument {
		return []string{"sh", "-c", text}, true
	}
	if len(text) > maxText {
		return nil, false
	}
	argv := []string{"sh", "-c", "__hermes_l=\nfor __hermes_d; do __hermes_l=$__hermes_l$__hermes_d; done\neval \"$__hermes_l\"", "sh"}
	for len(text) > 0 {
		n := min(len(text), maxArgument)
		argv = append(argv, text[:n])
		text = text[n:]
	}
	return argv, true
}
