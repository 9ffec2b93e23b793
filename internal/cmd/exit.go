package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/ioerr"
	"hermes/internal/lazy"
	"hermes/internal/usage"
)

// The exit statuses: 0 is success.
const (
	statusFailed      = 1
	statusUsage       = 2 // also: nothing is configured
	statusHalted      = 3 // `hermes panic` has stopped all work
	statusInterrupted = 130
)

// status prints an error for the user and returns its exit status. A reader that closed
// the pipe of standard output, such as head, has what it wants and needs no message.
func status(err error, p Process) int {
	stderr := p.Stderr
	switch {
	case err == nil:
		return 0
	case unread(err, p.Stdout):
		return statusFailed
	}
	if coded, ok := errors.AsType[*app.ExitError](err); ok {
		if coded.Err != nil {
			fmt.Fprintln(stderr, "hermes: "+plain(coded.Err))
		}
		return coded.Status
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, hermes.ErrInterrupted) {
		return statusInterrupted
	}
	fmt.Fprintln(stderr, "hermes: "+plain(err))
	if usage.Wrong(err) {
		fmt.Fprintln(stderr, "Run the command with --help for usage.")
		return statusUsage
	}
	if errors.Is(err, hermes.ErrHalted) {
		return statusHalted
	}
	if errors.Is(err, hermes.ErrNoModel) {
		return statusUsage
	}
	return statusFailed
}

// unread reports whether an error is that nothing reads standard output any more.
func unread(err error, stdout io.Writer) bool {
	f, ok := stdout.(*os.File)
	failed, isFile := errors.AsType[*fs.PathError](err)
	return ok && isFile && failed.Path == f.Name() && ioerr.PipeClosed(failed)
}

// endless matches words that are too long to show in full.
var endless = lazy.Regexp(`[!-~]{300,}`)

// plain makes one paragraph of an error chain. It adds advice if the error itself
// gives none.
func plain(err error) string {
	text := strings.TrimSpace(ioerr.Text(err))
	if errors.Is(err, hermes.ErrNotFound) { // the text before it already says so
		text = strings.TrimSuffix(text, ": "+hermes.ErrNotFound.Error())
	}
	text = endless().ReplaceAllStringFunc(text, func(word string) string { return word[:60] + "…" + word[len(word)-20:] })
	if advice := ioerr.Advice(err); advice != "" && !strings.Contains(text, "HERMES_HOME") {
		text += ". " + advice
	}
	return text
}

// watched remembers the first write error, which most commands ignore. A list
// that is cut off must not end as a success.
type watched struct {
	w   io.Writer
	err error
}

func (o *watched) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}
