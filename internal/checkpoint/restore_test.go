package checkpoint_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/internal/checkpoint"
)

func TestTheUsersEditsAreKept(t *testing.T) {
	t.Parallel()
	d := newDesk(t, checkpoint.Limits{})
	text := "top\n1\n2\n3\n4\nbottom\n"
	d.write(map[string]string{"agent": "old", "user": "old", "both": text, "clash": "old\n", "removed": "old", "mode": "old"})
	s := d.snapshot()
	d.agent(func() {
		d.write(map[string]string{"agent": "new", "both": strings.Replace(text, "bottom", "AGENT", 1), "clash": "agent\n", "made": "new", "mode": "new"})
		must(t, os.Remove(d.path("removed")))
	})
	// the user works on
	d.write(map[string]string{"user": "mine", "both": "USER\n1\n2\n3\n4\nAGENT\n", "clash": "user\n", "removed": "mine", "extra": "mine"})
	must(t, os.Chmod(d.path("mode"), 0o700))
	plan, _ := d.restore(s, checkpoint.RestoreOptions{})
	for rel, want := range map[string]string{
		"agent": "old", "user": "mine", "both": "USER\n1\n2\n3\n4\nbottom\n", "clash": "user\n", "removed": "mine", "extra": "mine", "mode": "old",
	} {
		if got := d.read(rel); got != want {
			t.Errorf("%s: got %q, want %q", rel, got, want)
		}
	}
	if info, err := os.Stat(d.path("mode")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the user's mode is gone: %v, %v", info.Mode(), err)
	}
	if _, err := os.Stat(d.path("made")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what the agent made is there: %v", err)
	}
	if got := fmt.Sprint(plan.Conflicts); got != "[{clash you and the agent changed it in the same lines} {removed you and the agent changed it}]" {
		t.Errorf("conflicts: %s", got)
	}
	if got := fmt.Sprint(plan.Yours); got != "[{extra changed by you} {user changed by you}]" {
		t.Errorf("yours: %s", got)
	}
}

// TestAnEditBetweenTwoWritesOfTheAgentIsKept: the agent's last write has the user's edit in it.
func TestAnEditBetweenTwoWritesOfTheAgentIsKept(t *testing.T) {
	t.Parallel()
	d := newDesk(t, checkpoint.Limits{})
	set := func(top, middle, bottom string) {
		d.write(map[string]string{"f": top + "\n-\n-\n" + middle + "\n-\n-\n" + bottom + "\n"})
	}
	set("a", "b", "c")
	s := d.snapshot()
	d.agent(func() { set("AGENT", "b", "c") }, "f")
	set("AGENT", "USER", "c")
	d.agent(func() { set("AGENT", "USER", "AGENT") }, "f")
	d.restore(s, checkpoint.RestoreOptions{})
	if got, want := d.read("f"), "a\n-\n-\nUSER\n-\n-\nc\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestARestoreOfSomePathsTouchesNoOthers(t *testing.T) {
	t.Parallel()
	d := newDesk(t, checkpoint.Limits{})
	d.write(map[string]string{"a/1": "old", "a/2": "old", "b": "old"})
	s := d.snapshot()
	d.agent(func() { d.write(map[string]string{"a/1": "new", "a/2": "new", "b": "new"}) })
	d.restore(s, checkpoint.RestoreOptions{Paths: []string{"a/1"}})
	if got := d.read("a/1") + d.read("a/2") + d.read("b"); got != "oldnewnew" {
		t.Errorf("got %s", got)
	}
	d.restore(s, checkpoint.RestoreOptions{Paths: []string{"a"}})
	if got := d.read("a/1") + d.read("a/2") + d.read("b"); got != "oldoldnew" {
		t.Errorf("got %s", got)
	}
}

func TestAFolderThatTheAgentRemovedComesBackWhole(t *testing.T) {
	t.Parallel()
	d := newDesk(t, checkpoint.Limits{})
	d.write(map[string]string{"src/a/x": "1", "src/a/y": "2", "src/b": "3"})
	must(t, os.Mkdir(d.path("src/empty"), 0o750))
	must(t, os.Symlink("a/x", d.path("src/l")))
	must(t, os.Chmod(d.path("src/a/x"), 0o400))
	must(t, os.Chmod(d.path("src/a"), 0o500))
	t.Cleanup(func() { os.Chmod(d.path("src/a"), 0o700) })
	before := d.dump()
	s := d.snapshot()
	d.agent(func() {
		must(t, os.Chmod(d.path("src/a"), 0o700))
		must(t, os.RemoveAll(d.path("src")))
		must(t, os.WriteFile(d.path("src"), []byte("a file now"), 0o644))
	})
	d.restore(s, checkpoint.RestoreOptions{})
	same(t, "restored", d.dump(), before)
	// A folder that may not be written to is opened meanwhile.
	must(t, os.Chmod(d.path("src/a"), 0o700))
	d.agent(func() {
		must(t, os.Remove(d.path("src/a/x")))
		d.write(map[string]string{"src/a/y": "changed", "src/a/z": "new"})
	})
	must(t, os.Chmod(d.path("src/a"), 0o500))
	d.restore(s, checkpoint.RestoreOptions{})
	same(t, "restored in a folder that is closed", d.dump(), before)
}

