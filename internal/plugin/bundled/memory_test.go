package bundled_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/plugin/bundled"
)

// stored is what a fake service remembers, found by long words.
type stored struct {
	mu    sync.Mutex
	texts []string
}

func (s *stored) keep(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.texts = append(s.texts, text)
}

func (s *stored) find(query string) (list []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, text := range s.texts {
		for _, w := range strings.Fields(strings.ToLower(query)) {
			if w = strings.Trim(w, "?.,!"); len(w) > 4 && strings.Contains(strings.ToLower(text), w) {
				list = append(list, text)
				break
			}
		}
	}
	return list
}

func text(v any) string { s, _ := v.(string); return s }

// newHindsight is the part of Hindsight's API that the plugin uses.
func newHindsight(t *testing.T) (*fake, *stored) {
	f, kept := newFake(t), &stored{}
	f.mux.HandleFunc("POST /v1/default/banks/hermes/memories", func(w http.ResponseWriter, r *http.Request) {
		items, _ := bodyOf(r)["items"].([]any)
		for _, i := range items {
			i, _ := i.(map[string]any)
			kept.keep(text(i["content"]))
		}
		reply(w, 200, `{"success":true,"bank_id":"hermes","items_count":1,"async":true}`)
	})
	f.mux.HandleFunc("POST /v1/default/banks/hermes/memories/recall", func(w http.ResponseWriter, r *http.Request) {
		results := []map[string]string{}
		for _, one := range kept.find(text(bodyOf(r)["query"])) {
			results = append(results, map[string]string{"id": "1", "text": one, "type": "world"})
		}
		data, _ := json.Marshal(map[string]any{"results": results})
		reply(w, 200, string(data))
	})
	f.answers("POST /v1/default/banks/hermes/reflect", `{"text":"The user likes **tea**.","usage":{}}`)
	return f, kept
}

// newOpenViking is the part of OpenViking's API that the plugin uses. Messages need a session; memories
// are found at once, where the real service first works on them.
func newOpenViking(t *testing.T) (*fake, *stored) {
	f, kept := newFake(t), &stored{}
	var mu sync.Mutex
	made := map[string]bool{}
	f.mux.HandleFunc("POST /api/v1/sessions", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		id := text(bodyOf(r)["session_id"])
		if made[id] {
			reply(w, 409, `{"status":"error","error":{"code":"ALREADY_EXISTS","message":"the session exists"}}`)
			return
		}
		made[id] = true
		reply(w, 200, `{"status":"ok","result":{"session_id":"x"}}`)
	})
	f.mux.HandleFunc("POST /api/v1/sessions/{id}/messages", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if !made[r.PathValue("id")] {
			reply(w, 404, `{"status":"error","error":{"code":"NOT_FOUND","message":"no such session"}}`)
			return
		}
		if text(bodyOf(r)["role"]) == "user" {
			kept.keep(text(bodyOf(r)["content"]))
		}
		reply(w, 200, `{"status":"ok","result":{"message_count":1}}`)
	})
	f.answers("POST /api/v1/sessions/{id}/commit", `{"status":"ok","result":{"status":"committed"}}`)
	search := func(w http.ResponseWriter, r *http.Request) {
		found := []map[string]any{}
		for i, one := range kept.find(text(bodyOf(r)["query"])) {
			found = append(found, map[string]any{"uri": fmt.Sprintf("viking://user/default/memories/%d.md", i), "abstract": one, "score": 0.5, "level": 2, "context_type": "memory"})
		}
		data, _ := json.Marshal(map[string]any{"status": "ok", "result": map[string]any{"memories": found, "resources": []any{}, "skills": []any{}, "total": len(found)}})
		reply(w, 200, string(data))
	}
	f.mux.HandleFunc("POST /api/v1/search/find", search)
	f.mux.HandleFunc("POST /api/v1/search/search", search)
	f.answers("GET /api/v1/content/{level}", `{"status":"ok","result":"# Tea"}`)
	f.answers("GET /api/v1/fs/{what}", `{"status":"ok","result":[{"uri":"viking://resources/tea.md","isDir":false}]}`)
	f.answers("POST /api/v1/resources", `{"status":"ok","result":{"root_uri":"viking://resources/b","status":"success"}}`)
	return f, kept
}

