//go:build unix

package cmd_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/internal/chatserver"
)

// TestAStrangersClientJoinsAChat: examples/client.py, which was written from docs/protocol.md and
// knows nothing else, lists the sessions, opens one, joins a chat of the program, speaks, and
// answers approvals. The chat in the terminal shows all of it.
func TestAStrangersClientJoinsAChat(t *testing.T) {
	t.Parallel()
	p := newUser(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		last := r.Messages[len(r.Messages)-1]
		switch {
		case !r.Offers("terminal"): // a title, say
			return chatserver.Answer{Text: "Old notes"}, nil
		case last.Role == "tool" && strings.Contains(last.Text(), "not today"):
			return chatserver.Answer{Text: "Then the folder stays."}, nil
		case last.Role == "tool":
			return chatserver.Answer{Text: "The folder is gone."}, nil
		case strings.Contains(last.Text(), "remove"):
			return call("terminal", map[string]string{"command": "rm -rf old"}), nil
		}
		return chatserver.Answer{Text: "Hello from the model."}, nil
	})...)
	if err := os.Mkdir(filepath.Join(p.dir, "old"), 0o755); err != nil {
		t.Fatal(err)
	}
	chat := p.sit("xterm-256color", "-m", "played")
	chat.shows("played") // the session is open
	chat.press("hi\r")
	chat.shows("Hello from the model.")

	list, err := p.python("list").Output()
	id, rest, _ := strings.Cut(string(list), " ")
	if err != nil || !strings.HasPrefix(rest, "live") {
		t.Fatalf("the list is %q, %v", list, err)
	}
	own := p.pythonChat() // a session of its own
	own.types("remove the folder")
	own.shows("terminal: rm -rf old")
	own.types("not today") // which refuses it, and is the reason for the model
	own.shows("Then the folder stays.")
	own.ends()
	if _, err := os.Stat(filepath.Join(p.dir, "old")); err != nil {
		t.Error(err)
	}
	c := p.pythonChat(id)
	c.shows("> hi")
	c.shows("Hello from the model.")
	c.types("good morning")
	c.shows("Hello from the model.")
	chat.shows("good morning")
	c.types("remove the folder")
	c.shows("terminal: rm -rf old")
	c.types("y")
	c.shows("The folder is gone.")
	chat.shows("The folder is gone.")
	if _, err := os.Stat(filepath.Join(p.dir, "old")); !os.IsNotExist(err) {
		t.Errorf("the folder: %v", err)
	}
	c.ends()
}

// python runs the client of examples/.
func (p *user) python(args ...string) *exec.Cmd {
	p.t.Helper()
	name, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("CI") == "true" {
			p.t.Fatal(err)
		}
		p.t.Skip(err)
	}
	script, err := filepath.Abs("../../examples/client.py")
	if err != nil {
		p.t.Fatal(err)
	}
	c := exec.CommandContext(p.t.Context(), name, append([]string{"-B", script, "--home", p.home}, args...)...)
	c.Env, c.Dir = p.env, p.dir
	c.Stderr = os.Stderr
	return c
}

// reader is a client that runs.
type reader struct {
	t    *testing.T
	in   io.WriteCloser
	read chan string // closed at the end of its output
	seen string
	wait func() error
}

// pythonChat starts a chat of the client in a session.
func (p *user) pythonChat(args ...string) *reader {
	p.t.Helper()
	c := p.python(append([]string{"chat"}, args...)...)
	in, err := c.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		p.t.Fatal(err)
	}
	r := &reader{t: p.t, in: in, read: make(chan string, 1000), wait: c.Wait}
	go func() { // ends with the client
		defer close(r.read)
		b := bufio.NewReader(out)
		for {
			piece := make([]byte, 4096)
			n, err := b.Read(piece)
			if err != nil {
				return
			}
			r.read <- string(piece[:n])
		}
	}()
	return r
}

// shows waits until the client has shown a text, and forgets what came before.
func (r *reader) shows(want string) {
	r.t.Helper()
	limit := time.After(time.Minute)
	for {
		if _, after, ok := strings.Cut(r.seen, want); ok {
			r.seen = after
			return
		}
		select {
		case piece, ok := <-r.read:
			if !ok {
				r.t.Fatalf("the client ended before it showed %q:\n%s", want, r.seen)
			}
			r.seen += piece
		case <-limit:
			r.t.Fatalf("%q was not shown:\n%s", want, r.seen)
		}
	}
}

func (r *reader) types(line string) {
	r.t.Helper()
	if _, err := io.WriteString(r.in, line+"\n"); err != nil {
		r.t.Fatal(err)
	}
}

// ends ends the input and waits for the client to end.
func (r *reader) ends() {
	r.t.Helper()
	if err := r.in.Close(); err != nil {
		r.t.Fatal(err)
	}
	for range r.read {
	}
	if err := r.wait(); err != nil {
		r.t.Errorf("the client ends with %v", err)
	}
}
