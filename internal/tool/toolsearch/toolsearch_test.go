package toolsearch_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/tool/toolsearch"
)

// host has deferred tools.
type host struct {
	hermes.Host
	groups []hermes.ToolGroup
}

func (h host) Deferred() []hermes.ToolGroup { return h.groups }

// spec is a tool with a description and arguments, written "name: description".
func spec(name, about string, arguments ...string) hermes.Spec {
	properties := map[string]any{}
	for _, a := range arguments {
		name, text, _ := strings.Cut(a, ": ")
		properties[name] = map[string]any{"type": "string", "description": text}
	}
	schema, err := json.Marshal(map[string]any{"type": "object", "properties": properties})
	if err != nil {
		panic(err) // texts have a JSON form
	}
	return hermes.Spec{Name: name, Description: about, Schema: schema}
}

func office() []hermes.ToolGroup {
	return []hermes.ToolGroup{
		{Toolset: "mcp-github", Known: true, Tools: []hermes.Spec{
			spec("mcp__github__create_issue", "Open a new issue in a repository.", "title: of the issue", "labels: to add"),
			spec("mcp__github__list_pulls", "List pull requests.", "repository: owner and name"),
			spec("mcp__github__search_code", "Search code in all repositories."),
		}},
		{Toolset: "mcp-mail", Known: true, Tools: []hermes.Spec{
			spec("mcp__mail__send", "Write to someone.", "recipient: an address", "subject: line of the letter"),
			spec("mcp__mail__searchInbox", "Find letters that came."),
			spec("mcp__mail__archive", "邮件归档到文件夹"),
		}},
		{Toolset: "mcp-slow"},
	}
}

type outcome struct {
	Tools []struct {
		Name, Server, Toolset, Description string
		Schema                             json.RawMessage `json:"input_schema"`
	}
	More []string
	Note string
}

func mustFind(t *testing.T, groups []hermes.ToolGroup, arguments string) (outcome, hermes.Result) {
	t.Helper()
	tools, err := toolsearch.New().Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, err := tools[0].Run(t.Context(), &hermes.Call{Name: "tool_search", Arguments: json.RawMessage(arguments), Host: host{groups: groups}})
	if err != nil {
		t.Fatal(err)
	}
	var out outcome
	if err := json.Unmarshal([]byte(r.Text), &out); err != nil {
		t.Fatal(err)
	}
	return out, r
}

func names(o outcome) []string {
	var list []string
	for _, f := range o.Tools {
		list = append(list, strings.TrimPrefix(f.Name, "mcp__"))
	}
	return list
}

// TestTheBestToolComesFirst: by its name, its words, those of its description, its arguments and its
// server.
func TestTheBestToolComesFirst(t *testing.T) {
	t.Parallel()
	for query, want := range map[string][]string{
		"mcp__mail__send":          {"mail__send"},
		"send":                     {"mail__send"},
		"create an issue":          {"github__create_issue"},
		"Issues":                   {"github__create_issue"},
		"pull requests":            {"github__list_pulls"},
		"recipient":                {"mail__send"},
		"subject line letter":      {"mail__send", "mail__searchInbox"},
		"search inbox":             {"mail__searchInbox", "github__search_code"},
		"search":                   {"github__search_code", "mail__searchInbox"},
		"归档":                       {"mail__archive"},
		"the":                      nil,
		"weather":                  nil,
		"github":                   {"github__create_issue", "github__list_pulls", "github__search_code"},
		"tool for mail: archiving": {"mail__archive", "mail__searchInbox", "mail__send"},
	} {
		got, r := mustFind(t, office(), `{"query":"`+query+`"}`)
		first := names(got)
		first = first[:min(len(first), len(want))]
		if diff := cmp.Diff(append([]string(nil), want...), append([]string(nil), first...)); diff != "" || want == nil && len(got.Tools) > 0 {
			t.Errorf("%q: %v, want %v", query, names(got), want)
		}
		if (r.Provenance != "") != (len(got.Tools) > 0) {
			t.Errorf("%q: from %q", query, r.Provenance)
		}
		if want == nil && !strings.HasPrefix(got.Note, "Nothing fits") || !strings.Contains(got.Note, "Not answered so far: slow") {
			t.Errorf("%q: note %q", query, got.Note)
		}
	}
}

