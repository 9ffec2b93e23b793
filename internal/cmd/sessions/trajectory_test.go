package sessions_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
)

type shared struct {
	Conversations []struct{ From, Value string }
	Model         string
	Completed     bool
}

func readShared(t *testing.T, out string) []shared {
	t.Helper()
	var list []shared
	for line := range strings.Lines(out) {
		var s shared
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		list = append(list, s)
	}
	return list
}

func TestTrajectoryIsShareGPT(t *testing.T) {
	t.Parallel()
	s := filled(t)
	got := readShared(t, mustRun(t, s, "export", "-", "--format", "trajectory", "--session", "latest"))
	if len(got) != 1 || got[0].Model != "openrouter:m" || !got[0].Completed {
		t.Fatalf("%+v", got)
	}
	var from []string
	for _, c := range got[0].Conversations {
		from = append(from, c.From)
	}
	if diff := cmp.Diff([]string{"system", "human", "gpt", "tool", "gpt"}, from); diff != "" {
		t.Error(diff)
	}
	c := got[0].Conversations
	for i, want := range []string{
		"You are Hermes.", "recalled memory",
		"<think>\n</think>\n<tool_call>\n{\"arguments\":{\"command\":\"make\"},\"name\":\"terminal\"}\n</tool_call>",
		"<tool_response>\n{\"content\":\"line\\n", "<think>\n</think>\nDone: the build is ```green```.",
	} {
		if !strings.Contains(c[i].Value, want) {
			t.Errorf("turn %d is %q, want %q", i, c[i].Value, want)
		}
	}
}

func TestTrajectoryGroupsResultsKeepsThinkingAndRedacts(t *testing.T) {
	t.Parallel()
	s := filled(t)
	const key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
	list := []hermes.Message{
		{Role: hermes.RoleAssistant, Reasoning: []hermes.Reasoning{{Text: "the key is " + key}}, Calls: []hermes.ToolCall{
			{ID: "1", Name: "terminal", Arguments: `{"command":"curl -H ` + key + `"}`}, {ID: "2", Name: "terminal", Arguments: "not json"}}},
		{Role: hermes.RoleTool, CallID: "1", ToolName: "terminal", Parts: []hermes.Part{{Text: "one " + key}}},
		{Role: hermes.RoleTool, CallID: "2", ToolName: "terminal", Parts: []hermes.Part{{Text: "two"}}},
	}
	if _, err := s.Commit(t.Context(), hermes.Lease{Session: "20261119_090000_bbbbbb"}, hermes.Change{Append: list}); err != nil {
		t.Fatal(err)
	}
	open := mustRun(t, s, "export", "-", "--format", "trajectory", "--session", "20261119", "--redact=false")
	got := readShared(t, open)[0]
	if n := len(got.Conversations); n != 3 || got.Completed {
		t.Fatalf("%+v", got)
	}
	if v := got.Conversations[1].Value; !strings.HasPrefix(v, "<think>\nthe key is") || !strings.Contains(v, `"arguments":"not json"`) {
		t.Errorf("turn of the model %q", v)
	}
	if v := got.Conversations[2].Value; strings.Count(v, "<tool_response>") != 2 {
		t.Errorf("results %q", v)
	}
	redacted := mustRun(t, s, "export", "-", "--format", "trajectory", "--redact")
	if !strings.Contains(open, key) || strings.Contains(redacted, "cdefghijklmnopqrstuvwxyz") {
		t.Errorf("redacted: %s", redacted)
	}
	readShared(t, redacted)
}
