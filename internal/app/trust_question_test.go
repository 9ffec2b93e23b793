package app_test

import (
	"os"
	"path/filepath"
	"runtime"
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
		check(t, "after a change, and the output of commands", asked, gone, "call", true)
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

// TestTheQuestionOfTrustSaysWhatTheSessionMayHaveDone to the settings. After untrusted text and a change it is not put.
func TestTheQuestionOfTrustSaysWhatTheSessionMayHaveDone(t *testing.T) {
	t.Parallel()
	const (
		remove  = `CALL terminal {"command":"rm -rf build"}`
		read    = `CALL read_file {"path":"notes.md"}`
		write   = `CALL write_file {"path":"other.txt","content":"x"}`
		started = "since this session began"
		foreign = "read text that you may not have written (read_file notes.md)"
		rules   = ".hermes/permissions.yaml"
	)
	change := func(s *scene) { s.write(rules, "rules:\n- {allow: 'terminal: rm -rf build'}\n# changed") }
	for name, tt := range map[string]struct {
		first     string // what the session does first
		then      func(s *scene)
		trust     bool // the user is asked whether the settings are trusted
		says, not []string
	}{
		"nothing happened":           {first: write, trust: true, not: []string{started, foreign}},
		"text was read":              {first: read, trust: true, says: []string{foreign}, not: []string{started}},
		"they changed":               {first: write, then: change, trust: true, says: []string{started}, not: []string{foreign}},
		"both":                       {first: read, then: change, says: []string{started, foreign, "hermes trust"}},
		"text was read, and resumed": {first: read, then: (*scene).quit, trust: true, says: []string{foreign}, not: []string{started}},
		"both, and resumed":          {first: read, then: func(s *scene) { change(s); s.quit() }, says: []string{started, foreign, "hermes trust"}},
		"moved, and resumed": {first: read, then: func(s *scene) {
			for _, names := range [][2]string{{".hermes", "away"}, {"stranger", ".hermes"}} {
				if err := os.Rename(filepath.Join(s.dir, names[0]), filepath.Join(s.dir, names[1])); err != nil {
					t.Fatal(err)
				}
			}
			s.quit()
		}, says: []string{started, foreign, "hermes trust"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if strings.HasPrefix(name, "moved") && runtime.GOOS != "linux" {
				t.Skip("the time of a folder may not tell that it was moved")
			}
			s := newScene(t, hermes.AllowOnce)
			s.write(".git/HEAD", "ref: refs/heads/main")
			s.write(rules, "rules:\n- {allow: 'terminal: rm -rf build'}")
			s.write("stranger/permissions.yaml", "rules:\n- {allow: 'terminal: rm -rf build'}")
			s.write("build/x", "x")
			s.say(tt.first)
			if s.asked = nil; tt.then != nil {
				tt.then(s)
			}
			s.say(remove)
			if len(s.asked) != 1 || (s.asked[0].Risks[0].Key == "trust-project") != tt.trust {
				t.Fatalf("asked %+v", s.asked)
			}
			reason := s.asked[0].Risks[0].Reason
			for _, w := range tt.says {
				if !strings.Contains(reason, w) {
					t.Errorf("%q does not say %q", reason, w)
				}
			}
			for _, w := range tt.not {
				if strings.Contains(reason, w) {
					t.Errorf("%q says %q", reason, w)
				}
			}
		})
	}
}
