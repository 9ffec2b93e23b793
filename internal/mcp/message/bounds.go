package message

import (
	"errors"
	"sync"

	wire "github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const (
	// mostQuestions is how many requests of a server may be unanswered at the same time.
	mostQuestions = 16
	// maxQuestions bounds what these have together, in bytes.
	maxQuestions = 8 << 20
	// maxNesting bounds how deep a message is: what reads schemas needs a time that grows with size
	// and depth.
	maxNesting = 64
)

// Bounds bound what a server sends over one connection, of a program or a service: how deep messages are, and
// how much of what it asks may be open. The zero value is ready. It may be used concurrently.
type Bounds struct {
	mu    sync.Mutex
	sizes map[wire.ID]int // of the open questions
	size  int
}

// Judged is what becomes of a message of the server.
type Judged struct {
	// Message is to be handed on; nil drops the message.
	Message wire.Message
	// Same says that it is as it came.
	Same bool
	// Refused is the answer to a request that is not handed on; nil if it is handed on.
	Refused *wire.Response
}

// Received judges a message of the server. An error says that it is no message.
func (b *Bounds) Received(raw []byte) (Judged, error) {
	m, err := wire.DecodeMessage(raw)
	if err != nil {
		return Judged{}, err
	}
	deep := tooDeep(raw)
	switch m := m.(type) {
	case *wire.Response:
		if deep {
			return Judged{Message: refusal(m.ID, errors.New("the answer has too many levels"))}, nil
		}
		if !mayAsk(m.Result) {
			break
		}
		if m.Result, err = Result(m.Result); err != nil {
			return Judged{Message: refusal(m.ID, err)}, nil
		}
		return Judged{Message: m}, nil
	case *wire.Request:
		switch {
		case deep && !m.IsCall():
			return Judged{}, nil
		case deep:
			return Judged{Refused: refusal(m.ID, errors.New("the request has too many levels"))}, nil
		case m.IsCall() && !b.ask(m.ID, len(raw)):
			return Judged{Refused: refusal(m.ID, errors.New("too many requests at the same time; wait for the answers"))}, nil
		}
	}
	return Judged{Message: m, Same: true}, nil
}

// Sent counts a message to the server: an answer ends its question.
func (b *Bounds) Sent(m wire.Message) {
	r, ok := m.(*wire.Response)
	if !ok {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.size -= b.sizes[r.ID]
	delete(b.sizes, r.ID)
}

// ask counts a request, and reports false if there are too many.
func (b *Bounds) ask(id wire.ID, size int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, twice := b.sizes[id]; twice {
		return true // the SDK refuses it, with no id
	}
	if len(b.sizes) >= mostQuestions || b.size+size > maxQuestions {
		return false
	}
	if b.sizes == nil {
		b.sizes = map[wire.ID]int{}
	}
	b.sizes[id] = size
	b.size += size
	return true
}

// refusal answers a request with the reason why it is not done.
func refusal(id wire.ID, why error) *wire.Response {
	return &wire.Response{ID: id, Error: &wire.Error{Code: wire.CodeInternalError, Message: why.Error()}}
}

// tooDeep reports whether JSON has objects and lists in each other beyond the limit.
func tooDeep(data []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxNesting {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}
