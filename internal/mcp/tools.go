package mcp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes/internal/argument"
	"hermes/internal/mcp/setting"
	"hermes/internal/order"
	"hermes/internal/text"
)

const (
	maxTools       = 512
	maxPages       = 64
	maxDescription = 8 << 10 // bytes
	maxSchema      = 64 << 10
	maxList        = 16 << 20 // of a file
)

// definition is a tool as its server describes it, without what models do not need.
type definition struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema"`
	ReadOnly    bool            `json:"read_only,omitempty"`
	Idempotent  bool            `json:"idempotent,omitempty"`
}

// hash names the whole definition: what a model reads of it and what it claims.
func (d definition) hash() string {
	data, err := json.Marshal(d)
	if err != nil { // the schema is valid JSON
		return ""
	}
	return hashOf(data)
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// offered is a tool as models call it.
type offered struct {
	name   string
	def    definition
	hash   string          // of def
	schema json.RawMessage // of def, in canonical form
}

// listing is what a server offers.
type listing struct {
	tools     []offered // sorted by name
	resources bool
	prompts   bool
	// live says that the server itself told this, in this process.
	live bool
	made *lists // changed with the lock of the server held
}

// look reads the list of tools from the server.
func (o *Server) look(ctx context.Context, c *connection) error {
	ctx, cancel := context.WithTimeoutCause(ctx, o.set.Times.Connect, errors.New("it did not list its tools in time"))
	defer cancel()
	l := listing{made: &lists{}}
	caps := c.session.InitializeResult().Capabilities
	if caps == nil {
		caps = &mcp.ServerCapabilities{}
	}
	l.resources, l.prompts, l.live = caps.Resources != nil, caps.Prompts != nil, true
	var defs []definition
	if caps.Tools != nil {
		var err error
		if defs, err = o.pages(ctx, c); err != nil {
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			return fmt.Errorf("list its tools: %w", err)
		}
	}
	for _, d := range defs {
		l.tools = append(l.tools, offered{def: d, hash: d.hash(), schema: argument.CanonicalSchema(d.Schema)})
	}
	l.tools = o.offer(l.tools)
	if !o.pinned { // one that was forgotten while it runs is not approved again by itself
		_, err := o.approved.first(o.set.ID(), defs)
		o.pinned = err == nil
		if err != nil {
			o.cfg.Log.Warn("the definitions of the tools of an MCP server cannot be kept", "server", o.set.Name, "err", err)
		}
	}
	o.mu.Lock()
	o.list = l
	o.mu.Unlock()
	signal(o.changes)
	if err := o.keep(l); err != nil {
		o.cfg.Log.Warn("the list of tools of an MCP server cannot be kept", "server", o.set.Name, "err", err)
	}
	return nil
}

// pages reads all pages of the list.
func (o *Server) pages(ctx context.Context, c *connection) ([]definition, error) {
	var defs []definition
	p := &mcp.ListToolsParams{}
	for range maxPages {
		r, err := c.session.ListTools(ctx, p)
		if err != nil {
			return nil, err
		}
		for _, t := range r.Tools {
			if len(defs) >= maxTools {
				o.cfg.Log.Warn("an MCP server has too many tools; the others are left out", "server", o.set.Name, "limit", maxTools)
				return defs, nil
			}
			if d, why := define(t); why != "" {
				o.cfg.Log.Warn("a tool of an MCP server is left out", "server", o.set.Name, "tool", text.OneLine(text.Plain(t.Name), 100), "reason", why)
			} else {
				defs = append(defs, d)
			}
		}
		if r.NextCursor == "" || r.NextCursor == p.Cursor {
			return defs, nil
		}
		p.Cursor = r.NextCursor
	}
	return defs, nil
}

// define reads a tool, or says why it is left out.
func define(t *mcp.Tool) (d definition, why string) {
	if t == nil || t.Name == "" || len(t.Name) > 256 || strings.IndexFunc(t.Name, func(r rune) bool { return !unicode.IsPrint(r) }) >= 0 {
		return d, "its name is empty, too long, or has characters that cannot be shown"
	}
	d = definition{Name: t.Name, Description: text.Cut(text.Plain(cmp.Or(t.Description, t.Title)), maxDescription)}
	if a := t.Annotations; a != nil {
		d.ReadOnly, d.Idempotent = a.ReadOnlyHint, a.IdempotentHint
		if d.Description == "" {
			d.Description = text.Cut(text.Plain(a.Title), maxDescription)
		}
	}
	schema, err := json.Marshal(t.InputSchema)
	if err != nil || len(schema) > maxSchema {
		return d, fmt.Sprintf("its schema is larger than %s", text.Size(maxSchema))
	}
	d.Schema = json.RawMessage(text.Plain(string(schema)))
	if !json.Valid(d.Schema) {
		return d, "its schema is not valid"
	}
	return d, ""
}

// offer names the tools that the settings offer. It sorts what it is given.
func (o *Server) offer(all []offered) []offered {
	var list []offered
	taken := map[string]bool{}
	order.By(all, func(a, b offered) int { return cmp.Compare(a.def.Name, b.def.Name) })
	for i, t := range all {
		tool := t.def.Name
		if !o.set.Tools.Offers(tool) || i > 0 && all[i-1].def.Name == tool {
			continue
		}
		t.name = ToolName(o.set.Name, tool, func(n string) bool { return taken[n] })
		if taken[t.name] {
			continue
		}
		taken[t.name] = true
		list = append(list, t)
	}
	order.By(list, func(a, b offered) int { return cmp.Compare(a.name, b.name) })
	return list
}

// known returns the tools that may be offered: those that the server told, else those of the
// last run. Of these, what the user did not approve is left out.
func (o *Server) known() []offered { return o.current().tools }

func (o *Server) current() listing {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.list.live && !o.read {
		o.read = true
		o.list = o.kept()
	}
	return o.list
}

// maxName is the longest name of a tool that all model services accept.
const maxName = 64

// part is the name of a server within the names of its tools: it has no two underscores in a row, which
// would end it.
func part(server string) string {
	s := setting.Slug(server)
	for strings.Contains(s, "__") {
		s = strings.ReplaceAll(s, "__", "_")
	}
	return strings.Trim(s, "_")
}

// ToolsetName returns the name of a server's toolset.
func ToolsetName(server string) string { return "mcp-" + part(server) }

// ToolName returns the name under which models see a tool of a server. Long names, and those
// that taken reports, end with a part of their hash; a nil taken reports none.
func ToolName(server, tool string, taken func(name string) bool) string {
	s := setting.Slug(tool)
	if s == "" {
		s = "tool"
	}
	name := "mcp__" + part(server) + "__" + s
	if len(name) <= maxName && (taken == nil || !taken(name)) {
		return name
	}
	sum := sha256.Sum256([]byte(server + "\x00" + tool))
	end := "_" + hex.EncodeToString(sum[:4])
	return name[:min(len(name), maxName-len(end))] + end
}
