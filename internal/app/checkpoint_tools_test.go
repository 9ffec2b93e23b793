package app_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hermes"
)

// lastOf returns the last result of a tool.
func (s *scene) lastOf(tool string) string {
	s.t.Helper()
	out := ""
	for _, m := range s.messages() {
		if m.ToolName == tool {
			out = m.Text()
		}
	}
	return out
}

const callRestore = `CALL restore {"checkpoint":"start"}`

// begun is a session that made the checkpoint start and then changed a.txt and made new.txt,
// while the user changed mine.txt.
func begun(t *testing.T, answer hermes.Decision) *scene {
	t.Helper()
	s := newScene(t, answer)
	s.rights.Mode = hermes.ModeAsk
	s.write("a.txt", "old")
	s.write("mine.txt", "old")
	s.say(`CALL checkpoint {"name":"start"}`)
	s.say(`CALL read_file {"path":"a.txt"}`, `CALL patch {"path":"a.txt","old_string":"old","new_string":"new"}`, `CALL write_file {"path":"new.txt","content":"new\n"}`)
	s.write("mine.txt", "mine")
	if s.file("a.txt") != "new\n" || s.file("new.txt") != "new\n" || len(s.asked) > 0 {
		t.Fatalf("%q %q %v", s.file("a.txt"), s.file("new.txt"), s.asked)
	}
	return s
}

// TestModelUndoesItsChanges: the user sees what a restore will do, the user's own changes stay,
// and what the model read of the files before counts no more.
func TestModelUndoesItsChanges(t *testing.T) {
	t.Parallel()
	s := begun(t, hermes.AllowOnce)
	if got := s.lastOf("checkpoint"); !strings.Contains(got, `"checkpoint":1`) {
		t.Errorf("checkpoint: %s", got)
	}
	s.say(callRestore)
	if len(s.asked) != 1 {
		t.Fatalf("asked %+v", s.asked)
	}
	if q := s.asked[0]; q.Tool != "restore" || !strings.Contains(q.Subject, "a.txt: changed") || !strings.Contains(q.Subject, "new.txt: deleted") ||
		!strings.Contains(q.Detail, "-new\n+old\n") || !strings.Contains(q.Detail, "kept: mine.txt (changed by you)") {
		t.Errorf("the question:\n%s\n%s", q.Subject, q.Detail)
	}
	if s.file("a.txt") != "old\n" || s.file("new.txt") != "none" || s.file("mine.txt") != "mine\n" {
		t.Errorf("%q %q %q", s.file("a.txt"), s.file("new.txt"), s.file("mine.txt"))
	}
	var r struct {
		Restored []struct{ Path, Change string }
		Kept     []struct{ Path, Why string }
		Undo     int `json:"undo_with"`
	}
	if err := json.Unmarshal([]byte(s.lastOf("restore")), &r); err != nil || len(r.Restored) != 2 || len(r.Kept) != 1 || r.Undo == 0 {
		t.Errorf("%s: %v", s.lastOf("restore"), err)
	}
	s.say(`CALL write_file {"path":"a.txt","content":"blind\n"}`)
	if got := s.lastOf("write_file"); !strings.Contains(got, "not written") || s.file("a.txt") != "old\n" {
		t.Errorf("after the restore: %s", got)
	}
	if strings.Contains(s.model.results(), "changed by others") {
		t.Errorf("the model is told of its own restore: %s", s.model.results())
	}
	s.say(`CALL restore {"checkpoint":"nothing"}`)
	if got := s.lastOf("restore"); !strings.Contains(got, "no such checkpoint") || !strings.Contains(got, "1 (start)") {
		t.Errorf("an unknown one: %s", got)
	}
}

// TestARestoreIsWhatTheUserSaw: nothing is restored if the user refuses, or if a file changes
// while the question is open.
func TestARestoreIsWhatTheUserSaw(t *testing.T) {
	t.Parallel()
	s := begun(t, hermes.Deny)
	s.say(callRestore)
	if s.file("a.txt") != "new\n" || s.file("new.txt") != "new\n" || len(s.asked) != 1 {
		t.Errorf("denied: %q %q", s.file("a.txt"), s.file("new.txt"))
	}
	s.quit()
	s = begun(t, hermes.AllowOnce)
	s.asking = func() { s.write("a.txt", "newer, by the user") }
	s.say(callRestore)
	if got := s.lastOf("restore"); !strings.Contains(got, "nothing was restored") || s.file("a.txt") != "newer, by the user\n" || s.file("new.txt") != "new\n" {
		t.Errorf("stale: %s; %q %q", got, s.file("a.txt"), s.file("new.txt"))
	}
	s.asking = nil
	s.say(`CALL restore {"checkpoint":"1"}`)
	if got := s.lastOf("restore"); !strings.Contains(got, `"conflicts":[{"path":"a.txt"`) || s.file("a.txt") != "newer, by the user\n" || s.file("new.txt") != "none" {
		t.Errorf("again: %s; %q %q", got, s.file("a.txt"), s.file("new.txt"))
	}
}

