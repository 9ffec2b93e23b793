package script_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hermes"
	"hermes/internal/hook"
	"hermes/internal/hook/script"
)

// service records requests and answers with one status after another; the last one stays.
type service struct {
	*httptest.Server
	mu       sync.Mutex
	statuses []int
	answer   string
	got      []*http.Request
	bodies   []string
	came     chan struct{} // for each request
	release  chan struct{} // requests wait for it; nil does not wait
}

func serve(t *testing.T, answer string, statuses ...int) *service {
	s := &service{statuses: statuses, answer: answer, came: make(chan struct{}, 1000)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		status := s.statuses[0]
		if len(s.statuses) > 1 {
			s.statuses = s.statuses[1:]
		}
		s.got, s.bodies = append(s.got, r), append(s.bodies, string(b))
		s.mu.Unlock()
		s.came <- struct{}{}
		if s.release != nil {
			<-s.release
		}
		if status/100 == 3 {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, s.answer)
	}))
	t.Cleanup(s.Close)
	return s
}

func client() *http.Client {
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func lookup(name string) (string, bool) { return "the secret", name == "HOOK_SECRET" }

func signed(r *http.Request, body string) bool {
	sum := hmac.New(sha256.New, []byte("the secret"))
	sum.Write([]byte(body))
	return r.Header.Get("X-Hermes-Signature-256") == "sha256="+hex.EncodeToString(sum.Sum(nil))
}

// TestRequestsAreSignedAndRepeatedOnce after an error of the service; a refusal and a redirect are final, and a guard
// refuses then.
func TestRequestsAreSignedAndRepeatedOnce(t *testing.T) {
	t.Parallel()
	const no = `{"decision":"block","reason":"the service said no"}`
	for name, tt := range map[string]struct {
		answer   string
		statuses []int
		tries    int
		refused  string
	}{
		"yes": {`{}`, []int{200}, 1, ""}, "no": {no, []int{200}, 1, "the service said no"}, "error, then no": {no, []int{500, 200}, 2, "the service said no"},
		"two errors": {no, []int{503}, 2, "answered 503"}, "refused": {no, []int{404, 200}, 1, "answered 404"}, "redirect": {no, []int{307, 200}, 1, "redirects are not followed"},
	} {
		s := serve(t, tt.answer, tt.statuses...)
		entries, _, _ := parse(t, "pre_tool_call: [{type: http, url: '"+s.URL+"/hook', secret_env: HOOK_SECRET, headers: {Authorization: Bearer x}, fail_closed: true}]")
		session := script.NewSession(script.Config{Consents: script.NewConsents(filepath.Join(t.TempDir(), "c"), nil), Accept: true, Client: client(), LookupEnv: lookup}, script.Set{Entries: entries})
		_, refused := before(t, hook.New(nil, session.Hook()), call("terminal", `{"command":"ls"}`))
		if (refused == "") != (tt.refused == "") || !strings.Contains(refused, tt.refused) || len(s.got) != tt.tries {
			t.Errorf("%s: refused %q after %d tries", name, refused, len(s.got))
		}
		for i, r := range s.got {
			if !signed(r, s.bodies[i]) || r.Header.Get("X-Hermes-Event") != "pre_tool_call" || r.Header.Get("Authorization") != "Bearer x" || r.Header.Get("X-Hermes-Delivery") != s.got[0].Header.Get("X-Hermes-Delivery") {
				t.Errorf("%s: headers %v", name, r.Header)
			}
		}
	}
	entries, _, _ := parse(t, "pre_tool_call: [{type: http, url: 'http://127.0.0.1:1/', secret_env: MISSING, fail_closed: true}]")
	session := script.NewSession(script.Config{Consents: script.NewConsents(filepath.Join(t.TempDir(), "c"), nil), Accept: true, Client: client(), LookupEnv: lookup}, script.Set{Entries: entries})
	if _, refused := before(t, hook.New(nil, session.Hook()), call("terminal", `{}`)); !strings.Contains(refused, "MISSING has no value") {
		t.Errorf("without its secret: %q", refused)
	}
}

// outboundTo makes what tells services of events.
func outboundTo(t *testing.T, text string, agreed bool) *script.Outbound {
	t.Helper()
	_, webhooks, problems := parse(t, text)
	if len(problems) > 0 || len(webhooks) == 0 {
		t.Fatalf("%+v", problems)
	}
	o := script.NewOutbound(script.Config{Client: client(), LookupEnv: lookup, Profile: "default"}, func(script.Identity) bool { return agreed }, webhooks...)
	t.Cleanup(func() { _ = o.Close() })
	return o
}

// TestWebhooksAreToldOfEvents that they want, signed, with an id and the time, once the user has agreed.
func TestWebhooksAreToldOfEvents(t *testing.T) {
	t.Parallel()
	s := serve(t, "", 500, 200)
	text := "outbound: [{name: a, url: '" + s.URL + "', events: [pre_tool_call, pre_llm_call], matcher: terminal, secret_env: HOOK_SECRET}]"
	o := outboundTo(t, text, true)
	session := script.NewSession(script.Config{Outbound: o})
	h := hook.New(nil, session.Hook())
	before(t, h, call("write_file", `{"path":"a"}`))
	before(t, h, call("terminal", `{"command":"ls"}`))
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	if len(s.got) != 2 || s.bodies[0] != s.bodies[1] { // once more after the error
		t.Fatalf("got %q", s.bodies)
	}
	var body map[string]any
	if err := json.Unmarshal([]byte(s.bodies[0]), &body); err != nil {
		t.Fatal(err)
	}
	if !signed(s.got[0], s.bodies[0]) || body["tool_name"] != "terminal" || body["delivery_id"] != s.got[0].Header.Get("X-Hermes-Delivery") || body["timestamp"] == "" || body["hook_event_name"] != "pre_tool_call" {
		t.Errorf("sent %s, %v", s.bodies[0], s.got[0].Header)
	}
	without := outboundTo(t, text, false)
	without.Tell(script.Occasion{Event: "pre_tool_call", Call: call("terminal", `{}`)})
	if err := without.Close(); err != nil || len(s.got) != 2 {
		t.Errorf("told without consent: %d requests, %v", len(s.got), err)
	}
}

// TestAWebhookWithAMatcherIsToldOfItsToolOnly, also of approvals.
func TestAWebhookWithAMatcherIsToldOfItsToolOnly(t *testing.T) {
	t.Parallel()
	s := serve(t, "", 200)
	o := outboundTo(t, "outbound: [{name: a, url: '"+s.URL+"', events: [pre_approval_request], matcher: read_file}]", true)
	for _, tool := range []string{"terminal", "read_file", ""} {
		o.Tell(script.Occasion{Event: "pre_approval_request", About: tool})
	}
	if err := o.Close(); err != nil || len(s.got) != 1 {
		t.Errorf("told %d times, %v", len(s.got), err)
	}
}

// TestASlowWebhookDelaysNothing: its queue is bounded, and what does not fit is counted.
func TestASlowWebhookDelaysNothing(t *testing.T) {
	t.Parallel()
	s := serve(t, "", 200)
	s.release = make(chan struct{})
	o := outboundTo(t, "outbound: [{name: a, url: '"+s.URL+"'}]", true)
	o.Tell(script.Occasion{Event: "pre_tool_call", Call: call("terminal", `{}`)})
	<-s.came // the first one waits for its answer
	for range 300 {
		o.Tell(script.Occasion{Event: "pre_tool_call", Call: call("terminal", `{}`)})
	}
	if got := o.Dropped(); got != 300-256 {
		t.Errorf("dropped %d", got)
	}
	close(s.release)
	if err := o.Close(); err != nil || len(s.came) != 256 {
		t.Errorf("%d more came, %v", len(s.came), err)
	}
	o.Tell(script.Occasion{Event: "pre_tool_call"}) // after the end
}

// TestCloseDoesNotWaitForAWebhookThatHangs for ever.
func TestCloseDoesNotWaitForAWebhookThatHangs(t *testing.T) {
	t.Parallel()
	s := serve(t, "", 200)
	s.release = make(chan struct{})
	defer close(s.release)
	o := outboundTo(t, "outbound: [{name: a, url: '"+s.URL+"', timeout: 60}]", true)
	o.Tell(script.Occasion{Event: "pre_tool_call", Session: hermes.SessionRef{ID: "s"}})
	<-s.came
	var ended atomic.Bool
	late := time.AfterFunc(30*time.Second, func() {
		if !ended.Load() {
			panic("Close hangs")
		}
	})
	defer late.Stop()
	if err := o.Close(); err != nil {
		t.Error(err)
	}
	ended.Store(true)
}
