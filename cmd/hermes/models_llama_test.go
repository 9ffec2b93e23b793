//go:build slow && unix

package main_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// llama starts llama.cpp's server and returns its address. The flags follow those that
// all tests need.
func llama(t *testing.T, wait bool, flags ...string) string {
	t.Helper()
	p := port(t)
	launch(t, nil, counterpart(t, "llama-server"), append([]string{"-m", counterpart(t, "model.gguf"), "--host", "127.0.0.1", "--port", p,
		"--jinja", "-np", "1", "--temp", "0", "-t", "2", "--alias", "small"}, flags...)...)
	if wait {
		await(t, "http://127.0.0.1:"+p+"/health")
	}
	return "http://127.0.0.1:" + p
}

// template is the flag for one of llama.cpp's chat templates. All of these have tools.
func template(t *testing.T, name string) []string {
	return []string{"--chat-template-file", counterpart(t, "llama.cpp/models/templates/"+name+".jinja")}
}

func TestModelsLlamaTalksOverEachProtocol(t *testing.T) {
	address := llama(t, true, append(template(t, "Qwen-Qwen2.5-7B-Instruct"), "-c", "8192")...) // the model's own format, with tools
	for name := range protocols {
		t.Run(name, func(t *testing.T) { newHome(t, address+"/v1", "k").talks(t, name+":small") })
	}
}

// proxy passes requests on and may change their bodies. It keeps bodies and statuses.
type proxy struct {
	url      string
	mu       sync.Mutex
	bodies   []string
	statuses []int
}

// between puts a proxy before a server; each request goes through change, with its number.
func between(t *testing.T, target func() string, change func(n int, body map[string]any)) *proxy {
	t.Helper()
	p := &proxy{}
	forward := &httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			u, err := url.Parse(target())
			if err != nil {
				t.Error(err)
				return
			}
			r.SetURL(u)
		},
		ModifyResponse: func(r *http.Response) error {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.statuses = append(p.statuses, r.StatusCode)
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) { w.WriteHeader(http.StatusBadGateway) },
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			raw, _ := io.ReadAll(r.Body)
			p.mu.Lock()
			n := len(p.bodies)
			p.bodies = append(p.bodies, string(raw))
			p.mu.Unlock()
			var body map[string]any
			if change != nil && json.Unmarshal(raw, &body) == nil {
				change(n, body)
				raw, _ = json.Marshal(body)
			}
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
			r.Header.Del("Content-Length")
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	p.url = srv.URL
	return p
}

// TestModelsLlamaCallsATool forces a call: it is read from the stream, and its result is
// sent in the next request. The model is too small to end its arguments in a useful way, so
// they are cut by the limit, and the result says so.
func TestModelsLlamaCallsATool(t *testing.T) {
	// Only this template turns a forced call into a grammar.
	address := llama(t, true, append(template(t, "meetkai-functionary-medium-v3.2"), "-c", "8192")...)
	p := between(t, func() string { return address }, func(n int, body map[string]any) {
		if n == 0 {
			body["tool_choice"] = "required"
			return
		}
		delete(body, "tools") // with them or not, the model leaves the format of the template, which the server answers with 500
		body["grammar"] = `root ::= "all\n" [a-z]{1,8}`
	})
	r := newHome(t, p.url+"/v1", "k").say(t, "chat:small", "List one thing to do.")
	if r.status != 0 || len(p.bodies) < 2 || !strings.Contains(p.bodies[1], `"role":"tool"`) || !strings.Contains(p.bodies[1], `"name":"todo"`) {
		t.Errorf("status %d after %d requests", r.status, len(p.bodies))
	}
}

// TestModelsLlamaOverflow fills a small window. The conversation must be shortened and go
// on; a single message that cannot fit must be refused in plain words.
func TestModelsLlamaOverflow(t *testing.T) {
	address := llama(t, true, "-c", "2048")
	p := between(t, func() string { return address }, nil)
	h := newHome(t, p.url+"/v1", "k")
	text := "Remember this: " + strings.Repeat("the red fox runs over the hill and the blue bird sings in the tree. ", 30)
	for i := range 5 {
		more := []string{"--continue"}
		if i == 0 {
			more = nil
		}
		if r := h.say(t, "chat:small", text, more...); r.status != 0 || strings.TrimSpace(r.out) == "" {
			t.Fatalf("message %d: status %d", i+1, r.status)
		}
	}
	r := h.say(t, "chat:small", strings.Repeat(text, 8))
	refused(t, r, "", "context")
}

func TestModelsLlamaRefusesAKey(t *testing.T) {
	address := llama(t, true, "-c", "2048", "--api-key", "the-right-key-of-the-test")
	for name := range protocols {
		t.Run(name, func(t *testing.T) {
			r := newHome(t, address+"/v1", "the-wrong-key-of-the-test").say(t, name+":small", "Say hello.")
			refused(t, r, "the-wrong-key", "401", "Invalid API Key", "hermes auth")
		})
	}
	if r := newHome(t, address+"/v1", "the-right-key-of-the-test").say(t, "chat:small", "Say hello."); r.status != 0 {
		t.Errorf("the right key: status %d", r.status)
	}
}

// TestModelsLlamaIsStillLoading starts the server when the first request arrives. It says
// 503 while it loads the model, and the program waits for it.
func TestModelsLlamaIsStillLoading(t *testing.T) {
	start := sync.OnceValue(func() string {
		address := llama(t, false, "-c", "2048")
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for range 10_000 { // until it listens
			if c, err := net.Dial("tcp", strings.TrimPrefix(address, "http://")); err == nil {
				_ = c.Close()
				break
			}
			<-tick.C
		}
		return address
	})
	p := between(t, start, nil)
	r := newHome(t, p.url+"/v1", "k").say(t, "chat:small", "Say hello.")
	if r.status != 0 || strings.TrimSpace(r.out) == "" || !slices.Contains(p.statuses, http.StatusServiceUnavailable) {
		t.Errorf("status %d; the server answered %v", r.status, p.statuses)
	}
}

// TestModelsLlamaWithoutTools: a chat template without tools is reported once.
func TestModelsLlamaWithoutTools(t *testing.T) {
	address := llama(t, true, "-c", "8192")
	r := newHome(t, address+"/v1", "k").say(t, "chat:small", "Say hello.")
	if r.status != 0 || strings.Count(r.notes, "does not get the tools") != 1 {
		t.Errorf("status %d", r.status)
	}
}

// TestModelsLlamaRepeatsItself: nothing but the guard ends this answer.
func TestModelsLlamaRepeatsItself(t *testing.T) {
	address := llama(t, true, "-c", "8192")
	p := between(t, func() string { return address }, func(_ int, body map[string]any) {
		body["grammar"] = "root ::= \"Well, \" (\"- \\n\")+" // stuck for certain
		delete(body, "tools")
		delete(body, "max_tokens") // else that ends it
	})
	r := newHome(t, p.url+"/v1", "k").say(t, "chat:small", "Write a list.")
	if r.status == 0 || !strings.Contains(r.notes, "stopped because it repeated") {
		t.Errorf("status %d", r.status)
	}
}
