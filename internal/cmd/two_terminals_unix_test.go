//go:build unix

package cmd_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hermes"
	"hermes/internal/chatserver"
	"hermes/internal/markup"
)

// told is a model whose answers a test writes piece by piece.
type told struct {
	pieces chan string // "" ends an answer
}

// newTold starts it and returns the variables that point at it.
func newTold(t *testing.T) (*told, []string) {
	m := &told{pieces: make(chan string)}
	other := &chatserver.Handler{Model: "played", Decide: func(*chatserver.Request) (chatserver.Answer, error) { return chatserver.Answer{Text: "Gardening"}, nil }}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || !strings.Contains(string(body), `"clarify"`) { // a title, say
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			other.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		for {
			select {
			case text := <-m.pieces:
				delta, finish := `{"role":"assistant","content":`+strconv.Quote(text)+`}`, "null"
				if text == "" {
					delta, finish = "{}", `"stop"`
				}
				fmt.Fprintf(w, "data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"model\":\"played\",\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":%s}]}\n\n", delta, finish)
				if text == "" {
					fmt.Fprint(w, "data: [DONE]\n\n")
					return
				}
				w.(http.Flusher).Flush()
			case <-r.Context().Done():
				return
			}
		}
	}))
	t.Cleanup(s.Close)
	return m, []string{"OPENAI_BASE_URL=" + s.URL + "/v1", "OPENAI_API_KEY=k"}
}

func (m *told) says(pieces ...string) {
	for _, p := range pieces {
		m.pieces <- p
	}
}

// conversation is what a terminal shows, with its scrollback, after all that it was sent: a line
// for each row.
func (s *seat) conversation() string {
	s.t.Helper()
	rows, row, col := [][]string{nil}, 0, 0
	text := s.all.String()
	for text != "" {
		n, w := markup.Cluster(text)
		switch c := text[0]; {
		case c == 0x1b:
			n = 2
			if len(text) > 1 && text[1] == '[' {
				for n < len(text) && (text[n] < '@' || text[n] > '~') {
					n++
				}
				count, _ := strconv.Atoi(text[2:n])
				switch text[n] {
				case 'A':
					row = max(row-max(count, 1), 0)
				case 'B':
					row += max(count, 1)
				case 'C':
					col += max(count, 1)
				case 'K':
					rows[row] = rows[row][:min(col, len(rows[row]))]
				case 'J':
					rows[row] = rows[row][:min(col, len(rows[row]))]
					rows = rows[:row+1]
				}
				n++
			}
		case c == '\r':
			n, col = 1, 0
		case c == '\n':
			n, row = 1, row+1
		case c < ' ':
			n = 1
		default:
			for len(rows[row]) < col+w {
				rows[row] = append(rows[row], " ")
			}
			rows[row][col], col = text[:n], col+w
		}
		for len(rows) <= row {
			rows = append(rows, nil)
		}
		text = text[n:]
	}
	var lines []string
	for _, r := range rows {
		lines = append(lines, strings.TrimRight(strings.Join(r, ""), " "))
	}
	return strings.Join(lines, "\n")
}

// said waits until the terminal shows a message of the user.
func (s *seat) said(text string) {
	s.t.Helper()
	s.shows("\x1b[1m" + text + "\x1b[0m")
}

// once checks that a terminal shows lines exactly once, in order.
func (s *seat) once(lines ...string) {
	s.t.Helper()
	got := "\n" + s.conversation() + "\n"
	at := 0
	for _, l := range lines {
		i := strings.Index(got, "\n"+l+"\n")
		if n := strings.Count(got, "\n"+l+"\n"); n != 1 || i < at {
			s.t.Errorf("%q is shown %d times, at %d:\n%s", l, n, i, got)
		}
		at = i
	}
}

