package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"hermes"
	"hermes/internal/jsonrpc"
	"hermes/internal/text"
)

const (
	// mostNotices is how many notifications a plugin may send each second; more are dropped. One
	// that sends more than flood of them is ended.
	mostNotices = 50
	flood       = 5_000
	// mostInvokes is how many other tools one call may run.
	mostInvokes = 100
	maxQuestion = 2_000 // characters
	maxPrompt   = 64 << 10
)

// codeRefused is the error of a request that the plugin did not declare, or that is over a limit.
const codeRefused = -32003

func refused(format string, args ...any) error {
	return &jsonrpc.Error{Code: codeRefused, Message: fmt.Sprintf(format, args...)}
}

// calls are the calls of a plugin that run, and what bounds its requests.
type calls struct {
	mu        sync.Mutex
	serial    int64
	running   map[string]*calling
	completed []time.Time // the questions to models of the last minute
	second    time.Time   // of notices
	notices   int
}

// calling is a call that runs.
type calling struct {
	ctx      context.Context
	host     hermes.Host // nil: nothing can be asked
	requests sync.WaitGroup
	invokes  int
	over     bool
	// chunks gets the output of a script, nil if the call has none; outstanding are its parts without
	// an answer, and answers those that are being sent.
	chunks      chan outputChunk
	outstanding int
	answers     int
	deltas      *deltas // of a model, nil if the call is none
}

// begin counts a call. done waits for the requests of the plugin that belong to it, whose context
// it ends: a host is not used after its call.
func (c *calls) begin(ctx context.Context, host hermes.Host) (id string, done func()) {
	ctx, stop := context.WithCancel(ctx)
	one := &calling{ctx: ctx, host: host}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running == nil {
		c.running = map[string]*calling{}
	}
	c.serial++
	id = strconv.FormatInt(c.serial, 10)
	c.running[id] = one
	return id, func() {
		c.mu.Lock()
		delete(c.running, id)
		one.over = true
		c.mu.Unlock()
		stop()
		one.requests.Wait()
	}
}

// enter takes part in a call that runs, for a request of the plugin. The caller calls done.
func (c *calls) enter(id string) (one *calling, done func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one = c.running[id]
	if one == nil || one.over {
		return nil, nil, refused("no call %q runs; a request belongs to a call of the plugin, and ends with it", text.OneLine(text.Plain(id), 40))
	}
	if one.host == nil {
		return nil, nil, refused("nothing can be asked during this call")
	}
	one.requests.Add(1)
	return one, one.requests.Done, nil
}

// tooMany counts a notification, and reports whether it is dropped, and whether they are a flood.
func (c *calls) tooMany(now time.Time) (drop, end bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Sub(c.second) >= time.Second || now.Before(c.second) {
		c.second, c.notices = now, 0
	}
	c.notices++
	return c.notices > mostNotices, c.notices > flood
}

// Handle handles what the program of the plugin sends.
func (p *Plugin) Handle(_ context.Context, r *jsonrpc.Request) {
	if r.Notification() {
		drop, end := p.calls.tooMany(p.cfg.Now())
		if end {
			p.cfg.Log.Warn("a plugin sends too much and is ended", "plugin", p.Name())
			_ = r.Conn().Close() // watch ends the program
			return
		}
		if !drop && r.Method == noticeProgress {
			p.progress(r.Params)
		}
		return
	}
	if r.Method == requestOutput && p.output(r) || r.Method == requestDelta && p.delta(r) {
		return // it is paced by its answers
	}
	if _, end := p.calls.tooMany(p.cfg.Now()); end { // refused requests cost as much
		_ = r.Conn().Close() // watch ends the program
		return
	}
	if r.Method == requestOutput || r.Method == requestDelta {
		return // it is answered
	}
	handlers := map[string]func(context.Context, json.RawMessage) (any, error){methodInvoke: p.invoke, methodAsk: p.ask, methodComplete: p.complete}
	h := handlers[r.Method]
	switch {
	case h == nil:
		_ = r.Reply(nil, jsonrpc.NoMethod(text.OneLine(text.Plain(r.Method), 60)))
	case !slices.Contains(p.manifest.Capabilities.methods(), r.Method):
		_ = r.Reply(nil, refused("%s is not declared: see capabilities in %s", r.Method, ManifestName))
	default:
		r.Go(func(ctx context.Context) (any, error) { return h(ctx, r.Params) })
	}
}

// read decodes the params of a request.
func read(raw json.RawMessage, into any) error {
	if err := json.Unmarshal(raw, into); err != nil {
		return &jsonrpc.Error{Code: jsonrpc.CodeParams, Message: fmt.Sprintf("the params cannot be read: %v", err)}
	}
	return nil
}

// both returns a context that ends with the call and with the connection.
func (one *calling) both(conn context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(one.ctx)
	stop := context.AfterFunc(conn, func() { cancel(context.Cause(conn)) })
	return ctx, func() { stop(); cancel(nil) }
}

