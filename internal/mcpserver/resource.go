package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The addresses of resources.
const (
	conversationsAt = "hermes://conversations"
	memoryAt        = "hermes://memory"
	skillsAt        = "hermes://skills"
)

func conversationURI(id string) string { return conversationsAt + "/" + url.PathEscape(id) }

// addResources offers the same as the tools that read, as JSON.
func (s *Server) addResources() {
	const asJSON = "application/json"
	for _, r := range []mcp.Resource{
		{URI: conversationsAt, Name: "conversations", Title: "Conversations", Description: "The newest conversations", MIMEType: asJSON},
		{URI: memoryAt + "/memory", Name: "memory", Title: "Notes", Description: "What the agent remembers", MIMEType: asJSON},
		{URI: memoryAt + "/user", Name: "user", Title: "User profile", Description: "What the agent knows of the user", MIMEType: asJSON},
		{URI: skillsAt, Name: "skills", Title: "Skills", Description: "The skills of the agent", MIMEType: asJSON},
	} {
		s.mcp.AddResource(&r, s.resource)
	}
	for _, t := range []mcp.ResourceTemplate{
		{URITemplate: conversationsAt + "/{conversation_id}", Name: "conversation", Title: "A conversation", Description: "The newest messages of a conversation", MIMEType: asJSON},
		{URITemplate: memoryAt + "/{file}", Name: "memory-file", Title: "A file of memory", Description: "memory or user", MIMEType: asJSON},
		{URITemplate: skillsAt + "/{name}", Name: "skill", Title: "A skill", Description: "The text of a skill", MIMEType: asJSON},
	} {
		s.mcp.AddResourceTemplate(&t, s.resource)
	}
}

// resource reads a resource.
func (s *Server) resource(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	out, err := s.content(ctx, r.Params.URI)
	if errors.Is(err, errNoResource) {
		return nil, mcp.ResourceNotFoundError(r.Params.URI)
	}
	if err != nil {
		return nil, errors.New(s.cfg.Mask.Text(err.Error()))
	}
	raw, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return nil, err
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, MIMEType: "application/json", Text: string(raw)}}}, nil
}

var errNoResource = errors.New("there is no such resource")

// content returns what a resource holds.
func (s *Server) content(ctx context.Context, at string) (any, error) {
	rest, ok := strings.CutPrefix(at, "hermes://")
	kind, name, named := strings.Cut(rest, "/")
	name, err := url.PathUnescape(name)
	if !ok || err != nil || named && name == "" {
		return nil, errNoResource
	}
	var c caller
	switch {
	case kind == "conversations" && !named:
		return s.conversations(ctx, c, conversationsArgs{Limit: 50})
	case kind == "conversations":
		info, err := s.find(ctx, name)
		if err != nil {
			return nil, errNoResource
		}
		list, err := s.messages(ctx, c, messagesArgs{Conversation: info.ID})
		return struct {
			Conversation conversation `json:"conversation"`
			messagesResult
		}{s.conversation(info), list}, err
	case kind == "memory" && (name == "memory" || name == "user"):
		return s.readMemory(ctx, c, memoryArgs{File: name, Limit: maxResults})
	case kind == "skills" && !named:
		return s.listSkills(ctx, c, skillsArgs{Limit: maxResults})
	case kind == "skills":
		out, err := s.viewSkill(ctx, c, skillArgs{Name: name})
		if err != nil {
			return nil, errNoResource
		}
		return out, nil
	}
	return nil, errNoResource
}

// maxCompletions is how many completions a client gets at once, as the protocol limits them.
const maxCompletions = 100

// complete completes the arguments of resource templates.
func (s *Server) complete(ctx context.Context, r *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	out := &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}
	if r.Params.Ref == nil || r.Params.Ref.Type != "ref/resource" {
		return out, nil
	}
	var all []string
	switch r.Params.Argument.Name {
	case "file":
		all = memoryFiles()
	case "name":
		list, err := s.listSkills(ctx, caller{}, skillsArgs{Limit: maxResults})
		if err != nil {
			return nil, err
		}
		for _, k := range list.Skills {
			all = append(all, k.Name)
		}
	case "conversation_id":
		list, err := s.conversations(ctx, caller{}, conversationsArgs{Limit: maxResults})
		if err != nil {
			return nil, err
		}
		for _, c := range list.Conversations {
			all = append(all, c.ID)
		}
	}
	for _, v := range all {
		switch {
		case !strings.HasPrefix(v, r.Params.Argument.Value):
		case len(out.Completion.Values) == maxCompletions:
			out.Completion.HasMore = true
			return out, nil
		default:
			out.Completion.Values = append(out.Completion.Values, v)
		}
	}
	return out, nil
}
