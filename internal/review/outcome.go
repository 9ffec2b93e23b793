package review

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hermes"
)

// outcome is what came of a review.
type outcome struct {
	kept   []string
	tokens int64
	money  hermes.Money
	priced bool
	err    error
}

func (o *outcome) take(e hermes.Event) {
	switch e := e.(type) {
	case hermes.CallDone:
		if what := kept(e); what != "" && !slices.Contains(o.kept, what) {
			o.kept = append(o.kept, what)
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

// kept names the change that a call made.
func kept(e hermes.CallDone) string {
	if e.Failed {
		return ""
	}
	var in struct{ Action, Name, Target string }
	_ = json.Unmarshal([]byte(e.Call.Arguments), &in) // what cannot be read is named by its tool
	what := ""
	switch {
	case e.Call.Name == "memory" && in.Action == "read":
	case e.Call.Name == "memory" && in.Target == "user":
		what = "what is known of you"
	case e.Call.Name == "memory":
		what = "memory"
	case e.Call.Name == "skill_manage":
		what = strings.TrimSpace("skill " + in.Name)
	}
	if what != "" && strings.Contains(e.Result.Text(), `"staged"`) {
		what += waits
	}
	return what
}

// waits marks a change that is only proposed.
const waits = " (waits for your leave)"

// tell is the notice for the person.
func (o outcome) tell() string {
	cost := fmt.Sprintf("%d tokens", o.tokens)
	if o.priced {
		cost += ", " + o.money.String()
	}
	if len(o.kept) == 0 {
		return fmt.Sprintf("Looked back: nothing to keep (%s).", cost)
	}
	if !slices.ContainsFunc(o.kept, func(what string) bool { return !strings.HasSuffix(what, waits) }) {
		return fmt.Sprintf("Looked back and proposed: %s (%s). `/memory pending` and `/skills pending` show it.", strings.Join(o.kept, ", "), cost)
	}
	return fmt.Sprintf("Looked back and changed: %s (%s). `hermes undo` takes it back.", strings.Join(o.kept, ", "), cost)
}
