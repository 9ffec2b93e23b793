package bundled_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/plugin/bundled"
	"hermes/internal/plugin/sdk"
)

func TestHolographicIsAMemoryLikeOthers(t *testing.T) {
	t.Parallel()
	hermestest.RunMemory(t, func(t *testing.T) hermes.MemoryProvider { return memory{start(t, "holographic", map[string]string{})} })
}

func TestHolographicIsAToolsetLikeOthers(t *testing.T) {
	t.Parallel()
	p := install(t, "holographic", "", nil)
	hermestest.RunToolset(t, func(*testing.T) hermes.Toolset {
		p.home = p.t.TempDir()
		set := p.toolset()
		call(p.t, set, "fact_store", `{"action":"add","content":"Ada lives in Paris."}`)
		return set
	},
		hermestest.ToolSample{Tool: "fact_store", Arguments: `{"action":"probe","entity":"Paris"}`, Want: "Ada lives in Paris."},
		hermestest.ToolSample{Tool: "fact_feedback", Arguments: `{"action":"helpful","fact_id":1}`, Want: `"trust":0.55`},
	)
}

// contents returns the facts that a call found, in their order.
func contents(t *testing.T, said string) string {
	t.Helper()
	var r struct{ Facts []struct{ Content string } }
	if err := json.Unmarshal([]byte(said), &r); err != nil {
		t.Fatal(said, err)
	}
	var list []string
	for _, f := range r.Facts {
		list = append(list, strings.Fields(f.Content)[0])
	}
	return strings.Join(list, " ")
}

// TestFactsAreFoundByAlgebra: by one entity, by several, by what is named together, and by words.
func TestFactsAreFoundByAlgebra(t *testing.T) {
	t.Parallel()
	set := install(t, "holographic", "", nil).toolset()
	for _, f := range []string{
		`one: Ada Lovelace works with Grace Hopper on Heron.`, `two: Ada Lovelace likes green tea.`, `three: Grace Hopper wrote a compiler for Heron.`,
		`four: the printer is in room B12.`, `five: Linus Torvalds works on Penguin.`,
	} {
		arguments, _ := json.Marshal(map[string]string{"action": "add", "content": f})
		call(t, set, "fact_store", string(arguments))
	}
	for i := range 200 { // what has nothing to do with it is not found
		call(t, set, "fact_store", fmt.Sprintf(`{"action":"add","content":"filler: Project%d uses Tool%d and Host%d.","category":"filler"}`, i, i, i))
	}
	for _, tt := range []struct{ arguments, want string }{
		{`{"action":"probe","entity":"ada lovelace"}`, "two: one:"},
		{`{"action":"probe","entity":"B12"}`, "four:"},
		{`{"action":"probe","entity":"Nobody Atall"}`, ""},
		{`{"action":"reason","entities":["Ada Lovelace","Heron"]}`, "one:"},
		{`{"action":"reason","entities":["Ada Lovelace","Penguin"]}`, ""},
		{`{"action":"related","entity":"Ada Lovelace"}`, "three:"},
		{`{"action":"search","query":"who drinks green teas?"}`, "two:"},
		{`{"action":"search","query":"Project7","category":"general"}`, ""},
		{`{"action":"list","category":"filler","limit":2}`, "filler: filler:"},
	} {
		if got := contents(t, call(t, set, "fact_store", tt.arguments)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.arguments, got, tt.want)
		}
	}
}

// TestAChangedFactIsFoundByWhatItSaysNow, also in another process that had read it before.
func TestAChangedFactIsFoundByWhatItSaysNow(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	one, two := facts(t, home), facts(t, home)
	for _, arguments := range []string{`{"action":"add","content":"alpha: Ada lives in Paris."}`, `{"action":"add","content":"beta: the printer is loud."}`} {
		direct(t, one, "fact_store", arguments)
	}
	direct(t, two, "fact_store", `{"action":"list"}`)
	direct(t, one, "fact_store", `{"action":"update","fact_id":1,"content":"gamma: Grace moved to Lisbon."}`)
	direct(t, one, "fact_store", `{"action":"update","fact_id":2,"tags":["hardware"]}`)
	for _, p := range []*sdk.Plugin{one, two} {
		for arguments, want := range map[string]string{
			`{"action":"search","query":"who moved to lisbon"}`: "gamma:",
			`{"action":"search","query":"paris"}`:               "",
			`{"action":"probe","entity":"Lisbon"}`:              "gamma:",
			`{"action":"probe","entity":"Paris"}`:               "",
			`{"action":"search","query":"hardware"}`:            "beta:",
		} {
			if got := contents(t, direct(t, p, "fact_store", arguments)); got != want {
				t.Errorf("%s: %q, want %q", arguments, got, want)
			}
		}
	}
}

// TestFactsAreReadWhileTheyChange: the race detector sees what two calls share.
func TestFactsAreReadWhileTheyChange(t *testing.T) {
	t.Parallel()
	p := facts(t, t.TempDir())
	direct(t, p, "fact_store", `{"action":"add","content":"Ada lives in Paris.","entities":["Ada"]}`)
	direct(t, p, "fact_store", `{"action":"add","content":"Berlin is where she works now.","entities":["Ada"]}`)
	var all sync.WaitGroup
	for _, c := range []struct{ tool, arguments string }{
		{"fact_feedback", `{"action":"helpful","fact_id":1}`}, {"fact_store", `{"action":"list"}`}, {"fact_store", `{"action":"contradict"}`},
	} {
		all.Go(func() {
			for range 20 {
				direct(t, p, c.tool, c.arguments)
			}
		})
	}
	all.Wait()
}

