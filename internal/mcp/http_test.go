package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes"
	"hermes/internal/mcp"
	"hermes/internal/mcp/login"
	"hermes/internal/mcp/remote"
	"hermes/internal/mcp/setting"
	"hermes/internal/oauth"
	"hermes/internal/oauthserver"
)

// startHTTP starts one server that is reached at an address. change may be nil.
func startHTTP(t *testing.T, address string, change func(*setting.Server, *mcp.Config)) *fixture {
	t.Helper()
	return start(t, "", func(s *setting.Server, c *mcp.Config) {
		s.Command, s.Remote = "", &setting.Remote{URL: address}
		c.Client = func(s setting.Server) (*http.Client, error) {
			l, err := remote.New(remote.Config{URL: s.Remote.URL, Headers: s.Remote.Headers})
			if err != nil {
				return nil, err
			}
			return login.New(login.Config{Server: s.Name, URL: s.Remote.URL, SSE: s.Remote.SSE, Path: filepath.Join(filepath.Dir(c.Approvals), "tokens", "test.json"), Link: l}).Through(l.Server), nil
		}
		if change != nil {
			change(s, c)
		}
	})
}

// service is a server in this process.
func service(t *testing.T, o *sdk.StreamableHTTPOptions) http.Handler {
	t.Helper()
	s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	addTools(s, "plain")
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, o)
}

func listening(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

func (f *fixture) add(t *testing.T) error {
	t.Helper()
	r, _, err := f.call(t.Context(), &host{}, "add", `{"a":2,"b":3}`, false)
	if first, _, _ := strings.Cut(r.Text, "\n"); err == nil && first != "5" { // some repeat it as JSON
		t.Errorf("2 and 3 are %q", r.Text)
	}
	return err
}

// TestServersOnTheNetwork has both transports, both eras of the protocol, and services without
// sessions.
func TestServersOnTheNetwork(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, protocol string
		options        *sdk.StreamableHTTPOptions
		sse            bool
		want           string
	}{
		{"stateless", "", &sdk.StreamableHTTPOptions{Stateless: true}, false, "2026-07-28"},
		{"both", "", &sdk.StreamableHTTPOptions{}, false, ""},
		{"with a session", setting.ProtocolLegacy, &sdk.StreamableHTTPOptions{}, false, "2025-11-25"},
		{"with JSON answers", setting.ProtocolLegacy, &sdk.StreamableHTTPOptions{JSONResponse: true}, false, "2025-11-25"},
		{"without sessions and streams", setting.ProtocolLegacy, &sdk.StreamableHTTPOptions{Stateless: true}, false, "2025-11-25"},
		{"SSE", "", nil, true, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var h http.Handler
			if row.sse {
				s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
				addTools(s, "plain")
				h = sdk.NewSSEHandler(func(*http.Request) *sdk.Server { return s }, nil)
			} else {
				h = service(t, row.options)
			}
			f := startHTTP(t, listening(t, h).URL, func(s *setting.Server, _ *mcp.Config) { s.Protocol, s.Remote.SSE = row.protocol, row.sse })
			f.until(t, "connected", func() bool { return f.States()[0].Phase == mcp.Connected })
			if err := f.add(t); err != nil {
				t.Fatal(err)
			}
			if got := f.States()[0].Protocol; row.want != "" && got != row.want {
				t.Errorf("the protocol is %s, want %s", got, row.want)
			}
			if row.name == "without sessions and streams" {
				return // nothing can be asked there in the old protocol
			}
			h2 := &host{answers: []hermes.Answer{{Texts: []string{"7"}}, {Texts: []string{"red"}}, {Texts: []string{"x"}}}}
			if r, _, err := f.call(t.Context(), h2, "ask", `{}`, false); err != nil || !strings.Contains(r.Text, `"age":7`) {
				t.Errorf("a question: %+v, %v", r, err)
			}
		})
	}
}

// TestALoginThatIsNeededIsSaid has a service of the new protocol only, which refuses the first
// request of older ones for another reason.
func TestALoginThatIsNeededIsSaid(t *testing.T) {
	t.Parallel()
	f := startHTTP(t, listening(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		if bytes.Contains(raw, []byte("server/discover")) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		http.Error(w, "Missing MCP-Protocol-Version header", http.StatusBadRequest)
	})).URL, nil)
	if err := f.server.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "log in with `hermes mcp login test`") {
		t.Error(err)
	}
}

