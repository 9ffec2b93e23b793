package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/audit"
	"hermes/internal/chatserver"
	"hermes/internal/session"
)

// plugged is a server whose tools come, change and go. It keeps which calls it got.
type plugged struct {
	name string

	mu     sync.Mutex
	cached []hermes.Tool
	now    []hermes.Tool
	known  bool
	calls  []string
	listed chan struct{} // gets one for each look at the cache, if it is not nil
}

func (p *plugged) Name() string                     { return "mcp-" + p.name }
func (p *plugged) Available(context.Context) string { return "" }

func (p *plugged) Tools(context.Context) ([]hermes.Tool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listed != nil {
		select {
		case p.listed <- struct{}{}:
		default:
		}
	}
	return p.cached, nil
}

func (p *plugged) Live() ([]hermes.Tool, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now, p.known
}

// keep sets what the next session finds in the cache.
func (p *plugged) keep(names ...string) *plugged {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cached = p.tools("Does", names)
	return p
}

// answer sets what the server has now. about begins the descriptions.
func (p *plugged) answer(about string, names ...string) *plugged {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now, p.known = p.tools(about, names), true
	return p
}

func (p *plugged) tools(about string, names []string) []hermes.Tool {
	type args struct {
		Title string `json:"title"`
		Count int    `json:"count,omitempty"`
	}
	var tools []hermes.Tool
	for _, n := range names {
		spec := hermes.Spec{Name: "mcp__" + p.name + "__" + n, Description: about + " " + n + " <now> & \u2028 later."}
		if strings.HasPrefix(n, "get") {
			spec.Effect = hermes.EffectNone
		}
		if strings.HasPrefix(n, "fail") {
			spec.Description += strings.Repeat(" It does much.", 10)
		}
		tools = append(tools, hermes.NewTool(spec, func(_ context.Context, c *hermes.Call, in args) (hermes.Result, error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.calls = append(p.calls, n+" "+string(c.Arguments))
			if strings.HasPrefix(n, "fail") {
				return hermes.Result{}, fmt.Errorf("no %s", n)
			}
			return hermes.JSONResult(map[string]any{"made": in.Title, "id": len(p.calls)})
		}))
	}
	return tools
}

func (p *plugged) got() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.calls)
}

// servers is a scene with servers.
func servers(t *testing.T, answer hermes.Decision, list ...hermes.Toolset) *scene {
	s := newScene(t, answer)
	s.options = func(o *app.Options) { o.Extra = append(o.Extra, list...) }
	return s
}

const forwarded = `CALL tool_call {"name":"mcp__hub__make","arguments":{"title":"x","count":"7"}}`

// TestADeferredToolIsTheToolItself: what is found by tool_search and called through tool_call runs as
// the real tool: its arguments are fitted, the audit log, rules, approvals and the taint know only
// it, and one call of the model is one call.
func TestADeferredToolIsTheToolItself(t *testing.T) {
	t.Parallel()
	hub := (&plugged{name: "hub"}).keep("make", "get", "drop").answer("Does", "make", "get", "drop")
	s := servers(t, hermes.AllowOnce, hub)
	s.config = "mcp: {defer_tokens: 1}\n"
	writeFile(t, filepath.Join(s.home, "permissions.yaml"), "rules:\n- ask: \"mcp__hub__make\"\n- deny: \"mcp__hub__drop\"\n")
	s.say(`CALL tool_search {"query":"make"}`)
	if got := s.model.results(); !strings.Contains(got, `{"name":"mcp__hub__make","server":"hub","description":"Does make`) || !strings.Contains(got, `"input_schema":{"properties":{"count":{"type":"integer"},"title":{"type":"string"}},"required":["title"],"type":"object"}`) {
		t.Fatalf("not found: %s", got)
	}
	s.say(forwarded)
	s.say(`CALL mcp__hub__make {"title":"direct"}`)
	s.say(`CALL tool_call {"name":"mcp__hub__drop","arguments":{"title":"x"}}`)
	s.say(`CALL tool_call {"name":"mcp__hub__get","arguments":{"title":"y"}}`)
	s.say(`CALL tool_call {"name":"mcp__hub__mak","arguments":{}}`)
	s.say(`CALL tool_call {"arguments":{"title":"no name"}}`)
	s.say(`CALL tool_call {"name":"read_file","arguments":{"path":"notes.md"}}`)
	want := []string{`make {"count":7,"title":"x"}`, `make {"title":"direct"}`, `get {"title":"y"}`}
	if got := hub.got(); !slices.Equal(got, want) {
		t.Errorf("ran %q, want %q", got, want)
	}
	var asked []string
	for _, a := range s.asked {
		asked = append(asked, a.Tool)
	}
	if !slices.Equal(asked, []string{"mcp__hub__make", "mcp__hub__make"}) {
		t.Errorf("asked about %q", asked)
	}
	got := s.model.results()
	for _, want := range []string{`did you mean \"mcp__hub__make\"`, "tool_call needs \\\"name\\\"", "read_file is in your list of tools: call it by itself"} {
		if !strings.Contains(got, want) {
			t.Errorf("the model was not told %s: %s", want, got)
		}
	}
	rows, short := s.recorded()
	var tools []string
	for _, r := range rows {
		if r.Kind == audit.KindCall || r.Kind == audit.KindRefusal {
			tools = append(tools, string(r.Kind)+" "+r.Tool)
		}
	}
	if want := []string{"call mcp__hub__make", "call mcp__hub__make", "call mcp__hub__drop", "refusal mcp__hub__drop", "refusal mcp__hub__mak", "refusal tool_call", "call tool_call"}; !slices.Equal(tools, want) {
		t.Errorf("recorded %q, want %q (%q)", tools, want, short)
	}
	st, err := s.live.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"tool_search descriptions of hub", "mcp__hub__make"} {
		if from := hermes.AddProvenance(st.Row.Provenance, hermes.TranscriptProvenance(st.Transcript)); !strings.Contains(from, want) {
			t.Errorf("the session is not tainted by %s: %q", want, from)
		}
	}
	if strings.Contains(fmt.Sprint(s.shown), "tool_call") {
		t.Errorf("shown: %s", s.shown)
	}
}

