package toolset_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/toolset"
)

func TestParseCustom(t *testing.T) {
	t.Parallel()
	got := toolset.ParseCustom(map[string]any{
		"list": []any{"read_file", 7, "terminal"}, "both": map[string]any{"tools": []any{"todo"}, "includes": []any{"file"}},
		"part": map[string]any{"tools": "todo", "includes": []any{"file"}}, "wrong": "todo",
	})
	want := map[string]toolset.Custom{
		"list": {Tools: []string{"read_file", "terminal"}}, "both": {Tools: []string{"todo"}, Includes: []string{"file"}}, "part": {Includes: []string{"file"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
