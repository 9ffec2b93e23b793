package checkpoint_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/checkpoint"
	hook "hermes/internal/hook/checkpoint"
)

// host is a session whose files are on this machine, or elsewhere.
type host struct {
	hermes.Host
	dir       string
	turn      int64
	elsewhere bool
	answers   int64
	told      *[]string
}

func (h host) Answers() int64         { return h.answers }
func (h host) Notify(n hermes.Notice) { *h.told = append(*h.told, string(n.Level)+": "+n.Text) }

func (h host) Session() hermes.SessionRef {
	return hermes.SessionRef{ID: "s1", Turn: h.turn, Dir: h.dir}
}
func (h host) Environment() hermes.Environment { return environment{host: h} }

type environment struct {
	hermes.Environment
	host host
}

func (e environment) Files() hermes.Files { return files{host: e.host} }

type files struct {
	hermes.Files
	host host
}

func (f files) OnHost() bool { return !f.host.elsewhere }

func (f files) Resolve(path string) (string, error) {
	if filepath.IsAbs(path) {
		return path, nil
	}
	return filepath.Join(f.host.dir, path), nil
}

// fixture is the hook over a real store and folder.
type fixture struct {
	t     *testing.T
	store *checkpoint.Store
	hook  hermes.Hook
	host  host
	calls int
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	f := &fixture{t: t, host: host{dir: filepath.Join(base, "home", "project"), turn: 1, told: new([]string)}}
	must(t, os.MkdirAll(f.host.dir, 0o755))
	home := filepath.Join(base, "home")
	f.store = checkpoint.New(checkpoint.Config{Folder: filepath.Join(base, "checkpoints"), Home: home})
	f.hook = hook.New(hook.Config{Stores: hook.NewStores(hook.StoresConfig{Here: f.store, Home: home})})
	return f
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// call runs a call with the hook around it.
func (f *fixture) call(tool string, arguments map[string]string, run func()) {
	f.t.Helper()
	args, err := json.Marshal(arguments)
	must(f.t, err)
	f.calls++
	c := &hermes.Call{ID: strings.Repeat("i", f.calls), Name: tool, Arguments: args, Host: f.host}
	must(f.t, f.hook.BeforeRun(f.t.Context(), c))
	run()
	f.hook.AfterTool(f.t.Context(), c, &hermes.Result{})
}

func (f *fixture) write(rel, text string) {
	f.t.Helper()
	must(f.t, os.WriteFile(filepath.Join(f.host.dir, rel), []byte(text), 0o644))
}

func (f *fixture) read(rel string) string {
	f.t.Helper()
	data, err := os.ReadFile(filepath.Join(f.host.dir, rel))
	must(f.t, err)
	return string(data)
}

func (f *fixture) snapshots() []checkpoint.Snapshot {
	f.t.Helper()
	w, err := f.store.List(f.host.dir)
	must(f.t, err)
	return w.Snapshots
}

// TestWhatTheAgentDidIsUndone with write_file, patch and commands, and what the user did is not.
func TestWhatTheAgentDidIsUndone(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, name := range []string{"written", "patched", "moved", "removed", "user"} {
		f.write(name, "old\n")
	}
	f.call("write_file", map[string]string{"path": "written", "content": "new"}, func() { f.write("written", "new\n") })
	f.call("patch", map[string]string{"mode": "patch", "patch": "*** Begin Patch\n*** Update File: patched\n@@\n-old\n+new\n*** Add File: added\n+x\n*** End Patch"}, func() {
		f.write("patched", "new\n")
		f.write("added", "x\n")
	})
	f.write("user", "mine\n")
	f.call("terminal", map[string]string{"command": "rm removed && mv moved there"}, func() {
		must(t, os.Remove(filepath.Join(f.host.dir, "removed")))
		must(t, os.Rename(filepath.Join(f.host.dir, "moved"), filepath.Join(f.host.dir, "there")))
	})
	all := f.snapshots()
	if len(all) != 1 || all[0].Reason != "before write_file written" || all[0].Session != "s1" || all[0].Turn != "1" {
		t.Fatalf("one snapshot per turn: got %+v", all)
	}
	p, err := f.store.Plan(t.Context(), f.host.dir, all[0].ID, checkpoint.RestoreOptions{})
	must(t, err)
	_, err = f.store.Restore(t.Context(), p, checkpoint.Meta{})
	must(t, err)
	for rel, want := range map[string]string{"written": "old\n", "patched": "old\n", "moved": "old\n", "removed": "old\n", "user": "mine\n"} {
		if got := f.read(rel); got != want {
			t.Errorf("%s: got %q, want %q", rel, got, want)
		}
	}
	for _, rel := range []string{"added", "there"} {
		if _, err := os.Stat(filepath.Join(f.host.dir, rel)); err == nil {
			t.Errorf("%s is there", rel)
		}
	}
}

func TestCommandsThatOnlyReadMakeNoSnapshot(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"ls -la": false, "cat a | grep b 2>/dev/null": false, "git status && git diff 2>&1": false, "cd src; pwd": false,
		"find . -name a": false, "echo $(cat a)": false, "sort a": false,
		"rm a": true, "rmdir d": true, "cp a b": true, "install a b": true, "mv a b": true, "sed -i s/a/b/ f": true, "truncate -s 0 a": true,
		"dd if=a of=b": true, "shred a": true, "echo x > a": true, "echo x >> a": true, "git reset --hard": true, "git clean -fd": true,
		"git checkout .": true, "find . -delete": true, "echo $(rm a)": true, "sudo rm a": true, "make": true, "python3 x.py": true,
		"sort -o a a": true, "ls; unknown-program": true, "bash -c 'rm a'": true, "ls | xargs rm": true, "git diff --output=a": true,
	}
	for command, want := range tests {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.write("a", "x")
			f.call("terminal", map[string]string{"command": command}, func() {})
			if got := len(f.snapshots()) > 0; got != want {
				t.Errorf("got a snapshot: %v, want %v", got, want)
			}
		})
	}
}

