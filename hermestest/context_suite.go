package hermestest

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"hermes"
)

// fitWindow is the window of the model that the transcripts of this suite are for, in tokens.
const fitWindow = 128_000

// RunContextEngine is the contract suite of a [hermes.ContextEngine]. open returns a new one, which
// shortens a transcript that takes nine tenths of a window of 128,000 tokens.
func RunContextEngine(t *testing.T, open func(t *testing.T) hermes.ContextEngine) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(*testing.T, hermes.ContextEngine)
	}{
		{"it has a name", fitNamed},
		{"what fits stays as it is", fitSame},
		{"a full window is shortened", fitFull},
		{"what was refused as too long is shortened", fitRefused},
		{"it shortens when the user asks", fitDemanded},
		{"an idle session keeps the promises", fitIdle},
		{"a long turn keeps the message that began it", fitLongTurn},
		{"it shortens again and again", fitAgain},
		{"it ends with its context", fitEnds},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, open(t))
		})
	}
}

// fitTalk is a conversation of so many exchanges of about 3,000 tokens each: a request, two calls of
// one step, their results, and an answer. It ends with a request.
func fitTalk(exchanges int) []hermes.Message {
	tr := []hermes.Message{hermes.UserText("Build the parser, and never touch vendor.go.")}
	for i := range exchanges {
		tr = append(tr, fitStep(i)...)
		tr = append(tr,
			hermes.Message{Role: hermes.RoleAssistant, Turn: int64(i + 1), Parts: []hermes.Part{{Text: fmt.Sprintf("Part %d is done.", i)}}},
			hermes.Message{Role: hermes.RoleUser, Turn: int64(i + 2), Parts: []hermes.Part{{Text: fmt.Sprintf("Now build part %d.", i+1)}}})
	}
	for i := range tr {
		tr[i].ID = int64(i + 1)
	}
	return tr
}

// fitStep is a step of a turn with two calls and their results.
func fitStep(i int) []hermes.Message {
	call := func(k string) hermes.ToolCall {
		return hermes.ToolCall{ID: fmt.Sprintf("c%d%s", i, k), Name: "terminal", Arguments: fmt.Sprintf(`{"command":"make part%d%s"}`, i, k)}
	}
	result := func(k string) hermes.Message {
		return hermes.Message{Role: hermes.RoleTool, Turn: int64(i + 1), CallID: call(k).ID, ToolName: "terminal", Parts: []hermes.Part{{Text: strings.Repeat(fmt.Sprintf("output %d%s of make. ", i, k), 300)}}}
	}
	return []hermes.Message{{Role: hermes.RoleAssistant, Turn: int64(i + 1), Calls: []hermes.ToolCall{call("a"), call("b")}}, result("a"), result("b")}
}

func fitUsage(tr []hermes.Message) hermes.ContextUsage {
	return hermes.ContextUsage{Model: "test:model", Used: fitWindow * 9 / 10, Counted: len(tr), Window: fitWindow}
}

func fitted(t *testing.T, e hermes.ContextEngine, tr []hermes.Message, u hermes.ContextUsage) hermes.CompactResult {
	t.Helper()
	before, err := json.Marshal(tr)
	if err != nil {
		t.Fatal(err)
	}
	f, err := e.Fit(t.Context(), tr, u)
	if err != nil {
		t.Fatal(err)
	}
	if after, err := json.Marshal(tr); err != nil || string(after) != string(before) {
		t.Errorf("it changed its argument (%v)", err)
	}
	checkFit(t, tr, f)
	return f
}

// checkFit checks what must be true of each result.
func checkFit(t *testing.T, old []hermes.Message, f hermes.CompactResult) {
	t.Helper()
	if f.From == nil {
		if !reflect.DeepEqual(old, f.Messages) {
			t.Error("the transcript changed, and there are no origins")
		}
		return
	}
	if len(f.From) != len(f.Messages) || len(f.Messages) == 0 {
		t.Fatalf("%d origins for %d messages", len(f.From), len(f.Messages))
	}
	last := -1
	for i, o := range f.From {
		if o.Index < last || o.Index >= len(old) {
			t.Fatalf("message %d comes from %d after %d, of %d", i, o.Index, last, len(old))
		}
		if last = o.Index; o.Same && !reflect.DeepEqual(old[o.Index], f.Messages[i]) {
			t.Errorf("message %d is marked the same and differs", i)
		}
	}
	checkCalls(t, old, f.Messages)
	if want, got := lastOfUser(old), lastOfUser(f.Messages); !strings.HasSuffix(got, want) {
		t.Errorf("the last message of the user is %q, want %q", got, want)
	}
	if f.Messages[0].Role != hermes.RoleUser {
		t.Errorf("the transcript begins with the %s", f.Messages[0].Role)
	}
}

