//go:build unix

package tui

import (
	"os"
	"os/signal"
	"syscall"
)

const canSuspend = true

// suspendProcess stops the chat, and its process group with it, until the
// shell continues it.
func suspendProcess() {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	if syscall.Kill(0, syscall.SIGTSTP) != nil {
		return
	}
	<-continued
}

// watchSize signals that the size of the terminal has changed.
func (t *terminal) watchSize() (<-chan os.Signal, func()) {
	sizes := make(chan os.Signal, 1)
	signal.Notify(sizes, syscall.SIGWINCH)
	return sizes, func() { signal.Stop(sizes) }
}

// prepareOutput has nothing to do: terminals here understand sequences.
func prepareOutput(_, _ *os.File) (func(), error) { return nil, nil }
