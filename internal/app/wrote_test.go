package app_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"hermes"
)

// TestEscalationShowsWhatTheSessionWrote: before a command runs outside of the sandbox, the
// user sees which of its files came with the session.
func TestEscalationShowsWhatTheSessionWrote(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.Deny)
	old := time.Now().Add(-time.Hour)
	s.write("theirs.sh", "echo old")
	mustTouch(t, s.dir+"/theirs.sh", old)
	s.answer = hermes.AllowOnce
	s.say(`CALL write_file {"path":"deploy.sh","content":"echo new\n"}`)
	s.write("made.py", "print(1)") // by a command
	s.answer = hermes.Deny
	for line, want := range map[string][]string{
		"./deploy.sh":            {"deploy.sh"},
		"sh theirs.sh":           nil,
		"sh -c 'bash deploy.sh'": {"deploy.sh"},
		"python3 made.py":        {"deploy.sh", "made.py"},
		"make":                   {"deploy.sh"},
		"ls":                     nil,
	} {
		s.asked = nil
		s.say(`CALL terminal {"command":"` + line + `","escalate":"try ` + line[:2] + `"}`)
		if len(s.asked) != 1 {
			t.Fatalf("%s: asked %+v", line, s.asked)
		}
		detail := s.asked[0].Detail
		for _, name := range []string{"deploy.sh", "made.py", "theirs.sh"} {
			listed := strings.Contains(detail, "\n  "+name)
			wanted := false
			for _, w := range want {
				wanted = wanted || w == name
			}
			if listed != wanted {
				t.Errorf("%s: %s is listed: %v; the user saw %q", line, name, listed, detail)
			}
		}
	}
}

func mustTouch(t *testing.T, path string, at time.Time) {
	t.Helper()
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}
