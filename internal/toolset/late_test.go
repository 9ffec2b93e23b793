package toolset_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/argument"
	"hermes/internal/race"
	"hermes/internal/toolset"
)

// server is a toolset whose tools come and go.
type server struct {
	group
	mu    sync.Mutex
	now   []hermes.Tool
	known bool
}

func (s *server) Live() ([]hermes.Tool, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now, s.known
}

// has changes what the server has now.
func (s *server) has(tools ...hermes.Tool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now, s.known = tools, true
}

// finder stands for the tools that find others.
type finder struct{ tool }

func (finder) Describe(deferred []hermes.ToolGroup) string {
	text := "find:"
	for _, g := range deferred {
		text += fmt.Sprintf(" %s=%d", g.Toolset, len(g.Tools))
	}
	return text
}

func search() *group {
	return &group{name: toolset.Search, tools: append(named("tool_call"), finder{tool{hermes.Spec{Name: "tool_search"}}})}
}

func newServer(name string, tools ...string) *server {
	return &server{group: group{name: "mcp-" + name, tools: described(tools...)}}
}

// described are tools whose descriptions have 400 characters: 100 tokens and some.
func described(names ...string) []hermes.Tool {
	var tools []hermes.Tool
	for _, n := range names {
		tools = append(tools, tool{spec: hermes.Spec{Name: n, Description: strings.Repeat("word", 100)}})
	}
	return tools
}

func mustSelect(t testing.TB, sets []hermes.Toolset, sel toolset.Selection) *toolset.Set {
	t.Helper()
	set, err := toolset.NewCatalogue(sets, nil, nil).Select(t.Context(), sel)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// listed are the names of the tools that a model is offered.
func listed(set *toolset.Set) []string {
	var names []string
	for _, s := range set.Specs() {
		names = append(names, s.Name)
	}
	return names
}

// groups writes the groups of a set in short.
func groups(set *toolset.Set) string {
	var all []string
	for _, g := range set.Groups() {
		var names []string
		for _, s := range g.Tools {
			names = append(names, s.Name)
		}
		all = append(all, fmt.Sprintf("%s %t %s", g.Toolset, g.Known, strings.Join(names, ",")))
	}
	return strings.Join(all, "; ")
}

// TestToolsOfServersAreListedOrDeferredTogether: all of them are listed up to the limit, and none
// above it; they are found in both cases.
func TestToolsOfServersAreListedOrDeferredTogether(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		above int
		want  string
		about string
	}{
		{0, "a b c read_file tool_call tool_search", "find:"},
		{1000, "a b c read_file tool_call tool_search", "find:"},
		{327, "a b c read_file tool_call tool_search", "find:"}, // three times 109
		{326, "read_file tool_call tool_search", "find: mcp-x=2 mcp-y=1"},
		{1, "read_file tool_call tool_search", "find: mcp-x=2 mcp-y=1"},
	} {
		sets := []hermes.Toolset{&group{name: "file", tools: described("read_file")}, newServer("y", "c"), newServer("x", "b", "a"), search()}
		set := mustSelect(t, sets, toolset.Selection{DeferAbove: tt.above})
		if got := strings.Join(listed(set), " "); got != tt.want {
			t.Errorf("above %d: listed %s, want %s", tt.above, got, tt.want)
		}
		finds, _ := set.Find("tool_search")
		if finds.Spec.Description != tt.about {
			t.Errorf("above %d: described as %q, want %q", tt.above, finds.Spec.Description, tt.about)
		}
		for _, name := range []string{"a", "b", "c"} {
			if m, ok := set.Find(name); !ok || m.Spec.Name != name || !json.Valid(m.Spec.Schema) || m.Shape() == nil {
				t.Errorf("above %d: %s is not found: %+v", tt.above, name, m)
			}
		}
		if got, want := groups(set), "mcp-x false a,b; mcp-y false c"; got != want {
			t.Errorf("above %d: groups %s, want %s", tt.above, got, want)
		}
	}
}

