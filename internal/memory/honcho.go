package memory

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"sync"

	"hermes"
	"hermes/internal/lru"
)

var _ hermes.MemoryProvider = (*Honcho)(nil)

// Honcho uses the Honcho service (v3), which receives what both sides said and
// forms a picture of the user.
type Honcho struct {
	*client
	workspace string

	mu   sync.Mutex
	made *lru.Map[string, bool] // objects that are known to exist
}

// NewHoncho makes the provider in a workspace, "hermes" if it is empty. It
// sends no request yet.
func NewHoncho(s Service, workspace string) *Honcho {
	if workspace == "" {
		workspace = "hermes"
	}
	return &Honcho{client: newClient(s, "honcho", "HONCHO_API_KEY", "https://api.honcho.dev", bearer), workspace: plainID(workspace), made: lru.New[string, bool](1000)}
}

// Name is "honcho".
func (*Honcho) Name() string { return "honcho" }

// SystemBlock is empty: memories come with each message.
func (*Honcho) SystemBlock(context.Context) (string, error) { return "", nil }

// Tools returns memory_search.
func (h *Honcho) Tools() []hermes.Tool { return []hermes.Tool{searchTool(h.find)} }

func (h *Honcho) root() string { return "/v3/workspaces/" + h.workspace }

// Recall asks for the part of the user's picture that is relevant to a message.
func (h *Honcho) Recall(ctx context.Context, q hermes.RecallQuery) (hermes.Recalled, error) {
	found, err := h.find(ctx, q.Text, 10)
	if err != nil {
		return hermes.Recalled{}, err
	}
	return h.recalled(found), nil
}

func (h *Honcho) find(ctx context.Context, query string, limit int) ([]string, error) {
	var answer struct {
		Representation string   `json:"representation"`
		Card           []string `json:"peer_card"`
	}
	params := url.Values{"search_query": {cut(query, 2000)}, "search_top_k": {strconv.Itoa(limit)}, "max_conclusions": {strconv.Itoa(limit)}}
	err := h.do(ctx, http.MethodGet, h.root()+"/peers/"+url.PathEscape(plainID(h.User))+"/context", params, nil, &answer)
	if f, ok := err.(*failure); ok && f.status == http.StatusNotFound {
		return nil, nil // nothing was said yet
	}
	if err != nil {
		return nil, err
	}
	return append(answer.Card, paragraphs(answer.Representation)...), nil
}

// Observe sends what both sides said.
func (h *Honcho) Observe(ctx context.Context, t hermes.MemoryTurn) error {
	session := plainID(t.Session.ID)
	for _, object := range []struct{ path, id string }{
		{"/v3/workspaces", h.workspace}, {h.root() + "/peers", plainID(h.User)}, {h.root() + "/peers", plainID(h.Agent)}, {h.root() + "/sessions", session},
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
	return h.send(ctx, h.root()+"/sessions/"+url.PathEscape(session)+"/messages", map[string]any{"messages": []message{
		{outgoing(t.Said), plainID(h.User), at}, {outgoing(t.Answer), plainID(h.Agent), at},
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
	if err := h.send(ctx, path, map[string]any{"id": id}); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.made.Put(path+" "+id, true)
	return nil
}
