package mcp_test

import (
	"strings"
	"testing"

	"hermes/internal/mcp"
)

func TestNamesOfTools(t *testing.T) {
	long := strings.Repeat("x", 100)
	for _, row := range []struct{ server, tool, want string }{
		{"git-hub", "create.issue", "mcp__git_hub__create_issue"}, {"a", "ü", "mcp__a__tool"}, {"a", "read file", "mcp__a__read_file"},
		{"a__b", "c", "mcp__a_b__c"}, {"a", "b__c", "mcp__a__b__c"}, {"_a_", "b", "mcp__a__b"},
	} {
		if got := mcp.ToolName(row.server, row.tool, nil); got != row.want {
			t.Errorf("%s %s: %s", row.server, row.tool, got)
		}
	}
	a, b := mcp.ToolName("s", long, nil), mcp.ToolName("s", long+"y", nil)
	if len(a) != 64 || len(b) != 64 || a == b {
		t.Errorf("long names: %s %s", a, b)
	}
	if got := mcp.ToolName("s", "a.b", func(string) bool { return true }); got == "mcp__s__a_b" || !strings.HasPrefix(got, "mcp__s__a_b_") {
		t.Errorf("a name that is taken: %s", got)
	}
}