// TestALateToolIsFoundAndCalled: one that came after the first request, by a search, through tool_call and
// by its own name. What is in the list is not found, and a name that is not there is told from those
// that are.
func TestALateToolIsFoundAndCalled(t *testing.T) {
	t.Parallel()
	hub, late := (&plugged{name: "hub"}).keep("make"), &plugged{name: "late"}
	s := servers(t, hermes.AllowOnce, hub, late)
	s.say("hello")
	hub.answer("Does", "make")
	late.answer("Does", "invent")
	s.say(`CALL tool_search {"query":"make invent"}`)
	if got := s.model.results(); !strings.Contains(got, `"name":"mcp__late__invent"`) || strings.Contains(got, `"name":"mcp__hub__make"`) {
		t.Errorf("found: %s", got)
	}
	s.say(`CALL mcp__late__invnt {"title":"a"}`)
	s.say(`CALL mcp__late__invent {"title":"b"}`)
	s.say(`CALL tool_call {"name":"mcp__late__invent","arguments":{"title":"c"}}`)
	s.say(`CALL tool_call {"name":"mcp__hub__make","arguments":{"title":"d"}}`)
	if got := late.got(); !slices.Equal(got, []string{`invent {"title":"b"}`, `invent {"title":"c"}`}) {
		t.Errorf("ran %q", got)
	}
	if got := hub.got(); !slices.Equal(got, []string{`make {"title":"d"}`}) {
		t.Errorf("a listed tool of a server: ran %q", got)
	}
	hub.answer("Now changed:", "make")
	s.say(`CALL tool_search {"query":"make"}`)
	if got := s.model.results(); !strings.Contains(got, `"name":"mcp__hub__make","server":"hub","description":"Now changed: make`) {
		t.Errorf("a tool of the list is not found as it is now: %s", got)
	}
	if got := s.model.results(); !strings.Contains(got, `did you mean \"mcp__late__invent\"`) {
		t.Errorf("the model was not told the name: %s", got)
	}
}

// TestPlanModeKnowsDeferredTools: one that only reads runs in plan mode, one that changes does not.
func TestPlanModeKnowsDeferredTools(t *testing.T) {
	t.Parallel()
	hub := (&plugged{name: "hub"}).keep("make", "get").answer("Does", "make", "get")
	s := servers(t, hermes.AllowOnce, hub)
	s.config, s.rights = "mcp: {defer_tokens: 1}\n", hermes.Rights{Mode: hermes.ModePlan}
	s.say(forwarded)
	s.say(`CALL tool_call {"name":"mcp__hub__get","arguments":{"title":"y"}}`)
	if got := hub.got(); !slices.Equal(got, []string{`get {"title":"y"}`}) {
		t.Errorf("ran %q", got)
	}
}

