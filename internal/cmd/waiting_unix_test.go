//go:build unix

package cmd_test

import (
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"hermes"
	"hermes/internal/chatserver"
)

// TestAQueuedMessageSurvivesSIGKILL: it is shown, and answered once, after the resume.
func TestAQueuedMessageSurvivesSIGKILL(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]string{"continued": "/continue", "with the next message": "thanks"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked, release := make(chan struct{}), make(chan struct{})
			defer close(release)
			var held atomic.Bool
			p := newUser(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
				said := r.Messages[len(r.Messages)-1].Text()
				switch {
				case !r.Offers("clarify"): // a title, say
					return chatserver.Answer{Text: "Set up"}, nil
				case strings.Contains(said, "water the plants"):
					return chatserver.Answer{Text: "The plants have water."}, nil
				}
				if held.CompareAndSwap(false, true) {
					close(asked)
					<-release
				}
				return chatserver.Answer{Text: "It is set up."}, nil
			})...)
			s := p.sit("xterm-256color", "-m", "custom:played", "-q", "set it up")
			<-asked
			s.press("/queue then water the plants\r")
			id := p.waitsFor("then water the plants")
			s.signal(syscall.SIGKILL)
			s.left()

			s = p.sit("xterm-256color", "-m", "custom:played", "-c")
			s.shows("1 message waits for an answer")
			s.press(next + "\r")
			s.shows("The plants have water.")
			s.press("\x04")
			s.left()
			st := p.store()
			left, err := st.WaitingMessages(t.Context(), id)
			if err != nil || len(left) != 0 {
				t.Errorf("still waiting: %+v, %v", left, err)
			}
			list, err := st.Messages(t.Context(), id, hermes.Range{})
			var all strings.Builder
			for _, m := range list {
				all.WriteString(m.Text() + "\n")
			}
			if err != nil || strings.Count(all.String(), "then water the plants") != 1 {
				t.Errorf("stored, %v:\n%s", err, all.String())
			}
		})
	}
}

// waitsFor returns the session in which a message waits, as soon as it is stored.
func (p *user) waitsFor(text string) string {
	p.t.Helper()
	st := p.store()
	for limit := time.Now().Add(2 * time.Minute); time.Now().Before(limit); {
		rows, err := st.ListSessions(p.t.Context(), hermes.SessionFilter{})
		if err != nil || len(rows) != 1 {
			p.t.Fatalf("sessions %+v, %v", rows, err)
		}
		list, err := st.WaitingMessages(p.t.Context(), rows[0].ID)
		if err != nil {
			p.t.Fatal(err)
		}
		if len(list) == 1 && list[0].Message.Text() == text {
			return rows[0].ID
		}
	}
	p.t.Fatalf("%q was never stored", text)
	return ""
}