// TestTwoTerminalsOnOneSession: what is typed in one appears in the other at once. Either can answer
// an approval; the panel of the other closes and says who answered, and what was typed there stays.
func TestTwoTerminalsOnOneSession(t *testing.T) {
	t.Parallel()
	p := newUser(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		switch last := r.Messages[len(r.Messages)-1]; {
		case !r.Offers("terminal"): // a title, say
			return chatserver.Answer{Text: "Old notes"}, nil
		case last.Role == "tool":
			return chatserver.Answer{Text: "It is removed."}, nil
		case strings.Contains(last.Text(), "remove"):
			return call("terminal", map[string]string{"command": "rm -rf old"}), nil
		default:
			return chatserver.Answer{Text: "Done: " + last.Text() + "!"}, nil
		}
	})...)
	first := p.sit("xterm-256color", "-m", "custom:played", "-q", "plant roses")
	first.shows("Done: plant roses!")
	second := p.sit("xterm-256color", "attach")
	second.shows("This session runs in terminal ")
	second.shows("Ctrl+D")
	second.shows("detaches")
	second.shows("Attached")
	var took []time.Duration
	for i := range 5 {
		words := fmt.Sprintf("water %d of them", i)
		second.press(words)
		second.shows(words)
		began := time.Now()
		second.press("\r")
		first.said(words)
		took = append(took, time.Since(began))
		first.shows("Done: " + words + "!")
		second.shows("Done: " + words + "!")
	}
	t.Logf("from Enter in one terminal until the other shows it: %v", took)
	if took[4] > 20*time.Second {
		t.Errorf("the other terminal shows a message after %v", took[4])
	}

	third := p.sit("dumb", "attach")
	third.shows("Attached")
	first.press("remove them\r")
	first.shows("deny")
	second.shows("deny")
	first.press("half a thought")
	first.shows("half a thought")
	third.shows("Press Enter to see it")
	third.press("\r")
	third.shows("Allow?")
	third.press("o\r")
	for _, s := range []*seat{first, second} {
		s.shows("answered by terminal ")
		s.shows("It is removed.")
	}
	first.shows("half a thought")
	first.press("\x15go on\r")
	first.shows("Done: go on!")
	second.said("go on")
	second.shows("Done: go on!")
	first.once("› plant roses", "Done: plant roses!", "› water 0 of them", "Done: water 0 of them!", "› water 4 of them", "› remove them", "It is removed.", "› go on", "Done: go on!")
	second.once("› water 0 of them", "Done: water 0 of them!", "› water 4 of them", "› remove them", "It is removed.", "› go on", "Done: go on!")
	st := p.store()
	rows, err := st.ListSessions(t.Context(), hermes.SessionFilter{})
	if err != nil || len(rows) != 1 {
		t.Fatalf("sessions %+v, %v", rows, err)
	}
	list, err := st.Messages(t.Context(), rows[0].ID, hermes.Range{Raw: true})
	for _, m := range list {
		if err != nil || m.Role == hermes.RoleUser && strings.Contains(m.Text(), "half a thought") {
			t.Errorf("what was typed at the panel was sent: %q, %v", m.Text(), err)
		}
	}
}

// TestAKilledTerminalAttachesAgainInAStream: it shows every line of the conversation once, and so do
// the others.
func TestAKilledTerminalAttachesAgainInAStream(t *testing.T) {
	t.Parallel()
	m, env := newTold(t)
	p := newUser(t, env...)
	owner := p.sit("xterm-256color", "-m", "custom:played", "-q", "tell me")
	m.says("Line 1.\n\n", "Line 2.\n\n", "Line 3 begins")
	owner.shows("Line 3 begins")
	killed := p.sit("xterm-256color", "attach")
	killed.shows("Line 3 begins")
	m.says(" and ends.\n\n", "Line 4 begins")
	killed.shows("Line 4 begins")
	killed.signal(syscall.SIGKILL)
	killed.left()
	m.says(" and ends.\n\n", "Line 5 begins")
	again := p.sit("xterm-256color", "attach")
	again.shows("Line 5 begins")
	m.says(" and ends.\n\n", "Line 6.")
	m.says("")
	lines := []string{"› tell me", "Line 1.", "Line 2.", "Line 3 begins and ends.", "Line 4 begins and ends.", "Line 5 begins and ends.", "Line 6."}
	again.shows("Line 6.")
	again.press("and now\r")
	again.said("and now")
	m.says("As you see.", "")
	owner.shows("As you see.")
	again.shows("As you see.")
	lines = append(lines, "› and now", "As you see.")
	owner.once(lines...)
	again.once(lines...)
}

// TestAKilledOwnerIsReplacedInAStream: the other terminal says so, takes over, and shows the whole
// conversation once; so does the killed one when it attaches again.
func TestAKilledOwnerIsReplacedInAStream(t *testing.T) {
	t.Parallel()
	m, env := newTold(t)
	p := newUser(t, env...)
	owner := p.sit("xterm-256color", "-m", "custom:played", "-q", "tell me")
	m.says("Here it is.", "")
	owner.shows("Here it is.")
	second := p.sit("xterm-256color", "attach")
	second.shows("Attached")
	second.press("more\r")
	m.says("Line 1.\n\n", "Line 2 begins")
	second.shows("Line 2 begins")
	owner.signal(syscall.SIGKILL)
	owner.left()
	second.shows("attaching again")
	second.shows("The last turn was cut off. Use /continue to resume it.")
	third := p.sit("xterm-256color", "attach")
	third.shows("Attached")
	third.press("and again\r")
	m.says("All of it.", "")
	second.shows("All of it.")
	third.shows("All of it.")
	second.once("› tell me", "Here it is.", "› more", "Line 1.", "› and again", "All of it.")
	third.once("› more", "› and again", "All of it.")
	if got := second.conversation(); strings.Count(got, "Line 2 begins") != 1 {
		t.Errorf("the text that was cut off:\n%s", got)
	}
}
