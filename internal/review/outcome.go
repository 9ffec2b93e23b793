package review

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hermes"
)

// Notices says how much is told of a review.
type Notices int

// The levels.
const (
	Off     Notices = iota // nothing
	On                     // one line
	Verbose                // and what was kept, word for word
)

// ParseNotices reads off, on or verbose; anything else is on.
func ParseNotices(text string) Notices {
	switch text {
	case "off":
		return Off
	case "verbose":
		return Verbose
	}
	return On
}

// outcome is what came of a review.
type outcome struct {
	looked  bool // there was one
	earlier bool // of another session than the one that is told
	kept    []change
	tokens  int64
	money   hermes.Money
	priced  bool
	err     error
}

// change is one that the reviewer made, or tried to.
type change struct {
	what   string
	skill  string // its name, where it is about one
	waits  bool   // for the person's leave
	trial  string // how its replay went; "" for none
	lost   bool   // it was not kept
	detail string // word for word
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
		case e.Err != nil:
			o.err = e.Err
		case e.Outcome == hermes.OutcomeInterrupted:
			o.err = hermes.ErrInterrupted
		case e.Outcome == hermes.OutcomeFailed:
			o.err = errors.New("the model could not be asked")
		}
	}
}

// add takes a change up; several of one thing are told as one.
func (o *outcome) add(c change) {
	for i := range o.kept {
		if k := &o.kept[i]; k.what == c.what && k.waits == c.waits {
			k.detail = strings.TrimSpace(k.detail + "\n" + c.detail)
			return
		}
	}
	o.kept = append(o.kept, c)
}

// changed names the change that a call made.
func changed(e hermes.CallDone) (change, bool) {
	if e.Failed {
		return change{}, false
	}
	var in struct{ Action, Name, Target, Content, Text string }
	_ = json.Unmarshal([]byte(e.Call.Arguments), &in) // what cannot be read is named by its tool
	c := change{waits: strings.Contains(e.Result.Text(), `"staged"`)}
	switch {
	case e.Call.Name == "memory" && in.Action == "read":
		return change{}, false
	case e.Call.Name == "memory":
		c.what, c.detail = "memory", cut(e.Call.Arguments, maxCall)
		if in.Target == "user" {
			c.what = "what is known of you"
		}
		if in.Action == "add" && in.Content != "" {
			c.detail = "+ " + cut(in.Content, maxCall)
		}
	case e.Call.Name == "skill_manage":
		c.what, c.skill, c.detail = strings.TrimSpace("skill "+in.Name), in.Name, strings.TrimSpace(in.Action+" "+in.Name)
	default:
		return change{}, false
	}
	return c, true
}

// tried says of drafts how they proved themselves, also of those that were not
// kept. The tokens of the replays are those of the review.
func (o *outcome) tried(list []hermes.SkillTrial) {
	for _, t := range list {
		o.tokens += t.Tokens
		at := slices.IndexFunc(o.kept, func(c change) bool { return c.skill == t.Name && c.trial == "" })
		if at < 0 {
			o.kept = append(o.kept, change{what: "skill " + t.Name, skill: t.Name, lost: true})
			at = len(o.kept) - 1
		}
		o.kept[at].trial = t.Line()
	}
}

// tell is the notice for the person.
func (o outcome) tell(n Notices) string {
	if n == Off || !o.looked {
		return ""
	}
	cost := fmt.Sprintf("%d tokens", o.tokens)
	if o.priced {
		cost += ", " + o.money.String()
	}
	head := "Looked back"
	if o.earlier {
		head += " at an earlier session"
	}
	var kept, lost, details []string
	made := false // something, and not only proposed
	for _, c := range o.kept {
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
		text, end = head+" and changed: "+strings.Join(kept, ", "), " `hermes undo` takes it back."
	case len(kept) > 0:
		text, end = head+" and proposed: "+strings.Join(kept, ", "), " `/memory pending` and `/skills pending` show it."
	}
	if len(lost) > 0 {
		text += "; not kept: " + strings.Join(lost, ", ")
	}
	text += " (" + cost + ")." + end
	if len(details) > 0 { // a list, as faces show it
		text += "\n\n" + strings.Join(details, "\n")
	}
	return text
}

// String names a change with what is to be known of it.
func (c change) String() string {
	text := c.what
	if c.trial != "" {
		text += " [" + c.trial + "]"
	}
	if c.waits {
		text += " (waits for your leave)"
	}
	return text
}
