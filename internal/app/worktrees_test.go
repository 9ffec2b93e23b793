package app_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/session"
	"hermes/internal/trust"
	"hermes/internal/worktree"
)

// repository makes the folder of a scene a repository with a commit.
func (s *scene) repository() {
	s.t.Helper()
	real, err := filepath.EvalSymlinks(s.dir)
	if err != nil {
		s.t.Fatal(err)
	}
	s.dir = filepath.Join(real, "my project")
	s.write("a.txt", "one")
	s.git(s.dir, "init", "-q", "-b", "main")
	s.git(s.dir, "add", "-A")
	s.git(s.dir, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first")
}

func (s *scene) git(dir string, args ...string) string {
	s.t.Helper()
	c := exec.Command("git", args...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %v: %s", args, out)
	}
	return strings.TrimSpace(string(out))
}

// inWorktree makes a worktree and opens a new session there.
func (s *scene) inWorktree(name string) (*app.Worktrees, worktree.Made) {
	s.t.Helper()
	if s.app == nil {
		s.enter()
	}
	trees, err := s.app.Worktrees()
	if err != nil {
		s.t.Fatal(err)
	}
	m, err := trees.New(s.t.Context(), hermes.Workspace{Dir: s.dir}, name)
	if err != nil {
		s.t.Fatal(err)
	}
	s.dir = m.Start
	s.fresh()
	return trees, m
}

func read(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// TestCheckpointsOfWorktrees: a session in a worktree has its own, and those of the repository leave worktrees out.
func TestCheckpointsOfWorktrees(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.AllowOnce)
	s.repository()
	main := s.dir
	_, m := s.inWorktree("own")
	s.say(`CALL write_file {"path":"new.txt","content":"in the worktree"}`)
	s.dir = main
	s.fresh()
	s.say(`CALL write_file {"path":"other.txt","content":"in the repository"}`)
	store, err := s.app.Checkpoints()
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{m.Path, main} {
		w, err := store.List(dir)
		if err != nil || len(w.Snapshots) != 1 {
			t.Fatalf("%s: %+v %v", dir, w, err)
		}
		if got := w.Snapshots[0].Files; got != 1 {
			t.Errorf("%s: the snapshot has %d files", dir, got)
		}
	}
	changes, err := store.Diff(t.Context(), main, "1", "", nil)
	if err != nil || len(changes) != 1 || changes[0].Path != "other.txt" {
		t.Errorf("%+v %v", changes, err)
	}
}

// TestASessionWhoseWorktreeIsGoneRunsNothing elsewhere: it says what happened, and works there again when the worktree is back.
func TestASessionWhoseWorktreeIsGoneRunsNothing(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.AllowOnce)
	s.repository()
	trees, m := s.inWorktree("x")
	s.say("hello")
	var said string
	trees.End(t.Context(), func(text string) { said = text })
	if _, known := worktree.Uses(m.Path); !known {
		t.Skip("it is kept here")
	}
	if !strings.Contains(said, "was removed") {
		t.Fatalf("the end says %q", said)
	}
	s.quit()
	id := s.session
	s.session, s.dir = "", t.TempDir()
	s.enter()
	manager, err := s.app.Sessions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	open := session.Open{Run: hermes.RunSpec{Session: id}, From: hermes.From{Attends: true}}
	if _, err := manager.Open(t.Context(), open); err == nil || !strings.Contains(err.Error(), "removed by Hermes at") || !strings.Contains(err.Error(), m.Path) {
		t.Fatalf("it opens: %v", err)
	}
	if trees, err = s.app.Worktrees(); err != nil {
		t.Fatal(err)
	}
	notes, err := trees.Back(t.Context(), m.Start)
	if err != nil || len(notes) == 0 || !strings.Contains(notes[0], "made again") {
		t.Fatalf("%q %v", notes, err)
	}
	live, err := manager.Open(t.Context(), open)
	if err != nil || live.Workspace().Dir != m.Start {
		t.Errorf("%v", err)
	}
}

