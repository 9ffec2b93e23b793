package provider_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/provider"
)

// ring lends its keys one after another, and the next one after each failure.
type ring struct {
	keys     []hermes.Key
	at       int
	reports  []string
	sessions []string
	end      *hermes.ModelError // once all have failed
}

func (r *ring) Any() bool { return len(r.keys) > 0 }

func (r *ring) Next(_ context.Context, session string) (hermes.Key, error) {
	r.sessions = append(r.sessions, session)
	if r.at >= len(r.keys) {
		return hermes.Key{}, r.end
	}
	return r.keys[r.at], nil
}

func (r *ring) Report(_ context.Context, k hermes.Key, err *hermes.ModelError) bool {
	if err == nil {
		r.reports = append(r.reports, k.ID+" ok")
		return false
	}
	r.reports = append(r.reports, fmt.Sprintf("%s %s", k.ID, err.Class))
	if !err.Rotate {
		return false
	}
	r.at++
	return r.at < len(r.keys) || r.end != nil
}

func (r *ring) Spare(hermes.Key) bool { return r.at+1 < len(r.keys) }

func newRing(ids ...string) *ring {
	r := &ring{}
	for _, id := range ids {
		r.keys = append(r.keys, hermes.Key{ID: id, Label: "my " + id, Secret: hermes.Secret("canary-" + id)})
	}
	return r
}

func TestRotation(t *testing.T) {
	t.Parallel()
	s := time.Second
	limit, wrong, broke := fails(429, ""), fails(401, ""), fails(402, "")
	tests := []struct {
		name    string
		keys    []string
		steps   []http.HandlerFunc
		lines   []string
		asked   []string // the keys, as the server saw them
		reports []string
		waits   []time.Duration
		class   hermes.Class
	}{
		{"one that works", []string{"a", "b"}, []http.HandlerFunc{says("ok")}, []string{"text"}, []string{"a"}, []string{"a ok"}, nil, ""},
		{"a wrong key is not retried", []string{"a", "b"}, []http.HandlerFunc{wrong, says("ok")},
			[]string{`custom:m: no; trying key "my b"`, "text"}, []string{"a", "b"}, []string{"a auth", "b ok"}, nil, ""},
		{"an empty account", []string{"a", "b", "c"}, []http.HandlerFunc{broke, broke, says("ok")},
			[]string{`custom:m: no; trying key "my b"`, `custom:m: no; trying key "my c"`, "text"},
			[]string{"a", "b", "c"}, []string{"a billing", "b billing", "c ok"}, nil, ""},
		{"a limit: the same key once more, then the next", []string{"a", "b"}, []http.HandlerFunc{limit, limit, says("ok")},
			[]string{"custom:m: too many requests; retrying in 1s (1 of 3)", `custom:m: too many requests; trying key "my b"`, "text"},
			[]string{"a", "a", "b"}, []string{"a rate_limit", "b ok"}, []time.Duration{s}, ""},
		{"a limit for long: the next at once", []string{"a", "b"}, []http.HandlerFunc{fails(429, "60"), says("ok")},
			[]string{`custom:m: too many requests; trying key "my b"`, "text"}, []string{"a", "b"}, []string{"a rate_limit", "b ok"}, nil, ""},
		{"a limit without another key: patience", []string{"a"}, []http.HandlerFunc{limit, limit, limit, says("ok")},
			[]string{"custom:m: too many requests; retrying in 1s (1 of 3)", "custom:m: too many requests; retrying in 2s (2 of 3)", "custom:m: too many requests; retrying in 4s (3 of 3)", "text"},
			[]string{"a", "a", "a", "a"}, []string{"a ok"}, []time.Duration{s, 2 * s, 4 * s}, ""},
		{"the service's own trouble stays with the key", []string{"a", "b"}, []http.HandlerFunc{fails(500, ""), says("ok")},
			[]string{"custom:m: the service failed; retrying in 1s (1 of 3)", "text"}, []string{"a", "a"}, []string{"a ok"}, []time.Duration{s}, ""},
		{"what no key helps", []string{"a", "b"}, []http.HandlerFunc{fails(422, "")}, nil, []string{"a"}, []string{"a format_error"}, nil, hermes.ClassFormat},
		{"all fail", []string{"a", "b"}, []http.HandlerFunc{wrong, wrong},
			[]string{`custom:m: no; trying key "my b"`}, []string{"a", "b"}, []string{"a auth", "b auth"}, nil, hermes.ClassAuth},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv, asked := scripted(t, tt.steps...)
			keys := newRing(tt.keys...)
			c, waits := patient(t, srv.URL+"/v1", func(cfg *provider.Config) {
				cfg.Key = ""
				cfg.Keys = func(string, []hermes.Key) hermes.Keys { return keys }
			})
			lines, m, err := collect(t, c)
			if hermes.ClassOf(err) != tt.class && (err != nil || tt.class != "") {
				t.Fatalf("error %v, want %q", err, tt.class)
			}
			if tt.class == "" && m.Text() != "ok" {
				t.Errorf("got %q", m.Text())
			}
			var seen []string
			for _, a := range *asked {
				_, rest, _ := strings.Cut(a, "Bearer canary-")
				key, _, _ := strings.Cut(rest, " ")
				seen = append(seen, key)
			}
			if diff := cmp.Diff([]any{lines, seen, keys.reports, *waits}, []any{tt.lines, tt.asked, tt.reports, tt.waits}); diff != "" {
				t.Error(diff)
			}
			if strings.Contains(fmt.Sprintf("%v %+v %#v", lines, keys.keys, keys.keys), "canary") {
				t.Error("a key was shown")
			}
		})
	}
}

