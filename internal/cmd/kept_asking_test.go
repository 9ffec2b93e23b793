//go:build unix

package cmd_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/chatserver"
)

// before waits for a text and returns what the terminal showed ahead of it.
func (s *seat) before(end string) string {
	s.t.Helper()
	limit := time.After(2 * time.Minute)
	for {
		if text, after, ok := strings.Cut(s.seen.String(), end); ok {
			s.seen.Reset()
			s.seen.WriteString(after)
			return text
		}
		select {
		case b := <-s.read:
			s.seen.Write(b)
		case err := <-s.end:
			s.t.Fatalf("the program ended, %v:\n%q", err, s.seen.String())
		case <-limit:
			s.t.Fatalf("%q was not shown:\n%q", end, s.seen.String())
		}
	}
}

// holds are what the journal holds of the open calls of a session, past the
// program.
func (p *user) holds(session string) []any {
	p.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(p.home, "hermes.db")+"?mode=ro")
	if err != nil {
		p.t.Fatal(err)
	}
	defer db.Close()
	var hold string
	err = db.QueryRowContext(p.t.Context(), `SELECT st.hold FROM steps st JOIN sessions s ON s.key = st.session WHERE s.id = ?`, session).Scan(&hold)
	if err != nil {
		p.t.Fatal(err)
	}
	return values(p.t, hold)
}

// TestKeptJournalKnowsAnApproval writes into a session of the kept home what
// stands there of the call that waits since then.
func TestKeptJournalKnowsAnApproval(t *testing.T) {
	t.Parallel()
	p := withKeptHome(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		if lastIs(r, "user") {
			return call("terminal", map[string]string{"command": "git reset --hard HEAD~2"}), nil
		}
		return chatserver.Answer{Text: "Done."}, nil
	})...)
	s := p.sit("dumb", "-r", keptLog, "-q", "Empty the attic.")
	s.shows("git reset --hard HEAD~2")
	if d := cmp.Diff(p.holds(keptWaiting), p.holds(keptLog)); d != "" {
		t.Errorf("the journal (-version 0.1.0 +now):\n%s", d)
	}
	s.signal(syscall.SIGKILL)
	s.left()
}

func TestKeptQuestionIsAskedAgain(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	p := withKeptHome(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		if !r.Offers("clarify") {
			return chatserver.Answer{Text: "Set up"}, nil
		}
		asked.Add(1)
		return chatserver.Answer{Text: "Now it listens."}, nil
	})...)
	s := p.sit("dumb", "-r", keptAsking)
	s.shows("Which ")
	if got := s.before("?"); got != "parts" { // the port has its answer
		t.Fatalf("asked is: Which %s?", got)
	}
	s.shows("news")
	s.press("1,3\r")
	s.shows("Which host?")
	s.shows("example.org")
	if d := cmp.Diff(values(t, `{"asked":[
		{"question":{"call_id":"call_63_0","text":"Which port?","number":1,"of":3},"answer":{"texts":["8080"]}},
		{"question":{"call_id":"call_63_0","text":"Which parts?","choices":["web","mail","news"],"multiple":true,"number":2,"of":3},"answer":{"texts":["web","news"]}},
		{"question":{"call_id":"call_63_0","text":"Which host?","choices":["localhost","example.org"],"number":3,"of":3}}]}`),
		p.holds(keptAsking)); d != "" {
		t.Errorf("the journal (-want +got):\n%s", d)
	}
	s.press("2\r")
	s.shows("Now it listens.")
	s.press("\x04")
	s.left()

	talk := into[keptTalk](t, p.must("sessions", "show", keptAsking, "--json"))
	want := `{"responses":[{"id":"q1","question":"Which port?","user_response":"8080"},` +
		`{"id":"q2","question":"Which parts?","choices_offered":["web","mail","news"],"user_response":["web","news"]},` +
		`{"id":"q3","question":"Which host?","choices_offered":["localhost","example.org"],"user_response":"example.org"}]}`
	if len(talk.Messages) != 4 || talk.Messages[2].CallID != "call_63_0" || talk.Messages[2].text() != want {
		t.Errorf("the session holds %+v", talk.Messages)
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
	if out := p.must("sessions", "list", "--json"); strings.Contains(out, `"asking"`) {
		t.Errorf("a question is still open:\n%s", out)
	}
}

// TestKeptLayersAreShown looks for the pieces of a stored system prompt.
func TestKeptLayersAreShown(t *testing.T) {
	t.Parallel()
	p := withKeptHome(t)
	s := p.sit("dumb", "-r", keptLog)
	s.shows("> ")
	s.press("/context all\r")
	shown := s.before("\r\n> ")
	s.press("/quit\r")
	s.left()
	for _, layer := range []string{"working", "memory-guide", "skills"} {
		if !strings.Contains(shown, layer) {
			t.Errorf("the layer %s is not shown:\n%s", layer, shown)
		}
	}
}

func TestKeptSlashCommandsAreKnown(t *testing.T) {
	t.Parallel()
	p := withKeptHome(t)
	s := p.sit("dumb")
	s.shows("> ")
	s.press("/help\r")
	help := s.before("\r\n> ")
	s.press("/quit\r")
	s.left()
	for name := range strings.FieldsSeq(expected(t, "slash-commands.txt")) {
		if !strings.Contains(help, "/"+name) {
			t.Errorf("/%s is not known", name)
		}
	}
}

// TestKeptGrantHolds runs a command of the kind that an earlier version was told
// to allow for good: it holds where the user sits, and not where there is no user to
// ask.
func TestKeptGrantHolds(t *testing.T) {
	t.Parallel()
	p := withKeptHome(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		if lastIs(r, "user") {
			return call("terminal", map[string]any{"command": "rm -rf victim"}), nil
		}
		return chatserver.Answer{Text: "Done."}, nil
	})...)
	victim := filepath.Join(p.dir, "victim")
	if err := os.Mkdir(victim, 0o700); err != nil {
		t.Fatal(err)
	}
	p.run("-z", "Empty it.")
	if _, err := os.Stat(victim); err != nil {
		t.Errorf("the unattended run was allowed: %v", err)
	}
	s := p.sit("dumb", "chat")
	s.shows("> ")
	s.press("Empty it.\r")
	s.shows("Done.")
	if _, err := os.Stat(victim); err == nil {
		t.Error("the command was not allowed")
	}
	s.press("/quit\r")
	s.left()
}
