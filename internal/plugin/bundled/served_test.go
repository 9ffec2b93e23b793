package bundled_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"testing"

	"hermes/internal/plugin/sdk"
)

// served is a plugin in this process that a test asks as Hermes does.
type served struct {
	name string

	mu      sync.Mutex
	in      io.Writer
	serial  int
	waiting map[int]chan answer
}

type answer struct {
	ID     int
	Result json.RawMessage
	Error  *struct{ Message string }
}

func serve(t *testing.T, name string, p *sdk.Plugin) *served {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	s := &served{name: name, in: inW, waiting: map[int]chan answer{}}
	var running sync.WaitGroup
	running.Go(func() {
		_ = p.Serve(context.Background(), inR, outW) // it ends with the input
		outW.Close()
	})
	running.Go(func() {
		for lines := bufio.NewScanner(outR); lines.Scan(); {
			var a answer
			if json.Unmarshal(lines.Bytes(), &a) != nil {
				continue
			}
			s.mu.Lock()
			if c := s.waiting[a.ID]; c != nil {
				c <- a
			}
			s.mu.Unlock()
		}
	})
	t.Cleanup(func() {
		inW.Close()
		running.Wait()
	})
	return s
}

// ask sends a request and returns the text of its result.
func (s *served) ask(ctx context.Context, method string, params map[string]any) (string, error) {
	c := make(chan answer, 1)
	s.mu.Lock()
	s.serial++
	id := s.serial
	s.waiting[id] = c
	params["call"] = string(rune('a' + id%26))
	data, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err == nil {
		_, err = s.in.Write(append(data, '\n'))
	}
	s.mu.Unlock()
	if err != nil {
		return "", err
	}
	select {
	case a := <-c:
		if a.Error != nil {
			return "", errors.New(a.Error.Message)
		}
		var r struct{ Text string }
		err := json.Unmarshal(a.Result, &r)
		return r.Text, err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
