package memory

import (
	"context"
	"fmt"
	"net/http"

	"hermes"
)

var _ hermes.MemoryProvider = (*Supermemory)(nil)

// Supermemory uses the Supermemory service, which keeps a profile of the user
// and memories extracted from what is said.
type Supermemory struct{ *client }

// NewSupermemory makes the provider. It sends no request yet.
func NewSupermemory(s Service) *Supermemory {
	return &Supermemory{newClient(s, "supermemory", "SUPERMEMORY_API_KEY", "https://api.supermemory.ai", bearer)}
}

// Name is "supermemory".
func (*Supermemory) Name() string { return "supermemory" }

// SystemBlock is empty: memories come with each message.
func (*Supermemory) SystemBlock(context.Context) (string, error) { return "", nil }

// Tools returns memory_search.
func (s *Supermemory) Tools() []hermes.Tool { return []hermes.Tool{searchTool(s.find)} }

func (s *Supermemory) tag() string { return cut(plainID(s.User), 100) }

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
	err := s.do(ctx, http.MethodPost, "/v4/profile", nil, map[string]any{"containerTag": s.tag(), "q": cut(q.Text, 2000), "threshold": 0.5}, &answer)
	if err != nil {
		return hermes.Recalled{}, err
	}
	lines := append(answer.Found.texts(), answer.Profile.Static...)
	return s.recalled(append(lines, answer.Profile.Dynamic...)), nil
}

func (s *Supermemory) find(ctx context.Context, query string, limit int) ([]string, error) {
	var answer results
	err := s.do(ctx, http.MethodPost, "/v4/search", nil, map[string]any{
		"q": cut(query, 2000), "containerTag": s.tag(), "limit": limit, "searchMode": "hybrid",
	}, &answer)
	return answer.texts(), err
}

// Observe sends what both sides said. The id makes a repeated request harmless.
func (s *Supermemory) Observe(ctx context.Context, t hermes.MemoryTurn) error {
	return s.send(ctx, "/v3/documents", map[string]any{
		"content":      "user: " + outgoing(t.Said) + "\n\nassistant: " + outgoing(t.Answer),
		"containerTag": s.tag(), "customId": plainID(fmt.Sprintf("%s-%s-%d", s.Agent, t.Session.ID, t.Session.Turn)),
		"metadata": map[string]any{"session": t.Session.ID, "platform": t.Session.Platform},
	})
}
