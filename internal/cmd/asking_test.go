//go:build unix

package cmd_test

import (
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/xpty"

	"hermes"
	"hermes/internal/chatserver"
)

// seat is the program on a pseudo terminal.
type seat struct {
	t      *testing.T
	pty    *xpty.UnixPty
	read   chan []byte
	seen   strings.Builder
	all    strings.Builder // also what shows has forgotten
	end    chan error
	signal func(os.Signal)
	pid    int
}

// sit starts the program on a pseudo terminal.
func (p *user) sit(term string, args ...string) *seat {
	p.t.Helper()
	pty, err := xpty.NewUnixPty(100, 30)
	if err != nil {
		if os.Getenv("CI") == "true" {
			p.t.Fatalf("no pseudo terminal: %v", err)
		}
		p.t.Skipf("no pseudo terminal: %v", err)
	}
	p.t.Cleanup(func() { _ = pty.Close() })
	s := &seat{t: p.t, pty: pty, read: make(chan []byte, 64), end: make(chan error, 1)}
	c := p.command(args...)
	c.Env = append(c.Env, "TERM="+term)
	c.Stdin, c.Stdout, c.Stderr = pty.Slave(), pty.Slave(), pty.Slave()
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.Start(); err != nil {
		p.t.Fatal(err)
	}
	s.pid = c.Process.Pid
	s.signal = func(sig os.Signal) { _ = c.Process.Signal(sig) } // left notices a program that has ended
	gone := make(chan struct{})
	go func() {
		s.end <- c.Wait()
		close(gone)
	}()
	p.t.Cleanup(func() { // before its home is removed
		_ = c.Process.Kill()
		<-gone
	})
	go func() { // ends when the pty is closed
		for {
			buf := make([]byte, 4096)
			n, err := pty.Master().Read(buf)
			if err != nil {
				return
			}
			s.read <- buf[:n]
		}
	}()
	return s
}

// shows waits until the terminal has shown a text, and forgets what came
// before.
func (s *seat) shows(want string) {
	s.t.Helper()
	limit := time.After(2 * time.Minute)
	for {
		if _, after, ok := strings.Cut(s.seen.String(), want); ok {
			s.seen.Reset()
			s.seen.WriteString(after)
			return
		}
		select {
		case b := <-s.read:
			s.seen.Write(b)
			s.all.Write(b)
		case <-limit:
			s.t.Fatalf("%q was not shown:\n%q", want, s.seen.String())
		}
	}
}

func (s *seat) press(keys string) {
	s.t.Helper()
	if _, err := s.pty.Master().WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

func (s *seat) left() {
	s.t.Helper()
	limit := time.After(2 * time.Minute)
	for {
		select {
		case <-s.read:
		case <-s.end:
			return
		case <-limit:
			s.t.Fatal("the program did not end")
		}
	}
}

// twoQuestions is a model that asks two questions before it answers.
func twoQuestions(t *testing.T) (env []string, asked func() int) {
	var mu sync.Mutex
	steps := 0
	env = serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		if !r.Offers("clarify") { // a title, say
			return chatserver.Answer{Text: "Set up"}, nil
		}
		mu.Lock()
		defer mu.Unlock()
		steps++
		if lastIs(r, "user") && results(r) == 0 {
			return call("clarify", map[string]any{"questions": []map[string]any{{"question": "Which port?"}, {"question": "Which host?"}}}), nil
		}
		return chatserver.Answer{Text: "Now it listens."}, nil
	})
	return env, func() int { mu.Lock(); defer mu.Unlock(); return steps }
}

func TestAQuestionOutlivesTheProgram(t *testing.T) {
	t.Parallel()
	for _, term := range []string{"dumb", "xterm-256color"} {
		for name, quit := range map[string]func(*seat){
			"killed":           func(s *seat) { s.signal(syscall.SIGKILL) },
			"terminated":       func(s *seat) { s.signal(syscall.SIGTERM) },
			"quit with Ctrl+D": func(s *seat) { s.press("\x04") },
			// The second quits if it comes soon after the first; a slow machine needs a third.
			"quit with Ctrl+C": func(s *seat) { s.press("\x03"); s.shows("stays open"); s.press("\x03\x03") },
		} {
			if term == "dumb" && name == "quit with Ctrl+C" {
				continue // there it only stops the turn
			}
			t.Run(term+" "+name, func(t *testing.T) {
				t.Parallel()
				env, asked := twoQuestions(t)
				p := newUser(t, env...)
				s := p.sit(term, "-m", "custom:played", "-q", "set it up")
				s.shows("Which port?")
				s.press("8080\r")
				s.shows("Which host?")
				quit(s)
				s.left()
				if out, errs, _ := p.run("sessions", "list"); !strings.Contains(out, "asks you") {
					t.Errorf("listed as\n%s%s", out, errs)
				}

				s = p.sit(term, "-m", "custom:played", "-c")
				s.shows("Question 2 of 2")
				s.shows("Which host?")
				s.press("localhost\r")
				s.shows("Now it listens.")
				s.press("\x04")
				s.left()
				if n := asked(); n != 2 {
					t.Errorf("the model was asked %d times", n)
				}
				checkConversation(t, p)
			})
		}
	}
}

func checkConversation(t *testing.T, p *user) {
	t.Helper()
	st := p.store()
	list, err := st.ListSessions(t.Context(), hermes.SessionFilter{})
	if err != nil || len(list) != 1 || list[0].Asking {
		t.Fatalf("sessions %+v, %v", list, err)
	}
	talk, err := st.Messages(t.Context(), list[0].ID, hermes.Range{})
	if err != nil || len(talk) != 4 {
		t.Fatalf("messages %+v, %v", talk, err)
	}
	want := `{"responses":[{"id":"q1","question":"Which port?","user_response":"8080"},{"id":"q2","question":"Which host?","user_response":"localhost"}]}`
	if talk[2].Text() != want {
		t.Errorf("the result is %s", talk[2].Text())
	}
}