// TestToolsOfAServiceChange has list_changed in both eras.
func TestToolsOfAServiceChange(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"", setting.ProtocolLegacy} {
		f := startHTTP(t, listening(t, service(t, nil)).URL, func(s *setting.Server, _ *mcp.Config) { s.Protocol = protocol })
		f.ready(t)
		if _, _, err := f.call(t.Context(), &host{}, "grow", `{}`, false); err != nil {
			t.Fatal(err)
		}
		f.until(t, "a new tool", func() bool { return strings.Contains(strings.Join(names(f.live()), " "), "extra") })
	}
}

// TestALostSessionIsMadeAgain forgets all sessions, as a server does that was started again.
func TestALostSessionIsMadeAgain(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"", setting.ProtocolLegacy} {
		var inner atomic.Pointer[http.Handler]
		fresh := func() { h := service(t, nil); inner.Store(&h) }
		fresh()
		s := listening(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*inner.Load()).ServeHTTP(w, r) }))
		f := startHTTP(t, s.URL, func(s *setting.Server, _ *mcp.Config) { s.Protocol = protocol })
		f.ready(t)
		fresh()
		s.CloseClientConnections()
		if err := f.add(t); err != nil { // it only reads, so it is called again
			t.Errorf("%q: %v", protocol, err)
		}
	}
}

// TestASubscriptionIsMadeAgain: a service that was started again, or that ends the stream of changes only, tells
// its changes as before, without a call in between.
func TestASubscriptionIsMadeAgain(t *testing.T) {
	t.Parallel()
	var inner atomic.Pointer[http.Handler]
	var subscribed atomic.Int32
	fresh := func() *sdk.Server {
		s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
		addTools(s, "plain")
		var h http.Handler = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, &sdk.StreamableHTTPOptions{Stateless: true})
		inner.Store(&h)
		return s
	}
	fresh()
	s := listening(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Method") == "subscriptions/listen" {
			subscribed.Add(1)
		}
		(*inner.Load()).ServeHTTP(w, r)
	}))
	f := startHTTP(t, s.URL, nil)
	f.ready(t)
	f.until(t, "a subscription", func() bool { return subscribed.Load() == 1 })
	second := fresh()
	s.CloseClientConnections()
	// The SDK says nothing when it has added who subscribed, so tools are added until one is seen.
	for i := 0; i < 200 && !strings.Contains(strings.Join(names(f.live()), " "), "later"); i++ {
		if subscribed.Load() > 1 {
			sdk.AddTool(second, &sdk.Tool{Name: fmt.Sprint("later", i)}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
				return nil, nil, nil
			})
		}
		select {
		case <-f.server.Changes():
		case <-time.After(100 * time.Millisecond):
		}
	}
	if got := strings.Join(names(f.live()), " "); !strings.Contains(got, "later") {
		t.Errorf("after %d subscriptions: %s", subscribed.Load(), got)
	}
}

// TestAServiceThatIsAwayComesBack closes the listener, and opens it again at the same address.
func TestAServiceThatIsAwayComesBack(t *testing.T) {
	t.Parallel()
	var away atomic.Bool
	h := service(t, nil)
	s := listening(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if away.Load() {
			http.Error(w, "down for maintenance", http.StatusServiceUnavailable)
			return
		}
		h.ServeHTTP(w, r)
	}))
	away.Store(true)
	f := startHTTP(t, s.URL, nil)
	f.until(t, "failed", func() bool { return f.States()[0].Phase == mcp.Failed })
	if reason := f.States()[0].Reason; !strings.Contains(reason, "Service Unavailable") {
		t.Errorf("the reason is %q", reason)
	}
	away.Store(false)
	f.ready(t)
	if err := f.add(t); err != nil {
		t.Error(err)
	}
}

