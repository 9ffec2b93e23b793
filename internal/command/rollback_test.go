package command_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/checkpoint"
	"hermes/internal/command"
	"hermes/internal/session"
)

// kept are stored sessions.
type kept map[string]hermes.Session

func (k kept) Find(_ context.Context, ref string) (hermes.Session, error) {
	if s, ok := k[ref]; ok {
		return s, nil
	}
	return hermes.Session{}, hermes.ErrNotFound
}

func (k kept) List(context.Context, hermes.SessionFilter) ([]hermes.Session, error) { return nil, nil }

func (k kept) Search(context.Context, hermes.SearchQuery) ([]hermes.Hit, error) { return nil, nil }

func (k kept) BranchAt(_ context.Context, ref, title string, before int64) (hermes.Session, error) {
	return hermes.Session{ID: fmt.Sprintf("%s before %d", ref, before), Title: title}, nil
}

func (k kept) Moved(_ context.Context, row hermes.Session, _ string) (hermes.Session, error) {
	return row, nil
}

// folder is a workspace with one snapshot, after which the agent wrote a file.
func folder(t *testing.T, m checkpoint.Meta) (dir string, s *checkpoint.Store, at time.Time) {
	t.Helper()
	at = time.Date(2026, 11, 28, 9, 30, 0, 0, time.UTC)
	dir = t.TempDir()
	s = checkpoint.New(checkpoint.Config{Folder: filepath.Join(t.TempDir(), "checkpoints"), Now: func() time.Time { return at }})
	if _, _, err := s.Snapshot(t.Context(), dir, m, checkpoint.SnapshotOptions{}); err != nil {
		t.Fatal(err)
	}
	w, err := s.Begin(t.Context(), dir, "write_file", []string{"a.txt"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("new\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := w.Done(t.Context()); err != nil {
		t.Fatal(err)
	}
	return dir, s, at
}

// TestRollbackFindsTheMessagesSinceACheckpoint by the message that its turn answers, or by time for
// children and for the session before a branch; else messages stay, and it says why.
func TestRollbackFindsTheMessagesSinceACheckpoint(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 28, 9, 30, 0, 0, time.UTC)
	said := func(id int64, after time.Duration) hermes.Message {
		m := hermes.UserText(fmt.Sprint("message ", id))
		m.ID, m.Time = id, at.Add(after)
		return m
	}
	answer := func(id int64, after time.Duration) hermes.Message {
		m := said(id, after)
		m.Role = hermes.RoleAssistant
		return m
	}
	summary := hermes.UserText("what was said")
	summary.ID, summary.Parts[0].Anchors = 50, &hermes.Anchors{}
	whole := []hermes.Message{said(1, -9*time.Minute), answer(2, -8*time.Minute), said(3, -time.Minute), answer(4, time.Minute), said(5, 2*time.Minute)}
	sessions := kept{
		"me": {ID: "me", Parent: "before", Started: at.Add(time.Minute)}, "before": {ID: "before"}, "child": {ID: "child", Platform: "subagent", Parent: "me"},
		"copy": {ID: "copy", Parent: "me", Started: at.Add(-time.Hour)},
	}
	tests := map[string]struct {
		meta  checkpoint.Meta
		list  []hermes.Message
		from  int64
		back  string // the ids of what comes back
		only  bool   // nothing goes for it
		early bool   // the branch began before the checkpoint
		stays string
	}{
		"by its message":           {meta: checkpoint.Meta{Session: "me", At: []byte(`{"message":3}`)}, list: whole, from: 3},
		"the message was undone":   {meta: checkpoint.Meta{Session: "me", At: []byte(`{"message":2}`)}, list: []hermes.Message{whole[0], whole[4]}, from: 5},
		"all since was undone":     {meta: checkpoint.Meta{Session: "me", At: []byte(`{"message":9}`)}, list: whole, stays: "undone already"},
		"it was compressed":        {meta: checkpoint.Meta{Session: "me", At: []byte(`{"message":3}`)}, list: []hermes.Message{summary, whole[4]}, stays: "compressed"},
		"before the branch":        {meta: checkpoint.Meta{Session: "before", At: []byte(`{"message":77}`)}, list: whole, from: 3},
		"after the branch":         {meta: checkpoint.Meta{Session: "before", At: []byte(`{"message":1}`)}, list: whole, early: true, stays: "another conversation"},
		"of a child":               {meta: checkpoint.Meta{Session: "child", At: []byte(`{"message":1}`)}, list: whole, from: 3},
		"of a branch":              {meta: checkpoint.Meta{Session: "copy", At: []byte(`{"message":1}`)}, list: whole, stays: "another conversation"},
		"of a stranger":            {meta: checkpoint.Meta{Session: "other", At: []byte(`{"message":1}`)}, list: whole, stays: "another conversation"},
		"it undoes a rollback":     {meta: checkpoint.Meta{Session: "me", At: []byte(`{"replaced":{"after":2,"messages":[8,9]}}`)}, list: whole, from: 3, back: "[8 9]"},
		"half of it is back":       {meta: checkpoint.Meta{Session: "me", At: []byte(`{"replaced":{"after":2,"messages":[3,8]}}`)}, list: whole[:3], back: "[8]", only: true},
		"of all messages":          {meta: checkpoint.Meta{Session: "me", At: []byte(`{"replaced":{"messages":[8]}}`)}, list: whole, from: 1, back: "[8]"},
		"that, compressed":         {meta: checkpoint.Meta{Session: "me", At: []byte(`{"replaced":{"messages":[8]}}`)}, list: []hermes.Message{summary}, stays: "compressed"},
		"compressed before it":     {meta: checkpoint.Meta{Session: "me", At: []byte(`{"replaced":{"after":2,"messages":[8]}}`)}, list: []hermes.Message{summary, whole[4]}, stays: "compressed"},
		"those before are undone":  {meta: checkpoint.Meta{Session: "me", At: []byte(`{"replaced":{"after":7,"messages":[8]}}`)}, list: whole, stays: "those before them were undone"},
		"they are back":            {meta: checkpoint.Meta{Session: "me", At: []byte(`{"replaced":{"after":2,"messages":[3,4,5]}}`)}, list: whole, stays: "as they were at the checkpoint"},
		"they are not stored":      {meta: checkpoint.Meta{Session: "me", At: []byte(`{"replaced":{"after":2,"messages":[8,10]}}`)}, list: whole, stays: "not stored any more"},
		"a rollback of another":    {meta: checkpoint.Meta{Session: "other", At: []byte(`{"replaced":{"after":2,"messages":[8]}}`)}, list: whole, stays: "another conversation"},
		"a rollback before it":     {meta: checkpoint.Meta{Session: "before", At: []byte(`{"replaced":{"after":2,"messages":[8]}}`)}, list: whole, stays: "made by a rollback"},
		"of files, before it":      {meta: checkpoint.Meta{Session: "before"}, list: whole, stays: "made by a rollback"},
		"they were compressed":     {meta: checkpoint.Meta{Session: "me", At: []byte(`{"replaced":{"after":2,"messages":[8,10]}}`)}, list: []hermes.Message{whole[0], whole[1], summary, whole[4]}, stays: "compressed"},
		"of no session":            {meta: checkpoint.Meta{Reason: "by hand"}, list: whole, stays: "no conversation"},
		"made by a tool":           {meta: checkpoint.Meta{Session: "me", Turn: "2"}, list: whole, from: 3},
		"before a rollback":        {meta: checkpoint.Meta{Session: "me"}, list: whole, stays: "by a rollback"},
		"damaged":                  {meta: checkpoint.Meta{Session: "me", At: []byte(`"x"`)}, list: whole, stays: "by a rollback"},
		"before all of a branch's": {meta: checkpoint.Meta{Session: "before", Turn: "1"}, list: whole[4:], stays: "none of them was written before"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, store, _ := folder(t, tt.meta)
			sessions := maps.Clone(sessions)
			if me := sessions["me"]; tt.early {
				me.Started = at.Add(-time.Hour)
				sessions["me"] = me
			}
			f := &fake{undone: []hermes.Message{said(8, 3*time.Minute), answer(9, 4*time.Minute)}, state: session.State{Row: hermes.Session{ID: "me", Dir: dir}, Transcript: tt.list}}
			call := command.Call{Session: f, Where: command.Messenger, Checkpoints: store, Sessions: func(context.Context) (command.Sessions, error) { return sessions, nil }}
			r, err := command.Run(t.Context(), "/rollback 1", call)
			if err != nil || r.Confirm == "" || !strings.Contains(r.Text, tt.stays) || (tt.from == 0 && tt.back == "") != strings.Contains(r.Text, "The messages stay: ") {
				t.Fatalf("%v, asks %q:\n%s", err, r.Confirm, r.Text)
			}
			if r, err = command.Run(t.Context(), r.ConfirmLine, call); err != nil || r.Confirm != "" {
				t.Fatalf("%v, asks %q", err, r.Confirm)
			}
			if len(f.rolled) != 1 || f.rolled[0] != tt.from {
				t.Errorf("removed messages from %v on, want %d", f.rolled, tt.from)
			}
			if got := fmt.Sprint(f.back); tt.back != "" && got != tt.back || tt.back == "" && len(f.back) > 0 {
				t.Errorf("brought back %s, want %q", got, tt.back)
			}
			if kept := strings.Contains(r.Text, "What was said since is in `me before 0`"); kept != (tt.back != "" && !tt.only) {
				t.Errorf("kept what was said since is %v:\n%s", kept, r.Text)
			}
			if _, err := os.Stat(filepath.Join(dir, "a.txt")); err == nil {
				t.Error("the file is still there")
			}
		})
	}
}

