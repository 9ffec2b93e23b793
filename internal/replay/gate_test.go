package replay_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/replay"
)

// shelf is a library that records what was saved.
type shelf struct {
	hermes.SkillLibrary
	saved []hermes.SkillEdit
}

func (s *shelf) Save(_ context.Context, e hermes.SkillEdit) (hermes.SkillOutcome, error) {
	s.saved = append(s.saved, e)
	return hermes.SkillOutcome{Path: "/p"}, nil
}

func (s *shelf) View(_ context.Context, name, _ string) (hermes.SkillText, error) {
	return hermes.SkillText{Skill: hermes.Skill{Name: name}, Content: "before", Hash: "h"}, nil
}

func draft(name string) hermes.SkillEdit {
	return hermes.SkillEdit{Name: name, New: true, Content: "x", Agent: true}
}

func TestTheGate(t *testing.T) {
	t.Parallel()
	mine := hermes.SkillEdit{Name: "theirs", Content: "x", Agent: true}
	patched := hermes.SkillEdit{Name: "own", Content: "x", Agent: true}
	file := hermes.SkillEdit{Name: "own", File: "references/a.md", Content: "x", Agent: true}
	user := hermes.SkillEdit{Name: "n", New: true, Content: "x"}
	for name, c := range map[string]struct {
		edits   []hermes.SkillEdit
		verdict hermes.SkillVerdict
		rules   replay.Rules
		tried   int
		saved   []hermes.SkillVerdict // of each saved edit; empty for one without a trial
	}{
		"a winner is kept":                   {[]hermes.SkillEdit{draft("a")}, hermes.SkillWon, replay.Rules{Task: true}, 1, []hermes.SkillVerdict{hermes.SkillWon}},
		"a loser is marked":                  {[]hermes.SkillEdit{draft("a")}, hermes.SkillLost, replay.Rules{Task: true}, 1, []hermes.SkillVerdict{hermes.SkillLost}},
		"a loser is dropped":                 {[]hermes.SkillEdit{draft("a")}, hermes.SkillLost, replay.Rules{Task: true, Drop: true}, 1, nil},
		"a loser has no second try":          {[]hermes.SkillEdit{draft("a"), draft("a")}, hermes.SkillLost, replay.Rules{Task: true}, 1, []hermes.SkillVerdict{hermes.SkillLost}},
		"another name is no way round":       {[]hermes.SkillEdit{draft("a"), draft("b"), draft("c")}, hermes.SkillLost, replay.Rules{Task: true}, 2, []hermes.SkillVerdict{hermes.SkillLost, hermes.SkillLost}},
		"without a task it is kept, said so": {[]hermes.SkillEdit{draft("a")}, hermes.SkillWon, replay.Rules{}, 0, []hermes.SkillVerdict{hermes.SkillUndecided}},
		"only so many are tried":             {[]hermes.SkillEdit{draft("a"), draft("b")}, hermes.SkillWon, replay.Rules{Task: true, Most: 1}, 1, []hermes.SkillVerdict{hermes.SkillWon, hermes.SkillUndecided}},
		"its own skills are tried":           {[]hermes.SkillEdit{patched}, hermes.SkillWon, replay.Rules{Task: true}, 1, []hermes.SkillVerdict{hermes.SkillWon}},
		"others' skills pass":                {[]hermes.SkillEdit{mine}, hermes.SkillWon, replay.Rules{Task: true}, 0, []hermes.SkillVerdict{""}},
		"other files pass":                   {[]hermes.SkillEdit{file}, hermes.SkillWon, replay.Rules{Task: true}, 0, []hermes.SkillVerdict{""}},
		"the user passes":                    {[]hermes.SkillEdit{user}, hermes.SkillWon, replay.Rules{Task: true}, 0, []hermes.SkillVerdict{""}},
		"what is wrong costs nothing": {[]hermes.SkillEdit{draft("a")}, hermes.SkillWon, replay.Rules{
			Task: true, Check: func(context.Context, hermes.SkillEdit) error { return errors.New("no description") },
		}, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tried, s := 0, &shelf{}
			c.rules.Own = func(name string) bool { return name == "own" }
			c.rules.Replay = func(_ context.Context, d replay.Draft) (hermes.SkillTrial, error) {
				tried++
				if d.Name == "own" != (d.Before == "before") {
					t.Errorf("compared with %q", d.Before)
				}
				return hermes.SkillTrial{Verdict: c.verdict, Why: "figures"}, nil
			}
			g := replay.NewGate(s, c.rules)
			for _, e := range c.edits {
				out, err := g.Save(t.Context(), e)
				if err == nil && out.Trial != nil && !strings.Contains(out.Trial.Line(), "replay") && out.Trial.Verdict != hermes.SkillUndecided {
					t.Errorf("got %q", out.Trial.Line())
				}
			}
			if tried != c.tried || len(s.saved) != len(c.saved) {
				t.Fatalf("tried %d, saved %+v", tried, s.saved)
			}
			for i, e := range s.saved {
				var got hermes.SkillVerdict
				if e.Trial != nil {
					got = e.Trial.Verdict
				}
				if got != c.saved[i] {
					t.Errorf("saved with %q, want %q", got, c.saved[i])
				}
				if e.Name == "own" && e.File == "" && e.Base != "h" {
					t.Error("the change is not bound to what it was compared with")
				}
			}
		})
	}
}

func TestACutOffReplayWritesNothing(t *testing.T) {
	t.Parallel()
	s := &shelf{}
	g := replay.NewGate(s, replay.Rules{Task: true, Replay: func(context.Context, replay.Draft) (hermes.SkillTrial, error) {
		return hermes.SkillTrial{}, context.Canceled
	}})
	if _, err := g.Save(t.Context(), draft("a")); !errors.Is(err, context.Canceled) || len(s.saved) != 0 {
		t.Errorf("%v, %+v", err, s.saved)
	}
}
