package hermes

import (
	"fmt"
	"strings"
	"time"
)

// SkillVerdict is the result of replaying a recorded task with a skill.
type SkillVerdict string

// The verdicts.
const (
	SkillWon       SkillVerdict = "won"       // it went better with the skill
	SkillLost      SkillVerdict = "lost"      // it did not
	SkillUndecided SkillVerdict = "undecided" // the replay could not decide
)

// SkillTrial is the replay of a recorded task, once with a skill and once
// without it. Recorded results answer the tool calls; no tool runs.
type SkillTrial struct {
	Name    string       `json:"name,omitempty"` // the skill's
	Verdict SkillVerdict `json:"verdict"`
	// Why is the reason, for the user, with the figures that differ.
	Why string `json:"why"`
	// Session and Turn name the recorded task.
	Session string    `json:"session,omitempty"`
	Turn    int64     `json:"turn,omitempty"`
	At      time.Time `json:"at,omitzero"`
	With    SkillRun  `json:"with,omitzero"`
	Without SkillRun  `json:"without,omitzero"`
	// Tokens is what the whole trial used, with the calls that judged it.
	Tokens int64 `json:"tokens,omitempty"`
}

// SkillRun holds the figures of one of the two runs.
type SkillRun struct {
	// Reached says that the run reached the recorded result.
	Reached bool  `json:"reached"`
	Steps   int   `json:"steps"`  // model calls
	Failed  int   `json:"failed"` // calls whose recorded result is a failure
	Missed  int   `json:"missed"` // calls without a recorded result
	Tokens  int64 `json:"tokens"`
}

// Harmful reports that the task went worse with the skill: it did not reach
// the recorded result although the other run did, or more calls failed.
func (t SkillTrial) Harmful() bool {
	return t.Verdict == SkillLost && (t.Without.Reached && !t.With.Reached || t.With.Failed > t.Without.Failed)
}

// Line returns the outcome in one line, for the user.
func (t SkillTrial) Line() string {
	switch t.Verdict {
	case SkillWon:
		return "won its replay: " + t.Why
	case SkillLost:
		return "lost its replay: " + t.Why
	}
	return "not proven: " + t.Why
}

// Compared lists the figures that differ, such as "4 steps instead of 9".
func (t SkillTrial) Compared() string {
	var parts []string
	add := func(with, without int64, what string) {
		if with == 1 {
			what = strings.TrimSuffix(what, "s")
		}
		if with != without {
			parts = append(parts, fmt.Sprintf("%d %s instead of %d", with, what, without))
		}
	}
	w, o := t.With, t.Without
	add(int64(w.Steps), int64(o.Steps), "steps")
	add(int64(w.Failed), int64(o.Failed), "failed calls")
	add(int64(w.Missed), int64(o.Missed), "unknown calls")
	add(w.Tokens, o.Tokens, "tokens")
	if len(parts) == 0 {
		return "the same in all figures"
	}
	return strings.Join(parts, ", ")
}
