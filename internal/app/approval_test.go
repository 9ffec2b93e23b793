package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
)

// TestWhatIsApprovedIsWhatRuns sends a command in two spellings of one argument
// through the whole program.
func TestWhatIsApprovedIsWhatRuns(t *testing.T) {
	t.Parallel()
	for _, arguments := range []string{
		`{"command":"echo ok","COMMAND":"rm -rf kept"}`,
		`{"command":"echo ok","command":"rm -rf kept"}`,
		`{"COMMAND":"rm -rf kept"}`,
	} {
		s := newScene(t, hermes.Deny)
		s.write("kept/file", "x")
		s.say("CALL terminal " + arguments)
		if _, err := os.Stat(filepath.Join(s.dir, "kept", "file")); err != nil {
			t.Errorf("%s: %v", arguments, err)
		}
		for _, a := range s.asked {
			t.Errorf("%s: asked about %q", arguments, a.Subject)
		}
	}
}

// TestApprovalShowsWhatIsWritten asks before a file outside is written, and
// shows the text, not only the path.
func TestApprovalShowsWhatIsWritten(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.Deny)
	s.say(`CALL write_file {"path":"/etc/hosts","content":"10.0.0.1 bank.example\n"}`,
		`CALL patch {"path":"/etc/hosts","old_string":"localhost","new_string":"evil.example"}`)
	if len(s.asked) != 2 {
		t.Fatalf("asked %d times, want 2: %+v", len(s.asked), s.asked)
	}
	for i, want := range [][]string{{"10.0.0.1 bank.example"}, {"localhost", "evil.example"}} {
		a := s.asked[i]
		if a.Subject != "/etc/hosts" {
			t.Errorf("subject %q", a.Subject)
		}
		for _, w := range want {
			if !strings.Contains(a.Detail, w) {
				t.Errorf("the detail of %s lacks %q: %q", a.Tool, w, a.Detail)
			}
		}
	}
}
