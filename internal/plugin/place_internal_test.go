package plugin

import (
	"fmt"
	"io"
	"testing"
	"time"

	"hermes/internal/jsonrpc"
)

// answers is the connection of a plugin whose messages a test sends, and that looks at each answer
// before the plugin could have it.
type answers struct {
	in   chan []byte
	look func()
}

func (a answers) Read() ([]byte, error) {
	m, ok := <-a.in
	if !ok {
		return nil, io.EOF
	}
	return m, nil
}

func (a answers) Write(messages ...[]byte) error {
	for range messages {
		a.look()
	}
	return nil
}

func (answers) Close() error { return nil }

// TestAPartOfOutputIsDoneBeforeItsAnswer: the plugin may send the next one as soon as it has that.
func TestAPartOfOutputIsDoneBeforeItsAnswer(t *testing.T) {
	t.Parallel()
	p := &Plugin{cfg: Config{Now: time.Now}}
	id, done := p.calls.begin(t.Context(), nil)
	defer done()
	over := p.calls.stream(t.Context(), id, io.Discard, io.Discard)
	sent, answered, early := 0, 0, 0 // under the lock of the calls
	free := make(chan struct{}, mostOutstanding)
	stream := answers{make(chan []byte, mostOutstanding), func() {
		p.calls.mu.Lock()
		answered++
		if p.calls.running[id].outstanding > sent-answered {
			early++
		}
		p.calls.mu.Unlock()
		<-free
	}}
	c := jsonrpc.New(t.Context(), stream, p, jsonrpc.Options{})
	for i := range 20_000 {
		free <- struct{}{}
		p.calls.mu.Lock()
		sent++
		p.calls.mu.Unlock()
		stream.in <- fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"environment/output","params":{"call":%q,"stream":"stdout","data":"eA=="}}`, i, id)
	}
	for range mostOutstanding {
		free <- struct{}{} // all are answered
	}
	over()
	close(stream.in)
	_ = c.Wait() // that the stream has ended
	if early > 0 {
		t.Errorf("%d parts were answered while they still counted", early)
	}
}
