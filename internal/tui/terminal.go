package tui

import (
	"context"
	"os"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/term"
	"github.com/muesli/cancelreader"

	"hermes/internal/tui/input"
)

// terminal is the input and output of the terminal, and its earlier state.
type terminal struct {
	in, out *os.File
	before  *term.State
	outMode func() // restores the output mode; nil if nothing was changed
	reader  cancelreader.CancelReader
	ended   chan struct{} // closed when reading has ended
	kind    string        // the value of TERM
}

func openTerminal(in, out *os.File, kind string) (*terminal, error) {
	t := &terminal{in: in, out: out, kind: kind}
	return t, t.raw()
}

// raw puts the terminal into raw mode.
func (t *terminal) raw() (err error) {
	if t.before, err = term.MakeRaw(t.in.Fd()); err != nil {
		return err
	}
	t.outMode, err = prepareOutput(t.in, t.out)
	return err
}

// restore returns the terminal to its earlier state. It may be called again.
func (t *terminal) restore() {
	if t.before == nil {
		return
	}
	_ = term.Restore(t.in.Fd(), t.before) // there is no way to handle an error here
	t.before = nil
	if t.outMode != nil {
		t.outMode()
	}
}

// size is the terminal's size in cells, or 80 by 24 if unknown.
func (t *terminal) size() (width, height int) {
	width, height, err := term.GetSize(t.out.Fd())
	if err != nil || width <= 0 || height <= 0 {
		return 80, 24
	}
	return width, height
}

// read sends keys, pastes and sizes as messages of the model until stop.
func (t *terminal) read(ctx context.Context) (<-chan any, error) {
	reader, err := uv.NewCancelReader(t.in)
	if err != nil {
		return nil, err
	}
	t.reader, t.ended = reader, make(chan struct{})
	events := make(chan uv.Event)
	msgs := make(chan any)
	go func() {
		defer close(events)
		// An error means that the terminal is gone; the closed channel shows it.
		_ = uv.NewTerminalReader(reader, t.kind).StreamEvents(ctx, events)
	}()
	sizes, stopSizes := t.watchSize()
	go func() { // ends when the reader does, which stop waits for
		defer close(t.ended)
		defer close(msgs)
		defer stopSizes()
		send := func(msg any) {
			select {
			case msgs <- msg:
			case <-ctx.Done():
			}
		}
		for {
			select {
			case e, ok := <-events:
				if !ok {
					return
				}
				if msg := translate(e); msg != nil {
					send(msg)
				}
			case <-sizes:
				w, h := t.size()
				send(sizeMsg{w, h})
			}
		}
	}()
	return msgs, nil
}

// stop ends the reading. The context given to read must have ended.
func (t *terminal) stop() {
	if t.reader == nil {
		return
	}
	if t.reader.Cancel() {
		<-t.ended
	}
	_ = t.reader.Close() // reading has ended
}

// translate turns an event of the terminal into a message for the model.
func translate(e uv.Event) any {
	switch e := e.(type) {
	case uv.KeyPressEvent:
		k := e.Key()
		mods := k.Mod &^ (uv.ModCapsLock | uv.ModNumLock | uv.ModScrollLock | uv.ModShift)
		text := k.Text
		if mods != 0 {
			text = ""
		}
		return input.Key{Name: strings.ToLower(keyName(k)), Text: text}
	case uv.PasteEvent:
		return pasteMsg(e.Content)
	}
	return nil
}

// keyName is the name of a key without lock keys such as Caps Lock.
func keyName(k uv.Key) string {
	k.Mod &^= uv.ModCapsLock | uv.ModNumLock | uv.ModScrollLock
	return k.Keystroke()
}
