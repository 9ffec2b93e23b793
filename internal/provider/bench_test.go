package provider_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/chain"
	"hermes/internal/credential"
	"hermes/internal/provider"
	"hermes/internal/spend"
	"hermes/internal/store/sqlite"
	"hermes/internal/transport/base"
	"hermes/internal/transport/chat"
)

// instant answers without a network.
type instant struct{}

func (instant) RoundTrip(r *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, r.Body)
	const body = "data: {\"choices\":[{\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n"
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(body))}, nil
}

func ask(b *testing.B, m hermes.Model, r *hermes.Request) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := hermes.Collect(m.Stream(b.Context(), r)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkChain measures one call through all layers, with three keys and a
// fallback model, beside the same call of the bare transport. The
// difference is what the layers cost: at most 0.3 ms.
func BenchmarkChain(b *testing.B) {
	r := &hermes.Request{System: "s", Session: "s", Messages: []hermes.Message{hermes.UserText("hi")}}
	client := &http.Client{Transport: instant{}}
	b.Run("bare", func(b *testing.B) {
		ask(b, chat.New(chat.Config{Config: base.Config{ID: "test:m", Model: "m", BaseURL: "http://box.example", Key: "k", Client: client}}), r)
	})
	whole := func(b *testing.B, caps, meter chain.Layer) {
		store := credential.Open(credential.Config{Path: filepath.Join(b.TempDir(), "auth.json")})
		defer func() { _ = store.Close(context.Background()) }()
		for i := range 3 {
			if _, err := store.Pool("custom:box", nil).Add(b.Context(), credential.New{Secret: hermes.Secret(fmt.Sprint("key-of-the-bench-", i))}); err != nil {
				b.Fatal(err)
			}
		}
		c, err := provider.New(provider.Config{
			Selection: provider.Selection{Model: "box:m"}, Custom: map[string]provider.Custom{"box": {BaseURL: "http://box.example"}}, System: provider.System{Client: client},
			Credentials: provider.Credentials{Keys: func(pool string, given []hermes.Key) hermes.Keys { return store.Pool(pool, given) }},
			Fallback:    []provider.Selection{{Provider: "other", Model: "n", BaseURL: "http://other.example"}},
			Spending:    provider.Spending{Caps: caps, Meter: meter},
		})
		if err != nil {
			b.Fatal(err)
		}
		m, err := c.Model(b.Context(), "")
		if err != nil {
			b.Fatal(err)
		}
		ask(b, m, r)
	}
	b.Run("whole", func(b *testing.B) { whole(b, nil, nil) })
	b.Run("with ledger", func(b *testing.B) {
		ledger, err := sqlite.Open(b.Context(), sqlite.Config{Path: filepath.Join(b.TempDir(), "state.db")})
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = ledger.Close() }()
		g := spend.New(spend.Config{Owner: "bench", Ledger: func(context.Context) (hermes.Ledger, error) { return ledger, nil }})
		whole(b, g.Caps, g.Meter)
	})
}

// BenchmarkLongRequest measures a call of a session with 2,000 messages, for
// the most part the building of its request: at most 5 ms.
func BenchmarkLongRequest(b *testing.B) {
	r := &hermes.Request{System: strings.Repeat("You are careful. ", 200), Session: "s"}
	for i := range 500 {
		id := fmt.Sprint("call_", i)
		r.Messages = append(r.Messages,
			hermes.UserText(fmt.Sprintf("Please look at file %d and say what is in it.", i)),
			hermes.Message{Role: hermes.RoleAssistant, Calls: []hermes.ToolCall{{ID: id, Name: "read_file", Arguments: fmt.Sprintf(`{"path":"dir/file-%d.go"}`, i)}}},
			hermes.Message{Role: hermes.RoleTool, CallID: id, ToolName: "read_file", Parts: []hermes.Part{{Text: strings.Repeat("a line of \"code\" with <tags>\n", 20)}}},
			hermes.Message{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "It holds a few lines of code."}}})
	}
	for i := range 30 {
		r.Tools = append(r.Tools, hermes.Spec{Name: fmt.Sprintf("tool_%02d", i), Description: "Does something useful.", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"}}}`)})
	}
	for _, path := range []string{"/v1", "/anthropic"} {
		c, err := provider.New(provider.Config{
			Selection: provider.Selection{Model: "box:claude-sonnet-4-6"}, Custom: map[string]provider.Custom{"box": {BaseURL: "http://box.example" + path}},
			System: provider.System{Client: &http.Client{Transport: dropping{path}}}, Patience: provider.Patience{Timeouts: provider.Timeouts{Call: time.Minute}},
		})
		if err != nil {
			b.Fatal(err)
		}
		m, err := c.Model(b.Context(), "")
		if err != nil {
			b.Fatal(err)
		}
		b.Run(strings.Trim(path, "/"), func(b *testing.B) { ask(b, m, r) })
	}
}

// dropping answers in the protocol of a path.
type dropping struct{ path string }

func (d dropping) RoundTrip(r *http.Request) (*http.Response, error) {
	if d.path != "/anthropic" {
		return instant{}.RoundTrip(r)
	}
	_, _ = io.Copy(io.Discard, r.Body)
	const body = `{"type":"message","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body))}, nil
}