// facts is the plugin in this process.
func facts(t *testing.T, home string) *sdk.Plugin {
	t.Helper()
	b, _ := bundled.Find("holographic")
	p, err := b.Start(bundled.Process{Getenv: func(name string) string { return map[string]string{"HOME": home}[name] }, Now: time.Now}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// direct calls a tool of a plugin in this process.
func direct(t *testing.T, p *sdk.Plugin, name, arguments string) string {
	t.Helper()
	i := slices.IndexFunc(p.Tools, func(tool sdk.Tool) bool { return tool.Name == name })
	r, err := p.Tools[i].Run(t.Context(), &sdk.Call{}, json.RawMessage(arguments))
	if err != nil || r.Failed {
		t.Error(arguments, r.Text, err)
	}
	return r.Text
}

// TestTrustDecidesWhatIsRecalled: feedback changes it, and facts with little are left out.
func TestTrustDecidesWhatIsRecalled(t *testing.T) {
	t.Parallel()
	p := install(t, "holographic", "", nil)
	set := p.toolset()
	call(t, set, "fact_store", `{"action":"add","content":"The staging server is called Heron."}`)
	call(t, set, "fact_store", `{"action":"add","content":"The staging server is called Crane."}`)
	if got := call(t, set, "fact_store", `{"action":"contradict"}`); strings.Contains(got, "Heron") { // they name different things
		t.Error(got)
	}
	call(t, set, "fact_store", `{"action":"update","fact_id":2,"entities":["staging server"]}`)
	call(t, set, "fact_store", `{"action":"update","fact_id":1,"entities":["staging server"],"content":"Heron is what the deployment goes to now."}`)
	call(t, set, "fact_store", `{"action":"update","fact_id":1,"entities":["staging server"]}`)
	if got := call(t, set, "fact_store", `{"action":"contradict"}`); !strings.Contains(got, "Crane") || !strings.Contains(got, "Heron") {
		t.Error("two facts about the same:", got)
	}
	for _, want := range []string{`"trust":0.4`, `"trust":0.3`, `"trust":0.2`} {
		if got := call(t, set, "fact_feedback", `{"action":"unhelpful","fact_id":2}`); !strings.Contains(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
	m := memory{start(t, "holographic", map[string]string{"HOME": p.home})}
	if got, err := m.Recall(t.Context(), hermes.RecallQuery{Text: "the staging server Crane, the deployment"}); err != nil || strings.Contains(got.Text, "Crane") || !strings.Contains(got.Text, "Heron") {
		t.Errorf("recalled %q, %v", got.Text, err)
	}
	for _, tt := range []struct{ arguments, says string }{
		{`{"action":"remove","fact_id":99}`, "there is no fact 99"},
		{`{"action":"add"}`, "content is missing"},
		{`{"action":"probe"}`, "entity is missing"},
		{`{"action":"reason","entities":[]}`, "entities is missing"},
		{`{"action":"think"}`, "there is no action"},
	} {
		if got := call(t, set, "fact_store", tt.arguments); !strings.Contains(got, tt.says) {
			t.Errorf("%s: %s", tt.arguments, got)
		}
	}
	if got := call(t, set, "fact_store", `{"action":"remove","fact_id":2}`); !strings.Contains(got, "Crane") {
		t.Error(got)
	}
}

// TestNoFactIsLostBetweenProcesses that write at the same time, and a damaged file is not replaced.
func TestNoFactIsLostBetweenProcesses(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	var all sync.WaitGroup
	for i := range 4 {
		m := memory{start(t, "holographic", map[string]string{"HOME": home})}
		all.Go(func() {
			for n := range 10 {
				if err := m.Observe(t.Context(), hermes.MemoryTurn{Said: fmt.Sprintf("The printer %d of floor %d makes noises.", n, i)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	file := filepath.Join(home, "facts.json")
	data, err := os.ReadFile(file)
	if n := strings.Count(string(data), "makes noises"); err != nil || n != 40 {
		t.Errorf("%d facts, %v", n, err)
	}
	if err := os.WriteFile(file, []byte("{damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := memory{start(t, "holographic", map[string]string{"HOME": home})}
	if err := m.Observe(t.Context(), hermes.MemoryTurn{Said: "The printer is quiet again today."}); err == nil || !strings.Contains(err.Error(), "are damaged") {
		t.Error(err)
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != "{damaged" {
		t.Errorf("the file is %q, %v", data, err)
	}
}

// TestQuestionsAreNoFacts, nor is anything that is only said if the user does not want it.
func TestQuestionsAreNoFacts(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for _, m := range []memory{{start(t, "holographic", map[string]string{"HOME": home})}, {start(t, "holographic", map[string]string{"HOME": home}, "listen=no")}} {
		for _, said := range []string{"What is the staging server called?", "yes please", "/help with all the commands"} {
			if err := m.Observe(t.Context(), hermes.MemoryTurn{Said: said}); err != nil {
				t.Error(err)
			}
		}
	}
	quiet := memory{start(t, "holographic", map[string]string{"HOME": home}, "listen=no")}
	if err := quiet.Observe(t.Context(), hermes.MemoryTurn{Said: "The staging server is called heron."}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(home, "facts.json")); err == nil {
		t.Error("something was stored")
	}
}
