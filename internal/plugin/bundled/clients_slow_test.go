//go:build slow

package bundled_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes"
)

// noted is a request without members that are null.
type noted struct {
	line  string
	query url.Values
	body  any
	keys  string
}

// recorder answers everything with nothing, and notes it.
func recorder(t *testing.T) (address string, seen func() []noted) {
	f := newFake(t)
	var mu sync.Mutex
	var list []noted
	f.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		n := noted{line: r.Method + " " + r.URL.Path, query: r.URL.Query(), keys: r.Header.Get("Authorization") + r.Header.Get("X-API-Key")}
		if body := bodyOf(r); len(body) > 0 {
			n.body = full(body)
		}
		mu.Lock()
		list = append(list, n)
		mu.Unlock()
		reply(w, 200, `{}`)
	})
	return f.URL, func() []noted {
		mu.Lock()
		defer mu.Unlock()
		out := list
		list = nil
		return out
	}
}

func full(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, one := range v {
			if one == nil {
				delete(v, name)
			} else {
				v[name] = full(one)
			}
		}
	case []any:
		for i := range v {
			v[i] = full(v[i])
		}
	}
	return v
}

// TestClientsOfTheVendorsSendTheSame compares what the plugins send with what the clients of the vendors send.
func TestClientsOfTheVendorsSendTheSame(t *testing.T) {
	root := os.Getenv("HERMES_SLOW_PLUGINS")
	if root == "" {
		t.Fatal("run .ci/slow plugins")
	}
	turn := hermes.MemoryTurn{Session: hermes.SessionRef{ID: "a/b"}, Said: "I like tea.", Answer: "Noted.", At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	for name, tools := range map[string][][2]string{
		"hindsight": {
			{"hindsight_retain", `{"content":"I like tea.","tags":["drinks"]}`}, {"hindsight_recall", `{"query":"tea?"}`}, {"hindsight_reflect", `{"query":"tea?"}`},
		},
		"openviking": {
			{"viking_search", `{"query":"tea?","mode":"deep"}`}, {"viking_read", `{"uri":"viking://a"}`}, {"viking_read", `{"uri":"viking://a","level":"abstract"}`},
			{"viking_read", `{"uri":"viking://a","level":"overview"}`}, {"viking_browse", `{"action":"list","path":"viking://a"}`}, {"viking_browse", `{"action":"tree","path":"viking://a"}`},
			{"viking_browse", `{"action":"stat","path":"viking://a"}`}, {"viking_add_resource", `{"url":"https://example.org/a","reason":"r"}`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			address, seen := recorder(t)
			c := exec.Command(filepath.Join(root, "python", "bin", "python"), filepath.Join("testdata", "clients.py"), name, address)
			c.Stderr = os.Stderr
			if err := c.Run(); err != nil {
				t.Fatal(err)
			}
			theirs := seen()
			m := memory{start(t, name, map[string]string{strings.ToUpper(name) + "_API_KEY": "k"}, "address="+address)}
			session := map[string]any{"id": turn.Session.ID}
			if err := m.Observe(t.Context(), turn); err != nil {
				t.Error(err)
			}
			if _, err := m.Recall(t.Context(), hermes.RecallQuery{Text: "tea?"}); err != nil {
				t.Error(err)
			}
			for _, tool := range tools {
				if _, err := m.ask(t.Context(), "tools/call", map[string]any{"name": tool[0], "arguments": json.RawMessage(tool[1]), "session": session}); err != nil {
					t.Error(err)
				}
			}
			if name == "openviking" {
				if _, err := m.ask(t.Context(), "hooks/call", map[string]any{"event": "on_session_end", "session": session}); err != nil {
					t.Error(err)
				}
			}
			ours := seen()
			if len(ours) != len(theirs) {
				t.Fatalf("we sent %d requests, they %d:\n%v\n%v", len(ours), len(theirs), ours, theirs)
			}
			for i, one := range ours {
				a, _ := json.Marshal(one.body)
				b, _ := json.Marshal(theirs[i].body)
				if one.line != theirs[i].line || one.keys != theirs[i].keys || string(a) != string(b) {
					t.Errorf("we sent   %s %s %s\nthey sent %s %s %s", one.line, one.keys, a, theirs[i].line, theirs[i].keys, b)
				}
				for p := range one.query {
					if one.query.Get(p) != theirs[i].query.Get(p) {
						t.Errorf("%s: %s=%s, they %s", one.line, p, one.query.Get(p), theirs[i].query.Get(p))
					}
				}
			}
		})
	}
}
