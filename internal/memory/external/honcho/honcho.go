// Package honcho uses the Honcho service as the memory of Hermes.
package honcho

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"hermes"
	"hermes/internal/lru"
	"hermes/internal/memory/external"
	"hermes/internal/text"
)

var _ hermes.MemoryProvider = (*Honcho)(nil)

// Honcho uses the Honcho service (v3), which receives what both sides said and
// forms a picture of the user.
type Honcho struct {
	*external.Client
	workspace string

	mu   sync.Mutex
	made *lru.Map[string, bool] // objects that are known to exist
}

// NewService describes the service.
func NewService(e external.Env) external.Service {
	const key, address = "HONCHO_API_KEY", "HONCHO_BASE_URL"
	return external.Service{
		Name: "honcho", Title: "Honcho, a service that builds a profile of you", Missing: e.Missing(key, address),
		Make: func() hermes.MemoryProvider {
			return New(e.Access(key, address, "HONCHO_PEER_ID"), e.Getenv("HONCHO_WORKSPACE_ID"))
		},
	}
}

// New makes the provider in a workspace, "hermes" if it is empty. It
// sends no request yet.
func New(a external.Access, workspace string) *Honcho {
	if workspace == "" {
		workspace = "hermes"
	}
	return &Honcho{Client: external.NewClient(a, "honcho", "HONCHO_API_KEY", "https://api.honcho.dev", external.Bearer), workspace: external.PlainID(workspace), made: lru.New[string, bool](1000)}
}

// Tools returns memory_search.
func (h *Honcho) Tools() []hermes.Tool { return []hermes.Tool{external.SearchTool(h.find)} }

func (h *Honcho) root() string { return "/v3/workspaces/" + h.workspace }

// Recall asks for the part of the user's picture that is relevant to a message.
func (h *Honcho) Recall(ctx context.Context, q hermes.RecallQuery) (hermes.Recalled, error) {
	found, err := h.find(ctx, q.Text, 10)
	if err != nil {
		return hermes.Recalled{}, err
	}
	return h.Recalled(found), nil
}

func (h *Honcho) find(ctx context.Context, query string, limit int) ([]string, error) {
	var answer struct {
		Representation string   `json:"representation"`
		Card           []string `json:"peer_card"`
	}
	params := url.Values{"search_query": {text.Cut(query, 2000)}, "search_top_k": {strconv.Itoa(limit)}, "max_conclusions": {strconv.Itoa(limit)}}
	err := h.Do(ctx, http.MethodGet, h.root()+"/peers/"+url.PathEscape(external.PlainID(h.User))+"/context", params, nil, &answer)
	if f, ok := err.(*external.Failure); ok && f.Status == http.StatusNotFound {
		return nil, nil // nothing was said yet
	}
	if err != nil {
		return nil, err
	}
	return append(answer.Card, paragraphs(answer.Representation)...), nil
}

// Observe sends what both sides said.
func (h *Honcho) Observe(ctx context.Context, t hermes.MemoryTurn) error {
	session := external.PlainID(t.Session.ID)
	for _, object := range []struct{ path, id string }{
		{"/v3/workspaces", h.workspace}, {h.root() + "/peers", external.PlainID(h.User)}, {h.root() + "/peers", external.PlainID(h.Agent)}, {h.root() + "/sessions", session},
	} {
		if err := h.create(ctx, object.path, object.id); err != nil {
			return err
		}
	}
	type message struct {
		Content string `json:"content"`
		Peer    string `json:"peer_id"`
		At      string `json:"created_at,omitempty"`
	}
	at := t.At.UTC().Format("2006-01-02T15:04:05Z")
	return h.Send(ctx, h.root()+"/sessions/"+url.PathEscape(session)+"/messages", map[string]any{"messages": []message{
		{external.Outgoing(t.Said), external.PlainID(h.User), at}, {external.Outgoing(t.Answer), external.PlainID(h.Agent), at},
	}})
}

// create creates an object unless this process knows that it exists.
func (h *Honcho) create(ctx context.Context, path, id string) error {
	h.mu.Lock()
	_, known := h.made.Get(path + " " + id)
	h.mu.Unlock()
	if known {
		return nil
	}
	if err := h.Send(ctx, path, map[string]any{"id": id}); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.made.Put(path+" "+id, true)
	return nil
}

// paragraphs splits a service's text into lines, without list marks and
// headings.
func paragraphs(picture string) []string {
	var out []string
	for line := range strings.Lines(picture) {
		line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "-*•"))
		if line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out
}
