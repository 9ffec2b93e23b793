package sdk

// What a Hermes plugin in Go needs: one file without packages beside the standard library.
// The protocol is described in docs/plugin-protocol.md. Standard output belongs to it.

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Plugin is what a plugin offers. Run or Serve serves it, once.
type Plugin struct {
	// Name is that of the manifest.
	Name, Version string
	Tools         []Tool
	Hooks         []Hook
	Sections      []Section
	Commands      []Command
	// Memory is for the kind memory; nil is none.
	Memory *Memory

	mu      sync.Mutex // of the output and of what follows
	out     io.Writer
	serial  int
	waiting map[string]chan answer
	calls   map[string]context.CancelFunc
}

// Tool is a tool. Run gets the arguments as JSON.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
	// Effect is none if a call only reads, idempotent if it may be repeated, else empty.
	Effect string `json:"effect,omitempty"`
	// Parallel says that calls may run at the same time.
	Parallel bool                                                                          `json:"parallel,omitempty"`
	Run      func(ctx context.Context, c *Call, arguments json.RawMessage) (Result, error) `json:"-"`
}

// Result is what a tool returns to the model.
type Result struct {
	Text   string `json:"text"`
	Failed bool   `json:"failed,omitempty"`
}

// Failure is an error of a tool whose text the model reads.
type Failure struct{ Text string }

// Error is the text.
func (f Failure) Error() string { return f.Text }

// Hook is a hook. Tools is a regular expression for the whole name of a tool; "" is every one. Several
// for one event run in their order: see what the first has changed, unless it blocks.
type Hook struct {
	Event   string                                                       `json:"event"`
	Tools   string                                                       `json:"tools,omitempty"`
	Guard   bool                                                         `json:"guard,omitempty"`
	Timeout int                                                          `json:"timeout,omitempty"`
	Run     func(ctx context.Context, c *Call, e Event) (Verdict, error) `json:"-"`
}

// Event is what a hook is called with.
type Event struct {
	Event string
	Text  string
	Tool  struct {
		ID, Name  string
		Arguments json.RawMessage
	}
	Result struct {
		Text   string
		Failed bool
	}
}