// checkCalls checks that each call is one of the old transcript, and that exactly its result follows.
func checkCalls(t *testing.T, old, messages []hermes.Message) {
	t.Helper()
	known := map[string]bool{}
	for _, m := range old {
		for _, c := range m.Calls {
			known[c.ID] = true
		}
	}
	open := map[string]bool{}
	for i, m := range messages {
		if m.Role == hermes.RoleTool {
			if !open[m.CallID] {
				t.Errorf("message %d is the result of %q, which was not called before it", i, m.CallID)
			}
			delete(open, m.CallID)
			continue
		}
		if len(open) > 0 {
			t.Errorf("message %d comes between calls and their results: %v", i, open)
		}
		for _, c := range m.Calls {
			if !known[c.ID] || !json.Valid([]byte(c.Arguments)) {
				t.Errorf("message %d has the call %+v, which is made up or broken", i, c)
			}
			open[c.ID] = true
		}
		if i > 0 && m.Role == messages[i-1].Role {
			t.Errorf("messages %d and %d are both of the %s", i-1, i, m.Role)
		}
	}
	if len(open) > 0 {
		t.Errorf("calls without a result: %v", open)
	}
}

func lastOfUser(tr []hermes.Message) string {
	for i := len(tr) - 1; i >= 0; i-- {
		if tr[i].Role == hermes.RoleUser && !tr[i].Synthetic {
			return tr[i].Text()
		}
	}
	return ""
}

func fitBytes(tr []hermes.Message) (n int) {
	for _, m := range tr {
		n += len(m.Text())
		for _, c := range m.Calls {
			n += len(c.Arguments)
		}
	}
	return n
}

func shortened(t *testing.T, old []hermes.Message, f hermes.CompactResult) {
	t.Helper()
	if f.From == nil || fitBytes(f.Messages) >= fitBytes(old) {
		t.Errorf("%d bytes became %d; origins: %v", fitBytes(old), fitBytes(f.Messages), f.From != nil)
	}
}

func fitNamed(t *testing.T, e hermes.ContextEngine) {
	if e.Name() == "" || strings.ContainsAny(e.Name(), " \n") {
		t.Errorf("the name is %q", e.Name())
	}
}

func fitSame(t *testing.T, e hermes.ContextEngine) {
	tr := fitTalk(2)
	if f := fitted(t, e, tr, hermes.ContextUsage{Model: "test:model", Used: 6_000, Counted: len(tr), Window: fitWindow}); f.From != nil {
		t.Error("a short transcript was changed")
	}
}

func fitFull(t *testing.T, e hermes.ContextEngine) {
	tr := fitTalk(36)
	shortened(t, tr, fitted(t, e, tr, fitUsage(tr)))
}

func fitRefused(t *testing.T, e hermes.ContextEngine) {
	tr := fitTalk(36)
	u := fitUsage(tr)
	u.Overflow = true
	shortened(t, tr, fitted(t, e, tr, u))
}

func fitDemanded(t *testing.T, e hermes.ContextEngine) {
	tr := fitTalk(20)
	tr = append(tr, hermes.Message{ID: 1000, Role: hermes.RoleAssistant, Turn: 21, Parts: []hermes.Part{{Text: "All is done."}}})
	shortened(t, tr, fitted(t, e, tr, hermes.ContextUsage{Model: "test:model", Used: 60_000, Counted: len(tr), Window: fitWindow, Demand: true, Focus: "the parser"}))
}

func fitIdle(t *testing.T, e hermes.ContextEngine) {
	tr := fitTalk(36)
	u := fitUsage(tr)
	u.Idle = true
	fitted(t, e, tr, u)
}

func fitLongTurn(t *testing.T, e hermes.ContextEngine) {
	tr := []hermes.Message{hermes.UserText("Build all parts, and never touch vendor.go.")}
	for i := range 36 {
		tr = append(tr, fitStep(i)...)
	}
	shortened(t, tr, fitted(t, e, tr, fitUsage(tr)))
}

func fitAgain(t *testing.T, e hermes.ContextEngine) {
	tr := fitTalk(36)
	for pass := range 5 {
		before := tr
		f := fitted(t, e, tr, fitUsage(tr))
		shortened(t, before, f)
		if tr = f.Messages; fitBytes(tr) > fitBytes(fitTalk(30)) {
			t.Fatalf("pass %d leaves %d bytes", pass, fitBytes(tr))
		}
		tr = append(tr[:len(tr):len(tr)], fitTalk(1 + 20)[1:]...)
		for i := range tr { // ids of calls are never used twice
			tr[i] = renamed(tr[i], fmt.Sprintf("p%d", pass))
		}
	}
}

// renamed returns a message whose calls have other ids.
func renamed(m hermes.Message, pass string) hermes.Message {
	calls := make([]hermes.ToolCall, len(m.Calls))
	for i, c := range m.Calls {
		c.ID = pass + c.ID
		calls[i] = c
	}
	if m.Calls = nil; len(calls) > 0 {
		m.Calls = calls
	}
	if m.CallID != "" {
		m.CallID = pass + m.CallID
	}
	return m
}

func fitEnds(t *testing.T, e hermes.ContextEngine) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tr := fitTalk(36)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if f, err := e.Fit(ctx, tr, fitUsage(tr)); err != nil && f.From != nil {
			t.Error("it failed and changed the transcript")
		} else {
			checkFit(t, tr, f)
		}
	}()
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		t.Error("it does not end with its context")
	}
}