// TestAWorktreeIsTrustedAsItsRepository: settings that are the same are, others are not.
func TestAWorktreeIsTrustedAsItsRepository(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.AllowOnce)
	s.write("my project/.hermes/permissions.yaml", "rules:\n- {allow: 'terminal: rm -rf build'}")
	s.write("my project/sub/.hermes/permissions.yaml", "rules:\n- {deny: 'terminal: ls'}")
	s.repository()
	main := s.dir
	_, m := s.inWorktree("x")
	state := func(dir string) trust.State {
		t.Helper()
		_, d, err := s.app.Project(dir)
		if err != nil {
			t.Fatal(err)
		}
		return d.State
	}
	if got := state(m.Path); got != trust.Unknown {
		t.Errorf("before: %q", got)
	}
	p, _, err := s.app.Project(main)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.app.DecideTrust(t.Context(), p, trust.Trusted); err != nil {
		t.Fatal(err)
	}
	if got := state(m.Path); got != trust.Trusted {
		t.Errorf("the worktree: %q", got)
	}
	if got := state(filepath.Join(m.Path, "sub")); got != trust.Unknown {
		t.Errorf("a folder that was not decided about: %q", got)
	}
	s.dir = m.Path
	s.write("build/x", "x")
	s.asked = nil
	s.fresh()
	s.say(`CALL terminal {"command":"rm -rf build"}`)
	if len(s.asked) > 0 {
		t.Errorf("asked %+v", s.asked)
	}
	s.write(".hermes/permissions.yaml", "rules:\n- {allow: 'terminal: rm -rf *'}")
	if got := state(m.Path); got != trust.Unknown {
		t.Errorf("with other settings: %q", got)
	}
	if err := os.Remove(filepath.Join(m.Path, ".hermes", "permissions.yaml")); err != nil {
		t.Fatal(err)
	}
	if got := state(m.Path); got != trust.Trusted { // those of the repository hold, and no others
		t.Errorf("without own settings: %q", got)
	}
	copied := filepath.Join(main, "copied")
	s.dir = copied
	s.write(".hermes/permissions.yaml", "rules:\n- {allow: 'terminal: rm -rf build'}")
	s.write(".git", "gitdir: "+m.Own)
	if got := state(copied); got != trust.Unknown {
		t.Errorf("a folder that is no worktree: %q", got)
	}
}

// lodger is a tool that gives a child a task in a worktree, and says where that was.
type lodger struct{}

func (lodger) Name() string                     { return "lodger" }
func (lodger) Available(context.Context) string { return "" }
func (lodger) Tools(context.Context) ([]hermes.Tool, error) {
	type goal struct {
		Goal string `json:"goal"`
	}
	return []hermes.Tool{hermes.NewTool(hermes.Spec{Name: "lodge", Description: "Have a child do it.", Trusted: true},
		func(ctx context.Context, c *hermes.Call, g goal) (hermes.Result, error) {
			r, err := c.Host.Spawn(ctx, hermes.Task{Goal: g.Goal, Worktree: true})
			if err != nil {
				return hermes.Result{}, err
			}
			return hermes.JSONResult(r.Worktree)
		})}, nil
}

// TestAChildWorksInItsOwnWorktree on request, and with the setting: its parent's files stay as they are, and what it made is kept.
func TestAChildWorksInItsOwnWorktree(t *testing.T) {
	t.Parallel()
	for setting, tool := range map[string]string{"false": "lodge", "true": "errand"} {
		s := newScene(t, hermes.AllowOnce)
		s.config = "delegation: {worktree_isolation: " + setting + "}\n"
		s.options = func(o *app.Options) { o.Extra = append(o.Extra, lodger{}) }
		s.repository()
		task := func(goal string) string {
			raw, err := json.Marshal(map[string]string{"goal": goal})
			if err != nil {
				t.Fatal(err)
			}
			return "CALL " + tool + " " + string(raw)
		}
		s.say(task(`CALL write_file {"path":"new.txt","content":"of the child"}`))
		trees, err := s.app.Worktrees()
		if err != nil {
			t.Fatal(err)
		}
		all, err := trees.Records()
		if err != nil || len(all) != 1 || all[0].State != worktree.Ready {
			t.Fatalf("%s: %+v %v", tool, all, err)
		}
		if got := read(filepath.Join(all[0].Path, "new.txt")); got != "of the child" {
			t.Errorf("%s: the child wrote %q", tool, got)
		}
		if _, err := os.Stat(filepath.Join(s.dir, "new.txt")); err == nil {
			t.Errorf("%s: the child changed its parent's folder", tool)
		}
		if got := s.model.results(); tool == "lodge" && (!strings.Contains(got, all[0].Branch) || !strings.Contains(got, "new.txt")) {
			t.Errorf("the result is %s", got)
		}
		s.say(task("say hello"))
		if all, err = trees.Records(); err != nil || len(all) != 2 || all[0].State != worktree.Removed {
			if _, known := worktree.Uses(s.dir); known {
				t.Errorf("%s: after a child that changed nothing: %+v %v", tool, all, err)
			}
		}
	}
}

