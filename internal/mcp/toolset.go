package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	wire "github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes"
	"hermes/internal/argument"
	"hermes/internal/mcp/login"
	"hermes/internal/text"
)

// Name returns mcp-SERVER.
func (o *Server) Name() string { return o.toolset }

// Available returns "": the tools of a server that is not connected are offered as they were
// known last, and a call says what is wrong.
func (o *Server) Available(context.Context) string { return "" }

// Changes reports that the list of tools, or the state of the server, has changed.
func (o *Server) Changes() <-chan struct{} { return o.changes }

// lists are the tools of a server as they are handed out. They are made once for each state of
// the list and of the approvals, since sessions ask for them with each call.
type lists struct {
	version int // of the approvals
	made    bool
	cached  []hermes.Tool // for sessions that begin
	live    []hermes.Tool
}

// lists returns the tools as they are now.
func (o *Server) lists() (lists, listing) {
	l := o.current()
	version := o.approved.read()
	o.mu.Lock()
	defer o.mu.Unlock()
	if m := l.made; m.made && m.version == version {
		return *m, l
	}
	m := lists{version: version, made: true}
	approved := o.approved.all(o.set.ID())
	for _, t := range l.tools {
		d := t.def
		was, known := approved[d.Name]
		if known && was.Hash == t.hash {
			same := o.tool(t.name, d, t.schema)
			m.cached, m.live = append(m.cached, same), append(m.live, same)
			continue
		}
		if known {
			if before, ok := o.approved.text(o.set.ID(), d.Name); ok {
				m.cached = append(m.cached, o.tool(t.name, before, argument.CanonicalSchema(before.Schema))) // what the user approved is what a model reads
			}
		}
		// No model reads texts of the server before the user did; the schema has texts, too.
		d.Description = "The server has added or changed this tool, and the user has not approved it yet. A call asks the user."
		m.live = append(m.live, o.tool(t.name, d, argument.CanonicalSchema(nil)))
	}
	more := o.utilities(l)
	m.cached, m.live = append(m.cached, more...), append(m.live, more...)
	*l.made = m
	return m, l
}

// Tools returns the tools that may be offered when a session begins: those with a definition
// that the user approved, as the server told last. It does not wait for the server.
func (o *Server) Tools(context.Context) ([]hermes.Tool, error) {
	m, _ := o.lists()
	return m.cached, nil
}

// Live returns the tools that the server has now, also those that are not approved: a call of
// such a tool asks the user. It returns false while the server has not answered.
func (o *Server) Live() ([]hermes.Tool, bool) {
	m, l := o.lists()
	if !l.live {
		return nil, false
	}
	return m.live, true
}

// tool is one tool of a server, as a session got to know it.
type tool struct {
	server *Server
	name   string // the original one
	spec   hermes.Spec
	shape  func() map[string]any
}

// tool returns a tool with a canonical schema.
func (o *Server) tool(name string, d definition, schema json.RawMessage) *tool {
	t := &tool{server: o, name: d.Name, spec: o.spec(name, d.Description, schema), shape: argument.Shape(schema)}
	if d.ReadOnly && !o.set.Untrusted {
		t.spec.Effect = hermes.EffectNone
	} else if d.Idempotent && !o.set.Untrusted {
		t.spec.Effect = hermes.EffectIdempotent
	}
	return t
}

// spec is what all tools of a server have in common.
func (o *Server) spec(name, description string, schema json.RawMessage) hermes.Spec {
	s := hermes.Spec{Name: name, Description: description, Schema: schema, ResultLimit: o.cfg.ResultLimit, Sends: opens}
	if o.set.Parallel {
		s.Mode = hermes.ModeParallel
	}
	return s
}

// opens lists the addresses among the arguments of a call: a server may open them.
func opens(arguments json.RawMessage) hermes.Outgoing {
	web, others := argument.Addresses(arguments)
	return hermes.Outgoing{Opens: web, Texts: others}
}

// Spec describes the tool.
func (t *tool) Spec() hermes.Spec { return t.spec }

// Shape is the schema, which is canonical; see [toolset.CanonicalTool].
func (t *tool) Shape() map[string]any { return t.shape() }

// now returns the definition that the server has now, or false if it has no such tool any more.
func (t *tool) now() (definition, bool) {
	for _, o := range t.server.known() {
		if o.name == t.spec.Name && o.def.Name == t.name {
			return o.def, true
		}
	}
	return definition{}, false
}

// Keys of risks. The name of the server follows.
const (
	keyChanged   = "mcp-changed:"
	keyUntrusted = "mcp-untrusted:"
	keyTainted   = "mcp-tainted:"
)

