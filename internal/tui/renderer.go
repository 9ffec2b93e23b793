package tui

import (
	"slices"
	"time"

	"hermes"
)

// renderer turns the events of a session into lines that are printed once. It
// keeps what is unfinished: the end of the answer and the running calls.
type renderer struct {
	theme
	width int
	now   func() time.Time
	self  string // the client of the frontend; messages of others are shown with who sent them

	scroll
	step     step
	calls    []running
	lastText string // the last shown answer of the turn
	noted    string // what was said about a compaction of the turn
	model    string
	usage    hermes.Usage
	last     hermes.Usage // of the last step: how full the window is
}

func newRenderer(d Display, width int, now func() time.Time) *renderer {
	if now == nil {
		now = time.Now
	}
	return &renderer{theme: theme{d}, width: width, now: now}
}

func (t *renderer) resize(width int) {
	t.width = width
	t.step.resize(min(width, maxProse))
}

// event handles one event.
func (t *renderer) event(e hermes.Event) {
	t.release(e)
	switch e := e.(type) {
	case hermes.TurnStarted:
		t.turnStarted(e)
	case hermes.StepStarted:
		t.flush()
		t.model = e.Model
		t.step = step{}
	case hermes.TextDelta:
		t.text(e.Text)
	case hermes.ReasoningDelta:
		t.reasoning(e.Text)
	case hermes.CallDeltaSeen:
		t.step.writing = e
	case hermes.Reset:
		t.reset(e.Reason)
	case hermes.Notice:
		t.notice(e)
	case hermes.Compacted:
		t.compacted(e)
	case hermes.Appended:
		t.appended(e.Message)
	case hermes.CallStarted:
		t.flush()
		t.step.writing = hermes.CallDeltaSeen{}
		t.calls = append(t.calls, running{call: e.Call, preview: e.Preview, since: t.now()})
	case hermes.CallProgress:
		for i := range t.calls {
			if t.calls[i].call.ID == e.CallID {
				t.calls[i].progress = e.Text
			}
		}
	case hermes.CallDone:
		t.callDone(e)
	case hermes.UsageUpdated:
		t.usage, t.last, t.model = e.Turn, e.Step, e.Model
		t.step.streamed = 0
	case hermes.Steered:
		t.flush()
		t.say(t.prefixed("↳ ", "  ", e.Text)...)
	case hermes.TurnDone:
		t.turnDone(e)
	}
}

func (t *renderer) callDone(e hermes.CallDone) {
	t.flush()
	t.calls = slices.DeleteFunc(t.calls, func(r running) bool { return r.call.ID == e.Call.ID })
	switch t.d.Calls {
	case CallsOff:
		return
	case CallsNew:
		if t.lastCall == e.Call.Name && !e.Failed {
			return
		}
	}
	lines := t.doneLines(e, t.width)
	t.line(e.Call.Name, lines...)
	if len(lines) > 1 {
		t.lastCall = "" // a blank line follows the shown part of the result
	}
}
