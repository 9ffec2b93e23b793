package provider_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/chain"
	"hermes/internal/provider"
)

// scripted is a server that plays one handler a request.
func scripted(t *testing.T, steps ...http.HandlerFunc) (*httptest.Server, *[]string) {
	t.Helper()
	var bodies []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		n := len(bodies)
		bodies = append(bodies, r.URL.Path+" "+r.Header.Get("Authorization")+r.Header.Get("X-Api-Key")+" "+string(body))
		if n >= len(steps) {
			t.Errorf("request %d was not expected", n+1)
			return
		}
		steps[n](w, r)
	}))
	t.Cleanup(srv.Close)
	return srv, &bodies
}

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%q},\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n", text)
	}
}

func breaks(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%q}}],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":1}}\n\n", text)
	}
}

func fails(status int, retryAfter string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		http.Error(w, `{"error":{"message":"no"}}`, status)
	}
}

// patient is a catalogue whose clock is a list of waits.
func patient(t *testing.T, base string, change func(*provider.Config)) (*provider.Catalogue, *[]time.Duration) {
	t.Helper()
	var waits []time.Duration
	cfg := provider.Config{
		Selection: provider.Selection{BaseURL: base, Model: "m", Key: "k"},
		System: provider.System{Sleep: func(ctx context.Context, d time.Duration) error {
			waits = append(waits, d)
			return context.Cause(ctx)
		}, Rand: func() float64 { return 0 }},
	}
	if change != nil {
		change(&cfg)
	}
	return mustNew(t, cfg), &waits
}

// collect renders deltas as the user and the transcript get them.
func collect(t *testing.T, c *provider.Catalogue) (lines []string, m hermes.Message, err error) {
	t.Helper()
	model, err := c.Model(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	var a hermes.Assembly
	for d, err := range model.Stream(t.Context(), &hermes.Request{Messages: []hermes.Message{hermes.UserText("hi")}}) {
		if err != nil {
			return lines, a.Message(), err
		}
		switch {
		case d.Text != "":
			lines = append(lines, "text")
		case d.Reset != "":
			lines = append(lines, "reset")
		case d.Notice != "":
			lines = append(lines, d.Notice)
		}
		a.Add(d)
	}
	return lines, a.Message(), nil
}

func TestRetry(t *testing.T) {
	t.Parallel()
	s := time.Second
	tests := []struct {
		name  string
		steps []http.HandlerFunc
		lines []string
		waits []time.Duration
		class hermes.Class // of the error, if it fails
	}{
		{"first time", []http.HandlerFunc{says("ok")}, []string{"text"}, nil, ""},
		{"doubles", []http.HandlerFunc{fails(500, ""), fails(503, ""), fails(529, ""), says("ok")},
			[]string{"custom:m: the service failed; retrying in 1s (1 of 3)", "custom:m: the service is overloaded; retrying in 2s (2 of 3)", "custom:m: the service is overloaded; retrying in 4s (3 of 3)", "text"}, []time.Duration{s, 2 * s, 4 * s}, ""},
		{"the service's own time", []http.HandlerFunc{fails(429, "42"), says("ok")},
			[]string{"custom:m: too many requests; retrying in 42s (1 of 3)", "text"}, []time.Duration{42 * s}, ""},
		{"three times at most", []http.HandlerFunc{fails(500, ""), fails(500, ""), fails(500, ""), fails(500, "")}, nil, []time.Duration{s, 2 * s, 4 * s}, hermes.ClassServerError},
		{"not what cannot help", []http.HandlerFunc{fails(401, "")}, nil, nil, hermes.ClassAuth},
		{"a small body that is too large, once", []http.HandlerFunc{fails(413, ""), fails(413, "")}, nil, []time.Duration{s}, hermes.ClassPayloadTooLarge},
		{"not for hours", []http.HandlerFunc{fails(429, "7200")}, nil, nil, hermes.ClassRateLimit},
		{"text is withdrawn", []http.HandlerFunc{breaks("half"), says("ok")},
			[]string{"text", "reset", "custom:m: the answer was cut off; retrying in 1s (1 of 3)", "text"}, []time.Duration{s}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv, asked := scripted(t, tt.steps...)
			c, waits := patient(t, srv.URL+"/v1", nil)
			lines, m, err := collect(t, c)
			if hermes.ClassOf(err) != tt.class && (err != nil || tt.class != "") {
				t.Fatalf("error %v, want %q", err, tt.class)
			}
			if tt.class == "" {
				if diff := cmp.Diff(lines, tt.lines); diff != "" {
					t.Error(diff)
				}
				if m.Text() != "ok" || m.Finish != hermes.FinishStop {
					t.Errorf("got %q, %s", m.Text(), m.Finish)
				}
			}
			if diff := cmp.Diff(*waits, tt.waits); diff != "" {
				t.Error(diff)
			}
			if len(*asked) != len(tt.steps) {
				t.Errorf("asked %d times", len(*asked))
			}
			if tt.name == "text is withdrawn" && (m.Usage.Calls != 2 || m.Usage.Output != 3) {
				t.Errorf("the attempt that failed is not counted: %+v", m.Usage)
			}
		})
	}
}