// TestADisabledToolCannotBeSearchedOrCalled: also one that comes late.
func TestADisabledToolCannotBeSearchedOrCalled(t *testing.T) {
	t.Parallel()
	hub := &plugged{name: "hub"}
	s := servers(t, hermes.AllowOnce, hub)
	s.config = "agent: {disabled_toolsets: [mcp-hub, mcp__other__x]}\n"
	s.enter()
	hub.answer("Does", "make")
	s.say(forwarded)
	s.say(`CALL mcp__hub__make {"title":"x"}`)
	s.say(`CALL tool_search {"query":"make"}`)
	if got := hub.got(); len(got) != 0 {
		t.Errorf("ran %q", got)
	}
	if got := s.model.results(); strings.Contains(got, "Does make") {
		t.Errorf("found: %s", got)
	}
}

// TestAChildHasTheToolsThatItsParentCanCall: deferred as for its parent, and no late ones of which
// the parent knew nothing when it began.
func TestAChildHasTheToolsThatItsParentCanCall(t *testing.T) {
	t.Parallel()
	hub := (&plugged{name: "hub"}).keep("get").answer("Does", "get", "make")
	s := servers(t, hermes.AllowOnce, hub)
	s.config = "mcp: {defer_tokens: 1}\n"
	text, err := json.Marshal(`CALL tool_call {"name":"mcp__hub__make","arguments":{"title":"child"}}`)
	if err != nil {
		t.Fatal(err)
	}
	s.say(`CALL errand {"goal":` + string(text) + `}`)
	if got := hub.got(); !slices.Equal(got, []string{`make {"title":"child"}`}) {
		t.Errorf("ran %q", got)
	}
}

// prefixes are the tools and the system prompt of requests, and what users said last with its
// hidden lines.
type prefixes struct {
	mu     sync.Mutex
	bodies [][]byte
	news   []string
	tools  string
	// summaries are how many were asked for.
	summaries int
}

func (p *prefixes) decide(r *chatserver.Request) (chatserver.Answer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(r.Tools) == 0 { // a summary
		p.summaries++
		return chatserver.Answer{Text: "They talked."}, nil
	}
	p.bodies = append(p.bodies, bytes.Clone(r.Body))
	names := []string{}
	for _, t := range r.Tools {
		names = append(names, t.Function.Name)
	}
	p.tools = strings.Join(names, " ")
	last := r.Messages[len(r.Messages)-1]
	for line := range strings.Lines(last.Text()) {
		if strings.HasPrefix(line, "[Tools of the server") {
			p.news = append(p.news, strings.TrimSpace(line))
		}
	}
	if n := len(p.bodies); last.Role == "user" && n%3 == 0 {
		return chatserver.Answer{Calls: []chatserver.Call{{ID: fmt.Sprint("c", n), Type: "function", Function: chatserver.Function{Name: "tool_search", Arguments: `{"query":"make"}`}}}}, nil
	}
	return chatserver.Answer{Text: fmt.Sprint("answer ", len(p.bodies))}, nil
}

// said are the lines about servers that came with the last message.
func (p *prefixes) said() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	news := p.news
	p.news = nil
	return news
}

