package toolset_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/toolset"
)

func program() []hermes.Toolset {
	return []hermes.Toolset{
		&group{name: "terminal", tools: named("terminal", "process")},
		&group{name: "file", tools: named("write_file", "read_file", "patch", "search_files")},
		&group{name: "todo", tools: named("todo")},
		&group{name: "kanban", tools: named("kanban_list")},
		&group{name: "browser", tools: named("browser_navigate"), why: "no browser is installed"},
		&group{name: "mcp-github", tools: named("mcp__github__issues")},
	}
}

func TestSelect(t *testing.T) {
	t.Parallel()
	files := []string{"patch", "read_file", "search_files", "write_file"}
	with := func(more ...string) []string {
		return slices.Sorted(slices.Values(append(slices.Clone(files), more...)))
	}
	custom := map[string]toolset.Custom{
		"mine": {Tools: []string{"todo_list"}, Includes: []string{"ours", "file"}},
		"ours": {Includes: []string{"mine"}},
	}
	for _, tt := range []struct {
		name    string
		sel     toolset.Selection
		want    []string
		unknown []string
	}{
		{name: "preset with servers", sel: toolset.Selection{Platform: "cli"}, want: with("kanban_list", "mcp__github__issues", "process", "terminal", "todo")},
		{name: "unknown platform", sel: toolset.Selection{Platform: "pigeon"}, want: with("kanban_list", "mcp__github__issues", "process", "terminal", "todo")},
		{name: "like the command line", sel: toolset.Selection{Enabled: []string{"hermes-telegram"}}, want: with("kanban_list", "process", "terminal", "todo")},
		{name: "webhook", sel: toolset.Selection{Platform: "webhook", Disabled: []string{"mcp-github"}}, want: nil},
		{name: "one", sel: toolset.Selection{Enabled: []string{"file"}}, want: files},
		{name: "blanks", sel: toolset.Selection{Enabled: []string{" file ", ""}}, want: files},
		{name: "composite", sel: toolset.Selection{Enabled: []string{"debugging"}}, want: with("process", "terminal")},
		{name: "old name", sel: toolset.Selection{Enabled: []string{"terminal_tools"}}, want: []string{"process", "terminal"}},
		{name: "circle and alias", sel: toolset.Selection{Enabled: []string{"mine"}}, want: with("todo")},
		{name: "single tool", sel: toolset.Selection{Enabled: []string{"read_file", "todo_list"}}, want: []string{"read_file", "todo"}},
		{name: "server by bare name", sel: toolset.Selection{Enabled: []string{"github"}}, want: []string{"mcp__github__issues"}},
		{name: "all leaves opt-ins", sel: toolset.Selection{Enabled: []string{"all"}}, want: with("mcp__github__issues", "process", "terminal", "todo")},
		{name: "star and an opt-in", sel: toolset.Selection{Enabled: []string{"*", "kanban"}}, want: with("kanban_list", "mcp__github__issues", "process", "terminal", "todo")},
		{name: "disabled wins", sel: toolset.Selection{Enabled: []string{"file", "terminal"}, Disabled: []string{"terminal", "patch"}}, want: []string{"read_file", "search_files", "write_file"}},
		{name: "a disabled tool with the name of an old toolset", sel: toolset.Selection{Enabled: []string{"terminal"}, Disabled: []string{" process "}}, want: []string{"terminal"}},
		{name: "its newer name", sel: toolset.Selection{Enabled: []string{"file", "terminal_tools"}, Disabled: []string{"process_manage"}}, want: with("terminal")},
		{name: "the toolset is disabled whole", sel: toolset.Selection{Enabled: []string{"file", "terminal"}, Disabled: []string{"terminal_tools"}}, want: files},
		{name: "a disabled tool of a preset", sel: toolset.Selection{Platform: "cli", Disabled: []string{"process", "mcp-github", "kanban"}}, want: with("terminal", "todo")},
		{name: "all disabled", sel: toolset.Selection{Enabled: []string{"file"}, Disabled: []string{"all"}}, want: nil},
		{name: "unknown gives none", sel: toolset.Selection{Enabled: []string{"flies"}}, want: nil, unknown: []string{"flies"}},
		{name: "a child has no more", sel: toolset.Selection{Platform: "cli", Only: []string{"read_file", "todo"}}, want: []string{"read_file", "todo"}},
	} {
		set, err := toolset.NewCatalogue(program(), custom, nil).Select(t.Context(), tt.sel)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(set.Names(), append([]string{}, tt.want...)); diff != "" {
			t.Errorf("%s: tools (-got +want):\n%s", tt.name, diff)
		}
		if diff := cmp.Diff(set.Unknown, tt.unknown); diff != "" {
			t.Errorf("%s: unknown (-got +want):\n%s", tt.name, diff)
		}
	}
}

