package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/chatserver"
	"hermes/internal/protocol"
	"hermes/internal/protocol/local"
)

// TestTheServiceOfChildren: delegation.provider names it; an own address has an own key and protocol, which count
// only with it.
func TestTheServiceOfChildren(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ settings, want string }{
		"a provider":               {"providers: {box: {base_url: \"URL/v1\", api_key: box-key}}\ndelegation: {provider: \"custom:box\", model: small}\n", "/v1/chat/completions Bearer box-key"},
		"an address":               {"delegation: {model: small, base_url: \"URL/v1\", api_key: child-key}\n", "/v1/chat/completions Bearer child-key"},
		"a protocol":               {"delegation: {model: small, base_url: \"URL\", api_key: child-key, api_mode: anthropic_messages}\n", "/v1/messages child-key"},
		"a key without an address": {"delegation: {api_key: child-key, api_mode: anthropic_messages}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var came []string
			other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				if r.Method == http.MethodPost {
					came = append(came, strings.TrimSpace(r.URL.Path+" "+r.Header.Get("Authorization")+r.Header.Get("X-Api-Key")))
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprint(w, `{"error":{"type":"invalid_request_error","message":"not today"}}`)
			}))
			t.Cleanup(other.Close)
			_, client, dir := office(t, "agent: {api_max_retries: 0}\n"+strings.ReplaceAll(tt.settings, "URL", other.URL))
			done, _ := work(t, client, hermes.From{Client: "c1", Attends: true}, dir, `delegate_task {"goal":"todo {}"}`, hermes.AllowOnce)
			r := delegatedOf(t, done.Text).Results[0]
			mu.Lock()
			defer mu.Unlock()
			if tt.want == "" {
				if len(came) > 0 || r.Status != "completed" {
					t.Errorf("asked %q, the report is %+v", came, r)
				}
				return
			}
			if !slices.Contains(came, tt.want) || r.Status != "failed" || !strings.Contains(r.Error, "not today") {
				t.Errorf("asked %q, want %q; the report is %+v", came, tt.want, r)
			}
		})
	}
}

// watched is a home whose model follows orders, once see has seen a request.
func watched(t *testing.T, settings string, see func(r *chatserver.Request)) (protocol.Client, string) {
	t.Helper()
	server := httptest.NewServer(&chatserver.Handler{Model: "played", Decide: func(r *chatserver.Request) (chatserver.Answer, error) {
		see(r)
		return follow(r)
	}})
	t.Cleanup(server.Close)
	home, dir := t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(home, "config.yaml"), "model: {default: played, provider: custom, base_url: \""+server.URL+"/v1\"}\n"+settings)
	a := app.New(app.Options{Home: home, Getenv: func(string) string { return "" }})
	t.Cleanup(func() { _ = a.Close() })
	return local.New(local.Config{Sessions: a.Sessions, Store: func(ctx context.Context) (hermes.Store, error) { return a.Database(ctx) }}), dir
}

// begins reports whether a message of the user in a request begins with a text.
func begins(r *chatserver.Request, text string) bool {
	return slices.ContainsFunc(r.Messages, func(m chatserver.Message) bool { return m.Role == "user" && strings.HasPrefix(m.Text(), text) })
}

// TestASilentChildIsStoppedAsTheSettingsSay: delegation.child_timeout_seconds counts instead of the usual times.
func TestASilentChildIsStoppedAsTheSettingsSay(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	client, dir := watched(t, "delegation: {child_timeout_seconds: 1}\n", func(r *chatserver.Request) {
		if begins(r, "be silent") {
			<-over
		}
	})
	t.Cleanup(func() { close(over) }) // before the server waits for its answers
	done, _ := work(t, client, hermes.From{Client: "c1", Attends: true}, dir, `delegate_task {"goal":"be silent"}`, hermes.AllowOnce)
	if r := delegatedOf(t, done.Text).Results[0]; r.Status != "timeout" || !strings.Contains(r.Error, "delegation.child_timeout_seconds") {
		t.Errorf("the report is %+v", r)
	}
}

// TestATurnStartsOnlySoManyChildren: tool_loop_guardrails.loop_caps.max_subagents.
func TestATurnStartsOnlySoManyChildren(t *testing.T) {
	t.Parallel()
	_, client, dir := office(t, "tool_loop_guardrails: {loop_caps: {max_subagents: 2}}\n")
	done, _ := work(t, client, hermes.From{Client: "c1", Attends: true}, dir, `delegate_task {"tasks":[{"goal":"todo {}"},{"goal":"todo {}"}]}; delegate_task {"goal":"todo {}"}`, hermes.AllowOnce)
	if !strings.Contains(done.Text, "2 sub-agents") {
		t.Errorf("the second call says %q", done.Text)
	}
}

// TestTheContextOfAChildIsCompressedEarlier with delegation.compression_threshold_tokens, and that of its parent is not.
func TestTheContextOfAChildIsCompressedEarlier(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]bool{"": false, "delegation: {compression_threshold_tokens: 12000}\n": true} {
		var mu sync.Mutex
		child, parent := false, false
		client, dir := watched(t, "compression: {protect_last_n: 1, protect_first_n: 1}\n"+settings, func(r *chatserver.Request) {
			mu.Lock()
			defer mu.Unlock()
			if slices.ContainsFunc(r.Messages, func(m chatserver.Message) bool { return strings.Contains(m.Text(), "[SUMMARY OF EARLIER TURNS.") }) {
				below := begins(r, "read_file") && !slices.ContainsFunc(r.Messages, func(m chatserver.Message) bool { return strings.Contains(m.Text(), "; delegate_task ") })
				child, parent = child || below, parent || !below
			}
		})
		var orders []string
		for i := range 12 {
			name := fmt.Sprintf("%02d.txt", i)
			writeFile(t, filepath.Join(dir, name), strings.Repeat(fmt.Sprintf("Line of the file %d, which says nothing.\n", i), 300))
			orders = append(orders, fmt.Sprintf(`read_file {"path":%q}`, name))
		}
		raw, err := json.Marshal(map[string]string{"goal": strings.Join(orders, " then ")})
		if err != nil {
			t.Fatal(err)
		}
		done, _ := work(t, client, hermes.From{Client: "c1", Attends: true}, dir, strings.Join(orders, "; ")+"; delegate_task "+inside(raw), hermes.AllowOnce)
		mu.Lock()
		if child != want || parent {
			t.Errorf("with %q the context of the child was compressed: %v, of its parent: %v; the report is %.300s", settings, child, parent, done.Text)
		}
		mu.Unlock()
	}
}