// TestTheNameItselfComesFirst: also where other tools fit as well, with or without the server.
func TestTheNameItselfComesFirst(t *testing.T) {
	t.Parallel()
	groups := []hermes.ToolGroup{
		{Toolset: "mcp-a", Known: true, Tools: []hermes.Spec{spec("mcp__a__get_more", "Get get.", "get: what to get")}},
		{Toolset: "mcp-z", Known: true, Tools: []hermes.Spec{spec("mcp__z__get", "")}},
	}
	for _, query := range []string{"get", "mcp__z__get", " MCP__Z__GET "} {
		if got, _ := mustFind(t, groups, `{"query":"`+query+`"}`); len(got.Tools) == 0 || got.Tools[0].Name != "mcp__z__get" {
			t.Errorf("%q: %v", query, names(got))
		}
	}
}

// TestARareWordSaysMore: than one that most tools have.
func TestARareWordSaysMore(t *testing.T) {
	t.Parallel()
	groups := []hermes.ToolGroup{{Toolset: "mcp-a", Known: true, Tools: []hermes.Spec{
		spec("mcp__a__file_read", ""), spec("mcp__a__file_write", ""), spec("mcp__a__file_move", ""), spec("mcp__a__file_copy", ""),
		spec("mcp__a__shrink", "Compress something.", "quality: of the picture"),
	}}}
	if got, _ := mustFind(t, groups, `{"query":"file quality picture compress"}`); names(got)[0] != "a__shrink" {
		t.Errorf("got %v", names(got))
	}
}

// TestATextNamesItsServers: descriptions are text of a server, and the result says of which.
func TestATextNamesItsServers(t *testing.T) {
	t.Parallel()
	_, r := mustFind(t, office(), `{"query":"search"}`)
	if want := "tool_search descriptions of github, mail"; r.Provenance != want {
		t.Errorf("from %q, want %q", r.Provenance, want)
	}
}

// TestToolsOfHermesAreTrusted: what a search shows of them is no text of others, and it is found by what
// they are for.
func TestToolsOfHermesAreTrusted(t *testing.T) {
	t.Parallel()
	own := hermes.ToolGroup{Toolset: "checkpoint", Known: true, Own: true, Hint: "to keep the state of files", Tools: []hermes.Spec{spec("restore", "Go back to a checkpoint.")}}
	got, r := mustFind(t, []hermes.ToolGroup{own}, `{"query":"state"}`)
	if len(got.Tools) != 1 || got.Tools[0].Toolset != "checkpoint" || got.Tools[0].Server != "" || r.Provenance != "" {
		t.Errorf("found %+v from %q", got.Tools, r.Provenance)
	}
	if _, r = mustFind(t, append(office(), own), `{"query":"restore search"}`); r.Provenance != "tool_search descriptions of github, mail" {
		t.Errorf("from %q", r.Provenance)
	}
}

// TestAnEmptyQueryNamesAll: without a description, so it is no text of a server.
func TestAnEmptyQueryNamesAll(t *testing.T) {
	t.Parallel()
	got, r := mustFind(t, office(), `{"query":" "}`)
	want := []string{
		"mcp__github__create_issue", "mcp__github__list_pulls", "mcp__github__search_code", "mcp__mail__archive", "mcp__mail__searchInbox", "mcp__mail__send",
	}
	if diff := cmp.Diff(want, got.More); diff != "" || len(got.Tools) > 0 || r.Provenance != "" {
		t.Errorf("%s, %+v, %q", diff, got.Tools, r.Provenance)
	}
}

// TestNothingToFindIsSaid: a session without deferred tools, and a host that knows none.
func TestNothingToFindIsSaid(t *testing.T) {
	t.Parallel()
	got, _ := mustFind(t, nil, `{"query":"x"}`)
	if got.Note != "There are no tools beside those in your list." {
		t.Errorf("note %q", got.Note)
	}
}