// TestServersNeverChangeThePrefix drives a session of fifty turns while servers come late, change, go
// and come back, with resumes in new programs: each request begins with the bytes of the one
// before, and the model is told of each change once, below the next message.
func TestServersNeverChangeThePrefix(t *testing.T) {
	t.Parallel()
	p := &prefixes{}
	server := httptest.NewServer(&chatserver.Handler{Model: "m", Decide: p.decide})
	defer server.Close()
	home, dir := t.TempDir(), t.TempDir()
	listed, late, slow := &plugged{name: "listed"}, &plugged{name: "late"}, &plugged{name: "slow"}
	listed.keep("get", "make", "drop")
	slow.keep("wait")
	var a *app.App
	var s *session.Session
	id := ""
	open := func() {
		if a != nil {
			if err := a.Close(); err != nil {
				t.Fatal(err)
			}
		}
		a = app.New(app.Options{Home: home, BaseURL: server.URL + "/v1", BaseModel: "m", Extra: []hermes.Toolset{listed, late, slow}, Getenv: func(string) string { return "" }})
		s = mustOpen(t, a, session.Open{Run: hermes.RunSpec{Session: id, Origin: hermes.Origin{Platform: "cli"}, Workspace: hermes.Workspace{Dir: dir}}, From: hermes.From{Attends: true}})
		id = s.ID()
	}
	steps := map[int]func(){
		0:  open,
		2:  func() { listed.answer("Does", "get", "make", "drop") },
		5:  func() { late.answer("Does", "make", "other") },
		10: func() { listed.answer("Does", "get", "make", "extra"); slow.answer("Does", "wait") },
		15: func() { listed.answer("Now does", "get", "make", "extra") },
		20: func() { late.answer("Does") },
		25: func() { // another process, whose cache is newer and whose servers have not answered
			listed.keep("extra", "get").known = false
			late.keep("make").known = false
			open()
		},
		30: func() { listed.answer("Now does", "get", "make", "extra"); late.answer("Does", "make", "other") },
		35: func() { listed.answer("Does", "get", "make", "drop") },
		40: func() { open() },
		45: func() {
			events, cancel := subscribe(s, 0)
			defer cancel()
			if err := s.Do(t.Context(), hermes.From{}, hermes.Compress{Keep: 1}); err != nil {
				t.Fatal(err)
			}
			for e := range events {
				if done, ok := e.(hermes.TurnDone); ok {
					if done.Failure != nil {
						t.Fatal(done.Err())
					}
					return
				}
			}
		},
	}
	want := map[int][]string{
		5:  {"[Tools of the server late: new, found with tool_search: mcp__late__make, mcp__late__other]"},
		10: {"[Tools of the server listed: new, found with tool_search: mcp__listed__extra; gone: mcp__listed__drop]"},
		15: {"[Tools of the server listed: new, found with tool_search: mcp__listed__extra; changed, look them up with tool_search before you call them: mcp__listed__get, mcp__listed__make; gone: mcp__listed__drop]"},
		20: {"[Tools of the server late: none can be called now]"},
		30: {"[Tools of the server late: new, found with tool_search: mcp__late__make, mcp__late__other]"},
		35: {"[Tools of the server listed: as in your list again]"},
		45: {"[Tools of the server late: new, found with tool_search: mcp__late__make, mcp__late__other]"}, // the summary has it no more
	}
	for i := range 50 {
		if f := steps[i]; f != nil {
			f()
		}
		turn(t, s, fmt.Sprintf("turn %d <&>", i), &pausing{})
		if got := p.said(); !slices.Equal(got, want[i]) {
			t.Errorf("turn %d: told %q, want %q", i, got, want[i])
		}
	}
	if want := "mcp__listed__drop mcp__listed__get mcp__listed__make mcp__slow__wait"; !strings.Contains(p.tools, want) || !strings.HasSuffix(p.tools, "tool_call tool_search web_extract web_search write_file") {
		t.Errorf("offered: %s", p.tools)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if p.summaries == 0 {
		t.Error("nothing was summarised, so the test shows nothing of it")
	}
	tools := func(body []byte) string {
		var r struct {
			Tools    json.RawMessage
			Messages []json.RawMessage
		}
		if err := json.Unmarshal(body, &r); err != nil {
			t.Fatal(err)
		}
		return string(r.Tools) + string(r.Messages[0])
	}
	breaks := 0
	for i := 1; i < len(p.bodies); i++ {
		if tools(p.bodies[i]) != tools(p.bodies[0]) {
			t.Fatalf("request %d has other tools or another prompt", i)
		}
		if !bytes.HasPrefix(p.bodies[i], bytes.TrimRight(p.bodies[i-1], "]}")) {
			breaks++
		}
	}
	if breaks != 1 {
		t.Errorf("%d requests do not begin with the one before; only the compaction may do so", breaks)
	}
}

// TestManyServersFitTheFirstRequest: with 20 servers of 30 tools the first request stays small, and
// names them; without servers it names none.
func TestManyServersFitTheFirstRequest(t *testing.T) {
	t.Parallel()
	first := func(extra ...hermes.Toolset) (body []byte, tools string) {
		p := &prefixes{}
		server := httptest.NewServer(&chatserver.Handler{Model: "m", Decide: p.decide})
		defer server.Close()
		a := app.New(app.Options{Home: t.TempDir(), BaseURL: server.URL + "/v1", BaseModel: "m", Extra: extra, Getenv: func(string) string { return "" }})
		defer a.Close()
		s := mustOpen(t, a, session.Open{Run: hermes.RunSpec{Origin: hermes.Origin{Platform: "cli"}, Workspace: hermes.Workspace{Dir: t.TempDir()}}, From: hermes.From{Attends: true}})
		turn(t, s, "hello", &pausing{})
		if news := p.said(); len(news) > 0 {
			t.Errorf("told what the description says: %q", news)
		}
		return p.bodies[0], p.tools
	}
	var many []hermes.Toolset
	for i := range 20 {
		var names []string
		for n := range 30 {
			names = append(names, fmt.Sprintf("fail_or_do_a_thing_%d", n))
		}
		many = append(many, (&plugged{name: fmt.Sprintf("server-%d", i)}).keep(names...).answer("Does", names...))
	}
	body, _ := first(many...)
	if len(body) > 20<<10 {
		t.Errorf("the first request has %d bytes", len(body))
	}
	if !strings.Contains(string(body), "Servers: server-0 (30 tools), server-1 (30 tools), server-10 (30 tools)") {
		t.Errorf("the servers are not named: %s", body)
	}
	none, tools := first()
	if strings.Contains(string(none), "Servers:") || len(none) > 16_000 {
		t.Errorf("without servers: %d bytes, %s", len(none), tools)
	}
	one, tools := first((&plugged{name: "hub"}).keep("make"))
	if !strings.Contains(tools, "mcp__hub__make") || len(one)-len(none) > 500 {
		t.Errorf("a small server costs %d bytes, offered %s", len(one)-len(none), tools)
	}
	t.Logf("%d bytes without servers, %d with one of one tool, %d with 20 of 30", len(none), len(one), len(body))
}

// TestDeferredToolsOfHermesRunAsThemselves: a session is not offered tools of Hermes that are seldom
// needed, finds them by a search, and runs them through tool_call like any other, without being tainted by it.
func TestDeferredToolsOfHermesRunAsThemselves(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.AllowOnce)
	s.rights.Mode = hermes.ModeAsk
	s.write("a.txt", "old")
	s.say(`CALL read_file {"path":"a.txt"}`, `CALL tool_search {"query":"keep the state of files"}`, `CALL tool_call {"name":"checkpoint","arguments":{"name":"start"}}`, `CALL write_file {"path":"a.txt","content":"new"}`)
	if got := s.lastOf("tool_search"); !strings.Contains(got, `"toolset":"checkpoint"`) || !strings.Contains(got, `"input_schema":`) {
		t.Errorf("the search found %s", got)
	}
	st, err := s.live.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(st.Tools, func(spec hermes.Spec) bool { return spec.Name == "checkpoint" }) {
		t.Error("checkpoint is offered")
	}
	if from := hermes.TranscriptProvenance(st.Transcript); strings.Contains(from, "tool_search") {
		t.Errorf("tainted by %q", from)
	}
	s.say(`CALL tool_call {"name":"restore","arguments":{"checkpoint":"start"}}`)
	if len(s.asked) != 1 || s.asked[0].Tool != "restore" || s.file("a.txt") != "old\n" {
		t.Errorf("asked %+v, the file has %q", s.asked, s.file("a.txt"))
	}
}

