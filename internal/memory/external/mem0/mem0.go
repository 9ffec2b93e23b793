// Package mem0 uses the Mem0 platform as the memory of Hermes.
package mem0

import (
	"context"
	"encoding/json"
	"net/http"

	"hermes"
	"hermes/internal/memory/external"
	"hermes/internal/text"
)

var _ hermes.MemoryProvider = (*Mem0)(nil)

// Mem0 uses the Mem0 platform, which extracts facts from what is said.
type Mem0 struct{ *external.Client }

// NewService describes the service.
func NewService(e external.Env) external.Service {
	const key, address = "MEM0_API_KEY", "MEM0_BASE_URL"
	return external.Service{
		Name: "mem0", Title: "Mem0, a service that stores facts", Missing: e.Missing(key, address),
		Make: func() hermes.MemoryProvider { return New(e.Access(key, address, "MEM0_USER_ID")) },
	}
}

// New makes the provider. It sends no request yet.
func New(a external.Access) *Mem0 {
	return &Mem0{external.NewClient(a, "mem0", "MEM0_API_KEY", "https://api.mem0.ai", func(h http.Header, key string) { h.Set("Authorization", "Token "+key) })}
}

// Tools returns memory_search.
func (m *Mem0) Tools() []hermes.Tool { return []hermes.Tool{external.SearchTool(m.find)} }

// Recall finds facts that are relevant to a message.
func (m *Mem0) Recall(ctx context.Context, q hermes.RecallQuery) (hermes.Recalled, error) {
	found, err := m.find(ctx, q.Text, 10)
	if err != nil {
		return hermes.Recalled{}, err
	}
	return m.Recalled(found), nil
}

func (m *Mem0) find(ctx context.Context, query string, limit int) ([]string, error) {
	var answer json.RawMessage
	err := m.Do(ctx, http.MethodPost, "/v2/memories/search/", nil, map[string]any{
		"query": text.Cut(query, 2000), "filters": map[string]any{"user_id": m.User}, "top_k": limit, "threshold": 0.3,
	}, &answer)
	if err != nil {
		return nil, err
	}
	type fact struct {
		Memory string `json:"memory"`
	}
	var facts []fact
	if json.Unmarshal(answer, &facts) != nil { // the newer form has an envelope
		var envelope struct {
			Results []fact `json:"results"`
		}
		if err := json.Unmarshal(answer, &envelope); err != nil {
			return nil, err
		}
		facts = envelope.Results
	}
	out := make([]string, len(facts))
	for i, f := range facts {
		out[i] = f.Memory
	}
	return out, nil
}

// Observe sends what both sides said.
func (m *Mem0) Observe(ctx context.Context, t hermes.MemoryTurn) error {
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	return m.Send(ctx, "/v1/memories/", map[string]any{
		"messages": []message{{"user", external.Outgoing(t.Said)}, {"assistant", external.Outgoing(t.Answer)}},
		"user_id":  m.User, "agent_id": m.Agent, "run_id": t.Session.ID, "version": "v2",
		"metadata": map[string]any{"platform": t.Session.Platform}, "timestamp": t.At.Unix(),
	})
}
