package tui

import (
	"os"
	"time"

	"golang.org/x/sys/windows"
)

const canSuspend = false

func suspendProcess() {}

// watchSize polls the size, since the console has no signal for changes.
func (t *terminal) watchSize() (<-chan os.Signal, func()) {
	sizes := make(chan os.Signal, 1)
	done := make(chan struct{})
	go func() { // ends with the function that is returned
		ticker := time.NewTicker(250 * time.Millisecond)
		defer ticker.Stop()
		width, height := t.size()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
			}
			if w, h := t.size(); w != width || h != height {
				width, height = w, h
				select {
				case sizes <- os.Interrupt:
				default:
				}
			}
		}
	}()
	return sizes, func() { close(done) }
}

// prepareOutput makes the console read and write escape sequences.
func prepareOutput(in, out *os.File) (func(), error) {
	var mode uint32
	if err := windows.GetConsoleMode(windows.Handle(in.Fd()), &mode); err != nil {
		return nil, err
	}
	if err := windows.SetConsoleMode(windows.Handle(in.Fd()), mode|windows.ENABLE_VIRTUAL_TERMINAL_INPUT); err != nil {
		return nil, err
	}
	handle := windows.Handle(out.Fd())
	if err := windows.GetConsoleMode(handle, &mode); err != nil {
		return nil, err
	}
	before := mode
	mode |= windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING | windows.DISABLE_NEWLINE_AUTO_RETURN
	if err := windows.SetConsoleMode(handle, mode); err != nil {
		return nil, err
	}
	return func() { _ = windows.SetConsoleMode(handle, before) }, nil
}
