package review_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/review"
)

// reviewTools is the tools of a reviewer; they record their calls.
type reviewTools struct {
	calls []string
	fails bool
}

func (b *reviewTools) Specs() []hermes.Spec {
	return []hermes.Spec{{Name: "memory", Schema: json.RawMessage(`{"type":"object"}`)}, {Name: "skill_manage", Schema: json.RawMessage(`{"type":"object"}`)}}
}

func (b *reviewTools) Spec(name string) (hermes.Spec, bool) {
	for _, s := range b.Specs() {
		if s.Name == name {
			return s, true
		}
	}
	return hermes.Spec{}, false
}
func (b *reviewTools) Preview(hermes.ToolCall) string     { return "" }
func (b *reviewTools) Canonical(c hermes.ToolCall) string { return c.Arguments }
func (b *reviewTools) TurnStarted()                       {}
func (b *reviewTools) Run(ctx context.Context, c *hermes.Call) hermes.Result {
	b.calls = append(b.calls, c.Host.Session().ID+" "+c.Name+" "+string(c.Arguments))
	if answer, err := c.Host.Approve(ctx, hermes.ApprovalRequest{}); err != nil || answer.Decision != hermes.Unattended {
		return hermes.Result{Text: "somebody agreed", Failed: true}
	}
	return hermes.Result{Text: "done", Failed: b.fails}
}

func newRunner(m hermes.Model, b *reviewTools) *review.Runner {
	return review.New(review.Config{
		Model: func(string) hermes.Model { return m },
		NewRuntime: func(context.Context, review.Conversation) (review.Runtime, error) {
			return review.Runtime{Tools: b}, nil
		},
		Pace: review.Pace{Turns: 10, Steps: 10}, Notices: review.On,
		Known: func(context.Context, hermes.SessionRef) string { return "likes tabs" },
		Cost:  func(context.Context, string) (hermes.Money, bool) { return 0, true },
	})
}

// work is a turn with calls; those whose letter is f fail.
func work(turn int64, calls string) []hermes.Message {
	ask := hermes.UserText("make it build")
	ask.Turn = turn
	list := []hermes.Message{ask}
	for i, c := range calls {
		id := fmt.Sprint(i)
		list = append(list, hermes.Message{Role: hermes.RoleAssistant, Turn: turn, Calls: []hermes.ToolCall{{ID: id, Name: "terminal", Arguments: `{"command":"make"}`}}},
			hermes.Message{Role: hermes.RoleTool, Turn: turn, CallID: id, ToolName: "terminal", Failed: c == 'f', Parts: []hermes.Part{{Text: "output of make"}}})
	}
	return append(list, hermes.Message{Role: hermes.RoleAssistant, Turn: turn, Parts: []hermes.Part{{Text: "It builds </work>."}}})
}

func ref(turn int64) hermes.SessionRef { return hermes.SessionRef{ID: "s", Turn: turn} }

func calling(name, arguments string) hermestest.Step {
	return hermestest.Step{Calls: []hermes.ToolCall{{ID: "c", Name: name, Arguments: arguments}}}
}

func TestOnlyHardTurnsAreReviewed(t *testing.T) {
	t.Parallel()
	for calls, want := range map[string]bool{
		"": false, "ooo": false, "ffo": true, "fof": false, "fo": false, "oooooooo": true, "ooooooo": false,
	} {
		m := hermestest.NewScript(hermestest.Say("nothing to keep"))
		said, err := newRunner(m, &reviewTools{}).Review(t.Context(), review.Conversation{Session: ref(1), Transcript: work(1, calls)}, false)
		if err != nil || (said != "") != want || (m.Left() == 0) != want {
			t.Errorf("%q: %q, %v", calls, said, err)
		}
	}
}

func TestReviewsAreSeldom(t *testing.T) {
	t.Parallel()
	r := newRunner(hermestest.NewScript(hermestest.Say("nothing")).Forever(), &reviewTools{})
	var at []int64
	for turn := int64(1); turn <= 25; turn++ {
		said, err := r.Review(t.Context(), review.Conversation{Session: ref(turn), Transcript: work(turn, "ffo")}, false)
		if err != nil {
			t.Fatal(err)
		}
		if said != "" {
			at = append(at, turn)
		}
	}
	if fmt.Sprint(at) != "[1 11 21]" {
		t.Errorf("reviewed at %v", at)
	}
}

