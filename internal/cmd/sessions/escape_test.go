package sessions_test

import (
	"encoding/json"
	"strings"
	"testing"

	"hermes"
)

// TestTrajectoryHasNoEscapes: a model that learns from a trajectory sees characters
// as they are, in arguments and in results.
func TestTrajectoryHasNoEscapes(t *testing.T) {
	t.Parallel()
	const key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
	hidden := strings.ReplaceAll(key, "s", `\u0073`)
	for arguments, want := range map[string]string{
		`{"text":"\u00fc \u4f60 \ud83d\ude00"}`:   `{"text":"ü 你 😀"}`,
		`{"text":"a\u003cb\u003e \u0026 \u0027"}`: `{"text":"a<b> & '"}`,
		`{"text":"\u2028 \u2029 \u007f"}`:         "{\"text\":\"\u2028 \u2029 \x7f\"}",
		`{"b":1,"a":[2.50,1e3,null,"\u0061"]}`:    `{"b":1,"a":[2.50,1e3,null,"a"]}`,
		`{"\u00e4":{"\u0022":"\u005c"}}`:          `{"ä":{"\"":"\\"}}`,
		`{"text":"\u000a\t\u0001 \/"}`:            `{"text":"\n\t\u0001 /"}`, // what JSON must escape
		`{"text":"\\u00fc"}`:                      `{"text":"\\u00fc"}`,      // no escape, but a backslash
		`{"text":"\ud83d alone"}`:                 `{"text":"\ud83d alone"}`, // no character
		`{"big":12345678901234567890}`:            `{"big":12345678901234567890}`,
	} {
		s := filled(t)
		list := []hermes.Message{
			{Role: hermes.RoleAssistant, Calls: []hermes.ToolCall{{ID: "1", Name: "terminal", Arguments: arguments}, {ID: "2", Name: "terminal", Arguments: `{"k":"` + hidden + `"}`}}},
			{Role: hermes.RoleTool, CallID: "1", ToolName: "terminal", Parts: []hermes.Part{{Text: "ü < \u2028"}}},
			{Role: hermes.RoleTool, CallID: "2", ToolName: "terminal", Parts: []hermes.Part{{Text: "ok"}}},
		}
		if _, err := s.Commit(t.Context(), hermes.Lease{Session: "20261119_090000_bbbbbb"}, hermes.Change{Append: list}); err != nil {
			t.Fatal(err)
		}
		out := mustRun(t, s, "export", "-", "--format", "trajectory", "--session", "20261119", "--redact")
		got := readShared(t, out)[0].Conversations
		call := got[1].Value
		if !strings.Contains(call, `{"arguments":`+want+`,"name":"terminal"}`) {
			t.Errorf("%s became %s", arguments, call)
		}
		for _, block := range strings.Split(call, "<tool_call>\n")[1:] {
			body, _, _ := strings.Cut(block, "\n</tool_call>")
			if !json.Valid([]byte(body)) {
				t.Errorf("not JSON: %s", body)
			}
		}
		if !strings.Contains(got[2].Value, `"ü < `+"\u2028\"") {
			t.Errorf("result %q", got[2].Value)
		}
		if strings.Contains(call, "cdefghijklmnopqrstuvwxyz") {
			t.Errorf("a secret that was written with escapes is shown: %s", call)
		}
	}
}
