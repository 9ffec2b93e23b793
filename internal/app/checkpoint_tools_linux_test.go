package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
)

// begunThere is begun in a place.
func begunThere(t *testing.T, answer hermes.Decision) (*scene, *place) {
	t.Helper()
	s, p := newPlaceScene(t, answer)
	s.config = "terminal: {backend: docker, cwd: /mnt/home/project}\n"
	s.rights.Mode = hermes.ModeAsk
	p.put("home/project/a.txt", "old\n")
	p.put("home/project/mine.txt", "old\n")
	s.say(`CALL checkpoint {"name":"start"}`)
	s.say(`CALL read_file {"path":"a.txt"}`, `CALL patch {"path":"a.txt","old_string":"old","new_string":"new"}`, `CALL write_file {"path":"new.txt","content":"new\n"}`)
	p.put("home/project/mine.txt", "mine\n")
	if p.has("home/project/a.txt") != "new\n" || p.has("home/project/new.txt") != "new\n" || !strings.Contains(s.lastOf("checkpoint"), `"checkpoint":1,"name":"start"`) {
		t.Fatalf("%s %q", s.lastOf("checkpoint"), p.has("home/project/a.txt"))
	}
	s.asked = nil
	return s, p
}

// gone reports whether the place has no such file.
func (p *place) gone(name string) bool {
	_, err := os.Lstat(filepath.Join(p.root, name))
	return os.IsNotExist(err)
}

// TestModelUndoesItsChangesInAPlace as on this machine: the user sees the plan, the user's own changes stay,
// and what the model read before counts no more.
func TestModelUndoesItsChangesInAPlace(t *testing.T) {
	t.Parallel()
	s, p := begunThere(t, hermes.AllowOnce)
	s.say(callRestore)
	if len(s.asked) != 1 {
		t.Fatalf("asked %+v; %s", s.asked, s.lastOf("restore"))
	}
	if q := s.asked[0]; q.Tool != "restore" || !strings.Contains(q.Subject, "a.txt: changed") || !strings.Contains(q.Subject, "new.txt: deleted") ||
		!strings.Contains(q.Detail, "-new\n+old\n") || !strings.Contains(q.Detail, "kept: mine.txt (changed by you)") {
		t.Errorf("the question:\n%s\n%s", q.Subject, q.Detail)
	}
	if p.has("home/project/a.txt") != "old\n" || !p.gone("home/project/new.txt") || p.has("home/project/mine.txt") != "mine\n" {
		t.Errorf("%q %q; %s", p.has("home/project/a.txt"), p.has("home/project/mine.txt"), s.lastOf("restore"))
	}
	if got := s.lastOf("restore"); !strings.Contains(got, `"kept":[{"path":"mine.txt"`) || !strings.Contains(got, `"undo_with":`) {
		t.Errorf("the result: %s", got)
	}
	s.say(`CALL write_file {"path":"a.txt","content":"blind\n"}`)
	if got := s.lastOf("write_file"); !strings.Contains(got, "not written") || p.has("home/project/a.txt") != "old\n" {
		t.Errorf("after the restore: %s", got)
	}
	if strings.Contains(s.model.results(), "changed by others") {
		t.Errorf("the model is told of its own restore: %s", s.model.results())
	}
	s.say(`CALL restore {"checkpoint":"nothing"}`)
	if got := s.lastOf("restore"); !strings.Contains(got, "no such checkpoint") || !strings.Contains(got, "1 (start)") {
		t.Errorf("an unknown one: %s", got)
	}
	s.say(`CALL restore {"checkpoint":"start","files":["../other"]}`)
	if got := s.lastOf("restore"); !strings.Contains(got, "is not in /mnt/home/project") {
		t.Errorf("outside: %s", got)
	}
}

// TestARestoreInAPlaceIsWhatTheUserSaw: nothing is restored if the user refuses or a file changes meanwhile, and a
// conflict is shown.
func TestARestoreInAPlaceIsWhatTheUserSaw(t *testing.T) {
	t.Parallel()
	s, p := begunThere(t, hermes.Deny)
	s.say(callRestore)
	if p.has("home/project/a.txt") != "new\n" || p.has("home/project/new.txt") != "new\n" || len(s.asked) != 1 {
		t.Errorf("denied: %q; asked %d times", p.has("home/project/a.txt"), len(s.asked))
	}
	s.quit()
	s, p = begunThere(t, hermes.AllowOnce)
	s.asking = func() { p.put("home/project/a.txt", "newer, by the user\n") }
	s.say(callRestore)
	if got := s.lastOf("restore"); !strings.Contains(got, "nothing was restored") || p.has("home/project/a.txt") != "newer, by the user\n" || p.gone("home/project/new.txt") {
		t.Errorf("stale: %s; %q", got, p.has("home/project/a.txt"))
	}
	s.asking = nil
	s.say(`CALL restore {"checkpoint":"1"}`)
	if got := s.lastOf("restore"); !strings.Contains(got, `"conflicts":[{"path":"a.txt"`) || p.has("home/project/a.txt") != "newer, by the user\n" || !p.gone("home/project/new.txt") {
		t.Errorf("again: %s; %q", got, p.has("home/project/a.txt"))
	}
}