func TestReviewKeepsAndReports(t *testing.T) {
	t.Parallel()
	m := hermestest.NewScript(calling("memory", `{"action":"add","target":"memory","content":"builds with make"}`),
		calling("skill_manage", `{"action":"create","name":"make-build"}`), hermestest.Say("kept two things"))
	b := &reviewTools{}
	transcript := work(3, "f")
	transcript[1].Calls[0] = hermes.ToolCall{ID: "0", Name: hermes.ForwardTool, Arguments: `{"name":"mcp__ci__build","arguments":{"target":"all"}}`}
	said, err := newRunner(m, b).Review(t.Context(), review.Conversation{Session: ref(3), Transcript: transcript, Focus: "the build"}, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"memory, skill make-build", "tokens", "$0.00", "hermes undo"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q does not say %q", said, want)
		}
	}
	if len(b.calls) != 2 || !strings.HasPrefix(b.calls[0], "s memory ") {
		t.Errorf("calls %q", b.calls)
	}
	r := m.Requests()[0]
	text := r.Messages[0].Text()
	for _, want := range []string{"likes tabs", "User: make it build", `call: mcp__ci__build {"target":"all"}`, "failed: output of make", "look at this first: the build"} {
		if !strings.Contains(text, want) {
			t.Errorf("the reviewer does not read %q", want)
		}
	}
	if len(r.Tools) != 2 || r.Session != "s" || strings.Count(text, "</work>") != 1 {
		t.Errorf("%d tools, session %q, %q", len(r.Tools), r.Session, text)
	}
}

func TestWhatFailedIsNotReported(t *testing.T) {
	t.Parallel()
	m := hermestest.NewScript(calling("memory", `{"action":"add"}`), hermestest.Say("no"))
	said, err := newRunner(m, &reviewTools{fails: true}).Review(t.Context(), review.Conversation{Session: ref(1), Transcript: work(1, "o")}, true)
	if err != nil || !strings.Contains(said, "nothing to keep") {
		t.Errorf("%q, %v", said, err)
	}
	m = hermestest.NewScript(hermestest.Step{Err: &hermes.ModelError{Class: hermes.ClassAuth, Message: "no such key"}})
	if said, err = newRunner(m, &reviewTools{}).Review(t.Context(), review.Conversation{Session: ref(1), Transcript: work(1, "o")}, true); err == nil || said != "" {
		t.Errorf("%q, %v", said, err)
	}
}

func TestLongConversationsAreReadFromTheEnd(t *testing.T) {
	t.Parallel()
	var list []hermes.Message
	for turn := range int64(300) {
		list = append(list, work(turn, "oooo")...)
	}
	m := hermestest.NewScript(hermestest.Say("nothing"))
	if _, err := newRunner(m, &reviewTools{}).Review(t.Context(), review.Conversation{Session: ref(299), Transcript: list}, true); err != nil {
		t.Fatal(err)
	}
	if n := len(m.Requests()[0].Messages[0].Text()); n > 52_000 || n < 40_000 {
		t.Errorf("%d bytes are read", n)
	}
}

func TestNeverTwoAtOnce(t *testing.T) {
	t.Parallel()
	var r *review.Runner
	b := &reviewTools{}
	r = review.New(review.Config{
		Model: func(string) hermes.Model { return hermestest.NewScript(hermestest.Say("nothing")) },
		NewRuntime: func(ctx context.Context, conversation review.Conversation) (review.Runtime, error) {
			if _, err := r.Review(ctx, review.Conversation{Session: conversation.Session}, true); !errors.Is(err, review.ErrBusy) {
				t.Errorf("a second review: %v", err)
			}
			return review.Runtime{Tools: b}, nil
		},
	})
	if _, err := r.Review(t.Context(), review.Conversation{Session: ref(1), Transcript: work(1, "o")}, true); err != nil {
		t.Fatal(err)
	}
}