// newRetainDB is the part of RetainDB's API that the plugin uses.
func newRetainDB(t *testing.T) (*fake, *stored) {
	f, kept := newFake(t), &stored{}
	f.mux.HandleFunc("POST /v1/memory/ingest/session", func(w http.ResponseWriter, r *http.Request) {
		list, _ := bodyOf(r)["messages"].([]any)
		for _, m := range list {
			if m, _ := m.(map[string]any); m["role"] == "user" {
				kept.keep(text(m["content"]))
			}
		}
		reply(w, 202, `{"job_id":"j","trace_id":"t"}`)
	})
	f.mux.HandleFunc("POST /v1/memory/search", func(w http.ResponseWriter, r *http.Request) {
		results := []map[string]any{}
		for _, one := range kept.find(text(bodyOf(r)["query"])) {
			results = append(results, map[string]any{"memory": map[string]string{"id": "mem_1", "content": one, "memory_type": "factual"}, "score": 0.8})
		}
		data, _ := json.Marshal(map[string]any{"results": results, "count": len(results)})
		reply(w, 200, string(data))
	})
	f.answers("POST /v1/memory", `{"success":true,"mode":"async","trace_id":"t"}`)
	f.answers("GET /v1/memory/profile/{user}", `{"memories":[{"content":"likes tea"}]}`)
	f.answers("POST /v1/context/query", `{"results":[{"content":"the setup"}]}`)
	f.answers("DELETE /v1/memory/{id}", "")
	return f, kept
}

// services are those that are asked over the network.
var services = map[string]func(t *testing.T) (*fake, *stored){"hindsight": newHindsight, "openviking": newOpenViking, "retaindb": newRetainDB}

// start makes a plugin in this process and serves it.
func start(t *testing.T, name string, env map[string]string, settings ...string) *served {
	t.Helper()
	b, ok := bundled.Find(name)
	if !ok {
		t.Fatal("there is no plugin " + name)
	}
	if env["HOME"] == "" {
		env["HOME"] = t.TempDir()
	}
	p, err := b.Start(bundled.Process{Getenv: func(name string) string { return env[name] }, Now: time.Now}, settings)
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, name, p)
}

// memory is a plugin as a hermes.MemoryProvider, by its protocol.
type memory struct{ *served }

func (m memory) Name() string                                { return m.name }
func (m memory) SystemBlock(context.Context) (string, error) { return "", nil }
func (m memory) Tools() []hermes.Tool                        { return nil }

func (m memory) Recall(ctx context.Context, q hermes.RecallQuery) (hermes.Recalled, error) {
	got, err := m.ask(ctx, "memory/recall", map[string]any{"query": q.Text, "limit": hermes.MaxRecall, "session": map[string]any{"id": q.Session.ID}})
	return hermes.Recalled{Text: got}, err
}

func (m memory) Observe(ctx context.Context, t hermes.MemoryTurn) error {
	_, err := m.ask(ctx, "memory/observe", map[string]any{"said": t.Said, "answer": t.Answer, "at": t.At, "session": map[string]any{"id": t.Session.ID}})
	return err
}

func TestMemoriesOverTheNetworkAreLikeOthers(t *testing.T) {
	t.Parallel()
	for name, open := range services {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hermestest.RunMemory(t, func(t *testing.T) hermes.MemoryProvider {
				f, _ := open(t)
				return memory{start(t, name, map[string]string{}, "address="+f.URL)}
			})
		})
	}
}

