// Package supermemory uses the Supermemory service as the memory of Hermes.
package supermemory

import (
	"context"
	"fmt"
	"net/http"

	"hermes"
	"hermes/internal/memory/external"
	"hermes/internal/text"
)

var _ hermes.MemoryProvider = (*Supermemory)(nil)

// Supermemory uses the Supermemory service, which keeps a profile of the user
// and memories extracted from what is said.
type Supermemory struct{ *external.Client }

// NewService describes the service.
func NewService(e external.Env) external.Service {
	const key, address = "SUPERMEMORY_API_KEY", "SUPERMEMORY_BASE_URL"
	return external.Service{
		Name: "supermemory", Title: "Supermemory, a service that stores a profile and memories", Missing: e.Missing(key, address),
		Make: func() hermes.MemoryProvider { return New(e.Access(key, address, "SUPERMEMORY_CONTAINER_TAG")) },
	}
}

// New makes the provider. It sends no request yet.
func New(a external.Access) *Supermemory {
	return &Supermemory{external.NewClient(a, "supermemory", "SUPERMEMORY_API_KEY", "https://api.supermemory.ai", external.Bearer)}
}

// Tools returns memory_search.
func (s *Supermemory) Tools() []hermes.Tool { return []hermes.Tool{external.SearchTool(s.find)} }

func (s *Supermemory) tag() string { return text.Cut(external.PlainID(s.User), 100) }

// results are the memories, or chunks of documents, found for a query.
type results struct {
	Results []struct {
		Memory string `json:"memory"`
		Chunk  string `json:"chunk"`
	} `json:"results"`
}

func (r results) texts() []string {
	var out []string
	for _, m := range r.Results {
		out = append(out, m.Memory, m.Chunk)
	}
	return out
}

// Recall asks for the profile and for memories that are relevant to a message,
// in one request.
func (s *Supermemory) Recall(ctx context.Context, q hermes.RecallQuery) (hermes.Recalled, error) {
	var answer struct {
		Profile struct {
			Static  []string `json:"static"`
			Dynamic []string `json:"dynamic"`
		} `json:"profile"`
		Found results `json:"searchResults"`
	}
	err := s.Do(ctx, http.MethodPost, "/v4/profile", nil, map[string]any{"containerTag": s.tag(), "q": text.Cut(q.Text, 2000), "threshold": 0.5}, &answer)
	if err != nil {
		return hermes.Recalled{}, err
	}
	lines := append(answer.Found.texts(), answer.Profile.Static...)
	return s.Recalled(append(lines, answer.Profile.Dynamic...)), nil
}

func (s *Supermemory) find(ctx context.Context, query string, limit int) ([]string, error) {
	var answer results
	err := s.Do(ctx, http.MethodPost, "/v4/search", nil, map[string]any{
		"q": text.Cut(query, 2000), "containerTag": s.tag(), "limit": limit, "searchMode": "hybrid",
	}, &answer)
	return answer.texts(), err
}

// Observe sends what both sides said. The id makes a repeated request harmless.
func (s *Supermemory) Observe(ctx context.Context, t hermes.MemoryTurn) error {
	return s.Send(ctx, "/v3/documents", map[string]any{
		"content":      "user: " + external.Outgoing(t.Said) + "\n\nassistant: " + external.Outgoing(t.Answer),
		"containerTag": s.tag(), "customId": external.PlainID(fmt.Sprintf("%s-%s-%d", s.Agent, t.Session.ID, t.Session.Turn)),
		"metadata": map[string]any{"session": t.Session.ID, "platform": t.Session.Platform},
	})
}