func TestInterruptEndsTheWait(t *testing.T) {
	t.Parallel()
	srv, _ := scripted(t, fails(500, ""))
	ctx, cancel := context.WithCancelCause(t.Context())
	c, _ := patient(t, srv.URL, func(cfg *provider.Config) {
		cfg.Sleep = func(ctx context.Context, d time.Duration) error {
			cancel(hermes.ErrInterrupted)
			return context.Cause(ctx)
		}
	})
	m, err := c.Model(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := hermes.Collect(m.Stream(ctx, &hermes.Request{})); !errors.Is(err, hermes.ErrInterrupted) {
		t.Errorf("error %v, want ErrInterrupted", err)
	}
}

func TestLayersStandInOrder(t *testing.T) {
	t.Parallel()
	var order []string
	layer := func(name string) chain.Layer {
		return func(next hermes.Model) hermes.Model {
			order = append(order, name)
			return next
		}
	}
	c := mustNew(t, provider.Config{Selection: provider.Selection{BaseURL: "http://127.0.0.1:9", Model: "m"}, Spending: provider.Spending{Caps: layer("caps"), Meter: layer("meter")}})
	if _, err := c.Model(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(order, []string{"meter", "caps"}); diff != "" { // built from the inside
		t.Error(diff)
	}
}

// TestKeysGoWhereTheyBelong looks at what reaches a server.
func TestKeysGoWhereTheyBelong(t *testing.T) {
	t.Parallel()
	env := vars{"OPENROUTER_API_KEY": "router-key", "OPENAI_API_KEY": "openai-key", "ANTHROPIC_API_KEY": "claude-key", "BOX_KEY": "box-key"}
	tests := []struct {
		name, ref, path, key string
		cfg                  func(base string) provider.Config
	}{
		{"base URL", "m", "/v1/chat/completions", "Bearer openai-key", func(base string) provider.Config {
			return provider.Config{Selection: provider.Selection{BaseURL: base + "/v1"}}
		}},
		{"base URL with a key", "m", "/v1/chat/completions", "Bearer mine", func(base string) provider.Config {
			return provider.Config{Selection: provider.Selection{BaseURL: base + "/v1", Key: "mine"}}
		}},
		{"base URL ending in anthropic", "claude-x", "/anthropic/v1/messages", "openai-key", func(base string) provider.Config {
			return provider.Config{Selection: provider.Selection{BaseURL: base + "/anthropic"}}
		}},
		{"named variable", "box:m", "/chat/completions", "Bearer box-key", func(base string) provider.Config {
			return provider.Config{Custom: map[string]provider.Custom{"box": {BaseURL: base, KeyEnv: "BOX_KEY"}}}
		}},
		{"no key of another", "box:m", "/chat/completions", "", func(base string) provider.Config {
			return provider.Config{Custom: map[string]provider.Custom{"box": {BaseURL: base}}}
		}},
		{"anthropic elsewhere", "anthropic:claude-x", "/v1/messages", "claude-key", func(base string) provider.Config {
			return provider.Config{Selection: provider.Selection{Provider: "anthropic", BaseURL: base}}
		}},
		{"settings of a known one", "openrouter:x/y", "/chat/completions", "Bearer router-key", func(base string) provider.Config {
			return provider.Config{Custom: map[string]provider.Custom{"openrouter": {BaseURL: base}}}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv, asked := scripted(t, fails(400, ""))
			cfg := tt.cfg(srv.URL)
			cfg.Getenv = env.get
			m, err := mustNew(t, cfg).Model(t.Context(), tt.ref)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := hermes.Collect(m.Stream(t.Context(), &hermes.Request{})); err == nil {
				t.Fatal("no error")
			}
			if got := (*asked)[0]; !strings.HasPrefix(got, tt.path+" "+tt.key+" ") {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestExtraFieldsAndHeaders(t *testing.T) {
	t.Parallel()
	srv, asked := scripted(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Team") != "blue" || r.Header.Get("User-Agent") != "hermes/test" {
			t.Errorf("headers %v", r.Header)
		}
		says("ok")(w, r)
	})
	c := mustNew(t, provider.Config{System: provider.System{UserAgent: "hermes/test"}, Custom: map[string]provider.Custom{"box": {
		BaseURL: srv.URL, Header: map[string]string{"X-Team": "blue"}, Extra: map[string]json.RawMessage{"top_k": json.RawMessage(`5`)},
	}}})
	m, err := c.Model(t.Context(), "box:m")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := hermes.Collect(m.Stream(t.Context(), &hermes.Request{})); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains((*asked)[0], `{"model":"m","top_k":5,"stream":true`) {
		t.Errorf("got %s", (*asked)[0])
	}
}
