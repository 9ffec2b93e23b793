package review

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/text"
)

// Notices says how much the user is told about a review.
type Notices int

// The levels.
const (
	Off     Notices = iota // nothing
	On                     // one line
	Verbose                // also the text of each change
)

// ParseNotices parses "off", "on" or "verbose"; any other text means On.
func ParseNotices(text string) Notices {
	switch text {
	case "off":
		return Off
	case "verbose":
		return Verbose
	}
	return On
}

// outcome is the result of a review.
type outcome struct {
	done    bool // there was a review
	earlier bool // it was of another, earlier session
	changes []change
	tokens  int64
	money   hermes.Money
	priced  bool
	err     error
}

// change is one that the reviewer made or tried to make.
type change struct {
	what   string
	skill  string // the name, if it changes a skill
	waits  bool   // for the user's approval
	trial  string // the outcome of its replay; "" for none
	lost   bool   // it was not kept
	detail string // the text of the change
}

func (o *outcome) take(e hermes.Event) {
	switch e := e.(type) {
	case hermes.CallDone:
		if c, ok := changed(e); ok {
			o.add(c)
		}
	case hermes.TurnDone:
		o.tokens = e.Usage.Total()
		switch {
		case e.Err() != nil:
			o.err = e.Err()
		case e.Outcome == hermes.OutcomeInterrupted:
			o.err = hermes.ErrInterrupted
		case e.Outcome == hermes.OutcomeFailed:
			o.err = errors.New("the model call failed")
		}
	}
}

// add adds a change. Several changes of the same thing are joined.
func (o *outcome) add(c change) {
	for i := range o.changes {
		if k := &o.changes[i]; k.what == c.what && k.waits == c.waits {
			k.detail = strings.TrimSpace(k.detail + "\n" + c.detail)
			return
		}
	}
	o.changes = append(o.changes, c)
}

// changed returns the change that a call made, or false.
func changed(e hermes.CallDone) (change, bool) {
	if e.Failed {
		return change{}, false
	}
	var in struct{ Action, Name, Target, Content, Text string }
	_ = json.Unmarshal([]byte(e.Call.Arguments), &in) // without arguments the tool's name says enough
	c := change{waits: strings.Contains(e.Result.Text(), `"staged"`)}
	switch {
	case e.Call.Name == "memory" && in.Action == "read":
		return change{}, false
	case e.Call.Name == "memory":
		c.what, c.detail = "memory", text.Short(e.Call.Arguments, maxCall)
		if in.Target == "user" {
			c.what = "your profile"
		}
		if in.Action == "add" && in.Content != "" {
			c.detail = "+ " + text.Short(in.Content, maxCall)
		}
	case e.Call.Name == "skill_manage":
		c.what, c.skill, c.detail = strings.TrimSpace("skill "+in.Name), in.Name, strings.TrimSpace(in.Action+" "+in.Name)
	default:
		return change{}, false
	}
	return c, true
}

// addTrials adds the replays of skill drafts, also of drafts that were not
// kept. The review's tokens include those of the replays.
func (o *outcome) addTrials(list []hermes.SkillTrial) {
	for _, t := range list {
		o.tokens += t.Tokens
		at := slices.IndexFunc(o.changes, func(c change) bool { return c.skill == t.Name && c.trial == "" })
		if at < 0 {
			o.changes = append(o.changes, change{what: "skill " + t.Name, skill: t.Name, lost: true})
			at = len(o.changes) - 1
		}
		o.changes[at].trial = t.Line()
	}
}

// notice returns the notice for the user, "" for none.
func (o outcome) notice(n Notices) string {
	if n == Off || !o.done {
		return ""
	}
	cost := fmt.Sprintf("%d tokens", o.tokens)
	if o.priced {
		cost += ", " + o.money.String()
	}
	head := "Review"
	if o.earlier {
		head += " of an earlier session"
	}
	var kept, lost, details []string
	made := false // a change was made, not only proposed
	for _, c := range o.changes {
		if c.lost {
			lost = append(lost, c.String())
			continue
		}
		kept, made = append(kept, c.String()), made || !c.waits
		if n == Verbose && c.detail != "" {
			details = append(details, "- "+c.what+": "+strings.ReplaceAll(c.detail, "\n", "\n- "+c.what+": "))
		}
	}
	text, end := head+": nothing to keep", ""
	switch {
	case made:
		text, end = head+" changed: "+strings.Join(kept, ", "), " Undo it with `hermes undo`."
	case len(kept) > 0:
		text, end = head+" proposed: "+strings.Join(kept, ", "), " See `/memory pending` and `/skills pending`."
	}
	if len(lost) > 0 {
		text += "; not kept: " + strings.Join(lost, ", ")
	}
	text += " (" + cost + ")." + end
	if len(details) > 0 { // a list, because frontends join plain lines
		text += "\n\n" + strings.Join(details, "\n")
	}
	return text
}

// String names the change, its replay and whether it waits.
func (c change) String() string {
	text := c.what
	if c.trial != "" {
		text += " [" + c.trial + "]"
	}
	if c.waits {
		text += " (waits for your approval)"
	}
	return text
}