// TestModesAndRestoresInAPlace are those of this machine.
func TestModesAndRestoresInAPlace(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		mode  hermes.RightsMode
		asked int
		want  string
	}{
		{hermes.ModeAcceptEdits, 0, "old\n"}, {hermes.ModePlan, 0, "new\n"},
	} {
		s, p := begunThere(t, hermes.AllowOnce)
		if err := s.live.Do(t.Context(), hermes.From{Attends: true}, hermes.SetMode{Mode: tt.mode}); err != nil {
			t.Fatal(err)
		}
		s.say(callRestore)
		if len(s.asked) != tt.asked || p.has("home/project/a.txt") != tt.want {
			t.Errorf("%s: asked %d times, %q; %s", tt.mode, len(s.asked), p.has("home/project/a.txt"), s.lastOf("restore"))
		}
		s.quit()
	}
}

// TestRulesAndProtectedPathsHoldForRestoresInAPlace: those of the place; one file stops a restore of it, and of it
// alone. Scripts do not restore.
func TestRulesAndProtectedPathsHoldForRestoresInAPlace(t *testing.T) {
	t.Parallel()
	s, p := begunThere(t, hermes.AllowOnce)
	s.say(`CALL write_file {"path":"kept/x","content":"x\n"}`)
	s.asked = nil
	writeFile(t, filepath.Join(s.home, "permissions.yaml"), "rules:\n- deny: \"write_file: kept/**\"\n")
	s.say(callRestore)
	if got := s.lastOf("restore"); !strings.Contains(got, "BLOCKED") || p.has("home/project/kept/x") != "x\n" || p.has("home/project/a.txt") != "new\n" || len(s.asked) > 0 {
		t.Errorf("a rule: %s; asked %d times", got, len(s.asked))
	}
	s.say(`CALL restore {"checkpoint":"start","files":["/mnt/home/project/a.txt"]}`)
	if p.has("home/project/a.txt") != "old\n" || p.has("home/project/kept/x") != "x\n" {
		t.Errorf("another file: %s", s.lastOf("restore"))
	}
	out, _ := s.execute(`print(await hermes_tools.restore({"checkpoint":"start"}))`, map[string]any{"language": "javascript"})
	if !strings.Contains(out, "use it as a normal tool call instead") {
		t.Errorf("a script: %s", out)
	}
	s.quit()
	s, p = begunThere(t, hermes.AllowOnce)
	s.say(`CALL terminal {"command":"echo TOKEN=x > .env"}`)
	s.asked = nil
	s.say(callRestore)
	if got := s.lastOf("restore"); !strings.Contains(got, ".env") || p.has("home/project/.env") != "TOKEN=x\n" || p.has("home/project/a.txt") != "new\n" || len(s.asked) > 0 {
		t.Errorf("a protected file: %s; asked %d times", got, len(s.asked))
	}
}

// TestCheckpointsOfAPlaceHaveNames by which /rollback finds them, except where a file has that name, and a turn
// makes only so many.
func TestCheckpointsOfAPlaceHaveNames(t *testing.T) {
	t.Parallel()
	s, p := begunThere(t, hermes.AllowOnce)
	if asked := s.command("/rollback start"); !strings.Contains(asked.Text, "checkpoint 1") || !strings.Contains(asked.Text, "a.txt") || asked.Confirm == "" {
		t.Errorf("by name: %+v", asked)
	}
	p.put("home/project/start", "a file\n")
	if got := s.command("/rollback start"); got.Confirm != "" || !strings.Contains(got.Text, "Nothing to roll back") {
		t.Errorf("a file with that name: %+v", got)
	}
	if err := os.Remove(filepath.Join(p.root, "home/project/start")); err != nil {
		t.Fatal(err)
	}
	s.agreed("/rollback start")
	if p.has("home/project/a.txt") != "old\n" || !p.gone("home/project/new.txt") || p.has("home/project/mine.txt") != "mine\n" {
		t.Errorf("%q %q", p.has("home/project/a.txt"), p.has("home/project/mine.txt"))
	}
	var calls []string
	for i := range 7 {
		calls = append(calls, fmt.Sprintf(`CALL checkpoint {"name":"flood %c"}`, 'a'+i))
	}
	s.say(calls...)
	if got := s.lastOf("checkpoint"); !strings.Contains(got, "would push out older ones") {
		t.Errorf("the last one: %s", got)
	}
}

// TestAPlaceWithoutToolsRefusesCheckpoints and says what it lacks.
func TestAPlaceWithoutToolsRefusesCheckpoints(t *testing.T) {
	t.Parallel()
	s, p := newPlaceScene(t, hermes.AllowOnce)
	s.lacking(p)
	s.say(`CALL checkpoint {"name":"start"}`)
	if got := s.lastOf("checkpoint"); !strings.Contains(got, "it has no sha256sum-is-missing") {
		t.Errorf("got %s", got)
	}
}