// TestAHostileServiceHarmsOnlyItself answers every message in a way that it must not.
func TestAHostileServiceHarmsOnlyItself(t *testing.T) {
	t.Parallel()
	huge := bytes.Repeat([]byte("x"), 1<<20)
	for name, answer := range map[string]http.HandlerFunc{
		"100 MB": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for range 100 {
				if _, err := w.Write(huge); err != nil {
					return
				}
			}
		},
		"an endless event": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "data: ")
			for r.Context().Err() == nil {
				if _, err := w.Write(huge); err != nil {
					return
				}
			}
		},
		"endless line ends": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for r.Context().Err() == nil {
				if _, err := w.Write(bytes.Repeat([]byte("\r"), 1<<20)); err != nil {
					return
				}
			}
		},
		"an endless refusal": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			for r.Context().Err() == nil {
				if _, err := w.Write(huge); err != nil {
					return
				}
			}
		},
		"no answer":  func(_ http.ResponseWriter, r *http.Request) { _, _ = io.ReadAll(r.Body); <-r.Context().Done() },
		"a web page": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>hello</html>") },
		"another server": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.169.254/", http.StatusTemporaryRedirect)
		},
		"wrong JSON": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `[[[[`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bad := listening(t, answer)
			f := startHTTP(t, bad.URL+"/?key=canary", func(s *setting.Server, _ *mcp.Config) { s.Times.Connect = 5 * time.Second })
			f.until(t, "failed", func() bool { return f.States()[0].Phase == mcp.Failed })
			if reason := f.States()[0].Reason; reason == "" || strings.Contains(reason, "canary") || len(reason) > 700 {
				t.Errorf("the reason is %q", reason)
			}
		})
	}
}

// TestAnSSEServerNamesNoOtherServer has a server whose messages are to go elsewhere.
func TestAnSSEServerNamesNoOtherServer(t *testing.T) {
	t.Parallel()
	var got atomic.Int32
	thief := listening(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { got.Add(1) }))
	bad := listening(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "event: endpoint\ndata: %s/messages\n\n", thief.URL)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	f := startHTTP(t, bad.URL, func(s *setting.Server, _ *mcp.Config) {
		s.Remote.SSE, s.Remote.Headers = true, map[string]string{"X-Key": "canary"}
	})
	f.until(t, "failed", func() bool { return f.States()[0].Phase == mcp.Failed })
	if reason := f.States()[0].Reason; !strings.Contains(reason, "another server") || got.Load() > 0 {
		t.Errorf("the reason is %q; the other server got %d requests", reason, got.Load())
	}
}

