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

// TestAlwaysHoldsInNewSessions allows one command for good and tries it, and
// others, in a new session of the same process and of another.
func TestAlwaysHoldsInNewSessions(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.AllowAlways)
	remove := func(name string) (asked int) {
		t.Helper()
		s.write(name+"/file", "x")
		before := len(s.asked)
		s.say(`CALL terminal {"command":"rm -rf ` + name + `"}`)
		return len(s.asked) - before
	}
	if n := remove("build"); n != 1 {
		t.Fatalf("asked %d times for the first", n)
	}
	if got, want := s.asked[0].Always[0], hermes.ScopeCall; got != want {
		t.Errorf("offered %q first, want %q", got, want)
	}
	file := filepath.Join(s.home, "permissions.yaml")
	if s.asked[0].Stored != file {
		t.Errorf("told %q, want %q", s.asked[0].Stored, file)
	}
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), "subject: rm -rf build\n") || !strings.Contains(string(text), "platform: cli\n") {
		t.Errorf("%s, err %v", text, err)
	}
	if config, _ := os.ReadFile(filepath.Join(s.home, "config.yaml")); strings.Contains(string(config), "command_allowlist") {
		t.Errorf("the grant was written to %s", config)
	}
	s.fresh()
	if n := remove("build"); n != 0 {
		t.Error("asked again after /new in the same process")
	}
	if n := remove("src"); n != 1 {
		t.Error("the grant covers another folder")
	}
	s.quit()
	s.session = ""
	if n := remove("build"); n != 0 {
		t.Error("asked again in another process")
	}
	f, _, err := s.app.Permissions()
	if err != nil {
		t.Fatal(err)
	}
	list, _, err := f.List()
	if err != nil || len(list) != 2 {
		t.Fatalf("stored %+v, err %v", list, err)
	}
	if _, err := f.Revoke(t.Context(), list[0].ID); err != nil {
		t.Fatal(err)
	}
	s.fresh()
	if n := remove("build"); n != 1 {
		t.Error("a revoked grant holds in the same process")
	}
}

// TestUnattendedRunsIgnoreGrantsOfUsers has a grant for the whole kind that was
// given in a chat.
func TestUnattendedRunsIgnoreGrantsOfUsers(t *testing.T) {
	t.Parallel()
	for _, unattended := range []bool{false, true} {
		s := newScene(t, "")
		grant := "grants:\n  - {tool: terminal, key: recursive-delete}\n"
		if unattended {
			grant = "grants:\n  - {tool: terminal, key: recursive-delete, unattended: true}\n"
		}
		writeFile(t, filepath.Join(s.home, "permissions.yaml"), grant)
		s.config = "command_allowlist: [recursive-delete]\n"
		s.write("build/file", "x")
		s.say(`CALL terminal {"command":"rm -rf build"}`)
		_, err := os.Stat(filepath.Join(s.dir, "build"))
		if ran := err != nil; ran != unattended {
			t.Errorf("unattended %v: ran %v", unattended, ran)
		}
	}
}