// TestModesAndRestores: what changes files in the folder runs by itself where edits do, and
// not in plan mode.
func TestModesAndRestores(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		mode  hermes.RightsMode
		asked int
		want  string
	}{
		{hermes.ModeAcceptEdits, 0, "old\n"}, {hermes.ModeYolo, 0, "old\n"}, {hermes.ModePlan, 0, "new\n"}, {hermes.ModeAsk, 1, "old\n"},
	} {
		s := begun(t, hermes.AllowOnce)
		if err := s.live.Do(t.Context(), hermes.From{Attends: true}, hermes.SetMode{Mode: tt.mode}); err != nil {
			t.Fatal(err)
		}
		s.say(callRestore)
		if len(s.asked) != tt.asked || s.file("a.txt") != tt.want {
			t.Errorf("%s: asked %d times, %q; %s", tt.mode, len(s.asked), s.file("a.txt"), s.lastOf("restore"))
		}
		s.quit()
	}
}

// TestRulesForWritesHoldForRestores: one file that may not be written stops a restore of it,
// and of it alone.
func TestRulesForWritesHoldForRestores(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{"write_file: kept/**", "patch: kept/**", "file.write: kept/**", "file.*: kept/x", "restore"} {
		s := begun(t, hermes.AllowOnce)
		s.say(`CALL write_file {"path":"kept/x","content":"x\n"}`)
		writeFile(t, filepath.Join(s.home, "permissions.yaml"), "rules:\n- deny: \""+rule+"\"\n")
		s.say(callRestore)
		if got := s.lastOf("restore"); !strings.Contains(got, "BLOCKED") || s.file("kept/x") != "x\n" || s.file("a.txt") != "new\n" || len(s.asked) > 0 {
			t.Errorf("%s: %s", rule, got)
		}
		if rule != "restore" {
			s.say(`CALL restore {"checkpoint":"start","files":["a.txt"]}`)
			if s.file("a.txt") != "old\n" || s.file("kept/x") != "x\n" {
				t.Errorf("%s, another file: %s", rule, s.lastOf("restore"))
			}
		}
		s.quit()
	}
	s := begun(t, hermes.AllowOnce)
	writeFile(t, filepath.Join(s.home, "permissions.yaml"), "rules:\n- allow: \"file.write\"\n")
	s.say(callRestore)
	if len(s.asked) != 1 {
		t.Error("a rule that allows writes allowed a restore")
	}
}

// TestProtectedFilesAreNotRestored: what file tools may not write, no restore writes.
func TestProtectedFilesAreNotRestored(t *testing.T) {
	t.Parallel()
	s := begun(t, hermes.AllowOnce)
	s.say(`CALL terminal {"command":"echo TOKEN=x > .env"}`)
	if s.file(".env") != "TOKEN=x\n" {
		t.Fatal(s.lastOf("terminal"))
	}
	s.asked = nil
	s.say(callRestore)
	if got := s.lastOf("restore"); !strings.Contains(got, ".env") || s.file(".env") != "TOKEN=x\n" || s.file("a.txt") != "new\n" || len(s.asked) > 0 {
		t.Errorf("%s; %q; asked %d times", got, s.file(".env"), len(s.asked))
	}
}

// TestTheModelPushesNoCheckpointsOut: a turn makes only so many, so that older ones stay.
func TestTheModelPushesNoCheckpointsOut(t *testing.T) {
	t.Parallel()
	s := begun(t, hermes.AllowOnce)
	calls := make([]string, 0, 25)
	for i := range 25 {
		calls = append(calls, fmt.Sprintf(`CALL checkpoint {"name":"flood %c"}`, 'a'+i))
	}
	s.say(calls...)
	if got := s.lastOf("checkpoint"); !strings.Contains(got, "would push out older ones") {
		t.Errorf("the last one: %s", got)
	}
	w, err := s.store().List(s.dir)
	if err != nil || len(w.Snapshots) == 0 || w.Snapshots[0].Name != "start" || len(w.Snapshots) > 10 {
		t.Errorf("%v, %d checkpoints", err, len(w.Snapshots))
	}
	s.say(`CALL checkpoint {"name":"next turn"}`)
	if got := s.lastOf("checkpoint"); !strings.Contains(got, "next turn") {
		t.Errorf("in the next turn: %s", got)
	}
}

// TestScriptsDoNotRestore: the user would not see whose restore it is.
func TestScriptsDoNotRestore(t *testing.T) {
	t.Parallel()
	s := begun(t, hermes.AllowOnce)
	out, _ := s.execute(`print(await hermes_tools.restore({"checkpoint":"start"}))`, map[string]any{"language": "javascript"})
	if !strings.Contains(out, "use it as a normal tool call instead") || s.file("a.txt") != "new\n" {
		t.Errorf("%s; %q", out, s.file("a.txt"))
	}
}

// TestWithoutCheckpointsThereAreNoTools for them.
func TestWithoutCheckpointsThereAreNoTools(t *testing.T) {
	t.Parallel()
	for _, on := range []string{"true", "false"} {
		s := newScene(t, hermes.AllowOnce)
		s.config = "checkpoints: {enabled: " + on + "}\n"
		s.say("hello")
		st, err := s.live.State(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		has := slices.ContainsFunc(st.Tools, func(spec hermes.Spec) bool {
			return spec.Name == hermes.SearchTool && strings.Contains(spec.Description, "checkpoint (2 tools)")
		})
		if has != (on == "true") {
			t.Errorf("checkpoints.enabled %s: the tools are there: %v", on, has)
		}
		s.quit()
	}
}
