package base_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/transport/base"
)

func TestHalfAPairIsReplaced(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{}`: `{}`, `{"a":"\u00e9"}`: `{"a":"\u00e9"}`, `{"a":"\ud83d\ude00"}`: `{"a":"\ud83d\ude00"}`, `{"a":"\uD83D\uDE00"}`: `{"a":"\uD83D\uDE00"}`,
		`{"a":"\ud83d"}`: `{"a":"\ufffd"}`, `{"a":"\ude00"}`: `{"a":"\ufffd"}`, `{"a":"\ude00\ud83d"}`: `{"a":"\ufffd\ufffd"}`,
		`{"a":"\ud83d\ud83d\ude00"}`: `{"a":"\ufffd\ud83d\ude00"}`, `{"a":"\\ud83d"}`: `{"a":"\\ud83d"}`, `{"a":"\\\ud83d"}`: `{"a":"\\\ufffd"}`,
		`{"a":"\ud83dx\ude00"}`: `{"a":"\ufffdx\ufffd"}`, `{"\udfff":1}`: `{"\ufffd":1}`, `{"a":"\ud83d\u0041"}`: `{"a":"\ufffd\u0041"}`, `{"a":"\u`: `{"a":"\u`,
	} {
		if got := base.WellFormed(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

// FuzzWellFormed compares with the JSON decoder, which replaces half pairs, too.
func FuzzWellFormed(f *testing.F) {
	f.Add(`{"a":"\ud83d\\\ude00\ud83d\ude00"}`)
	f.Fuzz(func(t *testing.T, text string) {
		var was, is any
		if json.Unmarshal([]byte(text), &was) != nil {
			return
		}
		got := base.WellFormed(text)
		if err := json.Unmarshal([]byte(got), &is); err != nil {
			t.Fatalf("%q: %q: %v", text, got, err)
		}
		if diff := cmp.Diff(is, was); diff != "" {
			t.Fatal(diff)
		}
		if base.WellFormed(got) != got {
			t.Errorf("%q is not stable", got)
		}
	})
}

// TestWhatIsSentOfACallDependsOnWhatWasBefore keeps the beginning of a growing
// transcript, which services cache.
func TestWhatIsSentOfACallDependsOnWhatWasBefore(t *testing.T) {
	t.Parallel()
	var all []hermes.Message
	for _, id := range []string{"x", "x", "x_2", "y", "x", "x_2", "", ""} {
		all = append(all,
			hermes.Message{Role: hermes.RoleAssistant, Calls: []hermes.ToolCall{{ID: id, Arguments: `{"a":"\ud83d"}`}}},
			hermes.Message{Role: hermes.RoleTool, CallID: id})
	}
	before := hermes.Message{Role: hermes.RoleAssistant, Calls: []hermes.ToolCall{{ID: "x", Arguments: `{"a":"\ud83d"}`}}}
	whole := base.Sendable(all)
	for n := range all {
		if diff := cmp.Diff(base.Sendable(all[:n]), whole[:n]); diff != "" {
			t.Fatalf("the first %d:\n%s", n, diff)
		}
	}
	if diff := cmp.Diff(all[0], before); diff != "" {
		t.Errorf("the transcript was changed:\n%s", diff)
	}
	seen := map[string]bool{}
	for i := 0; i < len(whole); i += 2 {
		id := whole[i].Calls[0].ID
		if seen[id] || whole[i+1].CallID != id {
			t.Errorf("call %d has the id %q, its result %q", i, id, whole[i+1].CallID)
		}
		seen[id] = true
	}
}

// TestManyCallsWithOneIDAreNumberedOnce counts the strings that are made for numbered
// ids: a server that gives each call the same id must not make each request slower by
// the square of their number.
func TestManyCallsWithOneIDAreNumberedOnce(t *testing.T) {
	const calls = 1000
	var msgs []hermes.Message
	for range calls {
		msgs = append(msgs,
			hermes.Message{Role: hermes.RoleAssistant, Calls: []hermes.ToolCall{{ID: "x"}}},
			hermes.Message{Role: hermes.RoleTool, CallID: "x"})
	}
	if got := testing.AllocsPerRun(1, func() { base.Sendable(msgs) }); got > 10*calls {
		t.Errorf("%.0f allocations for %d calls", got, calls)
	}
	if got := base.Sendable(msgs)[2*calls-1].CallID; got != "x_1000" {
		t.Errorf("the last id is %q", got)
	}
}
