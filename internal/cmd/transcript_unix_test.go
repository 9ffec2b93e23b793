//go:build unix

package cmd_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/chatserver"
)

var update = flag.Bool("update", false, "write the transcript into docs/protocol.md")

// wire is a connection on which lines are sent and read as they are.
type wire struct {
	t     *testing.T
	conn  net.Conn
	lines *bufio.Reader
	said  []string // all lines, with an arrow for their direction
}

func (w *wire) send(format string, args ...any) {
	w.t.Helper()
	line := fmt.Sprintf(format, args...)
	if _, err := fmt.Fprintln(w.conn, line); err != nil {
		w.t.Fatal(err)
	}
	w.said = append(w.said, "→ "+line)
}

// until reads lines until one has a text, and returns that.
func (w *wire) until(text string) string {
	w.t.Helper()
	for {
		line, err := w.lines.ReadString('\n')
		if err != nil {
			w.t.Fatalf("%q did not come: %v\n%s", text, err, strings.Join(w.said, "\n"))
		}
		w.said = append(w.said, "← "+strings.TrimSuffix(line, "\n"))
		if strings.Contains(line, text) {
			return line
		}
	}
}

// TestTheTranscriptInTheDocumentIsReal has the conversation of docs/protocol.md with the program again.
func TestTheTranscriptInTheDocumentIsReal(t *testing.T) {
	t.Parallel()
	p := newUser(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		switch last := r.Messages[len(r.Messages)-1]; {
		case !r.Offers("terminal"): // a title, say
			return chatserver.Answer{Text: "Old notes"}, nil
		case last.Role == "tool":
			return chatserver.Answer{Text: "Done."}, nil
		case strings.Contains(last.Text(), "remove"):
			return call("terminal", map[string]string{"command": "rm -rf old"}), nil
		}
		return chatserver.Answer{Text: "Hello."}, nil
	})...)
	chat := p.sit("xterm-256color", "-m", "played")
	chat.shows("played") // the session is open
	chat.press("hi\r")
	chat.shows("Hello.")

	key, err := os.ReadFile(filepath.Join(p.home, "run", "key"))
	if err != nil {
		t.Fatal(err)
	}
	sockets, err := filepath.Glob(filepath.Join(p.home, "run", "*.sock"))
	if err != nil || len(sockets) != 1 {
		t.Fatalf("the sockets are %v, %v", sockets, err)
	}
	conn, err := net.Dial("unix", sockets[0])
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	w := &wire{t: t, conn: conn, lines: bufio.NewReader(conn)}
	w.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"version":1,"key":%q,"platform":"cli","client":"2b7e151628aed2a6"}}`, key)
	w.until(`"id":1`)
	w.send(`{"jsonrpc":"2.0","id":2,"method":"open","params":{"run":{"workspace":{"dir":%q}},"attends":true}}`, p.dir)
	var opened struct {
		Result struct{ Session struct{ ID string } }
	}
	if err := json.Unmarshal([]byte(w.until(`"id":2`)), &opened); err != nil {
		t.Fatal(err)
	}
	id := opened.Result.Session.ID
	w.send(`{"jsonrpc":"2.0","id":3,"method":"attach","params":{"session":%q,"attends":true}}`, id)
	w.until(`"id":3`)
	w.send(`{"jsonrpc":"2.0","id":4,"method":"do","params":{"session":%q,"op":{"type":"say","parts":[{"text":"remove old"}]}}}`, id)
	var asked struct {
		Params struct {
			Envelope struct{ Event struct{ ID string } }
		}
	}
	if err := json.Unmarshal([]byte(w.until(`"type":"asked"`)), &asked); err != nil {
		t.Fatal(err)
	}
	w.send(`{"jsonrpc":"2.0","id":5,"method":"do","params":{"session":%q,"op":{"type":"reply","id":%q,"approval":{"decision":"once"}}}}`, id, asked.Params.Envelope.Event.ID)
	w.until(`"type":"turn_done"`)

	got := strings.Join(w.said, "\n")
	got = strings.NewReplacer(string(key), strings.Repeat("0123456789abcdef", 4), p.dir, "/home/ada/notes", p.home, "/home/ada/.hermes").Replace(got)
	const document, begin, end = "../../docs/protocol.md", "\n```text\n→ ", "\n```\n"
	raw, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(raw), begin)
	want, tail, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatal("docs/protocol.md has no transcript")
	}
	if diff := cmp.Diff(plainTranscript("→ "+want), plainTranscript(got)); diff != "" {
		if !*update {
			t.Fatalf("docs/protocol.md shows another conversation than the program has; run the test with -update. -document +program:\n%s", diff)
		}
		if err := os.WriteFile(document, []byte(head+strings.TrimSuffix(begin, "→ ")+got+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// plainTranscript returns the lines of a transcript without what differs each time: the events and
// requests in their order, then the responses, which come beside events.
func plainTranscript(text string) []string {
	for _, r := range []struct{ form, plain string }{
		{`\d{8}_\d{6}_[0-9a-f]+`, "SESSION"},
		{`"\d{4}-\d\d-\d\dT[^"]+"`, `"TIME"`},
		{`"(duration_ns|seq|input|cache_read|cache_write|output)":\d+`, `"$1":0`},
		{`terminal \d+`, "terminal 1"},
		{`"owner":"[^"]+"`, `"owner":"OWNER"`},
	} {
		text = regexp.MustCompile(r.form).ReplaceAllString(text, r.plain)
	}
	var lines, responses []string
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.Contains(line, `"type":"call_progress"`): // it comes beside the question
		case strings.HasPrefix(line, `← {"jsonrpc":"2.0","id"`):
			responses = append(responses, line)
		default:
			lines = append(lines, line)
		}
	}
	return append(lines, responses...)
}