func TestRotationTakesBackWhatWasShown(t *testing.T) {
	t.Parallel()
	srv, _ := scripted(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":1}}\n\n"+
			"data: {\"error\":{\"code\":402,\"message\":\"Insufficient credits\"}}\n\n")
	}, says("ok"))
	c, _ := patient(t, srv.URL+"/v1", func(cfg *provider.Config) {
		cfg.Key = ""
		cfg.Keys = func(string, []hermes.Key) hermes.Keys { return newRing("a", "b") }
	})
	lines, m, err := collect(t, c)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"text", "reset", `custom:m: Insufficient credits; trying key "my b"`, "text"}
	if diff := cmp.Diff(lines, want); diff != "" {
		t.Error(diff)
	}
	if m.Text() != "ok" || m.Usage.Calls != 2 || m.Usage.Output != 3 {
		t.Errorf("got %q, %+v", m.Text(), m.Usage)
	}
}

// TestTheEndOfThePoolSaysUntilWhen keeps what the service said, and adds when a
// key is available again.
func TestTheEndOfThePoolSaysUntilWhen(t *testing.T) {
	t.Parallel()
	srv, _ := scripted(t, fails(402, ""))
	keys := newRing("a")
	keys.end = &hermes.ModelError{Class: hermes.ClassRateLimit, Message: "all keys rest until 14:05", RetryAfter: time.Hour, Fallback: true}
	c, _ := patient(t, srv.URL+"/v1", func(cfg *provider.Config) {
		cfg.Key = ""
		cfg.Keys = func(string, []hermes.Key) hermes.Keys { return keys }
	})
	_, _, err := collect(t, c)
	e, ok := err.(*hermes.ModelError)
	if !ok || e.Class != hermes.ClassBilling || e.RetryAfter != time.Hour || e.Retry || !e.Fallback || !strings.Contains(e.Message, "until 14:05") {
		t.Errorf("got %+v", err)
	}
}

func TestKeysOfAPool(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, ref string
		cfg       provider.Config
		pool      string
		given     []string
	}{
		{"a service", "anthropic:claude-x", provider.Config{}, "anthropic", []string{"env:ANTHROPIC_API_KEY a", "env:ANTHROPIC_AUTH_TOKEN b"}},
		{"a key in the settings is the only one", "anthropic:claude-x", provider.Config{Selection: provider.Selection{Provider: "anthropic", Key: "k"}}, "anthropic", []string{"config k"}},
		{"the user's own service", "box:m", provider.Config{Custom: map[string]provider.Custom{"box": {BaseURL: "https://box.example/v1", KeyEnv: "BOX"}}}, "custom:box", []string{"env:BOX c"}},
		{"an address without a name has no pool", "m", provider.Config{Selection: provider.Selection{BaseURL: "https://box.example/v1"}}, "", []string{"env:OPENAI_API_KEY d"}},
		{"an address that is known", "x/y", provider.Config{Selection: provider.Selection{BaseURL: "https://openrouter.ai/api/v1"}}, "openrouter", []string{"env:OPENAI_API_KEY d"}},
	}
	env := vars{"ANTHROPIC_API_KEY": "a", "ANTHROPIC_AUTH_TOKEN": "b", "BOX": "c", "OPENAI_API_KEY": "d"}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var pool string
			var given []string
			tt.cfg.Getenv = env.get
			tt.cfg.Keys = func(name string, keys []hermes.Key) hermes.Keys {
				pool, given = name, nil
				for _, k := range keys {
					given = append(given, k.Source+" "+k.Secret.Reveal())
				}
				return newRing("x")
			}
			if _, err := mustNew(t, tt.cfg).Model(t.Context(), tt.ref); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]any{pool, given}, []any{tt.pool, tt.given}); diff != "" {
				t.Error(diff)
			}
		})
	}
}