// Verdict is the answer of a hook.
type Verdict struct {
	Action    string          `json:"action,omitempty"`
	Message   string          `json:"message,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Text      *string         `json:"text,omitempty"`
	Context   string          `json:"context,omitempty"`
}

// Section is a section of the system prompt.
type Section struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Command is a slash command of the user. Say is sent as a message, Text is shown.
type Command struct {
	Name string                                                                        `json:"name"`
	Args string                                                                        `json:"args,omitempty"` // how they look in the help
	Help string                                                                        `json:"help"`
	Run  func(ctx context.Context, c *Call, args string) (text, say string, err error) `json:"-"`
}

// Memory is a memory. Functions that are nil do nothing.
type Memory struct {
	// Recall returns what may help to answer a message, at most limit characters, or "".
	Recall func(ctx context.Context, c *Call, query string, limit int) (string, error)
	// Observe gets each turn that ended. It returns when the turn is stored or handed on.
	Observe func(ctx context.Context, c *Call, t Turn) error
	// Block returns the text for the system prompt of a new session, or "".
	Block func(ctx context.Context, c *Call) (string, error)
	// Commands are for the user's shell: hermes memory PLUGIN NAME.
	Commands []MemoryCommand
}

// MemoryCommand is a command for the user's shell. Run returns what is printed and the exit status.
type MemoryCommand struct {
	Name string                                                                               `json:"name"`
	Args string                                                                               `json:"args,omitempty"` // how they look in the help
	Help string                                                                               `json:"help"`
	Run  func(ctx context.Context, c *Call, args []string) (text string, code int, err error) `json:"-"`
}

// Turn is what was said by the user and answered by the agent.
type Turn struct {
	Said   string    `json:"said"`
	Answer string    `json:"answer"`
	At     time.Time `json:"at"`
}

// Session says for which session something is done.
type Session struct {
	ID       string `json:"id"`
	Platform string `json:"platform"`
	Dir      string `json:"dir"`
	Depth    int    `json:"depth"`
	Attended bool   `json:"attended"`
}

// Call is one call of a function of the plugin. Its methods work until the function returns.
type Call struct {
	ID      string
	Session Session
	plugin  *Plugin
}

// Progress shows the user in one line what the call is doing.
func (c *Call) Progress(text string) {
	c.plugin.send(map[string]any{"method": "$/progress", "params": map[string]any{"call": c.ID, "text": text}})
}

// Invoke runs another tool of the session. The manifest has to name it.
func (c *Call) Invoke(ctx context.Context, name string, arguments any) (Result, error) {
	var r Result
	err := c.plugin.ask(ctx, "host/invoke", map[string]any{"call": c.ID, "name": name, "arguments": arguments}, &r)
	return r, err
}

// Ask asks the user. The manifest declares approvals.
func (c *Call) Ask(ctx context.Context, text string, choices ...string) ([]string, error) {
	var r struct{ Texts []string }
	err := c.plugin.ask(ctx, "host/ask", map[string]any{"call": c.ID, "text": text, "choices": choices}, &r)
	return r.Texts, err
}

// Complete asks a model. The manifest declares complete.
func (c *Call) Complete(ctx context.Context, system, prompt string) (string, error) {
	var r struct{ Text string }
	err := c.plugin.ask(ctx, "host/complete", map[string]any{"call": c.ID, "system": system, "prompt": prompt}, &r)
	return r.Text, err
}

type answer struct {
	Result json.RawMessage
	Error  *struct{ Message string }
}

type message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	answer
}

// Run serves on the standard streams until standard input ends.
func (p *Plugin) Run() {
	if err := p.Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Serve answers Hermes until the input ends or it says shutdown. It returns when no function of the
// plugin runs any more; the end of ctx, or of the input, cancels them.
func (p *Plugin) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	p.out, p.waiting, p.calls = out, map[string]chan answer{}, map[string]context.CancelFunc{}
	var running sync.WaitGroup
	defer running.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var m message
		if json.Unmarshal(line, &m) != nil {
			continue
		}
		switch {
		case m.Method == "":
			p.answered(m)
		case m.Method == "$/cancel":
			p.cancelled(m)
		case m.Method == "shutdown":
			p.send(map[string]any{"id": m.ID, "result": struct{}{}})
			return nil
		case len(m.ID) > 0:
			running.Add(1)
			go func() {
				defer running.Done()
				p.serve(ctx, m)
			}()
		}
	}
}

func (p *Plugin) answered(m message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.waiting[string(m.ID)]; c != nil {
		c <- m.answer
	}
	delete(p.waiting, string(m.ID))
}

func (p *Plugin) cancelled(m message) {
	var in struct{ Call string }
	_ = json.Unmarshal(m.Params, &in)
	p.mu.Lock()
	defer p.mu.Unlock()
	if stop := p.calls[in.Call]; stop != nil {
		stop()
	}
}

func (p *Plugin) send(m map[string]any) {
	m["jsonrpc"] = "2.0"
	data, err := json.Marshal(m)
	if err != nil {
		data, _ = json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m["id"], "error": map[string]any{"code": -32603, "message": err.Error()}})
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = p.out.Write(append(data, '\n')) // if no one reads any more, the input ends as well
}

// ask sends a request to Hermes and waits for its answer.
func (p *Plugin) ask(ctx context.Context, method string, params, result any) error {
	p.mu.Lock()
	p.serial++
	id := fmt.Sprintf("p%d", p.serial)
	c := make(chan answer, 1)
	p.waiting[`"`+id+`"`] = c
	p.mu.Unlock()
	p.send(map[string]any{"id": id, "method": method, "params": params})
	select {
	case a := <-c:
		if a.Error != nil {
			return Failure{a.Error.Message}
		}
		return json.Unmarshal(a.Result, result)
	case <-ctx.Done():
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.waiting, `"`+id+`"`)
		return ctx.Err()
	}
}

// noMethod is a method that the plugin does not serve.
type noMethod string

func (m noMethod) Error() string { return "there is no method " + string(m) }

func (p *Plugin) serve(ctx context.Context, m message) {
	result, err := p.handle(ctx, m.Method, m.Params)
	if err != nil {
		code := -32000
		if errors.As(err, new(noMethod)) {
			code = -32601
		}
		p.send(map[string]any{"id": m.ID, "error": map[string]any{"code": code, "message": err.Error()}})
		return
	}
	p.send(map[string]any{"id": m.ID, "result": result})
}

func (p *Plugin) handle(ctx context.Context, method string, params json.RawMessage) (any, error) {
	switch method {
	case "initialize":
		return map[string]any{"protocol": 1, "name": p.Name, "version": p.Version}, nil
	case "tools/list":
		return map[string]any{"tools": p.Tools}, nil
	case "hooks/list":
		hooks, err := p.offered()
		return map[string]any{"hooks": hooks}, err
	case "prompt/sections":
		return map[string]any{"sections": p.Sections}, nil
	case "commands/list":
		return map[string]any{"commands": p.Commands}, nil
	case "memory/commands":
		if p.Memory != nil {
			return map[string]any{"commands": p.Memory.Commands}, nil
		}
	}
	var in struct {
		Call, Name string
		Session    Session
	}
	if err := json.Unmarshal(params, &in); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if in.Call != "" {
		p.mu.Lock()
		p.calls[in.Call] = stop
		p.mu.Unlock()
		defer func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			delete(p.calls, in.Call)
		}()
	}
	c := &Call{in.Call, in.Session, p}
	switch method {
	case "tools/call":
		return p.tool(ctx, c, in.Name, params)
	case "hooks/call":
		return p.hook(ctx, c, params)
	case "commands/run":
		return p.command(ctx, c, in.Name, params)
	case "memory/recall", "memory/observe", "memory/block":
		if p.Memory != nil {
			return p.Memory.handle(ctx, c, method, params)
		}
	case "memory/command":
		if p.Memory != nil {
			return p.Memory.command(ctx, c, in.Name, params)
		}
	}
	return nil, noMethod(method)
}

func (p *Plugin) tool(ctx context.Context, c *Call, name string, params json.RawMessage) (any, error) {
	var in struct{ Arguments json.RawMessage }
	if err := json.Unmarshal(params, &in); err != nil {
		return nil, err
	}
	for _, t := range p.Tools {
		if t.Name != name {
			continue
		}
		r, err := t.Run(ctx, c, in.Arguments)
		if f := (Failure{}); errors.As(err, &f) {
			return Result{Text: f.Text, Failed: true}, nil
		}
		return r, err
	}
	return nil, errors.New("there is no tool " + name)
}

func (p *Plugin) hook(ctx context.Context, c *Call, params json.RawMessage) (any, error) {
	var e Event
	if err := json.Unmarshal(params, &e); err != nil {
		return nil, err
	}
	list := p.at(e.Event)
	var all Verdict
	for _, h := range list {
		if len(list) > 1 { // of one alone Hermes has looked at the tools
			fits, err := h.fits(e.Tool.Name)
			if err != nil {
				return nil, err
			}
			if !fits {
				continue
			}
		}
		v, err := h.Run(ctx, c, e)
		switch {
		case err != nil && (h.Guard || len(list) == 1):
			return nil, err
		case err != nil: // a guard beside it is not to fail for that
			fmt.Fprintln(os.Stderr, "a hook at "+e.Event+" failed:", err)
			continue
		}
		if all = all.and(v); all.Action != "" && all.Action != "modify" && all.Action != "approve" {
			return all, nil
		}
		if v.Action == "modify" && v.Arguments != nil {
			e.Tool.Arguments = v.Arguments
		}
		if v.Action == "modify" && v.Text != nil {
			e.Result.Text = *v.Text
		}
	}
	return all, nil
}

// at returns the hooks of an event.
func (p *Plugin) at(event string) (list []Hook) {
	for _, h := range p.Hooks {
		if h.Event == event {
			list = append(list, h)
		}
	}
	return list
}

// offered returns one hook for each event, since Hermes says only the event when it calls.
func (p *Plugin) offered() ([]Hook, error) {
	var list []Hook
	seen := map[string]bool{}
	for _, first := range p.Hooks {
		if seen[first.Event] {
			continue
		}
		seen[first.Event] = true
		same := p.at(first.Event)
		if len(same) > 1 {
			tools, every := []string{}, false
			for _, h := range same {
				if _, err := h.fits(""); err != nil {
					return nil, err
				}
				tools = append(tools, "(?:"+h.Tools+")")
				every = every || h.Tools == ""
				first.Guard = first.Guard || h.Guard
				if first.seconds() < h.seconds() {
					first.Timeout = h.Timeout
				}
			}
			if first.Tools = strings.Join(tools, "|"); every || len(first.Tools) > 500 { // that is the limit of Hermes
				first.Tools = ""
			}
		}
		list = append(list, first)
	}
	return list, nil
}

func (h Hook) fits(tool string) (bool, error) {
	if h.Tools == "" {
		return true, nil
	}
	tools, err := regexp.Compile("^(?:" + h.Tools + ")$")
	if err != nil {
		return false, fmt.Errorf("the tools of a hook at %s: %w", h.Event, err)
	}
	return tools.MatchString(tool), nil
}

// seconds is the timeout that holds.
func (h Hook) seconds() int {
	if h.Timeout == 0 {
		return 30
	}
	return h.Timeout
}

// and returns the verdict of two hooks.
func (v Verdict) and(next Verdict) Verdict {
	if next.Context != "" && v.Context != "" {
		next.Context = "\n\n" + next.Context
	}
	next.Context = v.Context + next.Context
	switch {
	case next.Action == "":
		v.Context = next.Context
		return v
	case v.Action == "approve" && next.Action == "modify", v.Action == "modify" && next.Action == "approve":
		return Verdict{Action: "block", Message: "one hook wants the user to be asked, another changes the call; only one of the two is possible"}
	case v.Action == "approve" && next.Action == "approve":
		next.Message = v.Message + "; " + next.Message
	case next.Action == "modify" && next.Arguments == nil:
		next.Arguments = v.Arguments
	}
	if next.Action == "modify" && next.Text == nil {
		next.Text = v.Text
	}
	return next
}

func (p *Plugin) command(ctx context.Context, c *Call, name string, params json.RawMessage) (any, error) {
	var in struct{ Args string }
	if err := json.Unmarshal(params, &in); err != nil {
		return nil, err
	}
	for _, k := range p.Commands {
		if k.Name == name {
			text, say, err := k.Run(ctx, c, in.Args)
			return map[string]string{"text": text, "say": say}, err
		}
	}
	return nil, errors.New("there is no command " + name)
}

func (m *Memory) handle(ctx context.Context, c *Call, method string, params json.RawMessage) (any, error) {
	var in struct {
		Query string
		Limit int
		Turn
	}
	if err := json.Unmarshal(params, &in); err != nil {
		return nil, err
	}
	text, err := "", error(nil)
	switch {
	case method == "memory/observe" && m.Observe != nil:
		err = m.Observe(ctx, c, in.Turn)
	case method == "memory/recall" && m.Recall != nil:
		text, err = m.Recall(ctx, c, in.Query, in.Limit)
	case method == "memory/block" && m.Block != nil:
		text, err = m.Block(ctx, c)
	}
	return map[string]string{"text": text}, err
}

func (m *Memory) command(ctx context.Context, c *Call, name string, params json.RawMessage) (any, error) {
	var in struct{ Args []string }
	if err := json.Unmarshal(params, &in); err != nil {
		return nil, err
	}
	for _, k := range m.Commands {
		if k.Name == name {
			text, code, err := k.Run(ctx, c, in.Args)
			return map[string]any{"text": text, "exit_code": code}, err
		}
	}
	return nil, errors.New("there is no command " + name)
}
