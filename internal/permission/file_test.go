package permission_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/permission"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func at(t *testing.T, text string) (*permission.File, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), permission.Name)
	if text != "" {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return permission.New(path, nil, func() time.Time { return noon }), path
}

var build = hermes.Grant{
	Tool: "terminal", Key: "recursive-delete", Subject: "rm -rf build # it's\n\"mine\": \t\u202e", Dir: "/home/ada/app", Platform: "cli", By: "owner", Created: noon,
}

func TestGrantIsKeptAsItWasGiven(t *testing.T) {
	t.Parallel()
	f, path := at(t, "")
	if err := f.Add(t.Context(), build, build); err != nil {
		t.Fatal(err)
	}
	got, problems, err := f.List()
	if err != nil || len(problems) > 0 || len(got) != 1 || cmp.Diff(got[0].Grant, build) != "" {
		t.Fatalf("got %+v, problems %v, err %v", got, problems, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, err %v", info.Mode(), err)
	}
	call := build
	if !f.Covers(call) {
		t.Error("the grant does not cover its own call")
	}
	if call.Subject += " "; f.Covers(call) {
		t.Error("the grant covers another command")
	}
}

func TestRevokedGrantAllowsNothing(t *testing.T) {
	t.Parallel()
	f, path := at(t, "# mine\nrules: []\ngrants:\n  - tool: terminal # a comment\n    key: chmod\n")
	if err := f.Add(t.Context(), build); err != nil {
		t.Fatal(err)
	}
	list, _, err := f.List()
	if err != nil || len(list) != 2 {
		t.Fatalf("list %+v, err %v", list, err)
	}
	if _, err := f.Revoke(t.Context(), list[0].ID, "00000000"); !errors.Is(err, hermes.ErrNotFound) {
		t.Errorf("an unknown id: %v", err)
	}
	if list, _, _ := f.List(); len(list) != 2 {
		t.Errorf("half a request was done: %+v", list)
	}
	gone, err := f.Revoke(t.Context(), list[1].ID)
	if err != nil || len(gone) != 1 || gone[0].Key != build.Key || f.Covers(build) {
		t.Errorf("revoked %+v, err %v, covers %v", gone, err, f.Covers(build))
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(text), "# mine\nrules: []\ngrants:\n  - tool: terminal # a comment\n    key: chmod\n") {
		t.Errorf("the rest of the file is now %q, err %v", text, err)
	}
	if gone, err = f.Revoke(t.Context(), list[0].ID); err != nil || len(gone) != 1 {
		t.Errorf("revoked %+v, err %v", gone, err)
	}
	if list, problems, err := f.List(); len(list)+len(problems) > 0 || err != nil {
		t.Errorf("left %+v %v %v", list, problems, err)
	}
}

// TestRevokedGrantsAreThoseThatWereNamed has others before, between and after them.
func TestRevokedGrantsAreThoseThatWereNamed(t *testing.T) {
	t.Parallel()
	f, _ := at(t, "grants:\n- {tool: terminal, key: a}\n- {tool: terminal, key: b}\n- {tool: terminal}\n- {tool: terminal, key: c}\n- {tool: terminal, key: d}\n")
	list, _, err := f.List()
	if err != nil || len(list) != 4 {
		t.Fatalf("list %+v, err %v", list, err)
	}
	gone, err := f.Revoke(t.Context(), list[2].ID, list[0].ID)
	if err != nil || len(gone) != 2 || gone[0].Key != "a" || gone[1].Key != "c" {
		t.Errorf("revoked %+v, err %v", gone, err)
	}
	if left, problems, err := f.List(); err != nil || len(problems) != 1 || len(left) != 2 || left[0].Key != "b" || left[1].Key != "d" {
		t.Errorf("left %+v, problems %v, err %v", left, problems, err)
	}
}

// TestEntryThatIsNotUnderstoodAllowsNothing has entries that a newer version or a
// hand may have written.
func TestEntryThatIsNotUnderstoodAllowsNothing(t *testing.T) {
	t.Parallel()
	call := hermes.Grant{Tool: "terminal", Key: "k"}
	for name, text := range map[string]string{
		"an unknown field":   "grants:\n- {tool: terminal, key: k, only_on: weekdays}\n",
		"no key":             "grants:\n- {tool: terminal}\n",
		"no tool":            "grants:\n- {key: k}\n",
		"no section":         "grants:\n- terminal\n",
		"no list":            "grants: {tool: terminal, key: k}\n",
		"a bad time":         "grants:\n- {tool: terminal, key: k, expires: tomorrow}\n",
		"an expired one":     "grants:\n- {tool: terminal, key: k, expires: 2026-11-22T12:00:00Z}\n",
		"an expired day":     "grants:\n- {tool: terminal, key: k, expires: 2026-11-22}\n",
		"a wrong type":       "grants:\n- {tool: terminal, key: k, unattended: maybe}\n",
		"broken YAML":        "grants:\n- {tool: terminal, key: k\n",
		"another spelling":   "grants:\n- {Tool: terminal, Key: k}\n",
		"two keys, one name": "grants:\n- {tool: terminal, key: x, key: k}\n",
	} {
		f, path := at(t, text)
		if f.Covers(call) {
			t.Errorf("%s: it covers the call", name)
		}
		before, _ := os.ReadFile(path)
		err := f.Add(t.Context(), hermes.Grant{Tool: "terminal", Key: "new"})
		after, _ := os.ReadFile(path)
		if err != nil && string(before) != string(after) {
			t.Errorf("%s: it failed (%v) and changed the file", name, err)
		}
		if err == nil && !f.Covers(hermes.Grant{Tool: "terminal", Key: "new"}) {
			t.Errorf("%s: what was added is not there: %s", name, after)
		}
	}
	f, _ := at(t, "grants:\n- {tool: terminal, key: k, expires: 2026-11-22T12:00:01Z}\n")
	if !f.Covers(call) {
		t.Error("a grant does not hold until it expires")
	}
}

// TestGrantThatWouldNotHoldIsAnError adds one that has expired already.
func TestGrantThatWouldNotHoldIsAnError(t *testing.T) {
	t.Parallel()
	f, _ := at(t, "")
	late := build
	late.Expires = noon
	if err := f.Add(t.Context(), late); err == nil || !strings.Contains(err.Error(), "does not have the new permission") {
		t.Errorf("got %v", err)
	}
}

func TestProblemsAreReported(t *testing.T) {
	t.Parallel()
	_, path := at(t, "grants:\n- {tool: terminal}\n")
	var said []string
	permission.New(path, func(p string) { said = append(said, p) }, nil).Covers(build)
	if len(said) != 1 || !strings.Contains(said[0], permission.Name+":2") || !strings.Contains(said[0], "needs both tool and key") {
		t.Errorf("said %q", said)
	}
}

func TestUnattendedIsSetForOneGrant(t *testing.T) {
	t.Parallel()
	f, _ := at(t, "")
	other := build
	other.Key = "chmod"
	if err := f.Add(t.Context(), build, other); err != nil {
		t.Fatal(err)
	}
	list, _, _ := f.List()
	if err := f.SetUnattended(t.Context(), list[1].ID, true); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		grant hermes.Grant
		want  bool
	}{{build, false}, {other, true}} {
		if tt.grant.Unattended = true; f.Covers(tt.grant) != tt.want {
			t.Errorf("%s: covers %v, want %v", tt.grant.Key, !tt.want, tt.want)
		}
	}
	if err := f.SetUnattended(t.Context(), "none", true); !errors.Is(err, hermes.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

func TestTwoWritersLoseNothing(t *testing.T) {
	t.Parallel()
	f, path := at(t, "")
	var wg sync.WaitGroup
	for _, key := range []string{"a", "b", "c", "d", "e", "f"} {
		wg.Go(func() {
			other := permission.New(path, nil, nil)
			if err := other.Add(context.Background(), hermes.Grant{Tool: "terminal", Key: key}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if list, problems, err := f.List(); len(list) != 6 || len(problems) > 0 || err != nil {
		t.Errorf("kept %+v %v %v", list, problems, err)
	}
}

// TestALinkToNowhereStopsEveryCall: the rules that it led to are missing, also if there were none before.
func TestALinkToNowhereStopsEveryCall(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, permission.Name)
	f := permission.New(path, nil, nil)
	if p, unclear := (permission.Policies{f.Policy("/home/ada")}).Unclear(); unclear {
		t.Fatal(p)
	}
	if err := os.Symlink(filepath.Join(dir, "gone.yaml"), path); err != nil {
		t.Skip(err)
	}
	if p, unclear := (permission.Policies{f.Policy("/home/ada")}).Unclear(); !unclear || !strings.Contains(p.Text, "a link to a file that does not exist") {
		t.Errorf("%v, %v", p, unclear)
	}
}