func TestFilesElsewhereAndRefusedFoldersAreNotSnapshotted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.host.elsewhere = true
	f.call("write_file", map[string]string{"path": "a"}, func() {})
	f.host.elsewhere = false
	f.host.dir = filepath.Dir(f.host.dir) // the home folder
	f.call("write_file", map[string]string{"path": ".bashrc"}, func() { f.write(".bashrc", "x") })
	f.call("terminal", map[string]string{"command": "rm x"}, func() {})
	if all, err := f.store.Workspaces(); err != nil || len(all) > 0 {
		t.Errorf("got %v, %v", all, err)
	}
	// A project below the home folder has its own, also if the session began above.
	must(t, os.MkdirAll(filepath.Join(f.host.dir, "project", ".git"), 0o755))
	f.call("write_file", map[string]string{"path": "project/a"}, func() { f.write("project/a", "x") })
	if all, err := f.store.Workspaces(); err != nil || len(all) != 1 || filepath.Base(all[0].Folder) != "project" {
		t.Errorf("got %v, %v", all, err)
	}
}

// TestASnapshotKnowsTheMessageThatItsTurnAnswers so that the same number of a turn, which comes
// again after an undo, has another snapshot.
func TestASnapshotKnowsTheMessageThatItsTurnAnswers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for i, message := range []int64{7, 7, 9} {
		f.host.answers = message
		f.call("write_file", map[string]string{"path": "a"}, func() { f.write("a", strings.Repeat("x", i+1)) })
	}
	var got []int64
	for _, s := range f.snapshots() {
		got = append(got, s.Position().Message)
	}
	if len(got) != 2 || got[0] != 7 || got[1] != 9 {
		t.Errorf("got snapshots of messages %v", got)
	}
}

// TestTheUserIsToldOnceWhatHasNoCheckpoint for each session and folder.
func TestTheUserIsToldOnceWhatHasNoCheckpoint(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.call("terminal", map[string]string{"command": "make"}, func() { f.write("a", "x") })
	if len(*f.host.told) > 0 {
		t.Errorf("told %q", *f.host.told)
	}
	project := f.host.dir
	f.host.dir = filepath.Dir(project) // the home folder
	for turn := range int64(3) {
		f.host.turn = turn
		f.call("terminal", map[string]string{"command": "make"}, func() {})
	}
	if told := *f.host.told; len(told) != 1 || !strings.Contains(told[0], "warning: Changes in "+f.host.dir+" cannot be rolled back: ") || !strings.Contains(told[0], "your home folder") {
		t.Errorf("told %q", told)
	}
	*f.host.told = nil
	f.host.dir = project
	f.store = checkpoint.New(checkpoint.Config{Folder: filepath.Join(t.TempDir(), "checkpoints"), Limits: checkpoint.Limits{FileSize: 100}})
	f.hook = hook.New(hook.Config{Stores: hook.NewStores(hook.StoresConfig{Here: f.store})})
	for size := range 3 {
		f.call("terminal", map[string]string{"command": "make"}, func() {
			for i := range 7 {
				f.write(strings.Repeat("big", i+1), strings.Repeat("x", 200+size))
			}
		})
	}
	if told := *f.host.told; len(told) != 1 || !strings.Contains(told[0], "big (too large)") || !strings.Contains(told[0], "and 2 more") {
		t.Errorf("told %q", told)
	}
	// A file that the call names is kept, however large it is.
	*f.host.told = nil
	f.host.dir = filepath.Join(project, "sub")
	must(t, os.MkdirAll(f.host.dir, 0o755))
	f.call("write_file", map[string]string{"path": "big"}, func() { f.write("big", strings.Repeat("x", 500)) })
	if len(*f.host.told) > 0 {
		t.Errorf("told %q", *f.host.told)
	}
}

// TestASessionThatIsOpenedAgainHasAnotherStore, since what ran in its place before is closed.
func TestASessionThatIsOpenedAgainHasAnotherStore(t *testing.T) {
	t.Parallel()
	made := 0
	s := hook.NewStores(hook.StoresConfig{Elsewhere: func(string, hermes.Environment) *checkpoint.Store {
		made++
		return nil
	}})
	h := host{dir: "/project", elsewhere: true, told: new([]string)}
	for range 2 {
		if _, _, err := s.Of(t.Context(), h); !errors.Is(err, hook.ErrNone) {
			t.Errorf("got %v", err)
		}
	}
	h.turn++ // another environment, for this test
	_, _, _ = s.Of(t.Context(), h)
	if made != 2 {
		t.Errorf("made %d stores, want 2", made)
	}
}
