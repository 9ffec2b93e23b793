package base

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"hermes/internal/fault"
)

// First returns the first byte that is not blank, without consuming it; 0 if all
// of the first 64 are blank.
func First(body *bufio.Reader) byte {
	for n := 1; n <= 64; n++ {
		head, err := body.Peek(n)
		if err != nil {
			return 0
		}
		switch b := head[n-1]; b {
		case ' ', '\t', '\r', '\n':
		default:
			return b
		}
	}
	return 0
}

// maxWhole bounds an answer that does not stream, in bytes.
const maxWhole = 64 << 20

// ReadWhole reads an answer that does not stream, into v if it is not nil.
func ReadWhole(body io.Reader, v any) (raw []byte, err error) {
	raw, err = io.ReadAll(io.LimitReader(body, maxWhole))
	if err != nil || v == nil {
		return raw, err
	}
	return raw, Decode(raw, true, v)
}

// Decode reads one event or answer into v. It ignores a field of an unexpected
// type and reads the rest. Cut says that the stream ended inside the event; then
// broken JSON means that the answer was cut off.
func Decode(data []byte, cut bool, v any) error {
	err := json.Unmarshal(data, v)
	if err == nil {
		return nil
	}
	if _, odd := errors.AsType[*json.UnmarshalTypeError](err); odd {
		return nil
	}
	if cut {
		return fault.ErrCut
	}
	const shown = 200
	return fmt.Errorf("%w: an event is not JSON: %.*q", fault.ErrGarbage, shown, data[:min(len(data), shown)])
}

// Named refuses an answer whose tool calls all lack a name; a retry may help. If
// only some calls lack one, they are passed on: the tool chain answers them.
func Named(calls, named int) error {
	if calls > 0 && named == 0 {
		return fmt.Errorf("%w: a tool call has no name", fault.ErrGarbage)
	}
	return nil
}

// Close decides the outcome of an answer. complete says that the answer is
// complete, so that it does not matter how the connection ended; begun says that
// at least something came.
func Close(err error, complete, begun bool) error {
	if _, failed := errors.AsType[*fault.Failure](err); failed {
		return err
	}
	switch {
	case complete:
		return nil
	case err != nil:
		return err
	case !begun:
		return fault.ErrEmpty
	}
	return fault.ErrCut
}