// TestAWorktreeNeedsThisMachine and a repository, if it is asked for.
func TestAWorktreeNeedsThisMachine(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.AllowOnce)
	s.options = func(o *app.Options) { o.Extra = append(o.Extra, lodger{}) }
	s.say(`CALL lodge {"goal":"say hello"}`)
	if got := s.model.results(); !strings.Contains(got, "not in a Git repository") {
		t.Errorf("the model reads %s", got)
	}
	trees, err := s.app.Worktrees()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := trees.Begin(t.Context(), hermes.RunSpec{Workspace: hermes.Workspace{Dir: s.dir, Backend: "docker"}}); err == nil || !strings.Contains(err.Error(), "work on this machine") {
		t.Errorf("%v", err)
	}
}

// TestTheChatMovesToANewWorktree: /worktree new gives a copy of the session whose prompt and tools are those of the
// new folder, also before the first message.
func TestTheChatMovesToANewWorktree(t *testing.T) {
	t.Parallel()
	for _, talked := range []bool{true, false} {
		s := newScene(t, hermes.AllowOnce)
		s.repository()
		s.enter()
		if talked {
			s.say("remember the word swordfish")
		}
		client := s.app.Local(nil)
		run := func(line string) hermes.CommandDone {
			t.Helper()
			if err := client.Command(t.Context(), s.session, hermes.From{Platform: "cli", Attends: true}, line); err != nil {
				t.Fatal(err)
			}
			for e := range s.events {
				if d, ok := e.(hermes.CommandDone); ok {
					return d
				}
			}
			t.Fatal("the session ended")
			return hermes.CommandDone{}
		}
		if d := run("/worktree list"); !strings.Contains(d.Text, "No worktrees") {
			t.Errorf("%+v", d)
		}
		d := run("/worktree new My Idea")
		at := filepath.Join(s.dir, ".worktrees", "my-idea")
		if d.Action != hermes.ActionSwitch || d.Arg == "" || !strings.Contains(d.Text, at) || !strings.Contains(d.Text, "hermes/my-idea") {
			t.Fatalf("%+v", d)
		}
		if d := run("/worktree"); !strings.Contains(d.Text, at) || !strings.Contains(d.Text, "nothing would be lost") {
			t.Errorf("%+v", d)
		}
		if d := run("/worktree prune"); d.Failure == nil {
			t.Errorf("%+v", d)
		}
		main := s.dir
		if err := s.live.Close(); err != nil {
			t.Fatal(err)
		}
		manager, err := s.app.Sessions(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if s.live, err = manager.Open(t.Context(), session.Open{Run: hermes.RunSpec{Session: d.Arg}, From: hermes.From{Attends: true}}); err != nil {
			t.Fatal(err)
		}
		s.session, s.dir = d.Arg, at
		s.events, _ = subscribe(s.live, 0)
		s.say(`CALL terminal {"command":"echo in $PWD; echo new > new.txt"}`)
		if got := s.model.results(); !strings.Contains(got, "in "+at) || strings.Contains(got, "swordfish") != talked {
			t.Errorf("the model reads %s", got)
		}
		if got := s.system(); !strings.Contains(got, at) {
			t.Errorf("the prompt is %s", got)
		}
		if _, err := os.Stat(filepath.Join(main, "new.txt")); err == nil || read(filepath.Join(at, "new.txt")) != "new\n" {
			t.Error("the command ran in the old folder")
		}
	}
}