// TestRollbackKeepsTheRecordOfWhatIsNotDone so that the user is told later.
func TestRollbackKeepsTheRecordOfWhatIsNotDone(t *testing.T) {
	t.Parallel()
	dir, store, _ := folder(t, checkpoint.Meta{Session: "me", At: []byte(`{"message":1}`)})
	m := hermes.UserText("do it")
	m.ID = 1
	f := &notUndone{fake{state: session.State{Row: hermes.Session{ID: "me", Dir: dir}, Transcript: []hermes.Message{m}}}}
	call := command.Call{Session: f, Where: command.Terminal, Checkpoints: store, Confirmed: true}
	if _, err := command.Run(t.Context(), "/rollback 1", call); err == nil || !strings.Contains(err.Error(), "the messages are as they were") {
		t.Errorf("got %v", err)
	}
	cut, ok, err := store.CutOff("me")
	if err != nil || !ok || cut.Number != 1 || cut.Message != 1 {
		t.Errorf("the record is %+v, %v, %v", cut, ok, err)
	}
	call.Session = &f.fake
	if _, err := command.Run(t.Context(), "/rollback 1", call); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := store.CutOff("me"); ok || err != nil {
		t.Errorf("the record stays: %v", err)
	}
}

// TestRollbackRemovesNothingThatItDidNotShow: another client may have said something until the rollback
// has the session for itself.
func TestRollbackRemovesNothingThatItDidNotShow(t *testing.T) {
	t.Parallel()
	dir, store, _ := folder(t, checkpoint.Meta{Session: "me", At: []byte(`{"message":1}`)})
	m, late := hermes.UserText("do it"), hermes.UserText("in another window")
	m.ID, late.ID = 1, 2
	f := &undoing{fake: &fake{state: session.State{Row: hermes.Session{ID: "me", Dir: dir}, Transcript: []hermes.Message{m}}}}
	f.meanwhile = func() { f.state.Transcript = []hermes.Message{m, late} }
	call := command.Call{Session: f, Where: command.Terminal, Checkpoints: store}
	asked, err := command.Run(t.Context(), "/rollback 1", call)
	if err != nil || asked.Confirm == "" {
		t.Fatalf("%+v, %v", asked, err)
	}
	again, err := command.Run(t.Context(), asked.ConfirmLine, call)
	if err != nil || again.Confirm == "" || !strings.Contains(again.Text, "nothing was done") || !strings.Contains(again.Text, "in another window") || f.removed {
		t.Fatalf("removed: %v, %v, asks %q:\n%s", f.removed, err, again.Confirm, again.Text)
	}
	if _, err := os.Stat(filepath.Join(dir, "a.txt")); err != nil {
		t.Error("a file was restored")
	}
	if _, ok, err := store.CutOff("me"); ok || err != nil {
		t.Errorf("it counts as cut off: %v", err)
	}
	f.meanwhile = nil
	if r, err := command.Run(t.Context(), again.ConfirmLine, call); err != nil || r.Confirm != "" || !f.removed {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestRollbackKeepsMessagesOfFilesThatWereNotRestored and names the files.
func TestRollbackKeepsMessagesOfFilesThatWereNotRestored(t *testing.T) {
	t.Parallel()
	dir, store, _ := folder(t, checkpoint.Meta{Session: "me", At: []byte(`{"message":1}`)})
	snap, _, err := store.Snapshot(t.Context(), dir, checkpoint.Meta{Session: "me", At: []byte(`{"message":1}`)}, checkpoint.SnapshotOptions{Always: true})
	if err != nil {
		t.Fatal(err)
	}
	w, err := store.Begin(t.Context(), dir, "write_file", []string{"a.txt"})
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("a.txt"))
	inTheWay := filepath.Join(dir, ".hermes-restore-"+hex.EncodeToString(sum[:])[:12]+".tmp", "x")
	for _, err := range []error{os.WriteFile(filepath.Join(dir, "a.txt"), []byte("newer\n"), 0o600), w.Done(t.Context()), os.MkdirAll(inTheWay, 0o700)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	m := hermes.UserText("do it")
	m.ID = 1
	f := &fake{state: session.State{Row: hermes.Session{ID: "me", Dir: dir}, Transcript: []hermes.Message{m}}}
	kept := &undoing{fake: f}
	r, err := command.Run(t.Context(), fmt.Sprint("/rollback ", snap.Number), command.Call{Session: kept, Where: command.Terminal, Checkpoints: store, Confirmed: true})
	if err != nil || !strings.Contains(r.Text, "`a.txt` was not restored") || !strings.Contains(r.Text, "The messages stay") || kept.removed {
		t.Errorf("%v, removed: %v\n%s", err, kept.removed, r.Text)
	}
	if _, ok, err := store.CutOff("me"); ok || err != nil {
		t.Errorf("it counts as cut off: %v", err)
	}
}

// undoing is a session that knows whether messages were removed.
type undoing struct {
	*fake
	removed   bool
	meanwhile func() // before it has the session for itself, if set
}

func (f *undoing) Rollback(ctx context.Context, from int64, back []int64, files func(context.Context) error) error {
	if f.meanwhile != nil {
		f.meanwhile()
	}
	err := files(ctx)
	f.removed = err == nil && from != 0
	return err
}

// TestRollbackTakesNamesOfFilesFirst: the model gives names to checkpoints, also those of files.
// Of equal names the newest is meant, and a name may have blanks.
func TestRollbackTakesNamesOfFilesFirst(t *testing.T) {
	t.Parallel()
	dir, store, _ := folder(t, checkpoint.Meta{Session: "me", At: []byte(`{"message":1}`)})
	for _, name := range []string{"a.txt", "before it", "before it", "before"} {
		if _, _, err := store.Snapshot(t.Context(), dir, checkpoint.Meta{Session: "me", Turn: "1", Name: name}, checkpoint.SnapshotOptions{Always: true}); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := store.Snapshot(t.Context(), dir, checkpoint.Meta{Reason: "of none"}, checkpoint.SnapshotOptions{Always: true}); err != nil {
		t.Fatal(err)
	}
	m := hermes.UserText("do it")
	m.ID = 1
	f := &fake{state: session.State{Row: hermes.Session{ID: "me", Dir: dir}, Transcript: []hermes.Message{m}}}
	call := command.Call{Session: f, Where: command.Terminal, Checkpoints: store}
	r, err := command.Run(t.Context(), "/rollback tree", call)
	if err != nil || !strings.Contains(r.Text, "  before it\n") || !strings.Contains(r.Text, "  of none\n") {
		t.Errorf("the tree: %v\n%s", err, r.Text)
	}
	for line, want := range map[string]string{
		"/rollback a.txt": "Roll back to checkpoint 1**", "/rollback before it": "checkpoint 4**", "/rollback before": "checkpoint 5**", "/rollback before it a.txt": "checkpoint 4**",
	} {
		r, err := command.Run(t.Context(), line, call)
		if err != nil || !strings.Contains(r.Text, want) || strings.Contains(line, "a.txt") != strings.Contains(r.Text, "\nThe messages stay.\n") {
			t.Errorf("%s: %v, want %q:\n%s", line, err, want, r.Text)
		}
	}
}

// notUndone is a session whose messages cannot be undone after the files were restored.
type notUndone struct{ fake }

func (f *notUndone) Rollback(ctx context.Context, _ int64, _ []int64, files func(context.Context) error) error {
	if err := files(ctx); err != nil {
		return err
	}
	return session.ErrNotUndone
}

func TestRollbackAndDiffSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	dir, store, _ := folder(t, checkpoint.Meta{Session: "other"})
	f := &fake{state: session.State{Row: hermes.Session{ID: "me", Dir: dir}, Transcript: talk()}}
	call := command.Call{Session: f, Where: command.Messenger, Checkpoints: store}
	for line, want := range map[string]string{
		"/rollback 7": "no checkpoint 7", "/rollback a.txt": "no checkpoint of this session", "/rollback 1 /etc/passwd": "is not in",
		"/rollback --force": "unknown option", "/rollback branch 1": "cannot switch", "/diff --cached": "unknown option", "/diff staged": "git is not available",
		"/rollback diff 9": "no checkpoint 9",
	} {
		if _, err := command.Run(t.Context(), line, call); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", line, err, want)
		}
	}
	call.Checkpoints = nil
	if _, err := command.Run(t.Context(), "/rollback", call); err == nil {
		t.Error("without a store")
	}
	elsewhere := f.state
	elsewhere.Row.Run.Workspace.Backend = "docker"
	call.Checkpoints, call.Session = store, &fake{state: elsewhere}
	if _, err := command.Run(t.Context(), "/rollback", call); err == nil || !strings.Contains(err.Error(), "hermes checkpoints --session me") {
		t.Errorf("elsewhere: %v", err)
	}
	if len(f.rolled) > 0 {
		t.Errorf("rolled back %v", f.rolled)
	}
}
