package permission_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"hermes"
)

// TestFieldWithoutAValueAllowsNothing has entries in which a limit was begun and
// not written: read as no limit they would allow more than anyone meant.
func TestFieldWithoutAValueAllowsNothing(t *testing.T) {
	t.Parallel()
	for _, field := range []string{
		"subject:", "subject: ''", "subject: ~", "dir: ''", "dir:", "platform:", "expires:", "expires: ''", "unattended:",
	} {
		f, _ := at(t, "grants:\n- tool: terminal\n  key: k\n  "+field+"\n")
		if f.Covers(hermes.Grant{Tool: "terminal", Key: "k", Subject: "rm -r a", Dir: "/a", Platform: "cli"}) {
			t.Errorf("%s: it covers every call", field)
		}
		if _, problems, err := f.List(); err != nil || len(problems) != 1 || !strings.Contains(problems[0], "has no value") {
			t.Errorf("%s: %q, err %v", field, problems, err)
		}
	}
}

// TestEmptyAnchorIsNoValue has a limit that leads to an empty value.
func TestEmptyAnchorIsNoValue(t *testing.T) {
	t.Parallel()
	for _, empty := range []string{"''", "~"} {
		f, _ := at(t, "x: &nothing "+empty+"\ngrants:\n- tool: terminal\n  key: k\n  dir: *nothing\n")
		if f.Covers(hermes.Grant{Tool: "terminal", Key: "k", Dir: "/a"}) {
			t.Errorf("dir: %s covers every folder", empty)
		}
	}
}

// TestFileThatIsTooLargeAllowsNothing has a grant and many bytes after it.
func TestFileThatIsTooLargeAllowsNothing(t *testing.T) {
	t.Parallel()
	f, _ := at(t, "grants:\n- {tool: terminal, key: k}\n#"+strings.Repeat("x", 4<<20))
	if f.Covers(hermes.Grant{Tool: "terminal", Key: "k"}) {
		t.Error("it covers a call")
	}
	if err := f.Add(t.Context(), hermes.Grant{Tool: "terminal", Key: "new"}); err == nil || !strings.Contains(err.Error(), "larger than 4 MB and allows nothing; remove entries") {
		t.Errorf("got %v", err)
	}
}

// TestFieldIsNotNamedByAnAnchor has a field whose anchor has the name of a known
// one.
func TestFieldIsNotNamedByAnAnchor(t *testing.T) {
	t.Parallel()
	f, _ := at(t, "x: &dir only_on\ngrants:\n- tool: terminal\n  key: k\n  *dir : weekdays\n")
	if f.Covers(hermes.Grant{Tool: "terminal", Key: "k"}) {
		t.Error("an entry with an unknown field covers a call")
	}
}

// TestUnattendedIsSetForAllEqualGrants has one grant twice, as an expired one and
// its successor are.
func TestUnattendedIsSetForAllEqualGrants(t *testing.T) {
	t.Parallel()
	f, _ := at(t, "grants:\n- {tool: terminal, key: k, unattended: true}\n- {tool: terminal, key: k, unattended: true}\n")
	list, _, err := f.List()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.SetUnattended(t.Context(), list[0].ID, false); err != nil {
		t.Fatal(err)
	}
	if f.Covers(hermes.Grant{Tool: "terminal", Key: "k", Unattended: true}) {
		t.Error("it still holds where no user can be asked")
	}
	f, _ = at(t, "grants:\n- {tool: terminal, key: k, expires: 2026-11-21}\n- {tool: terminal, key: k}\n")
	if err := f.SetUnattended(t.Context(), list[0].ID, true); err != nil {
		t.Fatal(err)
	}
	if !f.Covers(hermes.Grant{Tool: "terminal", Key: "k", Unattended: true}) {
		t.Error("it does not hold where no user can be asked")
	}
}

// TestUnattendedIsRefusedForAnIDOfTwo has grants whose ids are equal though they
// cover different calls.
func TestUnattendedIsRefusedForAnIDOfTwo(t *testing.T) {
	t.Parallel()
	f, path := at(t, "grants:\n- {tool: terminal, key: k, subject: \"a\\0/b\", platform: cli}\n- {tool: terminal, key: k, subject: a, dir: \"/b\\0\", platform: cli}\n"+
		"- {tool: terminal, key: k, subject: a, dir: \"/b\", platform: \"\\0cli\"}\n")
	before, _ := os.ReadFile(path)
	list, problems, err := f.List()
	if err != nil || len(list) != 3 || len(problems) > 0 || list[1].ID != list[2].ID {
		t.Fatalf("%+v %v %v", list, problems, err)
	}
	err = f.SetUnattended(t.Context(), list[1].ID, true)
	after, _ := os.ReadFile(path)
	if err == nil || errors.Is(err, hermes.ErrNotFound) || string(before) != string(after) {
		t.Errorf("err %v, the file is now %s", err, after)
	}
}
