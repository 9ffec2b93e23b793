package proc

import (
	"errors"
	"os"
	"time"
)

// inputWait is how long Input waits for a child that does not read.
const inputWait = 5 * time.Second

// ErrInputClosed means that the child's standard input is closed.
var ErrInputClosed = errors.New("the standard input of the process is closed")

// Input writes to the child's standard input or types on its terminal. It returns
// an error if the child does not read for five seconds.
func (p *Process) Input(data []byte) error {
	p.inputMu.Lock()
	defer p.inputMu.Unlock()
	if p.input == nil {
		return ErrInputClosed
	}
	if d, ok := p.input.(interface{ SetWriteDeadline(time.Time) error }); ok {
		_ = d.SetWriteDeadline(time.Now().Add(inputWait))
	}
	_, err := p.input.Write(data)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return errors.New("the process does not read its input")
	}
	if errors.Is(err, os.ErrClosed) || isBrokenPipe(err) {
		return ErrInputClosed
	}
	return err
}

// CloseInput closes the child's standard input. On a terminal it types the end of
// input instead, since closing the terminal would hang up.
func (p *Process) CloseInput() error {
	p.inputMu.Lock()
	defer p.inputMu.Unlock()
	if p.input == nil {
		return nil
	}
	if t, ok := p.input.(Terminal); ok {
		if p.reaped() {
			p.input = nil
			return nil
		}
		_, err := t.Write([]byte{endOfInput})
		return err
	}
	err := p.input.Close()
	p.input = nil
	return err
}