// TestAResultIsBounded: whole schemas as long as they fit, the names of the others, and never more than
// the limit. A schema too large for any context is not shown.
func TestAResultIsBounded(t *testing.T) {
	t.Parallel()
	group := func(n, size int) []hermes.ToolGroup {
		g := hermes.ToolGroup{Toolset: "mcp-big", Known: true}
		for i := range n {
			g.Tools = append(g.Tools, spec(fmt.Sprintf("mcp__big__do_%03d", i), "Do it.", "a: "+strings.Repeat("x", size)))
		}
		return []hermes.ToolGroup{g}
	}
	for _, tt := range []struct {
		n, size, limit, shown, more int
	}{
		{30, 10, 0, 5, 25},
		{30, 10, 7, 7, 23},
		{100, 10, 1000, 20, 51},
		{30, 4 * 2500, 0, 2, 28},  // two of 2,500 tokens fit into 6,000
		{30, 4 * 10000, 0, 1, 29}, // the best is shown although it is larger
		{30, 4 * 30000, 0, 0, 30},
	} {
		got, r := mustFind(t, group(tt.n, tt.size), fmt.Sprintf(`{"query":"do","limit":%d}`, tt.limit))
		if len(got.Tools) != tt.shown || len(got.More) != tt.more {
			t.Errorf("%+v: %d shown, %d named", tt, len(got.Tools), len(got.More))
		}
		if len(r.Text) > 100_000 {
			t.Errorf("%+v: %d bytes", tt, len(r.Text))
		}
		for i, f := range got.Tools {
			if !json.Valid(f.Schema) || !strings.Contains(string(f.Schema), strings.Repeat("x", tt.size)) || f.Name != fmt.Sprintf("mcp__big__do_%03d", i) {
				t.Errorf("%+v: not whole, or out of order: %s", tt, f.Name)
			}
		}
	}
}

// TestADescriptionNamesServersWithinBounds: sorted as they are given, and cut if they are many.
func TestADescriptionNamesServersWithinBounds(t *testing.T) {
	t.Parallel()
	tools, err := toolsearch.New().Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d := tools[0].(interface {
		Describe([]hermes.ToolGroup) string
	})
	plain := tools[0].Spec().Description
	if got := d.Describe(nil); got != plain {
		t.Errorf("without servers: %q", got)
	}
	if got, want := d.Describe(office()), plain+" Servers: github (3 tools), mail (3 tools), slow (not known so far)."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	own := hermes.ToolGroup{Toolset: "browser", Own: true, Hint: "to use web pages", Tools: make([]hermes.Spec, 12)}
	if got, want := d.Describe(append([]hermes.ToolGroup{own}, office()...)), plain+" Of Hermes: browser (12 tools) to use web pages. Servers: github (3 tools), mail (3 tools), slow (not known so far)."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var many []hermes.ToolGroup
	for i := range 1000 {
		many = append(many, hermes.ToolGroup{Toolset: fmt.Sprintf("mcp-server%d", i)})
	}
	last := hermes.ToolGroup{Toolset: "web", Own: true, Hint: "to read pages"} // however many servers come before it
	if got := d.Describe(append(many[:len(many):len(many)], last)); !strings.Contains(got, "Of Hermes: web (") {
		t.Errorf("many servers hide a toolset of Hermes: %s", got)
	}
	got := d.Describe(many)
	if servers := strings.Count(got, "server"); !strings.Contains(got, fmt.Sprintf("and %d more.", 1000-servers)) {
		t.Errorf("%d servers are named: %s", servers, got)
	}
	if len(got) > 2000 || !strings.HasSuffix(got, " more.") || !strings.Contains(got, "server0 (") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}

// TestACallOfNoOtherToolSaysWhatToDo.
func TestACallOfNoOtherToolSaysWhatToDo(t *testing.T) {
	t.Parallel()
	tools, err := toolsearch.New().Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for arguments, want := range map[string]string{
		`{}`:                   "names no other tool",
		`{"name":"tool_call"}`: "names no other tool",
		`{"name":"terminal"}`:  "terminal is in your list of tools: call it by itself",
	} {
		if _, err := tools[1].Run(t.Context(), &hermes.Call{Name: "tool_call", Arguments: json.RawMessage(arguments)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", arguments, err)
		}
	}
}
