package replay

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"hermes"
	"hermes/internal/thinktag"
)

//go:embed judge.md
var judge string

// agrees asks the model whether a replay has the recorded outcome.
func agrees(ctx context.Context, m hermes.Model, r Recording, t *tape, end string) (bool, error) {
	answer, err := hermes.Collect(m.Stream(ctx, &hermes.Request{
		System: judge, Session: r.Session, MaxTokens: 2000,
		Messages: []hermes.Message{hermes.UserText(fmt.Sprintf("The task: %q\n\nHow it ended then: %q\n\nThe calls of the replay:\n%s\n\nHow the replay ended: %q",
			r.Task, r.End, strings.Join(t.made, "\n"), cut(end, maxText)))},
	}))
	if err != nil {
		return false, fmt.Errorf("the outcomes could not be compared: %w", err)
	}
	line, _, _ := strings.Cut(thinktag.Answer(answer.Text()), "\n")
	switch word := strings.ToUpper(strings.Trim(line, " \t\r*_`.\"'")); word {
	case "YES", "NO":
		return word == "YES", nil
	}
	return false, errors.New("the outcomes could not be compared: the answer was neither yes nor no")
}

// decide compares the figures, the most important first: the outcome, failed
// calls, unknown calls, steps, tokens. A draft that improves nothing has lost.
func decide(t hermes.SkillTrial) (hermes.SkillVerdict, string) {
	w, o := t.With, t.Without
	switch {
	case w.Reached && !o.Reached:
		return hermes.SkillWon, "only the run with it reached the recorded outcome (" + t.Compared() + ")"
	case !w.Reached && o.Reached:
		return hermes.SkillLost, "only the run without it reached the recorded outcome (" + t.Compared() + ")"
	case !w.Reached && w.Failed > o.Failed:
		return hermes.SkillLost, "neither run reached the recorded outcome, and more calls failed with it (" + t.Compared() + ")"
	case !w.Reached:
		return hermes.SkillUndecided, "neither run reached the recorded outcome"
	}
	better := cmp.Or(cmp.Compare(w.Failed, o.Failed), cmp.Compare(w.Missed, o.Missed), cmp.Compare(w.Steps, o.Steps), cmp.Compare(w.Tokens, o.Tokens))
	switch {
	case better < 0:
		return hermes.SkillWon, t.Compared()
	case better > 0:
		return hermes.SkillLost, t.Compared()
	}
	return hermes.SkillLost, "it makes no difference: " + t.Compared()
}
