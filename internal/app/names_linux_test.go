package app_test

import (
	"errors"
	"slices"
	"testing"

	"hermes"
)

// TestNamesAreThoseOfThePlace where a session works, and completing a word starts no place.
func TestNamesAreThoseOfThePlace(t *testing.T) {
	t.Parallel()
	s, p := newPlaceScene(t, hermes.AllowOnce)
	s.write("sub-of-this-machine.txt", "")
	p.put("home/sub/one.txt", "")
	p.put("home/sub/two.txt", "")
	p.put("home/subject.txt", "")
	p.put("home/.secret", "")
	s.enter()
	before := len(p.scripts)
	names := s.app.Places(hermes.RunSpec{})
	if !names.Elsewhere("") || !names.Elsewhere(s.session) {
		t.Error("the session counts as one of this machine")
	}
	if got := names.Names(t.Context(), s.session, "@su"); got != nil || len(p.scripts) != before {
		t.Errorf("before the place was used: %q, %d scripts", got, len(p.scripts)-before)
	}
	s.say(`CALL terminal {"command":"cd /; true"}`)
	for word, want := range map[string][]string{
		"@su": {"sub/", "subject.txt"}, "su": {"sub/", "subject.txt"}, "@sub/": {"sub/one.txt", "sub/two.txt"}, "~/sub/o": {"~/sub/one.txt"}, "/mnt/home/subj": {"/mnt/home/subject.txt"},
		"@.s": {".secret"}, "@none": nil, "@none/x": nil, "@*": nil,
	} {
		before := len(p.scripts)
		if got := names.Names(t.Context(), s.session, word); !slices.Equal(got, want) || len(p.scripts) != before+1 {
			t.Errorf("%s: %q by %d scripts, want %q", word, got, len(p.scripts)-before, want)
		}
	}
	p.set(errors.New("the engine does not answer"))
	if got := names.Names(t.Context(), s.session, "@su"); got != nil {
		t.Errorf("of a place that is down: %q", got)
	}
	p.set(nil)
	id := s.session
	s.quit()
	s.config = "terminal: {backend: local}\n"
	s.session = ""
	s.enter()
	names = s.app.Places(hermes.RunSpec{})
	if names.Elsewhere("") || names.Elsewhere(s.session) || !names.Elsewhere(id) {
		t.Error("where sessions work is not known")
	}
	if got := names.Names(t.Context(), id, "@su"); got != nil {
		t.Errorf("of a session that does not live here: %q", got)
	}
}
