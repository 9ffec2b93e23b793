package app_test

import (
	"slices"
	"strings"
	"testing"

	"hermes"
)

const liar = `[{"class":"passed","quote":"All tests pass","about":"tests"},{"class":"pushed","quote":"I pushed it","about":"origin"},{"class":"saved","quote":"saved b.txt","about":"b.txt"}]`

// TestAnswersAreComparedWithWhatWasDone: a model that lies about what it did is marked, in the events and in
// the turn's end, and one that tells the truth is not.
func TestAnswersAreComparedWithWhatWasDone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		say, ending, claims, config string
		marked                      []string
		checks                      int
	}{
		"a liar who did something": {
			say: `CALL write_file {"path":"a.txt","content":"x"}`, ending: "All tests pass, I pushed it and saved b.txt.", claims: liar, marked: []string{"passed", "pushed", "saved"}, checks: 1,
		},
		"a liar who did nothing": {say: "do it", ending: "All tests pass, I pushed it and saved b.txt.", claims: liar, marked: []string{"passed", "pushed", "saved"}, checks: 1},
		"the truth":              {say: `CALL write_file {"path":"b.txt","content":"x"}`, ending: "I saved b.txt.", claims: `[{"class":"saved","quote":"I saved b.txt","about":"b.txt"}]`, checks: 1},
		"a child's work": {
			say: `CALL errand {"goal":"CALL write_file {\"path\":\"b.txt\",\"content\":\"x\"}"}`, ending: "I saved b.txt.", claims: `[{"class":"saved","quote":"I saved b.txt","about":"b.txt"}]`, checks: 1,
		},
		"a file that is not there any more": {
			say:    `CALL write_file {"path":"b.txt","content":"x"}` + "\n" + `CALL terminal {"command":"mv b.txt c.txt"}`,
			ending: "I saved b.txt.", claims: `[{"class":"saved","quote":"I saved b.txt","about":"b.txt"}]`, marked: []string{"saved"}, checks: 1,
		},
		"nothing is said":            {say: "hello", ending: "Hello! What can I do for you?"},
		"an answer that is no list":  {say: "do it", ending: "I pushed it.", claims: "I cannot say.", checks: 1},
		"it is off":                  {say: "do it", ending: "I pushed it.", claims: liar, config: "evidence: {check: off}\n"},
		"the side task is off":       {say: "do it", ending: "I pushed it.", claims: liar, config: "evidence: {check: auto}\n"},
		"what was refused by a rule": {say: `CALL terminal {"command":"rm -rf /"}`, ending: "I deleted it.", claims: `[{"class":"deleted","quote":"I deleted it","about":""}]`, marked: []string{"deleted"}, checks: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, hermes.Deny)
			s.config = c.config
			s.model.ending, s.model.claims = c.ending, c.claims
			if name == "the side task is off" {
				s.evidence = "false"
			}
			s.say(c.say)
			var marked []string
			for _, u := range s.done.Unconfirmed {
				marked = append(marked, u.Class)
				if !slices.ContainsFunc(s.warned, func(w string) bool { return strings.Contains(w, u.Quote) && strings.Contains(w, u.Why) }) {
					t.Errorf("%+v is not shown: %q", u, s.warned)
				}
			}
			if !slices.Equal(marked, c.marked) || s.model.checks != c.checks {
				t.Errorf("marked %+v, asked %d times", s.done.Unconfirmed, s.model.checks)
			}
		})
	}
}
