package modelsuite

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes"
)

// Protocol describes a protocol for [Run].
type Protocol struct {
	// New returns a model at a server's address that makes its requests with the
	// client. It must not retry.
	New func(baseURL string, client *http.Client) hermes.Model
	// Plain returns a model that takes a temperature; nil means that New's does.
	Plain func(baseURL string, client *http.Client) hermes.Model
	// Answer renders a whole answer as a stream.
	Answer func(Answer) string
	// Lacks names what the protocol cannot express, such as LacksFilter.
	Lacks []string
	// Failure returns an "overloaded" error event within a stream.
	Failure func() string
	// Refusal returns the body of a response with an error status.
	Refusal func(message string) string
	// ContentType is that of streamed answers; empty means text/event-stream.
	ContentType string
	// Messages names the field of a request with the conversation; empty means
	// "messages".
	Messages string
}

// Run is the contract suite of [hermes.Model] for models behind HTTP. It
// runs a server and checks that the model keeps the contract.
func Run(t *testing.T, w Protocol) {
	t.Run("every answer is understood", w.testAnswers)
	t.Run("answers come in any pieces", w.testPieces)
	t.Run("a temperature is sent", w.testTemperature)
	t.Run("nothing is sent before the iteration", w.testLazy)
	t.Run("a cut answer is never finished", w.testCut)
	t.Run("failures are model errors, once and last", w.testFailures)
	t.Run("stopping ends the call", w.testStop)
	t.Run("cancelling ends the call", w.testCancel)
	t.Run("requests are not changed and only grow", w.testRequests)
	t.Run("calls run side by side", w.testConcurrent)
	t.Run("connections are used again", w.testReuse)
}

var (
	contractText  = []string{"Grüße", ", ", "wörld\n", "\"quoted\" 日本語 <tag>"}
	contractCalls = []hermes.ToolCall{
		{ID: "call_one", Name: "read_file", Arguments: `{"path":"a \"b\".go"}`},
		{ID: "call_two", Name: "terminal", Arguments: `{"command":"ls"}`},
	}
)

func contractRequest() *hermes.Request {
	return &hermes.Request{
		System:   "You are a test.",
		Messages: []hermes.Message{hermes.UserText("hello")},
		Tools:    []hermes.Spec{{Name: "read_file", Description: "Reads."}, {Name: "terminal", Description: "Runs."}},
	}
}

// serve answers every request with the handler until the test ends.
func (w Protocol) serve(t *testing.T, h http.HandlerFunc) hermes.Model {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // a server must read the body to notice that its client has gone
		r.Body = io.NopCloser(bytes.NewReader(body))
		h(rw, r)
	}))
	t.Cleanup(srv.Close)
	return w.New(srv.URL, ownClient(t))
}

// ownClient returns a client with connections of its own: the end of any
// httptest.Server closes those of http.DefaultTransport that wait for a request.
func ownClient(t *testing.T) *http.Client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func (w Protocol) eventStream(body string) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", cmp.Or(w.ContentType, "text/event-stream"))
		_, _ = io.WriteString(rw, body)
	}
}

// drain reads an answer until it ends and checks what every answer must keep.
func drain(t *testing.T, m hermes.Model, ctx context.Context, r *hermes.Request) (hermes.Message, error) {
	t.Helper()
	var (
		a      hermes.Assembly
		failed error
	)
	for d, err := range m.Stream(ctx, r) {
		if failed != nil {
			t.Fatalf("after the error %v came %+v, %v", failed, d, err)
		}
		if err != nil {
			failed = err
			continue
		}
		if n := fieldsSet(d); n != 1 {
			t.Errorf("a delta has %d fields set: %+v", n, d)
		}
		a.Add(d)
	}
	return a.Message(), failed
}

func fieldsSet(d hermes.Delta) int {
	n, v := 0, reflect.ValueOf(d)
	for i := range v.NumField() {
		if !v.Field(i).IsZero() {
			n++
		}
	}
	return n
}

func (w Protocol) testPieces(t *testing.T) {
	a := Reply(contractText, contractCalls)
	whole := w.Answer(a)
	drip := func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", cmp.Or(w.ContentType, "text/event-stream"))
		for i := range len(whole) {
			_, _ = io.WriteString(rw, whole[i:i+1])
			rw.(http.Flusher).Flush()
		}
	}
	got, err := drain(t, w.serve(t, drip), t.Context(), contractRequest())
	if err != nil {
		t.Fatal(err)
	}
	a.check(t, got)
}

