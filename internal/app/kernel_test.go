package app_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"hermes"
)

// TestAKernelGoesAlongToAnotherFolder of the session, and does not mind another mode: its variables stay, and
// there is nothing to tell.
func TestAKernelGoesAlongToAnotherFolder(t *testing.T) {
	t.Parallel()
	s := scripts(t, hermes.AllowOnce)
	number := 0
	run := func(code, want string) {
		t.Helper()
		number++ // the scripted model makes no call twice
		code += fmt.Sprint("  # ", number)
		if out, status := s.execute(code, map[string]any{"keep": true}); out != want || status != "success" {
			t.Errorf("%s: got %q, %s, want %q", code, out, status, want)
		}
		var r struct{ Note string }
		if err := json.Unmarshal([]byte(s.lastOf("execute_code")), &r); err != nil || r.Note != "" {
			t.Errorf("%s: the note is %q, %v", code, r.Note, err)
		}
	}
	look := "print('n' in globals(), os.path.basename(os.getcwd()))"
	run("import os; n = 1", "")
	s.say(`CALL terminal {"command":"mkdir sub && cd sub"}`)
	run(look, "True sub\n")
	run("os.chdir('/')", "") // as the script wants it
	run(look, "True \n")
	if err := s.app.Local(nil).Do(t.Context(), s.session, user, hermes.SetMode{Mode: hermes.ModeAcceptEdits}); err != nil {
		t.Fatal(err)
	}
	s.say(`CALL terminal {"command":"mkdir below && cd below"}`)
	run(look, "True below\n")
}