func TestToolsOfMemoriesAreToolsetsLikeOthers(t *testing.T) {
	t.Parallel()
	for name, samples := range map[string][]hermestest.ToolSample{
		"hindsight": {
			{Tool: "hindsight_retain", Arguments: `{"content":"The user likes green tea."}`, Want: "Remembered"},
			{Tool: "hindsight_recall", Arguments: `{"query":"green things"}`, Want: "likes green tea"},
			{Tool: "hindsight_reflect", Arguments: `{"query":"what does the user like?"}`, Want: "**tea**"},
		},
		"openviking": {
			{Tool: "viking_remember", Arguments: `{"content":"The user likes green tea.","category":"preference"}`, Want: "end of the session"},
			{Tool: "viking_search", Arguments: `{"query":"green things","scope":"viking://user/"}`, Want: "likes green tea"},
			{Tool: "viking_search", Arguments: `{"query":"green things","mode":"deep"}`, Want: "likes green tea"},
			{Tool: "viking_read", Arguments: `{"uri":"viking://resources/tea.md"}`, Want: "# Tea"},
			{Tool: "viking_browse", Arguments: `{"action":"list"}`, Want: "tea.md"},
			{Tool: "viking_add_resource", Arguments: `{"url":"https://example.org/tea.html"}`, Want: "viking://resources/b"},
		},
		"retaindb": {
			{Tool: "retaindb_profile", Arguments: `{}`, Want: "likes tea"},
			{Tool: "retaindb_search", Arguments: `{"query":"green things"}`, Want: "memories"},
			{Tool: "retaindb_context", Arguments: `{"query":"set it up"}`, Want: "the setup"},
			{Tool: "retaindb_remember", Arguments: `{"content":"The user likes green tea.","memory_type":"preference"}`, Want: "Remembered"},
			{Tool: "retaindb_forget", Arguments: `{"memory_id":"mem_1"}`, Want: "Forgotten"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, _ := services[name](t)
			p := install(t, name, f.URL, nil)
			hermestest.RunToolset(t, func(*testing.T) hermes.Toolset { return p.toolset() }, samples...)
		})
	}
}

