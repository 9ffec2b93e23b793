package replay

import (
	"context"
	"slices"
	"sync"

	"hermes"
)

// notRecorded answers a call that nobody made.
const notRecorded = `{"error":"not recorded: this is a replay of earlier work, nothing is run, and this very call was not made then. Its result is not known. Make another call, or end in words with what you have."}`

// tape answers calls from a recording; it runs nothing. It counts what was
// asked of it.
type tape struct {
	r Recording

	mu     sync.Mutex
	given  []bool // by place in r.calls
	world  int    // one more than the place of the last change that was given
	failed int
	missed int
	touch  map[string]bool // files that calls wanted to change
	made   []string        // the calls, for the question on the end
}

func newTape(r Recording) *tape {
	return &tape{r: r, given: make([]bool, len(r.calls)), touch: map[string]bool{}}
}

// Spec finds a tool of the recording.
func (t *tape) Spec(name string) (hermes.Spec, bool) {
	for _, s := range t.r.Specs {
		if s.Name == name {
			return s, true
		}
	}
	return hermes.Spec{}, false
}

// Preview is not needed: nobody watches.
func (t *tape) Preview(hermes.ToolCall) string { return "" }

// Run answers a call as it was answered then.
func (t *tape) Run(_ context.Context, c hermes.ToolCall, _ func(string)) hermes.Result {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := target(c); p != "" && slices.Contains(t.r.writers, c.Name) {
		t.touch[p] = true
	}
	at := t.find(key(c))
	if at < 0 {
		t.missed++
		t.note(c, "not recorded")
		return hermes.Result{Text: notRecorded, Failed: true}
	}
	was := t.r.calls[at]
	t.given[at] = true
	if was.changes {
		t.world = max(t.world, at+1)
	}
	if was.failed {
		t.failed++
		t.note(c, "failed")
	} else {
		t.note(c, "done")
	}
	return hermes.Result{Text: was.text, Failed: was.failed}
}

// find returns the place of the call that answers, -1 where there is none. Of
// several alike it is the first one that was not given yet and that nothing
// had changed since where the replay stands; else the last one that was given
// or lies behind; else the first that lies ahead.
func (t *tape) find(key string) int {
	now, behind, ahead := -1, -1, -1
	still := true // nothing changed between where the replay stands and here
	for at, c := range t.r.calls {
		if c.key == key {
			switch {
			case at < t.world || t.given[at]:
				behind = at
			case still && now < 0:
				now = at
			case ahead < 0:
				ahead = at
			}
		}
		still = still && (at < t.world || !c.changes)
	}
	switch {
	case now >= 0:
		return now
	case behind >= 0:
		return behind
	}
	return ahead
}

// maxNoted bounds the calls that the question on the end lists.
const maxNoted = 40

func (t *tape) note(c hermes.ToolCall, what string) {
	if len(t.made) < maxNoted {
		t.made = append(t.made, what+": "+c.Name+" "+cut(c.Arguments, 200))
	}
}

// touches reports whether every file that was changed then was meant to be
// changed here too.
func (t *tape) touches() bool {
	for _, p := range t.r.touched {
		if !t.touch[p] {
			return false
		}
	}
	return true
}