func TestUnavailableToolsetsSayWhy(t *testing.T) {
	t.Parallel()
	sets := []hermes.Toolset{
		&group{name: "browser", tools: named("browser_navigate"), why: "no browser is installed"},
		&group{name: "tts", tools: named("text_to_speech"), check: func() string { panic("no sound") }},
		&group{name: "mcp-x", err: errors.New("the server does not answer")},
	}
	set, err := toolset.NewCatalogue(sets, nil, nil).Select(t.Context(), toolset.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	want := []toolset.Off{{"browser", "no browser is installed"}, {"tts", "its check failed: no sound"}, {"mcp-x", "the server does not answer"}}
	if diff := cmp.Diff(set.Off, want); diff != "" || len(set.Names()) != 0 {
		t.Errorf("off (-got +want):\n%s\ntools %v", diff, set.Names())
	}
}

func TestAvailabilityIsAskedOnceInAWhile(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	g := &group{name: "file", tools: named("read_file")}
	c := toolset.NewCatalogue([]hermes.Toolset{g}, nil, func() time.Time { return now })
	for _, tt := range []struct {
		after time.Duration
		asked int
	}{{0, 1}, {29 * time.Second, 1}, {time.Second, 2}, {time.Second, 2}} {
		now = now.Add(tt.after)
		c.States(t.Context())
		if g.asked != tt.asked {
			t.Errorf("after %v: asked %d times, want %d", tt.after, g.asked, tt.asked)
		}
	}
}

func TestOfferedToolsAreSortedCanonicalAndFirstComeFirstServed(t *testing.T) {
	t.Parallel()
	foreign := func(schema string) []hermes.Toolset {
		return []hermes.Toolset{
			&group{name: "file", tools: []hermes.Tool{tool{spec: hermes.Spec{Name: "read_file", Schema: json.RawMessage("{\"type\": \"object\",\n \"properties\": {\"path\": {}, \"a\": {}}}")}}}},
			&group{name: "mcp-x", tools: []hermes.Tool{
				tool{spec: hermes.Spec{Name: "zeta", Schema: json.RawMessage(schema)}},
				tool{spec: hermes.Spec{Name: "read_file"}},
				tool{spec: hermes.Spec{Name: "bare"}},
			}},
		}
	}
	var first []hermes.Spec
	for _, schema := range []string{`{"b":1,"a":{"y":1,"x":"<"}}`, `{ "a": {"x":"<","y":1}, "b": 1 }`} {
		set, err := toolset.NewCatalogue(foreign(schema), nil, nil).Select(context.Background(), toolset.Selection{})
		if err != nil {
			t.Fatal(err)
		}
		specs := set.Specs()
		if first == nil {
			first = specs
		}
		if diff := cmp.Diff(specs, first); diff != "" {
			t.Errorf("the same tools gave other bytes:\n%s", diff)
		}
		if got := strings.Join(set.Names(), " "); got != "bare read_file zeta" {
			t.Errorf("names: %s", got)
		}
		if len(set.Shadowed) != 1 || set.Toolset("read_file") != "file" {
			t.Errorf("shadowed %v, read_file from %s", set.Shadowed, set.Toolset("read_file"))
		}
	}
	want := []string{`{"type":"object","properties":{}}`, `{"type":"object","properties":{"path":{},"a":{}}}`, `{"a":{"x":"<","y":1},"b":1,"properties":{},"type":"object"}`}
	for i, s := range first {
		if string(s.Schema) != want[i] {
			t.Errorf("%s: got %s, want %s", s.Name, s.Schema, want[i])
		}
	}
}