func (w Protocol) testLazy(t *testing.T) {
	asked := 0
	m := w.serve(t, func(rw http.ResponseWriter, r *http.Request) { asked++ })
	if m.ID() == "" || asked != 0 {
		t.Errorf("id %q, %d requests", m.ID(), asked)
	}
	_ = m.Stream(t.Context(), contractRequest())
	if asked != 0 {
		t.Error("Stream sent the request before the iteration began")
	}
}

// testCut ends the stream at many points, cleanly and by a broken connection.
// The result must be an error or the whole answer.
func (w Protocol) testCut(t *testing.T) {
	whole := w.Answer(Reply(contractText, contractCalls))
	step := max(1, len(whole)/40)
	for n := 0; n < len(whole); n += step {
		for _, broken := range []bool{false, true} {
			m := w.serve(t, func(rw http.ResponseWriter, r *http.Request) {
				w.eventStream(whole[:n])(rw, r)
				if broken {
					rw.(http.Flusher).Flush()
					panic(http.ErrAbortHandler)
				}
			})
			got, err := drain(t, m, t.Context(), contractRequest())
			if err == nil {
				if got.Text() != strings.Join(contractText, "") || !reflect.DeepEqual(got.Calls, contractCalls) {
					t.Errorf("cut at %d of %d (broken %v): finished with %q and %+v", n, len(whole), broken, got.Text(), got.Calls)
				}
				continue
			}
			if got.Finish != "" {
				t.Errorf("cut at %d: a finish came before the error %v", n, err)
			}
			if e, ok := errors.AsType[*hermes.ModelError](err); !ok || !e.Retry {
				t.Errorf("cut at %d: error %v is not marked Retry", n, err)
			}
		}
	}
}

func (w Protocol) testFailures(t *testing.T) {
	const tooLong = "This model's maximum context length is 8192 tokens, but the request has 9000 tokens. Please reduce the length of the messages."
	status := func(code int, after string, message ...string) http.HandlerFunc {
		return func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Type", "application/json")
			if after != "" {
				rw.Header().Set("Retry-After", after)
			}
			rw.WriteHeader(code)
			_, _ = io.WriteString(rw, w.Refusal(cmp.Or(strings.Join(message, ""), "told you so")))
		}
	}
	tests := []struct {
		name  string
		h     http.HandlerFunc
		class hermes.Class
		retry bool
	}{
		{"401", status(401, ""), hermes.ClassAuth, false},
		{"too long", status(400, "", tooLong), hermes.ClassOverflow, false},
		{"no such model", status(404, "", "The model `m` does not exist"), hermes.ClassModelNotFound, false},
		{"429", status(429, "17"), hermes.ClassRateLimit, true},
		{"500", status(500, ""), hermes.ClassServerError, true},
		{"529", status(529, ""), hermes.ClassOverloaded, true},
		{"in the stream", w.eventStream(w.Failure()), hermes.ClassOverloaded, true},
		{"nothing", w.eventStream(""), hermes.ClassServerError, true},
		{"no JSON", w.eventStream("data: {\"a\":\n\ndata: oops\n\n"), hermes.ClassServerError, true},
		{"a page", func(rw http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(rw, "<html></html>") }, hermes.ClassFormat, false},
	}
	for _, tt := range tests {
		_, err := drain(t, w.serve(t, tt.h), t.Context(), contractRequest())
		e, ok := errors.AsType[*hermes.ModelError](err)
		if !ok || e.Class != tt.class || e.Retry != tt.retry {
			t.Errorf("%s: error %#v, want class %s, retry %v", tt.name, err, tt.class, tt.retry)
			continue
		}
		if tt.name == "429" && (e.RetryAfter != 17*time.Second || e.Status != 429 || e.Message != "told you so") {
			t.Errorf("429: %+v", e)
		}
	}
	const closed = "http://127.0.0.1:1" // no program is given this port, unlike that of a server that has ended
	if _, err := drain(t, w.New(closed, ownClient(t)), t.Context(), contractRequest()); hermes.ClassOf(err) != hermes.ClassTimeout {
		t.Errorf("no server: %v", err)
	}
}