// TestIgnoredFilesSurvive, also if the rule that ignored them is gone now.
func TestIgnoredFilesSurvive(t *testing.T) {
	t.Parallel()
	d := newDesk(t, checkpoint.Limits{})
	d.write(map[string]string{".gitignore": "data/\n*.o\n", "data/precious": "1", "x.o": "2", "src/y.o": "3", "src/f": "4"})
	s := d.snapshot()
	d.agent(func() {
		d.write(map[string]string{".gitignore": "nothing\n"})
		must(t, os.Remove(d.path("src/f")))
	})
	plan, _ := d.restore(s, checkpoint.RestoreOptions{All: true})
	if len(plan.Steps) != 2 {
		t.Errorf("got steps %v", plan.Steps)
	}
	if got := d.read("data/precious") + d.read("x.o") + d.read("src/y.o") + d.read("src/f"); got != "1234" {
		t.Errorf("got %s", got)
	}
}

func TestAPlanThatIsOldIsNotApplied(t *testing.T) {
	t.Parallel()
	d := newDesk(t, checkpoint.Limits{})
	d.write(map[string]string{"f": "old", "g": "old"})
	s := d.snapshot()
	d.agent(func() { d.write(map[string]string{"f": "new", "g": "new"}) })
	p := d.plan(s, checkpoint.RestoreOptions{})
	d.write(map[string]string{"f": "typed meanwhile"})
	if _, err := d.store.Restore(t.Context(), p, checkpoint.Meta{}); !errors.Is(err, checkpoint.ErrStale) {
		t.Errorf("got %v", err)
	}
	if got := d.read("f") + d.read("g"); got != "typed meanwhilenew" {
		t.Errorf("got %q", got)
	}
}

func TestSnapshotsFormATree(t *testing.T) {
	t.Parallel()
	d := newDesk(t, checkpoint.Limits{})
	d.write(map[string]string{"f": "0"})
	one := d.snapshot()
	d.agent(func() { d.write(map[string]string{"f": "1"}) })
	two := d.snapshot()
	_, did := d.restore(one, checkpoint.RestoreOptions{})
	d.agent(func() { d.write(map[string]string{"f": "other way"}) })
	branch := d.snapshot()
	if branch.Parent != one.ID || two.Parent != one.ID || did.Before.Parent != two.ID {
		t.Errorf("parents: %q, %q, %q, want %q twice and %q", two.Parent, branch.Parent, did.Before.Parent, one.ID, two.ID)
	}
	d.restore(did.Before, checkpoint.RestoreOptions{})
	if got := d.read("f"); got != "1" {
		t.Errorf("the other branch: got %q", got)
	}
}

// TestADamagedContentIsReported and the others are restored.
func TestADamagedContentIsReported(t *testing.T) {
	t.Parallel()
	d := newDesk(t, checkpoint.Limits{})
	noise := "\x00\x01not text\xff"
	d.write(map[string]string{"bad": noise, "good": "old"})
	s := d.snapshot()
	packs, err := filepath.Glob(filepath.Join(d.at, "*", "packs", "*.pack"))
	must(t, err)
	for _, p := range packs {
		data, err := os.ReadFile(p)
		must(t, err)
		// it is too short to be compressed
		if i := strings.Index(string(data), "not text"); i >= 0 {
			data[i] ^= 1
		}
		must(t, os.WriteFile(p, data, 0o600))
	}
	d.agent(func() { d.write(map[string]string{"bad": "new", "good": "new"}) })
	p := d.plan(s, checkpoint.RestoreOptions{})
	r, err := d.store.Restore(t.Context(), p, checkpoint.Meta{})
	must(t, err)
	if d.read("good") != "old" || d.read("bad") != "new" {
		t.Errorf("got good %q, bad %q", d.read("good"), d.read("bad"))
	}
	if len(p.Conflicts)+len(r.Failed) != 1 {
		t.Errorf("the damage was not reported: %v, %v", p.Conflicts, r.Failed)
	}
}