// progress shows what a call is doing.
func (p *Plugin) progress(raw json.RawMessage) {
	var in progress
	if json.Unmarshal(raw, &in) != nil {
		return
	}
	if one, done, err := p.calls.enter(in.Call); err == nil {
		defer done()
		one.host.Progress(text.OneLine(text.Plain(in.Text), 200))
	}
}

// invoke runs a tool of the session for the plugin, through the whole tool chain.
func (p *Plugin) invoke(ctx context.Context, raw json.RawMessage) (any, error) {
	var in invoke
	if err := read(raw, &in); err != nil {
		return nil, err
	}
	if !slices.Contains(p.manifest.Capabilities.Tools, in.Name) {
		return nil, refused("the tool %q is not among capabilities.tools in %s", text.OneLine(text.Plain(in.Name), 64), ManifestName)
	}
	for _, t := range p.pin.Offer.Tools {
		if t.Name == in.Name {
			return nil, refused("%s is a tool of the plugin itself", in.Name)
		}
	}
	one, done, err := p.calls.enter(in.Call)
	if err != nil {
		return nil, err
	}
	defer done()
	p.calls.mu.Lock()
	one.invokes++
	many := one.invokes > mostInvokes
	p.calls.mu.Unlock()
	if many {
		return nil, refused("one call may run %d tools", mostInvokes)
	}
	ctx, end := one.both(ctx)
	defer end()
	r, err := one.host.Invoke(ctx, in.Name, in.Arguments)
	if err != nil {
		return nil, refused("%s", text.Cut(err.Error(), 4000))
	}
	return toolResult{Text: r.Text, Failed: r.Failed}, nil
}

// ask asks the user. The question says who asks, and nothing typed is hidden: a plugin has no
// business with passwords.
func (p *Plugin) ask(ctx context.Context, raw json.RawMessage) (any, error) {
	var in ask
	if err := read(raw, &in); err != nil {
		return nil, err
	}
	in.Text = strings.TrimSpace(text.Plain(in.Text))
	if in.Text == "" || len([]rune(in.Text)) > maxQuestion || len(in.Choices) > 20 {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeParams, Message: fmt.Sprintf("a question has 1 to %d characters, and 20 choices at most", maxQuestion)}
	}
	for i, c := range in.Choices {
		in.Choices[i] = text.OneLine(text.Plain(c), 200)
	}
	one, done, err := p.calls.enter(in.Call)
	if err != nil {
		return nil, err
	}
	defer done()
	ctx, end := one.both(ctx)
	defer end()
	a, err := one.host.Ask(ctx, hermes.Question{Text: fmt.Sprintf("The plugin %s asks: %s", p.Name(), text.Visible(in.Text)), Choices: in.Choices, Multiple: in.Multiple})
	if err != nil {
		return nil, refused("the user cannot be asked: %s", text.OneLine(err.Error(), 300))
	}
	return asked{Texts: a.Texts, TimedOut: a.TimedOut, Dismissed: a.Dismissed}, nil
}

// complete asks a model, within what the manifest declares.
func (p *Plugin) complete(ctx context.Context, raw json.RawMessage) (any, error) {
	var in complete
	if err := read(raw, &in); err != nil {
		return nil, err
	}
	if in.Prompt == "" || len(in.Prompt)+len(in.System) > maxPrompt {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeParams, Message: fmt.Sprintf("a prompt has 1 to %d bytes, with its system", maxPrompt)}
	}
	if p.cfg.Complete == nil {
		return nil, refused("no model can be asked here")
	}
	one, done, err := p.calls.enter(in.Call)
	if err != nil {
		return nil, err
	}
	defer done()
	most := p.manifest.Capabilities.Complete
	if !p.calls.mayComplete(p.cfg.Now(), most.PerMinute) {
		return nil, refused("the plugin asked models %d times in the last minute, which is what its manifest declares; wait", most.PerMinute)
	}
	tokens := in.MaxTokens
	if tokens <= 0 || tokens > most.MaxTokens {
		tokens = most.MaxTokens
	}
	ctx, end := one.both(ctx)
	defer end()
	a, err := p.cfg.Complete(ctx, Completion{Plugin: p.Name(), Session: one.host.Session(), System: in.System, Prompt: in.Prompt, MaxTokens: tokens})
	if err != nil {
		return nil, refused("%s", text.OneLine(err.Error(), 500))
	}
	return completed(a), nil
}

// mayComplete counts a question to a model.
func (c *calls) mayComplete(now time.Time, most int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.completed = slices.DeleteFunc(c.completed, func(t time.Time) bool { return now.Sub(t) >= time.Minute })
	if len(c.completed) >= most {
		return false
	}
	c.completed = append(c.completed, now)
	return true
}

// session is what a plugin learns about a session.
func session(s hermes.SessionRef) wireSession {
	return wireSession{ID: s.ID, Platform: s.Platform, Dir: s.Dir, Depth: s.Depth, Attended: s.Attended}
}
