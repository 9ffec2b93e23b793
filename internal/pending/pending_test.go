package pending_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes/internal/pending"
)

var errNone = errors.New("none")

type proposal struct {
	At   time.Time
	Text string
}

func newFolder(t *testing.T) (pending.Folder, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pending", "notes")
	return pending.Folder{Path: func() (string, error) { return path, nil }, What: "note", List: "hermes note pending", None: errNone}, path
}

func TestWhatIsAddedWaitsUntilItIsRejected(t *testing.T) {
	t.Parallel()
	f, _ := newFolder(t)
	if ids, err := f.Waiting(); err != nil || len(ids) > 0 {
		t.Errorf("a folder that is not there: %q, %v", ids, err)
	}
	for id, text := range map[string]string{"a1": "one", "b2": "two"} {
		if err := f.Add(id, proposal{Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	var p proposal
	if err := f.Read("b2", &p); err != nil || p.Text != "two" {
		t.Errorf("read %+v, %v", p, err)
	}
	if err := f.Reject("a1"); err != nil {
		t.Error(err)
	}
	if ids, err := f.Waiting(); err != nil || !slices.Equal(ids, []string{"b2"}) {
		t.Errorf("after a rejection: %q, %v", ids, err)
	}
	for what, err := range map[string]error{"read": f.Read("a1", &p), "rejected": f.Reject("a1")} {
		if !errors.Is(err, errNone) || !strings.Contains(err.Error(), "there is no pending note \"a1\"; `hermes note pending` lists them") {
			t.Errorf("%s again: %v", what, err)
		}
	}
}

func TestAnIDNamesNoFileElsewhere(t *testing.T) {
	t.Parallel()
	f, path := newFolder(t)
	outside := filepath.Join(filepath.Dir(path), "x.json")
	if err := f.Add("a1", proposal{}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(outside, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"../x", `..\x`, "", ".", "/x", "A1"} {
		for _, err := range []error{f.Add(id, proposal{}), f.Read(id, &proposal{}), f.Reject(id)} {
			if !errors.Is(err, errNone) {
				t.Errorf("%q: %v", id, err)
			}
		}
	}
	if _, err := os.Stat(outside); err != nil {
		t.Error(err)
	}
}

// TestADamagedOneKeepsNoOtherFromTheUser: it is left out of lists and can be rejected.
func TestADamagedOneKeepsNoOtherFromTheUser(t *testing.T) {
	t.Parallel()
	f, path := newFolder(t)
	day := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	for id, at := range map[string]time.Time{"a": day.AddDate(0, 0, 1), "b": day} {
		if err := f.Add(id, proposal{at, id}); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(path, "c.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	read := func(id string) (p proposal, err error) {
		err = f.Read(id, &p)
		return p, err
	}
	if _, err := read("c"); err == nil || !strings.Contains(err.Error(), "damaged; reject it") {
		t.Errorf("read: %v", err)
	}
	list, err := pending.All(f, read, func(p proposal) time.Time { return p.At })
	if err != nil || len(list) != 2 || list[0].Text != "b" || list[1].Text != "a" {
		t.Errorf("the list is %+v, %v, want the oldest first", list, err)
	}
	if ids, err := f.Waiting(); err != nil || !slices.Equal(ids, []string{"a", "b", "c"}) {
		t.Errorf("%q, %v", ids, err)
	}
	if err := f.Reject("c"); err != nil {
		t.Error(err)
	}
}
