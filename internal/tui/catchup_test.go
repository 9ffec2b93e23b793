package tui

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/protocol"
)

// keeping returns a catchup that keeps what it passes on, as if it came to the frontend before.
func keeping(events ...hermes.Event) (*catchup, *[]protocol.Envelope) {
	got := &[]protocol.Envelope{}
	c := &catchup{emit: func(e protocol.Envelope) { *got = append(*got, e) }}
	c.take(protocol.Update{Snapshot: &protocol.Snapshot{Session: protocol.SessionInfo{ID: "s"}}})
	for _, e := range events {
		c.pass(protocol.Envelope{Session: "s", Time: at(1), Event: e})
	}
	*got = nil
	return c, got
}

func at(second int64) time.Time { return time.Unix(second, 0) }

// told are the events of envelopes, without those that end every snapshot.
func told(list []protocol.Envelope) []hermes.Event {
	var events []hermes.Event
	for _, e := range list {
		switch e.Event.(type) {
		case hermes.Queued, hermes.Configured, hermes.Titled, hermes.UsageUpdated:
			continue
		}
		events = append(events, e.Event)
	}
	return events
}

// stored is a message of the transcript.
func stored(id, turn int64, role hermes.Role, text string) hermes.Message {
	return hermes.Message{ID: id, Turn: turn, Role: role, Time: at(id), Parts: []hermes.Part{{Text: text}}}
}