// AssessRisk returns why the user must be asked: the definition is not approved, the server is
// not trusted, or the session has read text of others and the call may change something.
func (t *tool) AssessRisk(_ context.Context, c *hermes.Call) []hermes.Risk {
	o := t.server
	var risks []hermes.Risk
	d, ok := t.now()
	if !ok { // it may be back when the call runs
		d = definition{Name: t.name, ReadOnly: t.spec.Effect == hermes.EffectNone}
	} else if why := o.blocked(d); why != "" {
		risks = append(risks, hermes.Risk{Key: keyChanged + o.set.ID() + ":" + d.Name, Reason: why, NoRemember: true, EveryMode: true, Bound: true, Once: true})
	}
	switch {
	case d.ReadOnly:
	case o.set.Untrusted:
		risks = append(risks, hermes.Risk{Key: keyUntrusted + o.set.ID(), Reason: fmt.Sprintf("the MCP server %s is not trusted, and %s may change something", o.set.Name, d.Name)})
	default:
		if others := o.othersText(c.Host.Session().Provenance); others != "" {
			risks = append(risks, hermes.Risk{
				Key: keyTainted + o.set.ID(), Reason: fmt.Sprintf("%s of the MCP server %s may change something or send it elsewhere, after reading %s", d.Name, o.set.Name, others),
			})
		}
	}
	return risks
}

// othersText returns the sources of text that neither the user chose nor this server sent.
func (o *Server) othersText(provenance string) string {
	var others []string
	for source := range strings.SplitSeq(hermes.OutsideProvenance(provenance), ";") {
		if source = strings.TrimSpace(source); source != "" && !strings.HasPrefix(source, "mcp__"+part(o.set.Name)+"__") {
			others = append(others, source)
		}
	}
	return strings.Join(others, "; ")
}

// Subject describes a call to the user: the tool, each argument, and what changed in it.
func (t *tool) Subject(_ context.Context, c *hermes.Call) hermes.Subject {
	o := t.server
	s := hermes.Subject{Text: fmt.Sprintf("%s of the MCP server %s with %s", t.name, o.set.Name, text.Visible(string(c.Arguments)))}
	if d, ok := t.now(); ok && o.blocked(d) != "" {
		s.Detail = o.changed(d)
	}
	return s
}

// Run calls the tool.
func (t *tool) Run(ctx context.Context, c *hermes.Call) (hermes.Result, error) {
	o := t.server
	ctx, end := o.begin(ctx, c.Host)
	defer end()
	if t.spec.Effect == hermes.EffectNone {
		return t.again(ctx, c)
	}
	return t.once(ctx, c)
}

// again calls a tool that only reads, a second time if the connection is lost in between.
func (t *tool) again(ctx context.Context, c *hermes.Call) (hermes.Result, error) {
	r, err := t.once(ctx, c)
	if errors.Is(err, errLost) && ctx.Err() == nil {
		return t.once(ctx, c)
	}
	return r, err
}

// errLost means that the connection ended before the answer came.
var errLost = errors.New("the connection was lost before the answer came")

func (t *tool) once(ctx context.Context, c *hermes.Call) (hermes.Result, error) {
	o := t.server
	conn, err := o.connected(ctx)
	if err != nil {
		return hermes.Result{}, err
	}
	if err := t.mayRun(c); err != nil {
		return hermes.Result{}, err
	}
	p := &mcp.CallToolParams{Name: t.name, Arguments: c.Arguments}
	o.follow(ctx, p.SetProgressToken)
	r, err := conn.session.CallTool(ctx, p)
	if err != nil {
		return hermes.Result{}, o.failure(ctx, conn, t.spec.Effect, err)
	}
	return o.result(r), nil
}

// mayRun checks the definition that the server has now: it is approved, or the user has just
// agreed to it.
func (t *tool) mayRun(c *hermes.Call) error {
	o := t.server
	d, ok := t.now()
	if !ok {
		return fmt.Errorf("the MCP server %s has no tool %s any more; look for another one with tool_search", o.set.Name, t.name)
	}
	why := o.blocked(d)
	if why == "" {
		return nil
	}
	if c.Approved == nil || c.Approved.Detail != o.changed(d) {
		return fmt.Errorf("not run: %s; the user can look at it and approve it with `hermes mcp configure %s`", why, o.set.Name)
	}
	if err := o.approved.approve(o.set.ID(), d); err != nil {
		return fmt.Errorf("not run: the approval of %s cannot be kept: %w", t.name, err)
	}
	return nil
}

// failure words why a call failed, for a model. Whatever the server did not say itself means
// that the connection is of no use any more.
func (o *Server) failure(ctx context.Context, c *connection, e hermes.Effect, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if n, ok := errors.AsType[*login.NeededError](err); ok { // the connection is as it was
		return fmt.Errorf("the MCP server %s did not do it: %s", o.set.Name, text.OneLine(text.Plain(n.Error()), 300))
	}
	_, network := errors.AsType[*url.Error](err) // which the SDK calls a refusal, though the server may have read it
	_, refused := errors.AsType[*wire.Error](err)
	_, ours := errors.AsType[*askError](err)
	if !network && (refused || ours) {
		return fmt.Errorf("the MCP server %s did not do it: %s", o.set.Name, text.Cut(text.Plain(err.Error()), 4000))
	}
	c.finish(err)
	lost := fmt.Errorf("the MCP server %s: %w (%s)", o.set.Name, errLost, text.OneLine(text.Plain(o.reached(err).Error()), 300))
	if e == hermes.EffectNone || e == hermes.EffectIdempotent {
		return lost
	}
	return fmt.Errorf("%w; whether the call had an effect is unknown: check before you repeat it", lost)
}
