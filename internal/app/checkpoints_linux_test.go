package app_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/checkpoint"
	"hermes/internal/environment/remote"
)

// lastingRunner is a place that goes on without its sessions.
type lastingRunner struct{ placeRunner }

func (lastingRunner) Place() string { return "the machine of the test" }

// TestCheckpointsOfASessionElsewhereAreThere: what tools and commands change in a place can be undone from
// there, with the user's edits in between kept, and this machine keeps no content.
func TestCheckpointsOfASessionElsewhereAreThere(t *testing.T) {
	t.Parallel()
	s, p := newPlaceScene(t, hermes.AllowOnce)
	options := s.options
	s.options = func(o *app.Options) {
		options(o)
		o.Runner = func(name, session string) (remote.Runner, error) {
			if _, err := p.runner(name, session); err != nil {
				return nil, err
			}
			return lastingRunner{placeRunner{p}}, nil
		}
	}
	p.put("home/project/.git/HEAD", "ref: x\n")
	p.put("home/project/a.txt", "one\ntwo\nthree\nfour\nfive\n")
	p.put("home/project/b.txt", "secret-of-the-place\n")
	s.say(
		`CALL patch {"mode":"replace","path":"project/a.txt","old_string":"five","new_string":"FIVE"}`,
		`CALL terminal {"command":"cd project && rm b.txt && echo made > c.txt"}`,
		`CALL write_file {"path":"~/project/sub/d.txt","content":"made\n"}`,
	)
	if p.has("home/project/c.txt") != "made\n" || p.has("home/project/sub/d.txt") != "made\n" {
		t.Fatalf("the calls did not run: %s", s.model.results())
	}
	p.put("home/project/a.txt", strings.Replace(p.has("home/project/a.txt"), "one", "ONE", 1)) // the user
	at, err := s.app.CheckpointsAt(t.Context(), "", s.session)
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	w, err := at.List(at.Folder("project"))
	if err != nil || len(w.Snapshots) == 0 || w.Folder != "/mnt/home/project" {
		t.Fatalf("got %+v, %v", w, err)
	}
	plan, err := at.Plan(t.Context(), w.Folder, w.Snapshots[0].ID, checkpoint.RestoreOptions{})
	if err != nil || len(plan.Conflicts) > 0 {
		t.Fatalf("plan: %v, %v", plan.Conflicts, err)
	}
	did, err := at.Restore(t.Context(), plan, checkpoint.Meta{})
	if err != nil || len(did.Failed) > 0 {
		t.Fatalf("restore: %+v, %v", did, err)
	}
	if got := p.has("home/project/a.txt"); got != "ONE\ntwo\nthree\nfour\nfive\n" {
		t.Errorf("a.txt is %q", got)
	}
	if got := p.has("home/project/sub/d.txt"); !strings.Contains(got, "no such file") {
		t.Errorf("d.txt is still there: %q", got)
	}
	// A command whose folder is the home folder has no snapshot: what it did is the user's.
	if got := p.has("home/project/c.txt"); got != "made\n" {
		t.Errorf("c.txt is %q", got)
	}
	for _, kept := range []string{"home/.hermes", "home/.hermes/checkpoints"} {
		if info, err := os.Stat(filepath.Join(p.root, kept)); err != nil || kept != "home/.hermes" && info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", kept, info, err)
		}
	}
	err = filepath.WalkDir(s.home, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && strings.Contains(path, "checkpoints") {
			if data, err := os.ReadFile(path); err == nil && strings.Contains(string(data), "secret-of-the-place") {
				t.Errorf("%s has a content of the place", path)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestAPlaceWithoutCheckpointsIsToldOnce: calls run, and the user reads what the place lacks.
func TestAPlaceWithoutCheckpointsIsToldOnce(t *testing.T) {
	t.Parallel()
	s, p := newPlaceScene(t, hermes.AllowOnce)
	s.lacking(p)
	p.put("home/project/a.txt", "one\n")
	s.say(
		`CALL write_file {"path":"~/project/n.txt","content":"two\n"}`,
		`CALL terminal {"command":"echo x > project/b.txt","workdir":"project"}`,
		`CALL write_file {"path":"~/project/m.txt","content":"three\n"}`,
	)
	if got := p.has("home/project/m.txt"); got != "three\n" {
		t.Errorf("m.txt is %q", got)
	}
	var told []string
	for _, w := range s.warned {
		if strings.Contains(w, "cannot be rolled back") {
			told = append(told, w)
		}
	}
	if len(told) != 1 || !strings.Contains(told[0], "it has no sha256sum-is-missing") {
		t.Errorf("told: %q", told)
	}
	if _, err := s.app.CheckpointsAt(t.Context(), "", s.session); err == nil || !strings.Contains(err.Error(), "ends with its session") {
		t.Errorf("opened: %v", err)
	}
}

// lacking makes the place one without a tool that checkpoints need.
func (s *scene) lacking(p *place) {
	options := s.options
	s.options = func(o *app.Options) {
		options(o)
		o.Runner = func(name, session string) (remote.Runner, error) {
			return without{placeRunner{p}}, nil
		}
	}
}

// without is a place that has no sha256sum.
type without struct{ placeRunner }

func (w without) Exec(ctx context.Context, s remote.Script) (int, error) {
	s.Text = strings.Replace(s.Text, "cp mv sha256sum ", "cp mv sha256sum-is-missing ", 1)
	return w.placeRunner.Exec(ctx, s)
}

// TestASessionElsewhereIsRolledBackThere: files of its place and messages together, with the user's edits kept.
func TestASessionElsewhereIsRolledBackThere(t *testing.T) {
	t.Parallel()
	s, p := newPlaceScene(t, hermes.AllowOnce)
	s.config = "terminal: {backend: docker, cwd: /mnt/home/project}\n"
	p.put("home/project/a.txt", "one\ntwo\nthree\n")
	s.say("hello")
	s.say(`CALL patch {"mode":"replace","path":"a.txt","old_string":"three","new_string":"THREE"}`, `CALL terminal {"command":"echo made > sub.txt"}`)
	p.put("home/project/a.txt", strings.Replace(p.has("home/project/a.txt"), "one", "ONE", 1)) // the user
	if got := s.command("/diff").Text; !strings.Contains(got, "+THREE") || !strings.Contains(got, "sub.txt") {
		t.Errorf("/diff: %s", got)
	}
	if got := s.command("/diff --stat sub.txt").Text; strings.Contains(got, "a.txt") || !strings.Contains(got, "sub.txt") {
		t.Errorf("/diff of a path: %s", got)
	}
	if done := s.command("/diff sub.txt/../../elsewhere"); done.Failure == nil || !strings.Contains(done.Failure.Text, "is not in /mnt/home/project") {
		t.Errorf("/diff of another folder: %+v", done)
	}
	s.agreed("/rollback 1")
	if got := p.has("home/project/a.txt"); got != "ONE\ntwo\nthree\n" {
		t.Errorf("a.txt is %q", got)
	}
	if got := p.has("home/project/sub.txt"); !strings.Contains(got, "no such file") {
		t.Errorf("sub.txt is still there: %q", got)
	}
	if got := s.said(); len(got) != 1 {
		t.Errorf("the messages are %q", got)
	}
	if _, ok, err := s.records().CutOff(s.session); ok || err != nil {
		t.Errorf("a record of the rollback is left: %v", err)
	}

	// Undoing that brings both back from there.
	done := s.agreed("/rollback 2")
	contains(t, "the outcome", done.Text, "messages are back in the conversation")
	if got := p.has("home/project/a.txt") + p.has("home/project/sub.txt"); got != "ONE\ntwo\nTHREE\nmade\n" {
		t.Errorf("the files are %q", got)
	}
	if got := s.said(); len(got) != 2 {
		t.Errorf("the messages are %q", got)
	}
}

// records is the store of this machine, which knows the rollbacks that have begun.
func (s *scene) records() *checkpoint.Store {
	s.t.Helper()
	store, err := s.app.Checkpoints()
	if err != nil {
		s.t.Fatal(err)
	}
	return store
}
