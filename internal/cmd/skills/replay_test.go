package skills_test

import (
	"errors"
	"testing"

	"hermes"
)

func TestReplayPrintsTheComparison(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	trial := hermes.SkillTrial{
		Verdict: hermes.SkillLost, Why: "only without it the recorded end was reached", Session: "s1", Turn: 4, Tokens: 5000,
		With: hermes.SkillRun{Steps: 9, Failed: 3, Tokens: 3000}, Without: hermes.SkillRun{Reached: true, Steps: 4, Tokens: 1900},
	}
	r.trial = func(name, session string, turn int64) (hermes.SkillTrial, error) {
		if name != "build" || session != "s1" || turn != 4 {
			return trial, errors.New("no such session")
		}
		return trial, nil
	}
	line := []string{"skills", "replay", "build", "--session", "s1", "--turn", "4"}
	for _, want := range []string{
		"Session s1, turn 4. No tools were run.",
		"recorded end      not reached      reached",
		"failed calls                3            0",
		"The skill build lost its replay: only without it the recorded end was reached. The replay used 5000 tokens.",
		"Delete it with: hermes skills delete build",
	} {
		r.want(want, line...)
	}
	r.want(`"verdict": "lost"`, append(line, "--json")...)
	r.want("no session given", "skills", "replay", "build")
	r.want("no such session", "skills", "replay", "build", "--session", "s2")
}

func TestPendingSaysHowTheReplayWent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	_, err := r.lib.Save(t.Context(), hermes.SkillEdit{
		Name: "build", New: true, Agent: true, Content: "---\nname: build\ndescription: d\n---\nbody\n",
		Trial: &hermes.SkillTrial{Verdict: hermes.SkillLost, Why: "9 steps instead of 4"},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.want("create the skill build\n    lost its replay: 9 steps instead of 4", "skills", "pending")
}
