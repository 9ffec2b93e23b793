// Package instant is a model server for benchmarks. It answers immediately, follows the
// order in the prompt, and records the time and body of each request.
//
// The order is one of those below, anywhere in the user's last message. The server has no
// state of a conversation: it counts the answered calls in the request. Start reading at
// Decide.
package instant

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"hermes/internal/chatserver"
)

// ModelName is the only name in the server's model list.
const ModelName = "instant"

// Hello requests an answer of one word.
const Hello = "order: hello"

// Shell requests n commands, one after another.
func Shell(n int) string { return fmt.Sprintf("order: shell %d", n) }

// Chunks requests an answer in n pieces.
func Chunks(n int) string { return fmt.Sprintf("order: chunks %d", n) }

// Parallel requests n commands of 0.2 s in one answer.
func Parallel(n int) string { return fmt.Sprintf("order: parallel %d", n) }

// Decide returns the answer to the order of the last prompt.
func Decide(r *chatserver.Request) (chatserver.Answer, error) {
	what, count, answered := order(r)
	if !r.Offers("terminal") && what != "chunks" {
		return chatserver.Answer{Text: "Hello."}, nil // also the side requests, such as for a title
	}
	switch {
	case what == "chunks":
		return chatserver.Answer{Text: strings.Repeat("word ", count)}, nil
	case what == "shell" && answered < count:
		return chatserver.Answer{Calls: calls(1, answered, "echo done-%d")}, nil
	case what == "parallel" && answered == 0:
		return chatserver.Answer{Calls: calls(count, 0, "sleep 0.2; echo done-%d")}, nil
	}
	return chatserver.Answer{Text: "Hello."}, nil
}

// order reads the last prompt, and counts the tool results after it.
func order(r *chatserver.Request) (what string, count, answered int) {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		m := r.Messages[i]
		if m.Role == "tool" {
			answered++
		}
		if m.Role != "user" {
			continue
		}
		if _, text, found := strings.Cut(m.Text(), "order: "); found {
			_, _ = fmt.Sscan(text, &what, &count) // hello has no count
		}
		return what, count, answered
	}
	return what, count, answered
}

// calls makes terminal calls; the number in each command makes it unique.
func calls(n, from int, command string) []chatserver.Call {
	all := make([]chatserver.Call, n)
	for i := range all {
		number := from + i + 1
		all[i] = chatserver.Call{
			ID:   fmt.Sprintf("call_%d", number),
			Type: "function",
			Function: chatserver.Function{
				Name:      "terminal",
				Arguments: fmt.Sprintf(`{"command":%q}`, fmt.Sprintf(command, number)),
			},
		}
	}
	return all
}

// Worked checks that the last request of a run contains the output of that many commands, in
// order. Figures of a program that refused or skipped them would mean nothing.
func Worked(last []byte, commands int) error {
	var r chatserver.Request
	if err := json.Unmarshal(last, &r); err != nil {
		return fmt.Errorf("the last request: %w", err)
	}
	seen := 0
	for _, m := range r.Messages {
		if m.Role != "tool" {
			continue
		}
		seen++
		if want := fmt.Sprintf("done-%d", seen); !strings.Contains(m.Text(), want) {
			return fmt.Errorf("result %d has no %q in it: %.200s", seen, want, m.Text())
		}
	}
	if seen != commands {
		return fmt.Errorf("%d commands were run, want %d", seen, commands)
	}
	return nil
}

// Exchange is one request and its times.
type Exchange struct {
	Came     time.Time // its first byte was read
	Answered time.Time // the whole answer was sent
	Request  chatserver.Request
}

// Server is a recording http.Handler. The zero value is ready to use and safe for concurrent use.
type Server struct {
	mu  sync.Mutex
	all []Exchange
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	came := time.Now()
	var seen *chatserver.Request
	handler := chatserver.Handler{Model: ModelName, Decide: func(r *chatserver.Request) (chatserver.Answer, error) {
		seen = r
		return Decide(r)
	}}
	handler.ServeHTTP(w, r)
	// The measured gap begins when the client has the answer, so send it now.
	_ = http.NewResponseController(w).Flush()
	if seen == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, Exchange{Came: came, Answered: time.Now(), Request: *seen})
}

// Take returns what was recorded since the last Take. Requests without tools are side requests and
// are skipped.
func (s *Server) Take() []Exchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	var main []Exchange
	for _, e := range s.all {
		if len(e.Request.Tools) > 0 {
			main = append(main, e)
		}
	}
	s.all = nil
	return main
}
