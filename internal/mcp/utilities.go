package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes"
	"hermes/internal/text"
)

// maxListed bounds what one call of a utility lists.
const maxListed = 200

// utilities are the tools for what a server offers beside tools, as far as it has no tool of
// the same name.
func (o *Server) utilities(l listing) []hermes.Tool {
	var list []hermes.Tool
	add := func(name, description, schema string, run func(ctx context.Context, s *mcp.ClientSession, arguments json.RawMessage) (hermes.Result, error)) {
		full := ToolName(o.set.Name, name, nil)
		for _, t := range l.tools {
			if t.name == full {
				return
			}
		}
		spec := o.spec(full, description, json.RawMessage(schema))
		spec.Effect = hermes.EffectNone
		list = append(list, &utility{o, spec, run})
	}
	const page = `{"type":"object","properties":{"cursor":{"type":"string","description":"From an earlier page."}}}`
	if l.resources && o.set.Tools.Resources {
		add("list_resources", "List the resources of the MCP server "+o.set.Name+".", page, o.listResources)
		add("read_resource", "Read a resource of the MCP server "+o.set.Name+".",
			`{"type":"object","properties":{"uri":{"type":"string"}},"required":["uri"]}`, o.readResource)
	}
	if l.prompts && o.set.Tools.Prompts {
		add("list_prompts", "List the prompts that the MCP server "+o.set.Name+" offers.", page, o.listPrompts)
		add("get_prompt", "Get a prompt of the MCP server "+o.set.Name+".",
			`{"type":"object","properties":{"name":{"type":"string"},"arguments":{"type":"object","additionalProperties":{"type":"string"}}},"required":["name"]}`, o.getPrompt)
	}
	return list
}

// utility is a tool of ours about a server. It only reads.
type utility struct {
	server *Server
	spec   hermes.Spec
	run    func(ctx context.Context, s *mcp.ClientSession, arguments json.RawMessage) (hermes.Result, error)
}

// Spec describes the tool.
func (u *utility) Spec() hermes.Spec { return u.spec }

// Run asks the server.
func (u *utility) Run(ctx context.Context, c *hermes.Call) (hermes.Result, error) {
	o := u.server
	ctx, end := o.begin(ctx, c.Host)
	defer end()
	conn, err := o.connected(ctx)
	if err != nil {
		return hermes.Result{}, err
	}
	r, err := u.run(ctx, conn.session, c.Arguments)
	if err != nil {
		return hermes.Result{}, o.failure(ctx, conn, hermes.EffectNone, err)
	}
	r.Text = text.Cut(text.Plain(r.Text), maxText)
	return r, nil
}

// some returns the first of what a server lists, without those that are null.
func some[T any](list []*T) []*T {
	list = slices.DeleteFunc(list, func(x *T) bool { return x == nil })
	return list[:min(len(list), maxListed)]
}

type paged struct {
	Cursor string `json:"cursor"`
}

func (o *Server) listResources(ctx context.Context, s *mcp.ClientSession, arguments json.RawMessage) (hermes.Result, error) {
	var in paged
	if err := json.Unmarshal(arguments, &in); err != nil {
		return hermes.Result{}, err
	}
	r, err := s.ListResources(ctx, &mcp.ListResourcesParams{Cursor: in.Cursor})
	if err != nil {
		return hermes.Result{}, err
	}
	type row struct {
		URI         string `json:"uri"`
		Name        string `json:"name,omitempty"`
		Description string `json:"description,omitempty"`
		MIMEType    string `json:"mime_type,omitempty"`
	}
	out := struct {
		Resources []row  `json:"resources"`
		Templates []row  `json:"templates,omitempty"`
		Cursor    string `json:"next_cursor,omitempty"`
	}{Resources: []row{}, Cursor: r.NextCursor}
	for _, x := range some(r.Resources) {
		out.Resources = append(out.Resources, row{x.URI, x.Name, x.Description, x.MIMEType})
	}
	if in.Cursor == "" {
		// A server need not have templates.
		if t, err := s.ListResourceTemplates(ctx, &mcp.ListResourceTemplatesParams{}); err == nil {
			for _, x := range some(t.ResourceTemplates) {
				out.Templates = append(out.Templates, row{x.URITemplate, x.Name, x.Description, x.MIMEType})
			}
		}
	}
	return hermes.JSONResult(out)
}

func (o *Server) readResource(ctx context.Context, s *mcp.ClientSession, arguments json.RawMessage) (hermes.Result, error) {
	var in struct {
		URI string `json:"uri"`
	}
	if err := json.Unmarshal(arguments, &in); err != nil {
		return hermes.Result{}, err
	}
	r, err := s.ReadResource(ctx, &mcp.ReadResourceParams{URI: in.URI})
	if err != nil {
		return hermes.Result{}, err
	}
	var list []mcp.Content
	for _, c := range r.Contents {
		if c != nil && len(c.Blob) > 0 && len(c.MIMEType) > 6 && c.MIMEType[:6] == "image/" {
			list = append(list, &mcp.ImageContent{Data: c.Blob, MIMEType: c.MIMEType})
		} else if c != nil {
			list = append(list, &mcp.EmbeddedResource{Resource: c})
		}
	}
	return o.content(list), nil
}

func (o *Server) listPrompts(ctx context.Context, s *mcp.ClientSession, arguments json.RawMessage) (hermes.Result, error) {
	var in paged
	if err := json.Unmarshal(arguments, &in); err != nil {
		return hermes.Result{}, err
	}
	r, err := s.ListPrompts(ctx, &mcp.ListPromptsParams{Cursor: in.Cursor})
	if err != nil {
		return hermes.Result{}, err
	}
	type argument struct {
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
		Required    bool   `json:"required,omitempty"`
	}
	type row struct {
		Name        string     `json:"name"`
		Description string     `json:"description,omitempty"`
		Arguments   []argument `json:"arguments,omitempty"`
	}
	out := struct {
		Prompts []row  `json:"prompts"`
		Cursor  string `json:"next_cursor,omitempty"`
	}{Prompts: []row{}, Cursor: r.NextCursor}
	for _, p := range some(r.Prompts) {
		x := row{Name: p.Name, Description: p.Description}
		for _, a := range some(p.Arguments) {
			x.Arguments = append(x.Arguments, argument{a.Name, a.Description, a.Required})
		}
		out.Prompts = append(out.Prompts, x)
	}
	return hermes.JSONResult(out)
}

func (o *Server) getPrompt(ctx context.Context, s *mcp.ClientSession, arguments json.RawMessage) (hermes.Result, error) {
	var in struct {
		Name      string            `json:"name"`
		Arguments map[string]string `json:"arguments"`
	}
	if err := json.Unmarshal(arguments, &in); err != nil {
		return hermes.Result{}, err
	}
	r, err := s.GetPrompt(ctx, &mcp.GetPromptParams{Name: in.Name, Arguments: in.Arguments})
	if err != nil {
		return hermes.Result{}, err
	}
	var out hermes.Result
	for _, m := range some(r.Messages) {
		part := o.content([]mcp.Content{m.Content})
		out.Text += fmt.Sprintf("%s: %s\n", m.Role, part.Text)
		out.Images = append(out.Images, part.Images...)
	}
	return out, nil
}
