package replay

import (
	"context"
	"slices"
	"sync"

	"hermes"
)

// notRecorded is the result of a call that is not in the recording.
const notRecorded = `not recorded: this is a replay of earlier work, nothing runs, and this call was not made then. Its result is unknown. Make another call, or answer with what you have.`

// tape answers calls from a recording and counts them. It runs nothing.
type tape struct {
	r Recording

	mu     sync.Mutex
	played []bool // by index in r.calls
	state  int    // the index after the last change that was played
	failed int
	missed int
	touch  map[string]bool // files that calls wanted to change
	made   []string        // the calls, for the comparison of the outcomes
}

func newTape(r Recording) *tape {
	return &tape{r: r, played: make([]bool, len(r.calls)), touch: map[string]bool{}}
}

// Specs returns the tools of the recording.
func (t *tape) Specs() []hermes.Spec { return t.r.Specs }

// Spec returns a tool of the recording.
func (t *tape) Spec(name string) (hermes.Spec, bool) {
	for _, s := range t.r.Specs {
		if s.Name == name {
			return s, true
		}
	}
	return hermes.Spec{}, false
}

// Preview returns "": a replay is not shown.
func (t *tape) Preview(hermes.ToolCall) string { return "" }

// Canonical returns the arguments as they are: recorded calls are compared with
// what the model wrote.
func (t *tape) Canonical(c hermes.ToolCall) string { return c.Arguments }

// Run returns the recorded result of a call.
func (t *tape) Run(_ context.Context, made *hermes.Call) hermes.Result {
	c := hermes.ToolCall{ID: made.ID, Name: made.Name, Arguments: string(made.Arguments)}.Forwarded()
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := target(c); p != "" && slices.Contains(t.r.writers, c.Name) {
		t.touch[p] = true
	}
	at := t.find(key(c))
	if at < 0 {
		t.missed++
		t.note(c, "not recorded")
		return hermes.ErrorResult(notRecorded)
	}
	was := t.r.calls[at]
	t.played[at] = true
	if was.changes {
		t.state = max(t.state, at+1)
	}
	if was.failed {
		t.failed++
		t.note(c, "failed")
	} else {
		t.note(c, "done")
	}
	return hermes.Result{Text: was.text, Failed: was.failed}
}

// find returns the index of the recorded call with this key, -1 if there is
// none. Of several, it returns the first one not played yet with no change
// between the replay's state and it; else the last one that was played or is
// before the state; else the first one after it.
func (t *tape) find(key string) int {
	now, behind, ahead := -1, -1, -1
	same := true // no change between the replay's state and this call
	for at, c := range t.r.calls {
		if c.key == key {
			switch {
			case at < t.state || t.played[at]:
				behind = at
			case same && now < 0:
				now = at
			case ahead < 0:
				ahead = at
			}
		}
		same = same && (at < t.state || !c.changes)
	}
	switch {
	case now >= 0:
		return now
	case behind >= 0:
		return behind
	}
	return ahead
}

// maxNoted limits the calls that are listed when outcomes are compared.
const maxNoted = 40

func (t *tape) note(c hermes.ToolCall, what string) {
	if len(t.made) < maxNoted {
		t.made = append(t.made, what+": "+c.Name+" "+cut(c.Arguments, 200))
	}
}

// touches reports whether the replay tried to change every file that the
// recorded turn changed.
func (t *tape) touches() bool {
	for _, p := range t.r.touched {
		if !t.touch[p] {
			return false
		}
	}
	return true
}
