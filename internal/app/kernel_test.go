package app_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"hermes"
)

// TestAKernelDoesNotOutliveTheBoundsOfItsSession: in another folder or mode a script has no
// variables of before, and the model reads why.
func TestAKernelDoesNotOutliveTheBoundsOfItsSession(t *testing.T) {
	t.Parallel()
	s := scripts(t, hermes.AllowOnce)
	keep := map[string]any{"keep": true}
	note := func() string {
		t.Helper()
		results := s.results("execute_code")
		var r struct{ Note string }
		if err := json.Unmarshal([]byte(results[len(results)-1]), &r); err != nil {
			t.Fatal(err)
		}
		return r.Note
	}
	number := 0
	run := func(code, want string) {
		t.Helper()
		number++ // the scripted model makes no call twice
		code += fmt.Sprint("  # ", number)
		if out, status := s.execute(code, keep); out != want || status != "success" {
			t.Errorf("%s: got %q, %s, want %q", code, out, status, want)
		}
	}
	look := "import os; print('n' in globals(), os.path.basename(os.getcwd()) == 'sub')"
	run("n = 1", "")
	run(look, "True False\n")
	s.say(`CALL terminal {"command":"mkdir sub && cd sub"}`)
	run(look, "False True\n")
	contains(t, "the note", note(), "The variables that were kept before this script are lost, since scripts run in ", "/sub now, no longer in ")
	run("n = 1", "")
	run(look, "True True\n")
	if got := note(); got != "" {
		t.Errorf("the note is %q without a change", got)
	}
	if err := s.app.Local(nil).Do(t.Context(), s.session, user, hermes.SetMode{Mode: hermes.ModeAcceptEdits}); err != nil {
		t.Fatal(err)
	}
	run(look, "False True\n")
	if got := note(); !strings.Contains(got, "in mode accept-edits now") {
		t.Errorf("the note is %q", got)
	}
}

// results are the results of a tool in the transcript.
func (s *scene) results(tool string) []string {
	s.t.Helper()
	db, err := s.app.Database(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	list, err := db.Messages(s.t.Context(), s.session, hermes.Range{})
	if err != nil {
		s.t.Fatal(err)
	}
	var out []string
	for _, m := range list {
		if m.ToolName == tool {
			out = append(out, m.Text())
		}
	}
	return out
}