// TestToolsThatTheTableDefersAreFound: whatever the limit is for those of servers, and unless the run
// names their toolset. One that cannot be used is not there, and nothing is searched because of it.
func TestToolsThatTheTableDefersAreFound(t *testing.T) {
	t.Parallel()
	sets := func(why string) []hermes.Toolset {
		return []hermes.Toolset{&group{name: "file", tools: described("read_file")}, &group{name: "checkpoint", tools: described("checkpoint", "restore"), why: why}, search()}
	}
	for name, tt := range map[string]struct {
		sel          toolset.Selection
		why          string
		list, groups string
	}{
		"a chat":             {toolset.Selection{}, "", "read_file tool_call tool_search", "checkpoint true checkpoint,restore"},
		"a limit":            {toolset.Selection{DeferAbove: 100_000}, "", "read_file tool_call tool_search", "checkpoint true checkpoint,restore"},
		"a run names it":     {toolset.Selection{Enabled: []string{"checkpoint"}, Offer: []string{"checkpoint"}}, "", "checkpoint restore", ""},
		"all":                {toolset.Selection{Enabled: []string{"all"}, Offer: []string{"all"}}, "", "checkpoint read_file restore", ""},
		"a child":            {toolset.Selection{Only: []string{"read_file", "restore", "tool_call", "tool_search"}}, "", "read_file tool_call tool_search", "checkpoint true restore"},
		"a child without it": {toolset.Selection{Only: []string{"read_file", "tool_call", "tool_search"}}, "", "read_file", ""},
		"disabled":           {toolset.Selection{Disabled: []string{"checkpoint"}}, "", "read_file", ""},
		"cannot be used":     {toolset.Selection{}, "no disk", "read_file", ""},
	} {
		set := mustSelect(t, sets(tt.why), tt.sel)
		if got := strings.Join(listed(set), " "); got != tt.list {
			t.Errorf("%s: listed %s, want %s", name, got, tt.list)
		}
		if got := groups(set); got != tt.groups {
			t.Errorf("%s: groups %s, want %s", name, got, tt.groups)
		}
		if deferred := tt.groups != ""; set.Forwards("restore") != (deferred || tt.sel.Offer == nil) {
			t.Errorf("%s: forwards restore: %t", name, set.Forwards("restore"))
		}
	}
	g := mustSelect(t, sets(""), toolset.Selection{}).Groups()[0]
	if !g.Own || g.Hint == "" {
		t.Errorf("not described: %+v", g)
	}
}

// TestLateToolsAreFoundAndNeverListed: what a server brings, changes and takes away after the
// selection is seen by Find and Groups, and the list stays byte for byte.
func TestLateToolsAreFoundAndNeverListed(t *testing.T) {
	t.Parallel()
	late, old := newServer("late"), newServer("old", "stays", "changes", "goes")
	set := mustSelect(t, []hermes.Toolset{&group{name: "file", tools: named("read_file")}, late, old, search()}, toolset.Selection{})
	list := func() string {
		text, err := json.Marshal(set.Specs()[0].Name)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range set.Specs() {
			text = append(text, s.Name+s.Description+string(s.Schema)...)
		}
		return string(text)
	}
	before := list()
	if _, ok := set.Find("new"); ok {
		t.Error("a tool is found that no one has")
	}
	if got, want := groups(set), "mcp-late false ; mcp-old false changes,goes,stays"; got != want {
		t.Errorf("groups %s, want %s", got, want)
	}
	late.has(named("new", "read_file", "stays")...)
	old.has(append(described("stays"), tool{spec: hermes.Spec{Name: "changes", Description: "Other.", Schema: json.RawMessage(`{"b":1,"a":2}`)}})...)
	if m, ok := set.Find("new"); !ok || m.Toolset != "mcp-late" {
		t.Errorf("the late tool is not found: %+v", m)
	}
	if m, _ := set.Find("read_file"); m.Toolset != "file" {
		t.Errorf("a late tool took the name of another: %+v", m)
	}
	if m, _ := set.Find("stays"); m.Toolset != "mcp-old" {
		t.Errorf("a late tool took the name of one of another server: %+v", m)
	}
	if m, _ := set.Find("changes"); m.Spec.Description != "Other." || string(m.Spec.Schema) != `{"a":2,"b":1,"properties":{},"type":"object"}` {
		t.Errorf("found as it was, not as it is: %+v", m.Spec)
	}
	if m, ok := set.Find("goes"); !ok || m.Toolset != "mcp-old" {
		t.Errorf("a tool that the session began with cannot say that it is gone: %+v", m)
	}
	if got, want := groups(set), "mcp-late true new; mcp-old true changes,stays"; got != want {
		t.Errorf("groups %s, want %s", got, want)
	}
	if after := list(); after != before {
		t.Errorf("the list changed:\n%s\n%s", before, after)
	}
}