// TestWhatWasMissedComesOnce goes through what can happen while a frontend gets no events.
func TestWhatWasMissedComesOnce(t *testing.T) {
	t.Parallel()
	said := stored(1, 1, hermes.RoleUser, "go")
	begun := hermes.TurnStarted{Turn: 1, Message: said}
	first := stored(2, 1, hermes.RoleAssistant, "I look.")
	first.Calls = []hermes.ToolCall{{ID: "a", Name: "terminal", Arguments: `{"command":"make all"}`}, call("b", "read_file")}
	forwarding := stored(2, 1, hermes.RoleAssistant, "I look.")
	forwarding.Calls = []hermes.ToolCall{{ID: "a", Name: hermes.ForwardTool, Arguments: `{"name":"mcp__ci__build","arguments":{"name":"all"}}`}}
	thought := stored(2, 1, hermes.RoleAssistant, "I look.")
	thought.Reasoning = []hermes.Reasoning{{Text: "It fails, "}, {Text: "so I look."}}
	result := hermes.Message{ID: 5, Turn: 1, Role: hermes.RoleTool, CallID: "a", ToolName: "terminal", Time: at(5), Failed: true}
	over := hermes.TurnDone{Turn: 1, Outcome: hermes.OutcomeDone, Text: "Done.", Duration: time.Second}
	next := stored(9, 2, hermes.RoleUser, "and then?")
	for name, tt := range map[string]struct {
		before   []hermes.Event
		snapshot protocol.Snapshot
		missed   []hermes.Message
		want     []hermes.Event
	}{
		"the end of a text": {
			before:   []hermes.Event{begun, hermes.TextDelta{Text: "I lo"}},
			snapshot: protocol.Snapshot{Turn: &protocol.Turn{Number: 1, Text: "I look at"}},
			want:     []hermes.Event{hermes.TextDelta{Text: "ok at"}},
		},
		"the end of what it thought": {
			before:   []hermes.Event{begun, hermes.ReasoningDelta{Text: "It fails"}},
			snapshot: protocol.Snapshot{Turn: &protocol.Turn{Number: 1}},
			missed:   []hermes.Message{thought},
			want:     []hermes.Event{hermes.ReasoningDelta{Text: ", so I look."}, hermes.Appended{Message: thought}},
		},
		"what it thought, behind a text that came": {
			before:   []hermes.Event{begun, hermes.ReasoningDelta{Text: "It fails, so I look."}, hermes.TextDelta{Text: "I"}},
			snapshot: protocol.Snapshot{Turn: &protocol.Turn{Number: 1}},
			missed:   []hermes.Message{thought},
			want:     []hermes.Event{hermes.Appended{Message: thought}},
		},
		"nothing": {
			before:   []hermes.Event{begun, hermes.ReasoningDelta{Text: "hm"}, hermes.TextDelta{Text: "I lo"}},
			snapshot: protocol.Snapshot{Turn: &protocol.Turn{Number: 1, Thinking: "hm", Text: "I lo"}},
		},
		"the model began again": {
			before:   []hermes.Event{begun, hermes.TextDelta{Text: "I lo"}},
			snapshot: protocol.Snapshot{Turn: &protocol.Turn{Number: 1, Text: "We"}},
			want:     []hermes.Event{hermes.Reset{}, hermes.TextDelta{Text: "We"}},
		},
		"a step, and the next one": {
			before:   []hermes.Event{begun, hermes.TextDelta{Text: "I lo"}},
			snapshot: protocol.Snapshot{Turn: &protocol.Turn{Number: 1, Text: "It"}},
			missed:   []hermes.Message{first, result, {ID: 6, Turn: 1, Role: hermes.RoleTool, CallID: "b", Time: at(5)}},
			want: []hermes.Event{
				hermes.Appended{Message: first},
				hermes.CallDone{Call: first.Calls[0], Preview: "make all", Result: result, Failed: true, Duration: 3 * time.Second},
				hermes.CallDone{Call: first.Calls[1], Result: hermes.Message{ID: 6, Turn: 1, Role: hermes.RoleTool, CallID: "b", Time: at(5)}, Duration: 3 * time.Second},
				hermes.TextDelta{Text: "It"},
			},
		},
		"the end of a call that had begun": {
			before:   []hermes.Event{begun, hermes.Appended{Message: first}, hermes.CallStarted{Call: first.Calls[0], Preview: "make"}},
			snapshot: protocol.Snapshot{Turn: &protocol.Turn{Number: 1}},
			missed:   []hermes.Message{result},
			want:     []hermes.Event{hermes.CallDone{Call: first.Calls[0], Preview: "make", Result: result, Failed: true, Duration: 4 * time.Second}},
		},
		"a call of a tool that the model is not offered": {
			before:   []hermes.Event{begun},
			snapshot: protocol.Snapshot{Turn: &protocol.Turn{Number: 1}},
			missed:   []hermes.Message{forwarding, result},
			want: []hermes.Event{
				hermes.Appended{Message: forwarding},
				hermes.CallDone{Call: hermes.ToolCall{ID: "a", Name: "mcp__ci__build", Arguments: `{"name":"all"}`}, Preview: "all", Result: result, Failed: true, Duration: 3 * time.Second},
			},
		},
		"the result of a call whose end came": {
			before:   []hermes.Event{begun, hermes.Appended{Message: first}, hermes.CallStarted{Call: first.Calls[0]}, hermes.CallDone{Call: first.Calls[0]}},
			snapshot: protocol.Snapshot{Turn: &protocol.Turn{Number: 1}},
			missed:   []hermes.Message{result},
		},
		"a call that runs, and its progress": {
			before: []hermes.Event{begun},
			snapshot: protocol.Snapshot{Turn: &protocol.Turn{Number: 1, Calls: []protocol.Call{
				{Call: first.Calls[0], Preview: "make", Progress: "linking"},
			}}},
			missed: []hermes.Message{first},
			want: []hermes.Event{
				hermes.Appended{Message: first}, hermes.CallStarted{Call: first.Calls[0], Preview: "make"}, hermes.CallProgress{CallID: "a", Text: "linking"},
			},
		},
		"the end of the turn": {
			before:   []hermes.Event{begun},
			snapshot: protocol.Snapshot{Done: &over},
			missed:   []hermes.Message{stored(3, 1, hermes.RoleAssistant, "Done.")},
			want:     []hermes.Event{hermes.Appended{Message: stored(3, 1, hermes.RoleAssistant, "Done.")}, over},
		},
		"a whole turn": {
			snapshot: protocol.Snapshot{Done: &over},
			missed:   []hermes.Message{said, stored(3, 1, hermes.RoleAssistant, "Done.")},
			want:     []hermes.Event{begun, hermes.Appended{Message: stored(3, 1, hermes.RoleAssistant, "Done.")}, over},
		},
		"an end that came": {
			before:   []hermes.Event{begun, over},
			snapshot: protocol.Snapshot{Done: &over},
		},
		"a turn that failed before it stored anything": {
			before:   []hermes.Event{begun, over},
			snapshot: protocol.Snapshot{Done: &hermes.TurnDone{Turn: 1, Outcome: hermes.OutcomeFailed}},
			want:     []hermes.Event{hermes.TurnDone{Turn: 1, Outcome: hermes.OutcomeFailed}},
		},
		"the process that ran it": {
			before: []hermes.Event{begun, hermes.TextDelta{Text: "I lo"}},
			want:   []hermes.Event{hermes.TurnDone{Turn: 1, Outcome: hermes.OutcomeInterrupted}},
		},
		"the beginning of another turn": {
			before:   []hermes.Event{begun},
			snapshot: protocol.Snapshot{Done: &over, Turn: &protocol.Turn{Number: 2, Said: next, From: other, Text: "Then"}},
			missed:   []hermes.Message{stored(3, 1, hermes.RoleAssistant, "Done."), next},
			want: []hermes.Event{
				hermes.Appended{Message: stored(3, 1, hermes.RoleAssistant, "Done.")}, over,
				hermes.TurnStarted{Turn: 2, Message: next, From: other}, hermes.TextDelta{Text: "Then"},
			},
		},
		"the beginning of a turn that goes on": {
			snapshot: protocol.Snapshot{Turn: &protocol.Turn{ModelCalls: 2, Text: "Then"}},
			want:     []hermes.Event{hermes.StepStarted{Step: 2}, hermes.TextDelta{Text: "Then"}},
		},
	} {
		c, got := keeping(tt.before...)
		tt.snapshot.Session.ID = "s"
		c.take(protocol.Update{Snapshot: &tt.snapshot, Missed: tt.missed})
		if diff := cmp.Diff(tt.want, told(*got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		*got = nil
		c.take(protocol.Update{Snapshot: &tt.snapshot})
		if again := told(*got); len(again) > 0 {
			if _, progress := again[0].(hermes.CallProgress); !progress {
				t.Errorf("%s: the same state once more tells %v", name, again)
			}
		}
	}
}

// TestALateResultTellsTheEndOfItsCall: the call ended while no events came, and
// its result is stored afterward.
func TestALateResultTellsTheEndOfItsCall(t *testing.T) {
	t.Parallel()
	started := hermes.CallStarted{Call: call("a", "terminal"), Preview: "make"}
	c, got := keeping(hermes.TurnStarted{Turn: 1}, started)
	c.take(protocol.Update{Snapshot: &protocol.Snapshot{Session: protocol.SessionInfo{ID: "s"}, Turn: &protocol.Turn{Number: 1}}})
	*got = nil
	result := hermes.Appended{Message: hermes.Message{Role: hermes.RoleTool, CallID: "a"}}
	for range 2 {
		c.pass(protocol.Envelope{Session: "s", Event: result})
	}
	want := []hermes.Event{hermes.CallDone{Call: started.Call, Preview: "make", Result: result.Message}, result, result}
	if diff := cmp.Diff(want, told(*got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestAMissedQuestionIsAskedAndOneThatIsGoneIsClosed after events were lost, in the session and
// in its children.
func TestAMissedQuestionIsAskedAndOneThatIsGoneIsClosed(t *testing.T) {
	t.Parallel()
	c, got := keeping(hermes.Asked{ID: "1.1"}, hermes.Asked{ID: "1.2"})
	open := func(session, id string) protocol.OpenQuestion {
		return protocol.OpenQuestion{Session: session, Asked: hermes.Asked{ID: id}}
	}
	s := &protocol.Snapshot{
		Session: protocol.SessionInfo{ID: "s"}, Questions: []protocol.OpenQuestion{open("s", "1.2"), open("s", "1.3"), open("child", "1.2")},
		Children: []protocol.Child{{ID: "child", Goal: "the tests"}},
	}
	c.take(protocol.Update{Snapshot: s})
	want := []protocol.Envelope{
		{Session: "child", Parent: "s", Event: hermes.TurnStarted{Message: hermes.UserText("the tests")}},
		{Session: "s", Event: hermes.AnswerTaken{ID: "1.1"}},
		{Session: "s", Event: hermes.Asked{ID: "1.3"}},
		{Session: "child", Parent: "s", Event: hermes.Asked{ID: "1.2"}},
	}
	if diff := cmp.Diff(want, (*got)[:len(*got)-3]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
