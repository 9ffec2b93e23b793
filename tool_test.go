package hermes_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
)

// TestForwarded: a call of tool_call is the call that it names, however a model writes its arguments; what
// names nothing, and calls of other tools, are themselves.
func TestForwarded(t *testing.T) {
	t.Parallel()
	for arguments, want := range map[string]hermes.ToolCall{
		`{"name":"mcp__a__b","arguments":{"x":"<","y":9007199254740993}}`: {ID: "c", Name: "mcp__a__b", Arguments: `{"x":"<","y":9007199254740993}`},
		`{"name":" mcp__a__b ","arguments":"{\"x\":1}"}`:                  {ID: "c", Name: "mcp__a__b", Arguments: `{"x":1}`},
		`{"name":"mcp__a__b"}`:                 {ID: "c", Name: "mcp__a__b", Arguments: `{}`},
		`{"name":"mcp__a__b","arguments":""}`:  {ID: "c", Name: "mcp__a__b", Arguments: `{}`},
		`{"name":"mcp__a__b","arguments":[1]}`: {ID: "c", Name: "mcp__a__b", Arguments: `[1]`}, // refused by the tool chain
		`{"arguments":{"x":1}}`:                {ID: "c", Name: "tool_call", Arguments: `{"arguments":{"x":1}}`},
		`{"name":"  "}`:                        {ID: "c", Name: "tool_call", Arguments: `{"name":"  "}`},
		`{"name":7}`:                           {ID: "c", Name: "tool_call", Arguments: `{"name":7}`},
		`not JSON`:                             {ID: "c", Name: "tool_call", Arguments: `not JSON`},
	} {
		got := hermes.ToolCall{ID: "c", Name: hermes.ForwardTool, Arguments: arguments}.Forwarded()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", arguments, diff)
		}
	}
	other := hermes.ToolCall{ID: "c", Name: "read_file", Arguments: `{"name":"mcp__a__b"}`}
	if got := other.Forwarded(); got != other {
		t.Errorf("another tool is forwarded: %+v", got)
	}
}