// TestASelectionHoldsForLateTools: what is not enabled, is disabled, or is more than a parent has,
// stays away also when it comes late.
func TestASelectionHoldsForLateTools(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		sel    toolset.Selection
		finds  string
		groups string
		search bool
	}{
		{"preset", toolset.Selection{}, "known late", "mcp-x true known,late", true},
		{"by its name", toolset.Selection{Enabled: []string{"file", "mcp-x"}}, "known late", "mcp-x true known,late", true},
		{"by its bare name", toolset.Selection{Enabled: []string{"x"}}, "known late", "mcp-x true known,late", true},
		{"all", toolset.Selection{Enabled: []string{"all"}}, "known late", "mcp-x true known,late", true},
		{"others", toolset.Selection{Enabled: []string{"file"}}, "", "", false},
		{"a tool", toolset.Selection{Enabled: []string{"known"}}, "known", "mcp-x true known", true},
		{"a tool that is not there so far", toolset.Selection{Enabled: []string{"late", "known"}}, "known late", "mcp-x true known,late", true},
		{"disabled", toolset.Selection{Disabled: []string{"mcp-x"}}, "", "", false},
		{"disabled by its bare name", toolset.Selection{Disabled: []string{"x"}}, "", "", false},
		{"all disabled", toolset.Selection{Disabled: []string{"*"}}, "", "", false},
		{"a late tool disabled", toolset.Selection{Disabled: []string{"late"}}, "known", "mcp-x true known", true},
		{"a tool disabled", toolset.Selection{Disabled: []string{"known"}}, "late", "mcp-x true late", true},
		{"a child", toolset.Selection{Enabled: []string{"mcp-x"}, Only: []string{"known", "tool_call", "tool_search"}}, "known", "mcp-x true known", true},
		{"a child without", toolset.Selection{Enabled: []string{"mcp-x"}, Only: []string{"read_file"}}, "", "", false},
		{"no search", toolset.Selection{Disabled: []string{"tool_search"}}, "known late", "mcp-x true known,late", false},
	} {
		x := newServer("x", "known")
		set := mustSelect(t, []hermes.Toolset{&group{name: "file", tools: named("read_file")}, x, search()}, tt.sel)
		x.has(described("late", "known")...)
		var finds []string
		for _, name := range []string{"known", "late"} {
			if _, ok := set.Find(name); ok {
				finds = append(finds, name)
			}
		}
		if got := strings.Join(finds, " "); got != tt.finds {
			t.Errorf("%s: finds %q, want %q", tt.name, got, tt.finds)
		}
		if got := groups(set); got != tt.groups {
			t.Errorf("%s: groups %q, want %q", tt.name, got, tt.groups)
		}
		if got := slices.Contains(listed(set), "tool_search"); got != tt.search {
			t.Errorf("%s: search is listed: %t, want %t", tt.name, got, tt.search)
		}
	}
}

// TestWithoutServersNothingIsSearched: the tools that find others are not listed if there is nothing
// to find, even if they are enabled.
func TestWithoutServersNothingIsSearched(t *testing.T) {
	t.Parallel()
	for _, enabled := range [][]string{nil, {"tool_search", "file"}, {"all"}} {
		set := mustSelect(t, []hermes.Toolset{&group{name: "file", tools: named("read_file")}, search()}, toolset.Selection{Enabled: enabled, DeferAbove: 1})
		if diff := cmp.Diff([]string{"read_file"}, listed(set)); diff != "" {
			t.Errorf("%q: %s", enabled, diff)
		}
	}
}

// crashing is a server whose Live panics.
type crashing struct{ group }

func (*crashing) Live() ([]hermes.Tool, bool) { panic("broken") }

