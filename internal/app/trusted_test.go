package app_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hermes"
)

// trusting is a scene with a user who denies everything and trusts the folder.
func trusting(t *testing.T) *scene {
	s := newScene(t, hermes.Deny)
	s.config = fmt.Sprintf("security: {trusted_folders: [%q]}\n", s.dir)
	return s
}

// TestMemoryDoesNotAskInATrustedFolder has sessions that read only what the user chose.
// A skill is more than a memory: it asks even then.
func TestMemoryDoesNotAskInATrustedFolder(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string][]string{
		"a file":                    {readNotes},
		"a search":                  {`CALL search_files {"pattern":"Notes"}`},
		"a command":                 {`CALL terminal {"command":"cat notes.md | head -3"}`},
		"a command that fails":      {`CALL terminal {"command":"cat missing.txt"}`, readNotes},
		"a patch":                   {readNotes, `CALL patch {"path":"notes.md","old_string":"Notes.","new_string":"My notes."}`},
		"more than four of its own": {readNotes, `CALL terminal {"command":"ls"}`, `CALL terminal {"command":"pwd"}`, `CALL terminal {"command":"wc -l notes.md"}`, `CALL terminal {"command":"cat notes.md"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := trusting(t)
			s.write("AGENTS.md", "Be brief.")
			s.say(lines...)
			s.quit() // the mark is stored with the messages
			s.say(obey)
			if kept := s.kept(); !slices.Equal(kept, []string{"learning", "memory"}) {
				t.Errorf("kept %q", kept)
			}
			for _, a := range s.asked {
				for _, r := range a.Risks {
					if r.Key == "taint:memory" || r.Key == "taint:learning" {
						t.Errorf("asked: %s", r.Reason)
					}
				}
			}
		})
	}
}

// TestATrustedFolderDoesNotVouchForOthers has sessions that read something else, too.
func TestATrustedFolderDoesNotVouchForOthers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ call, source string }{
		"a file elsewhere":             {`CALL read_file {"path":"OTHER/notes.md"}`, "read_file OTHER/notes.md"},
		"a command about it":           {`CALL terminal {"command":"cat OTHER/notes.md"}`, "terminal cat OTHER/notes.md"},
		"a command that leads there":   {`CALL terminal {"command":"cd OTHER && cat notes.md"}`, "terminal cd OTHER"},
		"a dependency":                 {`CALL read_file {"path":"node_modules/x/README.md"}`, "read_file node_modules"},
		"a command that may fetch":     {`CALL terminal {"command":"./fetch"}`, "terminal ./fetch"},
		"a command that is not known":  {`CALL terminal {"command":"python3 fetch.py"}`, "terminal python3"},
		"a search with a dependency":   {`CALL search_files {"pattern":"Notes"}`, "search_files"},
		"a command about all files":    {`CALL terminal {"command":"grep -rn Notes ."}`, "terminal grep -rn"},
		"a search elsewhere":           {`CALL search_files {"pattern":"Notes","path":"OTHER"}`, "search_files"},
		"a child that reads elsewhere": {`CALL errand {"goal":"CALL read_file {\"path\":\"OTHER/notes.md\"}"}`, "read_file OTHER/notes.md"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := trusting(t)
			other := t.TempDir()
			writeFile(t, filepath.Join(other, "notes.md"), attack)
			s.write("node_modules/x/README.md", attack)
			s.write("vendor/x/README.md", attack)
			own := []string{readNotes}
			for i := range 6 { // the user's own sources do not displace the other one
				own = append(own, fmt.Sprintf(`CALL terminal {"command":"echo %d"}`, i))
			}
			s.say(strings.ReplaceAll(tt.call, "OTHER", other))
			s.say(own...)
			s.say(obey)
			if kept := s.kept(); len(kept) > 0 {
				t.Errorf("kept %q", kept)
			}
			asked := false
			for _, a := range s.asked {
				for _, r := range a.Risks {
					if r.Key != "taint:memory" {
						continue
					}
					asked = true
					if strings.Contains(r.Reason, "project") || strings.Contains(r.Reason, "read_file notes.md") {
						t.Errorf("the reason names what the user chose: %s", r.Reason)
					}
				}
			}
			if !asked {
				t.Errorf("not asked about memory: %+v", s.asked)
			}
		})
	}
}

// TestTheQuestionSaysHowToBeAskedLess names the command where it would help, once.
func TestTheQuestionSaysHowToBeAskedLess(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		lines []string
		want  bool
	}{
		"a file":                {[]string{readNotes}, true},
		"commands and searches": {[]string{`CALL terminal {"command":"cat notes.md; ls | head -3"}`, `CALL search_files {"pattern":"Notes"}`}, true},
		"a file elsewhere":      {[]string{readNotes, `CALL read_file {"path":"/etc/hostname"}`}, false},
		"a dependency":          {[]string{`CALL read_file {"path":"node_modules/x/README.md"}`}, false},
		"what may fetch":        {[]string{`CALL terminal {"command":"cat notes.md; ./fetch"}`}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, attended := range []hermes.Decision{hermes.Deny, ""} {
				s := newScene(t, attended)
				s.config = "security: {trusted_folders: [/elsewhere]}\n"
				s.write("node_modules/x/README.md", attack)
				s.write("AGENTS.md", "Be brief.")
				s.say(tt.lines...)
				s.quit()
				s.say(obey)
				want := `hermes config set security.trusted_folders '["/elsewhere","` + filepath.ToSlash(s.dir) + `"]'`
				said := 0
				for _, a := range s.asked {
					for _, r := range a.Risks {
						if has := strings.Count(r.Reason, want); r.Key == "taint:memory" && tt.want != (has == 1) || r.Key == "taint:skill" && has > 0 {
							t.Errorf("%s: %s", r.Key, r.Reason)
						} else if r.Key == "taint:memory" {
							said++
						}
					}
				}
				if pending := attended == "" && s.model.read != ""; pending && tt.want != strings.Contains(s.model.read, want) {
					t.Errorf("of a change that waits: %s", s.model.read)
				}
				if attended != "" && said == 0 {
					t.Error("not asked about memory")
				}
			}
		})
	}
}
