// Package hindsight is the plugin that remembers with Hindsight, a memory with a graph of knowledge: in
// its cloud, or on a server of the user. What it sends is what the client hindsight-client sends
// (.ci/slow plugins compares them). Start at New.
package hindsight

import (
	"context"
	"embed"
	"fmt"
	"net/http"
	"net/url"
	"strings"

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
	Name = "hindsight"
	Key  = "HINDSIGHT_API_KEY"
)

// Config is what the plugin runs on.
type Config struct {
	Version, Base, Key string
	// Bank is where it remembers; each profile may have its own.
	Bank string
	// Budget is how thoroughly the tools search: low, mid or high.
	Budget string
	HTTP   *http.Client
}

// New makes the plugin.
func New(c Config) (*sdk.Plugin, error) {
	if c.Budget != "low" && c.Budget != "mid" && c.Budget != "high" {
		return nil, fmt.Errorf("the setting budget is %q; it is low, mid or high", c.Budget)
	}
	auth := ""
	if c.Key != "" {
		auth = "Bearer " + c.Key
	}
	b := &bank{Client: &rest.Client{Service: "Hindsight", Base: c.Base, HTTP: c.HTTP, Authorize: rest.Key("Authorization", auth), Advice: advice}, path: "/v1/default/banks/" + url.PathEscape(c.Bank), budget: c.Budget}
	return &sdk.Plugin{
		Name: Name, Version: c.Version, Tools: b.tools(),
		Memory: &sdk.Memory{Recall: b.recall, Observe: b.observe, Commands: []sdk.MemoryCommand{found.Command(b.recall)}},
	}, nil
}

func advice(f *rest.Failure) string {
	if f.Status == http.StatusUnauthorized || f.Status == http.StatusForbidden {
		return "check " + Key
	}
	return ""
}

// bank is a bank of memories. The service makes it with the first memory.
type bank struct {
	*rest.Client
	path, budget string
}

// memory is one memory to be retained.
type memory struct {
	Content   string            `json:"content"`
	Context   string            `json:"context,omitempty"`
	Timestamp string            `json:"timestamp,omitempty"`
	Document  string            `json:"document_id,omitempty"`
	Metadata  map[string]string `json:"metadata,omitempty"`
	Tags      []string          `json:"tags,omitempty"`
	Resolve   bool              `json:"resolve_entities"`
}

func (b *bank) retain(ctx context.Context, m memory, later bool) error {
	m.Resolve = true
	_, err := b.Do(ctx, http.MethodPost, b.path+"/memories", nil, map[string]any{"items": []memory{m}, "async": later}, nil)
	return err
}

// find searches. tokens bounds the answer.
func (b *bank) find(ctx context.Context, query, budget string, tokens int) ([]string, error) {
	var r struct {
		Results []struct {
			Text string `json:"text"`
			At   string `json:"mentioned_at"`
		} `json:"results"`
	}
	if _, err := b.Do(ctx, http.MethodPost, b.path+"/memories/recall", nil, map[string]any{
		"query": found.Query(query), "budget": budget, "max_tokens": tokens, "trace": false, "tags_match": "any",
		"include": map[string]any{"entities": nil, "chunks": nil, "source_facts": nil}, // else they come, too
	}, &r); err != nil {
		if f, ok := err.(*rest.Failure); ok && f.Status == http.StatusNotFound {
			return nil, nil // nothing was ever retained
		}
		return nil, err
	}
	texts := make([]string, len(r.Results))
	for i, one := range r.Results {
		texts[i] = one.Text
	}
	return texts, nil
}

// recall is fast: the user waits for it.
func (b *bank) recall(ctx context.Context, _ *sdk.Call, query string, limit int) (string, error) {
	texts, err := b.find(ctx, query, "low", max(256, limit/4))
	return found.List(texts, limit), err
}

// observe hands a turn on. The service works on it later.
func (b *bank) observe(ctx context.Context, c *sdk.Call, t sdk.Turn) error {
	return b.retain(ctx, memory{
		Content: "User: " + t.Said + "\n\nAssistant: " + t.Answer, Context: "conversation between Hermes Agent and the User",
		Timestamp: t.At.UTC().Format("2006-01-02T15:04:05.999999-07:00"),
		// One document a turn: the same turn twice is one, and no turn replaces another.
		Document: fmt.Sprintf("hermes-%s-%d", c.Session.ID, t.At.UnixNano()), Metadata: map[string]string{"session": c.Session.ID},
	}, true)
}

type retainArgs struct {
	Content string   `json:"content" doc:"what to remember, in full sentences"`
	Context string   `json:"context,omitempty" doc:"what it is about, in a few words"`
	Tags    []string `json:"tags,omitempty"`
}

type queryArgs struct {
	Query string `json:"query" doc:"a question in words"`
}

func (b *bank) tools() []sdk.Tool {
	return []sdk.Tool{
		typed.Tool(typed.Spec{Name: "hindsight_retain", Description: "Remember something for later sessions. Facts and the people and things in them are found by the service."},
			func(ctx context.Context, _ *sdk.Call, in retainArgs) (any, error) {
				if strings.TrimSpace(in.Content) == "" {
					return nil, fmt.Errorf("content is empty; say what to remember")
				}
				return "Remembered.", b.retain(ctx, memory{Content: in.Content, Context: in.Context, Tags: in.Tags}, false)
			}),
		typed.Tool(typed.Spec{Name: "hindsight_recall", Description: "Search what was remembered in earlier sessions.", Reads: true},
			func(ctx context.Context, _ *sdk.Call, in queryArgs) (any, error) {
				texts, err := b.find(ctx, in.Query, b.budget, 4096)
				if err == nil && len(texts) == 0 {
					return "Nothing is known about that.", nil
				}
				return found.List(texts, 20_000), err
			}),
		typed.Tool(typed.Spec{Name: "hindsight_reflect", Description: "Ask for an answer that is drawn from all that was remembered. Slower than hindsight_recall.", Reads: true},
			func(ctx context.Context, _ *sdk.Call, in queryArgs) (any, error) {
				var r struct {
					Text string `json:"text"`
				}
				_, err := b.Do(ctx, http.MethodPost, b.path+"/reflect", nil, map[string]any{"query": found.Query(in.Query), "budget": b.budget, "tags_match": "any"}, &r)
				return r.Text, err
			}),
	}
}
