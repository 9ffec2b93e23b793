package openviking

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"hermes/internal/plugin/bundled/found"
	"hermes/internal/plugin/bundled/typed"
	"hermes/internal/plugin/sdk"
	"hermes/internal/text"
)

// maxRead is the longest content that is returned, in characters.
const maxRead = 50_000

type searchArgs struct {
	Query string `json:"query" doc:"what to look for, in words"`
	Mode  string `json:"mode,omitempty" doc:"deep lets the service plan the search from this session; slower" enum:"auto,fast,deep" default:"auto"`
	Scope string `json:"scope,omitempty" doc:"only below this address, such as viking://resources/"`
	Limit int    `json:"limit,omitempty" default:"10" min:"1" max:"50"`
}

type readArgs struct {
	URI   string `json:"uri" doc:"viking://…"`
	Level string `json:"level,omitempty" doc:"abstract (100 tokens) and overview (2,000) are for folders" enum:"abstract,overview,full" default:"full"`
}

type browseArgs struct {
	Action string `json:"action" enum:"list,tree,stat"`
	Path   string `json:"path,omitempty" doc:"viking://…; by default the root" default:"viking://"`
}

type rememberArgs struct {
	Content  string `json:"content" doc:"the fact, in a full sentence"`
	Category string `json:"category,omitempty" doc:"what kind of memory it is" enum:"preference,entity,event,case,pattern"`
}

type resourceArgs struct {
	URL    string `json:"url" doc:"of a page, a document or a repository"`
	Reason string `json:"reason,omitempty" doc:"why it matters, which helps to find it"`
}

func (s *service) tools() []sdk.Tool {
	return []sdk.Tool{
		typed.Tool(typed.Spec{Name: "viking_search", Description: "Search memories, resources and skills by meaning. Returns abstracts and addresses for viking_read.", Reads: true}, s.search),
		typed.Tool(typed.Spec{Name: "viking_read", Description: "Read what is at a viking:// address.", Reads: true}, s.read),
		typed.Tool(typed.Spec{Name: "viking_browse", Description: "List a folder at a viking:// address, all below it, or what is known of one.", Reads: true}, s.browse),
		typed.Tool(typed.Spec{Name: "viking_remember", Description: "Remember a fact. The service makes a memory of it at the end of the session."}, s.remember),
		typed.Tool(typed.Spec{Name: "viking_add_resource", Description: "Have the service fetch an address and keep it as a resource."}, s.add),
	}
}

func (s *service) search(ctx context.Context, c *sdk.Call, in searchArgs) (any, error) {
	limit := in.Limit
	if limit <= 0 {
		limit = 10
	}
	if in.Mode != "deep" {
		return s.find(ctx, in.Query, in.Scope, min(limit, 50))
	}
	var m matches
	err := s.ask(ctx, http.MethodPost, "/search/search", nil, map[string]any{
		"query": found.Query(in.Query), "session_id": session(c), "target_uri": in.Scope, "limit": min(limit, 50),
	}, &m)
	return m, err
}

func checked(address string) (url.Values, error) {
	if !strings.HasPrefix(address, "viking://") {
		return nil, fmt.Errorf("%q is no address of OpenViking; it begins with viking://", address)
	}
	return url.Values{"uri": {address}}, nil
}

func (s *service) read(ctx context.Context, _ *sdk.Call, in readArgs) (any, error) {
	q, err := checked(in.URI)
	if err != nil {
		return nil, err
	}
	level := "read"
	switch in.Level {
	case "abstract", "overview":
		level = in.Level
	case "", "full":
		q.Set("offset", "0")
		q.Set("limit", "-1")
	default:
		return nil, fmt.Errorf("there is no level %q; there are abstract, overview and full", in.Level)
	}
	var content string
	if err := s.ask(ctx, http.MethodGet, "/content/"+level, q, nil, &content); err != nil {
		return nil, err
	}
	return text.Cut(content, maxRead), nil
}

func (s *service) browse(ctx context.Context, _ *sdk.Call, in browseArgs) (any, error) {
	if in.Path == "" {
		in.Path = "viking://"
	}
	q, err := checked(in.Path)
	if err != nil {
		return nil, err
	}
	path := map[string]string{"list": "ls", "tree": "tree", "stat": "stat"}[in.Action]
	switch path {
	case "":
		return nil, fmt.Errorf("there is no action %q; there are list, tree and stat", in.Action)
	case "ls", "tree":
		q.Set("output", "original")
		q.Set("node_limit", "1000")
	}
	var entries json.RawMessage
	if err := s.ask(ctx, http.MethodGet, "/fs/"+path, q, nil, &entries); err != nil {
		return nil, err
	}
	return text.Cut(string(entries), maxRead), nil
}

func (s *service) remember(ctx context.Context, c *sdk.Call, in rememberArgs) (any, error) {
	if strings.TrimSpace(in.Content) == "" {
		return nil, errors.New("content is empty; say what to remember")
	}
	what := "Remember: " + in.Content
	if in.Category != "" {
		what = "Remember this " + in.Category + ": " + in.Content
	}
	return "It becomes a memory at the end of the session.", s.say(ctx, session(c), [2]string{"user", what})
}

func (s *service) add(ctx context.Context, _ *sdk.Call, in resourceArgs) (any, error) {
	u, err := url.Parse(in.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%q is no address; give one that begins with https://", in.URL)
	}
	body := map[string]any{"path": in.URL, "wait": false}
	if in.Reason != "" {
		body["reason"] = in.Reason
	}
	var r struct {
		Root   string `json:"root_uri"`
		Status string `json:"status"`
	}
	if err := s.ask(ctx, http.MethodPost, "/resources", nil, body, &r); err != nil {
		return nil, err
	}
	return map[string]string{"status": "the service works on it", "uri": r.Root}, nil
}