// TestMemoriesSendWhatTheirClientsSend compares requests with those of the vendors' clients, recorded, and
// with references where there is no client.
func TestMemoriesSendWhatTheirClientsSend(t *testing.T) {
	t.Parallel()
	turn := hermes.MemoryTurn{Session: hermes.SessionRef{ID: "a/b"}, Said: "I like tea.", Answer: "Noted.", At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	for name, tt := range map[string]struct{ observe, recall string }{
		"hindsight": {
			`POST /v1/default/banks/hermes/memories {"async":true,"items":[{"content":"User: I like tea.\n\nAssistant: Noted.","context":"conversation between Hermes Agent and the User","timestamp":"2026-01-02T03:04:05+00:00","document_id":"hermes-a/b-1767323045000000000","metadata":{"session":"a/b"},"resolve_entities":true}]}`,
			`POST /v1/default/banks/hermes/memories/recall {"budget":"low","include":{"chunks":null,"entities":null,"source_facts":null},"max_tokens":2500,"query":"tea?","tags_match":"any","trace":false}`,
		},
		"openviking": {
			`POST /api/v1/sessions {"session_id":"hermes-a-b"}` + "\n" + `POST /api/v1/sessions/hermes-a-b/messages {"content":"I like tea.","role":"user"}` + "\n" + `POST /api/v1/sessions/hermes-a-b/messages {"content":"Noted.","role":"assistant"}`,
			`POST /api/v1/search/find {"limit":8,"query":"tea?","target_uri":""}`,
		},
		"retaindb": {
			`POST /v1/memory/ingest/session {"messages":[{"content":"I like tea.","role":"user","timestamp":"2026-01-02T03:04:05Z"},{"content":"Noted.","role":"assistant","timestamp":"2026-01-02T03:04:05Z"}],"project":"hermes","session_id":"a/b","user_id":"hermes-user"}`,
			`POST /v1/memory/search {"include_pending":true,"profile":"fast","project":"hermes","query":"tea?","top_k":8,"user_id":"hermes-user"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, _ := services[name](t)
			m := memory{start(t, name, map[string]string{}, "address="+f.URL)}
			if err := m.Observe(t.Context(), turn); err != nil {
				t.Fatal(err)
			}
			if got := f.seen(); got != tt.observe {
				t.Errorf("observe sent\n%s\nwant\n%s", got, tt.observe)
			}
			if _, err := m.Recall(t.Context(), hermes.RecallQuery{Text: "tea?"}); err != nil {
				t.Fatal(err)
			}
			if got := f.seen(); got != tt.recall {
				t.Errorf("recall sent\n%s\nwant\n%s", got, tt.recall)
			}
		})
	}
}

// TestMemoriesSayWhatIsWrong: the key goes where the service wants it, and a refusal names it.
func TestMemoriesSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ variable, header, value string }{
		"hindsight":  {"HINDSIGHT_API_KEY", "Authorization", "Bearer k"},
		"openviking": {"OPENVIKING_API_KEY", "X-API-Key", "k"},
		"retaindb":   {"RETAINDB_API_KEY", "Authorization", "Bearer k"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, _ := services[name](t)
			var got string
			f.set(func(w http.ResponseWriter, r *http.Request) bool {
				got = r.Header.Get(tt.header)
				reply(w, 401, `{"detail":"bad key"}`)
				return true
			})
			m := memory{start(t, name, map[string]string{tt.variable: "k"}, "address="+f.URL)}
			_, err := m.Recall(t.Context(), hermes.RecallQuery{Text: "tea?"})
			if err == nil || !strings.Contains(err.Error(), tt.variable) || !strings.Contains(err.Error(), "401: bad key") || got != tt.value {
				t.Errorf("%q, %v", got, err)
			}
			f.Close()
			if _, err := m.Recall(t.Context(), hermes.RecallQuery{Text: "tea?"}); err == nil || !strings.Contains(err.Error(), "could not be reached") {
				t.Error(err)
			}
			said, err := m.ask(t.Context(), "memory/command", map[string]any{"name": "search", "args": []string{"tea"}})
			if err != nil || !strings.Contains(said, "could not be reached") {
				t.Error(said, err)
			}
		})
	}
}

// TestOpenVikingWorksOnASessionAtItsEnd, once, and only if there is something new.
func TestOpenVikingWorksOnASessionAtItsEnd(t *testing.T) {
	t.Parallel()
	f, _ := newOpenViking(t)
	m := memory{start(t, "openviking", map[string]string{}, "address="+f.URL)}
	end := func() string {
		f.seen()
		if _, err := m.ask(t.Context(), "hooks/call", map[string]any{"event": "on_session_end", "session": map[string]any{"id": "a"}}); err != nil {
			t.Fatal(err)
		}
		return f.seen()
	}
	if got := end(); got != "" {
		t.Error("a session without turns:", got)
	}
	for range 2 {
		if err := m.Observe(t.Context(), hermes.MemoryTurn{Session: hermes.SessionRef{ID: "a"}, Said: "I like tea.", Answer: "Noted."}); err != nil {
			t.Fatal(err)
		}
		if got, want := end(), `POST /api/v1/sessions/hermes-a/commit {"keep_recent_count":0}`; got != want {
			t.Errorf("sent %s, want %s", got, want)
		}
		if got := end(); got != "" {
			t.Error("a second time:", got)
		}
	}
	again := memory{start(t, "openviking", map[string]string{}, "address="+f.URL)} // another process, the same session
	if err := again.Observe(t.Context(), hermes.MemoryTurn{Session: hermes.SessionRef{ID: "a"}, Said: "I like tea.", Answer: "Noted."}); err != nil {
		t.Error(err)
	}
}
