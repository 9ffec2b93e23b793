// Package retaindb is the plugin that remembers with RetainDB, a service for memories. It follows the
// public reference of its API, version 1. Start at New.
package retaindb

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"hermes/internal/plugin/bundled/found"
	"hermes/internal/plugin/bundled/rest"
	"hermes/internal/plugin/bundled/typed"
	"hermes/internal/plugin/sdk"
)

// Files are the manifest and what it says to users.
//
//go:embed plugin.yaml README.md
var Files embed.FS

// Name is that of the plugin, and Key the variable of its key.
const (
	Name = "retaindb"
	Key  = "RETAINDB_API_KEY"
)

// Config is what the plugin runs on.
type Config struct {
	Version, Base, Key string
	// Project is where it remembers, and User whose memories they are.
	Project, User string
	HTTP          *http.Client
}

// New makes the plugin.
func New(c Config) *sdk.Plugin {
	s := &service{&rest.Client{Service: "RetainDB", Base: c.Base, HTTP: c.HTTP, Authorize: rest.Key("Authorization", "Bearer "+c.Key), Advice: advice}, c.Project, c.User}
	return &sdk.Plugin{
		Name: Name, Version: c.Version, Tools: s.tools(),
		Memory: &sdk.Memory{Recall: s.recall, Observe: s.observe, Commands: []sdk.MemoryCommand{found.Command(s.recall)}},
	}
}

func advice(f *rest.Failure) string {
	switch f.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return "check " + Key
	case http.StatusPaymentRequired:
		return "the user's plan at RetainDB does not allow it"
	}
	return ""
}

type service struct {
	*rest.Client
	project, user string
}

// one is a memory as the service returns it, by itself or with a score.
type one struct {
	ID      string `json:"id"`
	Content string `json:"content"`
	Type    string `json:"memory_type"`
}

func (s *service) find(ctx context.Context, query, session string, most int) ([]one, error) {
	body := map[string]any{"project": s.project, "user_id": s.user, "query": found.Query(query), "include_pending": true, "profile": "fast", "top_k": most}
	if session != "" {
		body["session_id"] = session
	}
	var r struct {
		Results []struct {
			Memory one `json:"memory"`
		} `json:"results"`
	}
	_, err := s.Do(ctx, http.MethodPost, "/v1/memory/search", nil, body, &r)
	list := make([]one, len(r.Results))
	for i, m := range r.Results {
		list[i] = m.Memory
	}
	return list, err
}

func (s *service) recall(ctx context.Context, _ *sdk.Call, query string, limit int) (string, error) {
	list, err := s.find(ctx, query, "", 8)
	texts := make([]string, len(list))
	for i, m := range list {
		texts[i] = m.Content
	}
	return found.List(texts, limit), err
}

// observe hands a turn on. The service works on it later.
func (s *service) observe(ctx context.Context, c *sdk.Call, t sdk.Turn) error {
	at := t.At.UTC().Format(time.RFC3339)
	_, err := s.Do(ctx, http.MethodPost, "/v1/memory/ingest/session", nil, map[string]any{
		"project": s.project, "user_id": s.user, "session_id": c.Session.ID,
		"messages": []map[string]string{{"role": "user", "content": t.Said, "timestamp": at}, {"role": "assistant", "content": t.Answer, "timestamp": at}},
	}, nil)
	return err
}

type noArgs struct{}

type searchArgs struct {
	Query string `json:"query" doc:"what to look for, in words"`
	Limit int    `json:"limit,omitempty" default:"8" min:"1" max:"50"`
}

type contextArgs struct {
	Query string `json:"query" doc:"the task at hand"`
}

type rememberArgs struct {
	Content string `json:"content" doc:"the memory, in a full sentence"`
	Type    string `json:"memory_type,omitempty" doc:"such as factual, preference, event or instruction"`
}

type forgetArgs struct {
	ID string `json:"memory_id" doc:"from retaindb_search"`
}

func (s *service) tools() []sdk.Tool {
	return []sdk.Tool{
		typed.Tool(typed.Spec{Name: "retaindb_profile", Description: "Show what is known about the user in the long run.", Reads: true}, func(ctx context.Context, _ *sdk.Call, _ noArgs) (any, error) {
			var r json.RawMessage
			_, err := s.Do(ctx, http.MethodGet, "/v1/memory/profile/"+url.PathEscape(s.user), url.Values{"project": {s.project}, "include_pending": {"true"}}, nil, &r)
			return string(r), err
		}),
		typed.Tool(typed.Spec{Name: "retaindb_search", Description: "Search memories by meaning and words.", Reads: true}, func(ctx context.Context, _ *sdk.Call, in searchArgs) (any, error) {
			if in.Limit <= 0 {
				in.Limit = 8
			}
			list, err := s.find(ctx, in.Query, "", min(in.Limit, 50))
			return map[string]any{"memories": list}, err
		}),
		typed.Tool(typed.Spec{Name: "retaindb_context", Description: "Get what of the project's knowledge matters for a task.", Reads: true}, func(ctx context.Context, _ *sdk.Call, in contextArgs) (any, error) {
			var r json.RawMessage
			_, err := s.Do(ctx, http.MethodPost, "/v1/context/query", nil, map[string]any{"project": s.project, "query": found.Query(in.Query), "top_k": 8}, &r)
			return string(r), err
		}),
		typed.Tool(typed.Spec{Name: "retaindb_remember", Description: "Remember something about the user or their work for later sessions."}, func(ctx context.Context, c *sdk.Call, in rememberArgs) (any, error) {
			if strings.TrimSpace(in.Content) == "" {
				return nil, errors.New("content is empty; say what to remember")
			}
			body := map[string]any{"project": s.project, "user_id": s.user, "session_id": c.Session.ID, "content": in.Content, "write_mode": "async"}
			if in.Type != "" {
				body["memory_type"] = in.Type
			}
			_, err := s.Do(ctx, http.MethodPost, "/v1/memory", nil, body, nil)
			return "Remembered.", err
		}),
		typed.Tool(typed.Spec{Name: "retaindb_forget", Description: "Delete a memory."}, func(ctx context.Context, _ *sdk.Call, in forgetArgs) (any, error) {
			if strings.TrimSpace(in.ID) == "" {
				return nil, errors.New("memory_id is empty; retaindb_search shows them")
			}
			_, err := s.Do(ctx, http.MethodDelete, "/v1/memory/"+url.PathEscape(in.ID), url.Values{"project": {s.project}}, nil, nil)
			return "Forgotten.", err
		}),
	}
}