func TestAServerThatPanicsHasWhatItBeganWith(t *testing.T) {
	t.Parallel()
	set := mustSelect(t, []hermes.Toolset{&crashing{group{name: "mcp-x", tools: named("a")}}, newServer("y", "b")}, toolset.Selection{})
	if got, want := groups(set), "mcp-x false a; mcp-y false b"; got != want {
		t.Errorf("groups %s, want %s", got, want)
	}
}

// TestASetIsSafeWhileServersChange: run with -race.
func TestASetIsSafeWhileServersChange(t *testing.T) {
	t.Parallel()
	x := newServer("x", "a")
	set := mustSelect(t, []hermes.Toolset{x, search()}, toolset.Selection{})
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for n := range 100 {
				x.has(described("a", fmt.Sprint("t", i, n))...)
				set.Groups()
				set.Find("a")
				set.Find("t00")
				set.Specs()
			}
		})
	}
	all.Wait()
}

// many are 20 servers of 30 tools, each of about 150 tokens.
func many() []hermes.Toolset {
	sets := []hermes.Toolset{&group{name: "file", tools: named("read_file")}, search()}
	for i := range 20 {
		s := newServer(fmt.Sprint("server", i))
		for n := range 30 {
			s.tools = append(s.tools, tool{spec: hermes.Spec{
				Name: fmt.Sprintf("mcp__server%d__tool%d", i, n), Description: strings.Repeat("what it does ", 20),
				Schema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string","description":"one"},"b":{"type":"integer","description":"two"}},"required":["a"]}`),
			}})
		}
		s.has(s.tools...)
		sets = append(sets, s)
	}
	return sets
}

// TestManyServersCostLittle: a session of a program with 20 servers of 30 tools begins in a few
// milliseconds. The bound is ten times what it takes, for busy machines.
func TestManyServersCostLittle(t *testing.T) {
	race.Skip(t)
	c := toolset.NewCatalogue(many(), nil, nil)
	best := time.Hour
	for range 10 {
		began := time.Now()
		set, err := c.Select(context.Background(), toolset.Selection{DeferAbove: 4000})
		if err != nil || len(listed(set)) != 3 || len(set.Names()) != 603 {
			t.Fatal(set.Names(), err)
		}
		set.Groups()
		best = min(best, time.Since(began))
	}
	if best > 50*time.Millisecond {
		t.Errorf("it takes %v", best)
	}
}

// ready is a tool with a canonical schema.
type ready struct{ tool }

func (r ready) Shape() map[string]any { return argument.Shape(r.Spec().Schema)() }

// TestACanonicalSchemaIsNotRead: a session with many of them begins at a fraction of the cost, and they are
// read when they are used.
func TestACanonicalSchemaIsNotRead(t *testing.T) {
	cost := func(c *toolset.Catalogue) uint64 { // of the first call: testing.AllocsPerRun calls once before it counts
		t.Helper()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := c.Select(context.Background(), toolset.Selection{DeferAbove: 4000}); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.Mallocs - before.Mallocs
	}
	different := func(form func(tool) hermes.Tool) []hermes.Toolset {
		sets := many()
		for _, s := range sets {
			if s, ok := s.(*server); ok {
				for n, d := range s.tools {
					spec := d.Spec()
					spec.Schema = json.RawMessage(fmt.Sprintf(`{"properties":{"%s":{"type":"string"},"z":{"type":"string"}},"type":"object"}`, spec.Name))
					s.tools[n] = form(tool{spec: spec})
				}
			}
		}
		return sets
	}
	canonical := toolset.NewCatalogue(different(func(t tool) hermes.Tool { return ready{t} }), nil, nil)
	other := toolset.NewCatalogue(different(func(t tool) hermes.Tool { return t }), nil, nil)
	if fast, slow := cost(canonical), cost(other); fast*3 > slow {
		t.Errorf("a session with canonical schemas takes %d allocations, one with others %d", fast, slow)
	}
	set, err := canonical.Select(t.Context(), toolset.Selection{DeferAbove: 4000})
	if err != nil {
		t.Fatal(err)
	}
	if m, ok := set.Find("mcp__server3__tool7"); !ok || m.Shape()["properties"].(map[string]any)["mcp__server3__tool7"] == nil {
		t.Errorf("the schema of a tool is read as %v", m.Shape())
	}
}