// TestAListIsMadeAgainOnRequest: with /reload-mcp now, and only then, a session is offered what came
// since, also after a resume; the command says what the cache loses.
func TestAListIsMadeAgainOnRequest(t *testing.T) {
	t.Parallel()
	hub := (&plugged{name: "hub"}).keep("make").answer("Does", "make")
	s := servers(t, hermes.AllowOnce, hub)
	tools := func() []string {
		st, err := s.live.State(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, sp := range st.Tools {
			if strings.HasPrefix(sp.Name, "mcp__") {
				names = append(names, sp.Name)
			}
		}
		return names
	}
	s.say("hello")
	hub.answer("Does", "make", "fresh").keep("make", "fresh")
	if done := s.command("/reload-mcp"); !strings.Contains(done.Text, "keeps the list of tools") {
		t.Errorf("%q", done.Text)
	}
	s.say("hello again")
	if got := tools(); !slices.Equal(got, []string{"mcp__hub__make"}) {
		t.Fatalf("without now: %q", got)
	}
	if done := s.command("/reload-mcp now"); !strings.Contains(done.Text, "tokens are read again") {
		t.Errorf("%q", done.Text)
	}
	s.say("and again")
	if got := tools(); !slices.Equal(got, []string{"mcp__hub__fresh", "mcp__hub__make"}) {
		t.Errorf("with now: %q", got)
	}
	s.say(`CALL mcp__hub__fresh {"title":"x"}`)
	if got := hub.got(); !slices.Equal(got, []string{`fresh {"title":"x"}`}) {
		t.Errorf("ran %q", got)
	}
	s.quit()
	s.say("resumed")
	if got := tools(); !slices.Equal(got, []string{"mcp__hub__fresh", "mcp__hub__make"}) {
		t.Errorf("after a resume: %q", got)
	}
}