// endless sends the beginning of an answer, then waits until the client goes
// and reports that.
func (w Protocol) endless(t *testing.T) (hermes.Model, <-chan struct{}) {
	gone := make(chan struct{})
	whole := w.Answer(Reply(contractText, nil))
	half := whole[:len(whole)*2/3]
	m := w.serve(t, func(rw http.ResponseWriter, r *http.Request) {
		w.eventStream(half)(rw, r)
		rw.(http.Flusher).Flush()
		<-r.Context().Done()
		close(gone)
	})
	return m, gone
}

func (w Protocol) testStop(t *testing.T) {
	m, gone := w.endless(t)
	for d, err := range m.Stream(t.Context(), contractRequest()) {
		if err != nil {
			t.Fatal(err)
		}
		if d.Text != "" {
			break
		}
	}
	<-gone
}

func (w Protocol) testCancel(t *testing.T) {
	m, gone := w.endless(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var failed error
	for d, err := range m.Stream(ctx, contractRequest()) {
		failed = err
		if d.Text != "" {
			cancel(hermes.ErrInterrupted)
		}
	}
	if !errors.Is(failed, hermes.ErrInterrupted) {
		t.Errorf("error %v, want the cause of the context", failed)
	}
	<-gone
}

// testRequests grows a session and compares what is sent, byte by byte.
func (w Protocol) testRequests(t *testing.T) {
	var bodies [][]byte
	m := w.serve(t, func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, body)
		w.eventStream(w.Answer(Reply([]string{"ok"}, nil)))(rw, r)
	})
	r := contractRequest()
	for step := range 4 {
		was := deepCopy(t, r)
		if _, err := drain(t, m, t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(r.Messages, was) {
			t.Errorf("step %d: the request was changed", step)
		}
		r.Messages = append(r.Messages,
			hermes.Message{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "I look."}}, Calls: contractCalls},
			hermes.Message{Role: hermes.RoleTool, CallID: "call_one", Parts: []hermes.Part{{Text: "found"}}},
			hermes.Message{Role: hermes.RoleTool, CallID: "call_two", Parts: []hermes.Part{{Text: "listed"}}})
	}
	var before []byte
	for i, body := range bodies {
		var b map[string]json.RawMessage
		if err := json.Unmarshal(body, &b); err != nil {
			t.Fatalf("request %d is not JSON: %v", i, err)
		}
		messages := b[cmp.Or(w.Messages, "messages")]
		if !bytes.HasPrefix(messages, before) {
			t.Errorf("request %d does not begin with the messages of the one before:\n%s\n%s", i, messages, before)
		}
		before = bytes.TrimSuffix(messages, []byte("]"))
	}
}

func deepCopy(t *testing.T, r *hermes.Request) (out []hermes.Message) {
	t.Helper()
	raw, err := json.Marshal(r.Messages)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (w Protocol) testConcurrent(t *testing.T) {
	m := w.serve(t, w.eventStream(w.Answer(Reply(contractText, contractCalls))))
	r := contractRequest()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			got, err := hermes.Collect(m.Stream(t.Context(), r))
			if err != nil || got.Text() != strings.Join(contractText, "") || len(got.Calls) != 2 {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	wg.Wait()
}

// testReuse wants one connection for calls in a row, although the end of the
// body comes after its last event. The end is awaited for a short time only, and
// a machine that stalls for longer costs the connection; so one run of several
// must succeed. A transport that does not read to the end fails in all of them.
func (w Protocol) testReuse(t *testing.T) {
	const runs = 5
	var connections []int
	for range runs {
		n := w.connectionsOf(t, 4)
		if n == 1 {
			return
		}
		connections = append(connections, n)
	}
	t.Errorf("%v connections for 4 calls each, want 1", connections)
}

// connectionsOf counts the connections of calls in a row. The server ends each
// body when the model has yielded the whole text.
func (w Protocol) connectionsOf(t *testing.T, calls int) int {
	t.Helper()
	from := map[string]bool{}
	read := make(chan struct{}, 1)
	m := w.serve(t, func(rw http.ResponseWriter, r *http.Request) {
		from[r.RemoteAddr] = true
		w.eventStream(w.Answer(Reply(contractText, nil)))(rw, r)
		_ = http.NewResponseController(rw).Flush()
		select {
		case <-read:
		case <-r.Context().Done():
		}
	})
	for range calls {
		missing := len(strings.Join(contractText, ""))
		for d, err := range m.Stream(t.Context(), contractRequest()) {
			if err != nil {
				t.Fatal(err)
			}
			if missing -= len(d.Text); missing == 0 && d.Text != "" {
				read <- struct{}{}
			}
		}
	}
	return len(from)
}