func BenchmarkSelectManyServers(b *testing.B) {
	c := toolset.NewCatalogue(many(), nil, nil)
	for b.Loop() {
		if _, err := c.Select(context.Background(), toolset.Selection{DeferAbove: 4000}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGroupsOfManyServers(b *testing.B) {
	set := mustSelect(b, many(), toolset.Selection{DeferAbove: 4000})
	for b.Loop() {
		set.Groups()
	}
}

func BenchmarkChildOfManyServers(b *testing.B) {
	c := toolset.NewCatalogue(many(), nil, nil)
	parent := mustSelect(b, many(), toolset.Selection{})
	names := parent.Names()
	for b.Loop() {
		if _, err := c.Select(context.Background(), toolset.Selection{Enabled: names, Only: names, DeferAbove: 4000}); err != nil {
			b.Fatal(err)
		}
	}
}

// growing are servers that come while sessions run.
type growing struct {
	mu   sync.Mutex
	sets []hermes.Toolset
	n    int
}

func (g *growing) Toolsets() ([]hermes.Toolset, int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.sets, g.n
}

// TestServersThatComeObeyTheSelection: one that is added to a session that runs is found if the
// selection wants everything, or names it, and never if that disables it.
func TestServersThatComeObeyTheSelection(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		sel   toolset.Selection
		found bool
	}{
		{toolset.Selection{}, true}, {toolset.Selection{Enabled: []string{"file"}}, false}, {toolset.Selection{Enabled: []string{"file", "mcp-new"}}, true},
		{toolset.Selection{Enabled: []string{"new"}}, true}, {toolset.Selection{Disabled: []string{"mcp-new"}}, false}, {toolset.Selection{Disabled: []string{"new"}}, false},
		{toolset.Selection{Disabled: []string{"all"}}, false}, {toolset.Selection{Enabled: []string{"all"}, Disabled: []string{"late"}}, false},
	} {
		g := &growing{}
		c := toolset.NewCatalogue([]hermes.Toolset{&group{name: "file", tools: named("read_file")}, search()}, nil, nil).Join(g)
		set, err := c.Select(t.Context(), tt.sel)
		if err != nil {
			t.Fatal(err)
		}
		x := newServer("new")
		x.has(described("late")...)
		g.mu.Lock()
		g.sets, g.n = []hermes.Toolset{x}, 1
		g.mu.Unlock()
		if _, found := set.Find("late"); found != tt.found {
			t.Errorf("%+v: found %v", tt.sel, found)
		}
	}
}

// TestACustomToolsetIncludesServersThatCome: its includes are names as those of a selection are.
func TestACustomToolsetIncludesServersThatCome(t *testing.T) {
	t.Parallel()
	custom := map[string]toolset.Custom{"mine": {Tools: []string{"read_file"}, Includes: []string{"mcp-new", "nested"}}, "nested": {Includes: []string{" other "}}}
	for _, tt := range []struct {
		sel    toolset.Selection
		server string
		found  bool
	}{
		{toolset.Selection{Enabled: []string{"mine"}}, "new", true}, {toolset.Selection{Enabled: []string{"mine"}}, "other", true},
		{toolset.Selection{Enabled: []string{"mine"}}, "third", false}, {toolset.Selection{Enabled: []string{"nested"}}, "new", false},
		{toolset.Selection{Disabled: []string{"mine"}}, "other", false}, {toolset.Selection{Disabled: []string{"mine"}}, "third", true},
	} {
		g := &growing{}
		c := toolset.NewCatalogue([]hermes.Toolset{&group{name: "file", tools: named("read_file")}, search()}, custom, nil).Join(g)
		set, err := c.Select(t.Context(), tt.sel)
		if err != nil {
			t.Fatal(err)
		}
		x := newServer(tt.server)
		x.has(described("late")...)
		g.mu.Lock()
		g.sets, g.n = []hermes.Toolset{x}, 1
		g.mu.Unlock()
		if _, found := set.Find("late"); found != tt.found {
			t.Errorf("%+v, %s: found %v", tt.sel, tt.server, found)
		}
	}
}