// guarded is a server that demands a token of an authorization server.
func guarded(t *testing.T, h http.Handler) (*httptest.Server, *oauthserver.Server) {
	t.Helper()
	as := oauthserver.New()
	t.Cleanup(as.Close)
	var s *httptest.Server
	s = listening(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/.well-known/oauth-protected-resource":
			fmt.Fprintf(w, `{"resource":%q,"authorization_servers":[%q]}`, s.URL, s.URL)
		case "/.well-known/oauth-authorization-server":
			fmt.Fprintf(w, `{"issuer":%q,"authorization_endpoint":"%s/authorize","token_endpoint":"%[2]s/token","code_challenge_methods_supported":["S256"]}`, s.URL, as.URL)
		default:
			token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
			switch {
			case !as.Valid(token):
				w.WriteHeader(http.StatusUnauthorized)
			case wants(r, "write"):
				w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="files:write"`)
				w.WriteHeader(http.StatusForbidden)
			default:
				h.ServeHTTP(w, r)
			}
		}
	}))
	return s, as
}

// wants reports whether a request calls a tool.
func wants(r *http.Request, tool string) bool {
	raw, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(raw))
	return json.Valid(raw) && bytes.Contains(raw, []byte(`"tools/call"`)) && bytes.Contains(raw, []byte(`"name":"`+tool+`"`))
}

// clicker is a user whose browser confirms everything.
type clicker struct{}

func (clicker) Visit(ctx context.Context, address string, _ bool, _ func(string) error) {
	go func() {
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if resp, err := http.DefaultClient.Do(req); err == nil {
			resp.Body.Close()
		}
	}()
}
func (clicker) Confirm(context.Context, oauth.Device) {}

// TestAServiceThatDemandsALogin: nothing is opened in the background; after the login, the server
// is connected; a call that needs more rights says so, and leaves the connection.
func TestAServiceThatDemandsALogin(t *testing.T) {
	t.Parallel()
	for _, sse := range []bool{false, true} {
		server := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
		addTools(server, "plain")
		var h http.Handler = sdk.NewSSEHandler(func(*http.Request) *sdk.Server { return server }, nil)
		if !sse {
			h = service(t, nil)
		}
		s, as := guarded(t, h)
		var dir string
		f := startHTTP(t, s.URL, func(s *setting.Server, c *mcp.Config) { s.Remote.SSE, dir = sse, filepath.Dir(c.Approvals) })
		f.until(t, "failed", func() bool { return f.States()[0].Phase == mcp.Failed })
		if reason := f.States()[0].Reason; reason != "it demands a login; log in with `hermes mcp login test`" {
			t.Errorf("the reason is %q", reason)
		}
		if n := as.Counts(); n != (oauthserver.Counts{}) {
			t.Errorf("a login was begun: %+v", n)
		}
		l, err := remote.New(remote.Config{URL: s.URL})
		if err != nil {
			t.Fatal(err)
		}
		_, err = login.New(login.Config{Server: "test", URL: s.URL, SSE: sse, Path: filepath.Join(dir, "tokens", "test.json"), Link: l, Client: login.Client{ID: "hermes"}}).Enter(t.Context(), clicker{}, false)
		if err != nil {
			t.Fatal(err)
		}
		f.ready(t) // it is tried again by itself
		if err := f.add(t); err != nil {
			t.Fatal(err)
		}
		if sse {
			continue // the answer to a call does not come in the answer of its request
		}
		_, _, err = f.call(t.Context(), &host{}, "write", `{}`, false)
		if err == nil || !strings.Contains(err.Error(), "files:write") || !strings.Contains(err.Error(), "hermes mcp login test") || strings.Contains(err.Error(), "lost") {
			t.Errorf("a call without the right: %v", err)
		}
		if err := f.add(t); err != nil || f.States()[0].Phase != mcp.Connected {
			t.Errorf("the next call: %v, %+v", err, f.States()[0])
		}
	}
}

// TestALostStreamGoesOn cuts the stream of an answer after its first event, which has an id.
func TestALostStreamGoesOn(t *testing.T) {
	t.Parallel()
	h := service(t, &sdk.StreamableHTTPOptions{EventStore: sdk.NewMemoryEventStore(nil)})
	var cut atomic.Bool
	s := listening(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !wants(r, "add") || cut.Swap(true) {
			h.ServeHTTP(w, r)
			return
		}
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		for k, v := range rec.Header() {
			w.Header()[k] = v
		}
		lines := bufio.NewScanner(rec.Body) // only what comes before the answer
		for lines.Scan() && !strings.Contains(lines.Text(), `"result"`) {
			fmt.Fprintln(w, lines.Text())
		}
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}))
	u, _ := url.Parse(s.URL)
	f := startHTTP(t, u.String(), func(s *setting.Server, _ *mcp.Config) { s.Protocol = setting.ProtocolLegacy })
	f.ready(t)
	if err := f.add(t); err != nil || !cut.Load() {
		t.Error(err)
	}
}

// TestOddRequestsForInput has those that the SDK cannot read: without params, and null.
func TestOddRequestsForInput(t *testing.T) {
	t.Parallel()
	for _, odd := range []string{`{"a":{"method":"roots/list"}}`, `{"a":{"method":"roots/list","params":null},"b":null}`,
		`{"b":null},"inputRequests":{"a":{"method":"roots/list"}}`, `{"a":{"method":"roots/list"}},"input\u0052equests":{"b":null,"a":{"method":"roots/list"}}`} {
		for _, stream := range []bool{false, true} {
			s := listening(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var m struct {
					ID     json.RawMessage `json:"id"`
					Method string          `json:"method"`
					Params struct {
						Responses map[string]json.RawMessage `json:"inputResponses"`
					} `json:"params"`
				}
				_ = json.NewDecoder(r.Body).Decode(&m)
				result := `{}`
				switch m.Method {
				case "server/discover":
					result = `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"odd","version":"1"}}`
				case "tools/list":
					result = `{"tools":[{"name":"roots","inputSchema":{"type":"object"}}]}`
				case "tools/call":
					result = `{"resultType":"input_required","inputRequests":` + odd + `,"requestState":"x"}`
					if a := m.Params.Responses["a"]; a != nil {
						text, _ := json.Marshal(string(a))
						result = `{"content":[{"type":"text","text":` + string(text) + `}]}`
					}
				}
				answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
				if stream {
					w.Header().Set("Content-Type", "text/event-stream")
					answer = "event: message\ndata: " + answer + "\n\n"
				} else {
					w.Header().Set("Content-Type", "application/json")
				}
				fmt.Fprint(w, answer)
			}))
			f := startHTTP(t, s.URL, func(_ *setting.Server, c *mcp.Config) { c.Roots = func() []string { return []string{"/work"} } })
			f.ready(t)
			if r, _, err := f.call(t.Context(), &host{}, "roots", `{}`, false); err != nil || !strings.Contains(r.Text, "file:///work") {
				t.Errorf("%s: %+v, %v", odd, r, err)
			}
		}
	}
}

// TestACallThatIsCutOffIsNotRepeated: the server may have done it.
func TestACallThatIsCutOffIsNotRepeated(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	h := service(t, &sdk.StreamableHTTPOptions{Stateless: true})
	s := listening(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if wants(r, "write") || wants(r, "add") {
			if calls.Add(1) == 1 {
				panic(http.ErrAbortHandler)
			}
		}
		h.ServeHTTP(w, r)
	}))
	f := startHTTP(t, s.URL, nil)
	f.ready(t)
	_, _, err := f.call(t.Context(), &host{}, "write", `{}`, false)
	if err == nil || !strings.Contains(err.Error(), "whether the call had an effect is unknown") || calls.Load() != 1 {
		t.Errorf("%v after %d calls", err, calls.Load())
	}
	calls.Store(0)
	if err := f.add(t); err != nil || calls.Load() != 2 {
		t.Errorf("a call that only reads: %v after %d calls", err, calls.Load())
	}
}

// TestAFieldWithoutAnAnswerGetsItsDefault shows the user all that the server takes without one. A default that
// is too long to show is refused, and so is the form.
func TestAFieldWithoutAnAnswerGetsItsDefault(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"", setting.ProtocolLegacy} {
		var fields atomic.Value // of the next form
		s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
		sdk.AddTool(s, &sdk.Tool{Name: "form"}, func(_ context.Context, r *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
			a, ok := r.Params.InputResponses["a"].(*sdk.ElicitResult)
			if !ok {
				return input(&sdk.ElicitParams{Message: "How many?", RequestedSchema: map[string]any{"type": "object", "properties": fields.Load()}}), nil, nil
			}
			out, _ := json.Marshal(a)
			return text(string(out)), nil, nil
		})
		f := startHTTP(t, listening(t, sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)).URL, func(s *setting.Server, _ *mcp.Config) { s.Protocol = protocol })
		f.ready(t)
		colors := map[string]any{"anyOf": []any{map[string]any{"const": "r", "title": "Red, or so"}, map[string]any{"const": "g", "title": "Green"}}}
		for _, tt := range []struct {
			field       map[string]any
			shown, sent string
		}{
			{map[string]any{"type": "integer", "default": 30}, "30", `30`},
			{map[string]any{"type": "number", "default": 12000000}, "12000000", `12000000`},
			{map[string]any{"type": "boolean", "default": false}, "No", `false`},
			{map[string]any{"type": "string", "default": "a  b [c]"}, `"a  b [c]"`, `"a  b [c]"`},
			{map[string]any{"type": "string", "default": "[c]"}, `[c]`, `"[c]"`},
			{map[string]any{"type": "string", "default": "a\nb\u202ec"}, `"a\nb<U+202E>c"`, `"a\nb\u202ec"`},
			{map[string]any{"type": "string", "default": ""}, `""`, `""`},
			{map[string]any{"type": "string", "enum": []any{"r", "g"}, "enumNames": []any{"Red", "Green"}, "default": "g"}, "Green", `"g"`},
			{map[string]any{"type": "array", "items": colors, "default": []any{"r", "g"}}, `["Red, or so","Green"]`, `["r","g"]`},
			{map[string]any{"type": "array", "items": colors, "default": []any{}}, `[]`, `[]`},
			{map[string]any{"type": "string", "default": strings.Repeat("x", 1000)}, strings.Repeat("x", 1000), `"` + strings.Repeat("x", 1000) + `"`},
			{map[string]any{"type": "string", "default": strings.Repeat("x", 1001)}, "", ""},
		} {
			fields.Store(map[string]any{"v": tt.field})
			h := &host{empty: true}
			r, _, err := f.call(t.Context(), h, "form", `{}`, false)
			if tt.sent == "" {
				if err == nil || !strings.Contains(err.Error(), "too long") || len(h.asked) != 0 {
					t.Errorf("%q: %.100s %v, asked %d", protocol, r.Text, err, len(h.asked))
				}
				continue
			}
			var got struct{ Content map[string]any }
			var want any
			if err := errors.Join(err, json.Unmarshal([]byte(r.Text), &got), json.Unmarshal([]byte(tt.sent), &want)); err != nil {
				t.Errorf("%q: %v: %v", protocol, tt.field, err)
				continue
			}
			if !reflect.DeepEqual(got.Content["v"], want) || len(h.asked) != 1 || !strings.HasSuffix(h.asked[0].Text, "\nv (without an answer: "+tt.shown+")") {
				t.Errorf("%q: sent %v, asked %+v; want %s", protocol, got.Content, h.asked, tt.shown)
			}
		}
	}
}