func TestPruneKeepsTheLimits(t *testing.T) {
	t.Parallel()
	now := time.Now()
	d := newDesk(t, checkpoint.Limits{})
	clock := func(l checkpoint.Limits) *checkpoint.Store {
		return checkpoint.New(checkpoint.Config{Folder: d.at, Limits: l, Now: func() time.Time { return now }})
	}
	noise := func(seed int) string {
		var b strings.Builder
		for i := range 20_000 {
			fmt.Fprintf(&b, "%x", (i+1)*(seed+7919)*104729%1_000_003)
		}
		return b.String()
	}
	d.store = clock(checkpoint.Limits{Snapshots: 3})
	var all []checkpoint.Snapshot
	for i := range 6 {
		d.write(map[string]string{"f": noise(i)})
		all = append(all, d.snapshot())
	}
	w, err := d.store.List(d.dir)
	must(t, err)
	if len(w.Snapshots) != 3 || w.Snapshots[0].ID != all[3].ID || w.Snapshots[0].Parent != "" {
		t.Errorf("got %v", w.Snapshots)
	}
	p, err := d.store.Prune(t.Context())
	must(t, err)
	if p.Freed <= 0 {
		t.Errorf("nothing was freed: %+v", p)
	}
	d.restore(all[3], checkpoint.RestoreOptions{All: true})
	if d.read("f") != noise(3) {
		t.Error("a needed content was pruned")
	}
	limit := p.Size * 3 / 4
	d.store = clock(checkpoint.Limits{TotalSize: limit})
	if p, err = d.store.Prune(t.Context()); err != nil || p.Size > limit || p.Snapshots == 0 {
		t.Errorf("total size: got %+v, %v, want at most %d", p, err, limit)
	}
	now = now.Add(8 * 24 * time.Hour)
	d.store = clock(checkpoint.Limits{Age: 7 * 24 * time.Hour, Interval: time.Hour})
	if p, err = d.store.PruneIfDue(t.Context()); err != nil || p.Snapshots == 0 {
		t.Errorf("age: got %+v, %v", p, err)
	}
	if left, err := d.store.Workspaces(); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	d.snapshot()
	now = now.Add(30 * time.Minute)
	d.store = clock(checkpoint.Limits{Age: time.Minute, Interval: time.Hour})
	if p, err = d.store.PruneIfDue(t.Context()); err != nil || p.Snapshots != 0 {
		t.Errorf("it was pruned twice in an interval: %+v, %v", p, err)
	}
}

// TestAPruneThatFailedIsDueSooner than one that was done, but not at once.
func TestAPruneThatFailedIsDueSooner(t *testing.T) {
	t.Parallel()
	now := time.Now()
	d := newDesk(t, checkpoint.Limits{})
	d.snapshot()
	store := checkpoint.New(checkpoint.Config{Folder: d.at, Limits: checkpoint.Limits{Interval: 24 * time.Hour}, Now: func() time.Time { return now }})
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := store.PruneIfDue(cancelled); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	for _, step := range []struct {
		after time.Duration
		due   bool
	}{{59 * time.Minute, false}, {2 * time.Minute, true}, {2 * time.Hour, false}, {22*time.Hour + time.Minute, true}} {
		now = now.Add(step.after)
		if p, err := store.PruneIfDue(t.Context()); err != nil || p.Due != step.due {
			t.Errorf("after another %v: due is %v, %v", step.after, p.Due, err)
		}
	}
}

// whatIsGone is about a step from a link to a file whose content is damaged after it was planned: the
// link is gone and the file does not come. damage does the damage, and undoes it the second time.
func whatIsGone(t *testing.T, d *desk, damage func()) {
	t.Helper()
	d.write(map[string]string{"f": "\x00\x01not text"})
	s := d.snapshot()
	d.agent(func() {
		must(t, os.Remove(d.path("f")))
		must(t, os.Symlink("elsewhere", d.path("f")))
	})
	p := d.plan(s, checkpoint.RestoreOptions{})
	damage()
	r, err := d.store.Restore(t.Context(), p, checkpoint.Meta{})
	must(t, err)
	if _, err := os.Lstat(d.path("f")); len(r.Failed) != 1 || !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("failed: %v, f: %v", r.Failed, err)
	}
	damage()
	if p := d.plan(s, checkpoint.RestoreOptions{}); len(p.Steps) != 1 || len(p.Yours)+len(p.Conflicts) != 0 {
		t.Errorf("again: %+v", p)
	}
	d.restore(r.Before, checkpoint.RestoreOptions{})
	if to, err := os.Readlink(d.path("f")); err != nil || to != "elsewhere" {
		t.Errorf("after undoing the restore it leads to %q, %v", to, err)
	}
}

func TestWhatAFailedStepRemovedDoesNotCountAsTheUsers(t *testing.T) {
	t.Parallel()
	d := newDesk(t, checkpoint.Limits{})
	whatIsGone(t, d, func() {
		packs, err := filepath.Glob(filepath.Join(d.at, "*", "packs", "*.pack"))
		must(t, err)
		for _, p := range packs {
			data, err := os.ReadFile(p)
			must(t, err)
			if i := strings.Index(string(data), "ot text"); i > 0 { // it is too short to be compressed
				data[i-1] ^= 1
			}
			must(t, os.WriteFile(p, data, 0o600))
		}
	})
}
