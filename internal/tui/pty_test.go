//go:build unix

package tui

import (
	"context"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/charmbracelet/x/xpty"

	"hermes"
)

// console is the chat on a real pseudo terminal, shown on the test terminal.
type console struct {
	t    *testing.T
	pty  *xpty.UnixPty
	v    *vt
	read chan []byte
	end  chan error
	id   string
}

func newConsole(t *testing.T) *console {
	t.Helper()
	pty, err := xpty.NewUnixPty(80, 24)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("no pseudo terminal: %v", err)
		}
		t.Skipf("no pseudo terminal: %v", err)
	}
	t.Cleanup(func() { _ = pty.Close() })
	c := &console{t: t, pty: pty, v: newVT(80, 24), read: make(chan []byte, 64), end: make(chan error, 1)}
	go func() { // ends when the pty is closed
		for {
			buf := make([]byte, 4096)
			n, err := pty.Master().Read(buf)
			if err != nil {
				return
			}
			c.read <- buf[:n]
		}
	}()
	return c
}

// chat starts the chat; ended waits for its end.
func (c *console) chat(f *fakeSession) {
	c.chatAfter(f, nil, func() {})
}

// chatAfter starts the chat with a session that opens slowly.
func (c *console) chatAfter(f *fakeSession, notes <-chan string, wait func()) {
	client := &fakeClient{open: func(context.Context, hermes.RunSpec) (*fakeSession, error) {
		wait()
		return f, nil
	}}
	c.run(Options{Client: client, Greeting: []string{"Hermes"}, Display: Display{Summary: true}, Notes: notes})
}

// run starts the chat.
func (c *console) run(o Options) { c.runUntil(c.t.Context(), o) }

// runUntil starts the chat, which quits when ctx ends.
func (c *console) runUntil(ctx context.Context, o Options) {
	o.In, o.Out, o.Term, o.From = c.pty.Slave(), c.pty.Slave(), "xterm-256color", me
	o.Start.Run.Workspace.Dir = c.t.TempDir()
	go func() {
		id, err := Run(ctx, o)
		c.id = id
		c.end <- err
	}()
}

func (c *console) press(keys string) {
	c.t.Helper()
	if _, err := c.pty.Master().WriteString(keys); err != nil {
		c.t.Fatal(err)
	}
}

// until reads what the chat writes until holds reports true.
func (c *console) until(what string, holds func(text string) bool) {
	c.t.Helper()
	limit := time.After(2 * time.Minute)
	for !holds(c.v.text()) {
		select {
		case b := <-c.read:
			if _, err := c.v.Write(b); err != nil {
				c.t.Fatal(err)
			}
		case <-limit:
			c.t.Fatalf("no %s on the screen:\n%s", what, c.v.text())
		}
	}
}

func (c *console) shows(want string) {
	c.t.Helper()
	c.until(want, func(text string) bool { return strings.Contains(text, want) })
}

// ended waits for the end of the chat.
func (c *console) ended() {
	c.t.Helper()
	limit := time.After(2 * time.Minute)
	for {
		select {
		case b := <-c.read:
			if _, err := c.v.Write(b); err != nil {
				c.t.Fatal(err)
			}
		case err := <-c.end:
			if err != nil {
				c.t.Fatal(err)
			}
			c.until("end", func(string) bool { return c.v.modes["2004l"] })
			return
		case <-limit:
			c.t.Fatal("the chat did not end")
		}
	}
}

func TestChatOnARealTerminal(t *testing.T) {
	t.Parallel()
	f := newFake(func(f *fakeSession, text string) {
		f.reply(text, "You said **"+text+"**.\n\n```go\nfunc main() {}\n```\n")
	})
	c := newConsole(t)
	before, err := term.GetState(c.pty.Slave().Fd())
	if err != nil {
		t.Fatal(err)
	}
	c.chat(f)
	c.shows("Hermes")
	c.shows("maker/model-1")
	c.press("hello 汉字\x1b\rsecond") // Alt+Enter
	c.shows("  second")
	c.press("\x1b[200~ pasted\rtext\x1b[201~\r")
	c.shows("You said hello 汉字")
	c.shows("func main() {}")
	c.shows("1.0 s")
	if err := c.pty.Resize(50, 24); err != nil {
		t.Fatal(err)
	}
	c.v.resize(50, 24)
	c.press("x")
	c.shows("› x")
	c.press("\x7f\x04") // Backspace, Ctrl+D
	c.ended()
	if c.id != f.ID() || !f.closed {
		t.Errorf("id %q, closed %v", c.id, f.closed)
	}
	if n := strings.Count(c.v.text(), "/help"); n != 0 {
		t.Errorf("%d status lines are left behind:\n%s", n, c.v.text())
	}
	if c.v.hidden || !c.v.modes["2004l"] {
		t.Errorf("modes were not reset: %v", c.v.modes)
	}
	after, err := term.GetState(c.pty.Slave().Fd())
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(before, after) {
		t.Errorf("the terminal was %+v and is %+v", before, after)
	}
}

