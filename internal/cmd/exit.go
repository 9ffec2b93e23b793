package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/ioerr"
)

// The exit statuses: 0 is success.
const (
	statusFailed      = 1
	statusUsage       = 2 // also: nothing is configured
	statusInterrupted = 130
)

// usageError marks what is wrong with the way a command was called.
type usageError struct{ error }

// status prints an error for the person and returns the exit status for it.
func status(err error, stderr io.Writer) int {
	if err == nil {
		return 0
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
	if _, ok := errors.AsType[usageError](err); ok {
		fmt.Fprintln(stderr, "Run the command with --help to see how it is used.")
		return statusUsage
	}
	if errors.Is(err, hermes.ErrNoModel) {
		return statusUsage
	}
	return statusFailed
}

// plain makes one paragraph of an error's chain, with what the person can do
// where the error itself does not say so.
func plain(err error) string {
	text := strings.TrimSpace(ioerr.Text(err))
	if advice := ioerr.Advice(err); advice != "" && !strings.Contains(text, "HERMES_HOME") {
		text += ". " + advice
	}
	return text
}
