package app_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hermes"
)

// TestTheUserIsAskedOnceWhetherAProjectIsTrusted: when its settings would allow a call. A no is kept as a yes is, until the settings
// change; where no user can be asked, the project stays untrusted.
func TestTheUserIsAskedOnceWhetherAProjectIsTrusted(t *testing.T) {
	t.Parallel()
	const ( // the model makes no call twice
		remove  = `CALL terminal {"command":"rm -rf build"}`
		again   = `CALL terminal {"command":"rm -rf build","timeout":11}`
		changed = `CALL terminal {"command":"rm -rf build","timeout":12}`
	)
	play := func(t *testing.T, answer hermes.Decision) (s *scene, say func(line string) (asked []string, gone bool)) {
		s = newScene(t, answer)
		s.write(".git/HEAD", "ref: refs/heads/main")
		s.write(".hermes/permissions.yaml", "rules:\n- {allow: 'terminal: rm -rf build'}")
		return s, func(line string) ([]string, bool) {
			s.write("build/x", "x")
			s.asked = nil
			s.say(line)
			var asked []string
			for _, a := range s.asked {
				kind := "call"
				if a.Risks[0].Key == "trust-project" {
					kind = "trust"
					if !strings.Contains(a.Detail, "rm -rf build") || !strings.Contains(a.Detail, "Hash: ") || len(a.Session)+len(a.Always) > 0 {
						t.Errorf("the question is %+v", a)
					}
				}
				asked = append(asked, kind)
			}
			_, err := os.Stat(filepath.Join(s.dir, "build"))
			return asked, os.IsNotExist(err)
		}
	}
	fresh := func(s *scene) { s.quit(); s.session = "" }
	check := func(t *testing.T, step string, asked []string, gone bool, want string, wantGone bool) {
		t.Helper()
		if strings.Join(asked, " ") != want || gone != wantGone {
			t.Errorf("%s: asked %q, the folder is gone: %v; want %q, %v", step, asked, gone, want, wantGone)
		}
	}
	t.Run("yes", func(t *testing.T) {
		t.Parallel()
		s, say := play(t, hermes.AllowOnce)
		asked, gone := say(remove)
		check(t, "first", asked, gone, "trust", true)
		asked, gone = say(again)
		check(t, "again", asked, gone, "", true)
		fresh(s)
		asked, gone = say(remove)
		check(t, "in another session", asked, gone, "", true)
		asked, gone = say(`CALL terminal {"command":"rm -rf build/x build"}`)
		check(t, "another call", asked, gone, "call", true)
		s.write(".hermes/permissions.yaml", "rules:\n- {allow: 'terminal: rm -rf build'}\n# changed")
		asked, gone = say(changed)
		check(t, "after a change", asked, gone, "trust", true)
	})
	t.Run("no", func(t *testing.T) {
		t.Parallel()
		s, say := play(t, hermes.Deny)
		asked, gone := say(remove)
		check(t, "first", asked, gone, "trust call", false)
		asked, gone = say(again)
		check(t, "again", asked, gone, "call", false)
		fresh(s)
		asked, gone = say(remove)
		check(t, "in another session", asked, gone, "call", false)
	})
	t.Run("no one there", func(t *testing.T) {
		t.Parallel()
		s, say := play(t, "")
		asked, gone := say(remove)
		check(t, "first", asked, gone, "", false)
		s.answer = hermes.AllowOnce
		fresh(s)
		asked, gone = say(remove)
		check(t, "with a user", asked, gone, "trust", true)
	})
	t.Run("a child", func(t *testing.T) {
		t.Parallel()
		_, say := play(t, hermes.AllowOnce)
		asked, gone := say(`CALL errand {"goal":"CALL terminal {\"command\":\"rm -rf build\"}"}`)
		check(t, "first", slices.DeleteFunc(asked, func(a string) bool { return a == "call" }), gone, "", true)
	})
	t.Run("nothing that it would allow", func(t *testing.T) {
		t.Parallel()
		_, say := play(t, hermes.AllowOnce)
		asked, gone := say(`CALL terminal {"command":"rm -r -f build"}`)
		check(t, "first", asked, gone, "call", true)
		asked, gone = say(remove)
		check(t, "then what it would", asked, gone, "trust", true)
	})
}