func TestInterruptOnARealTerminal(t *testing.T) {
	t.Parallel()
	f := newFake(func(f *fakeSession, text string) {
		f.emit(hermes.TurnStarted{Turn: 1, Message: hermes.UserText(text)})
		for range 20_000 {
			f.emit(hermes.TextDelta{Text: "word "})
		}
		<-f.stopped
		f.emit(hermes.TurnDone{Turn: 1, Outcome: hermes.OutcomeInterrupted, Duration: time.Second})
	})
	c := newConsole(t)
	c.chat(f)
	c.shows("maker/model-1")
	c.press("go\r")
	c.shows("working")
	c.press("\x03")
	c.shows("interrupted after 1.0 s")
	if n := strings.Count(strings.ReplaceAll(c.v.text(), "\n", " "), "word "); n != 20_000 {
		t.Errorf("%d of 20000 words are on the terminal", n)
	}
	c.press("\x04") // a second Ctrl+C quits only soon after the first
	c.ended()
}

func TestInterruptedPreparationOnARealTerminal(t *testing.T) {
	t.Parallel()
	f := newFake(nil)
	said := make(chan struct{}, 8)
	f.prepares = func() { said <- struct{}{} }
	c := newConsole(t)
	c.run(Options{Client: clientOf(f)})
	c.shows("maker/model-1")
	c.press("one\r")
	<-said
	c.press("two\r/retry\r")
	c.shows("› /retry")
	c.press("\x03")
	c.shows("interrupted")
	c.shows("› one\n\n  two")
	c.press("\x03") // quits
	c.ended()
	if ops := f.did(); len(ops) != 1 || ops[0] != (hermes.Stop{}) || len(said) > 0 {
		t.Errorf("the session got %v and %d messages after the first", ops, len(said))
	}
}

func TestStopCommandOnARealTerminal(t *testing.T) {
	t.Parallel()
	f := newFake(nil)
	f.prepares = func() {}
	c := newConsole(t)
	c.run(Options{Client: clientOf(f)})
	c.shows("maker/model-1")
	c.press("one\r/stop\r")
	c.shows("interrupted")
	c.press("\x03\x03\x03")
	c.ended()
}

func TestQuitBeforeTheSessionIsOpen(t *testing.T) {
	t.Parallel()
	f := newFake(func(f *fakeSession, text string) { f.reply(text, text) })
	opened := make(chan struct{})
	c := newConsole(t)
	notes := make(chan string, 1)
	c.chatAfter(f, notes, func() {
		notes <- "read_file was cut off\nand is run again"
		<-opened
	})
	c.shows("Opening the session…")
	c.shows("read_file was cut off and is run again")
	c.press("typed ahead\x15\x04")
	c.until("end", func(string) bool { return c.v.modes["2004l"] })
	close(opened)
	c.ended()
	if !f.closed || c.id != "" {
		t.Errorf("id %q, closed %v", c.id, f.closed)
	}
}

// TestEveryWayToQuitLeavesTheAnswer that has not ended on the screen.
func TestEveryWayToQuitLeavesTheAnswer(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ keys, want string }{
		"Ctrl+D":       {"\x04", "› go\n\nhalf an answer"},
		"/quit":        {"/quit\r", "› go\n\n› /quit\n\nhalf an answer"},
		"Ctrl+C twice": {"\x03\x03", "› go\n\nhalf an answer"},
		"a signal":     {"", "› go\n\nhalf an answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(func(f *fakeSession, text string) {
				f.emit(hermes.TurnStarted{Turn: 1, Message: hermes.UserText(text)}, hermes.TextDelta{Text: "half an answer"})
			})
			c := newConsole(t)
			ctx, signal := context.WithCancel(t.Context())
			defer signal()
			now := time.Now()
			c.runUntil(ctx, Options{Client: clientOf(f), Now: func() time.Time { return now }})
			c.shows("maker/model-1")
			c.press("go\r")
			c.shows("half an answer")
			if c.press(tt.keys); tt.keys == "" {
				signal()
			}
			c.ended()
			if got := strings.Trim(c.v.text(), "\n"); got != tt.want {
				t.Errorf("left behind:\n%s", got)
			}
		})
	}
}
