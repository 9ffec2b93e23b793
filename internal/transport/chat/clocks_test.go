package chat_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/hermestest/modelsuite"
	"hermes/internal/httpc"
	"hermes/internal/transport/base"
	"hermes/internal/transport/chat"
)

// TestEachClockEndsTheCall asks servers that stop answering.
func TestEachClockEndsTheCall(t *testing.T) {
	t.Parallel()
	const short = 30 * time.Millisecond
	begin := func(w http.ResponseWriter, text string) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, text)
		w.(http.Flusher).Flush()
	}
	const piece = "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n"
	tests := []struct {
		name   string
		clocks httpc.Clocks
		serve  http.HandlerFunc
		says   string
	}{
		{"never answers", httpc.Clocks{FirstByte: short}, func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "no answer within"},
		{"headers only", httpc.Clocks{FirstByte: short}, func(w http.ResponseWriter, r *http.Request) { begin(w, ""); <-r.Context().Done() }, "no answer within"},
		{"stops in the middle", httpc.Clocks{Idle: short}, func(w http.ResponseWriter, r *http.Request) { begin(w, piece); <-r.Context().Done() }, "no more data arrived"},
		{"keepalives for ever", httpc.Clocks{Stale: short}, func(w http.ResponseWriter, r *http.Request) {
			begin(w, piece)
			for r.Context().Err() == nil {
				begin(w, ": keepalive\n\n")
			}
		}, "stalled"},
		{"words for ever", httpc.Clocks{Whole: 2 * short}, func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				begin(w, piece)
			}
		}, "not complete"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // only then the server notices that the client has gone
				tt.serve(w, r)
			}))
			defer srv.Close()
			m := chat.New(chat.Config{Config: base.Config{ID: "test:m", Provider: "test", Model: "m", BaseURL: srv.URL, Clocks: tt.clocks}})
			_, err := hermes.Collect(m.Stream(t.Context(), &hermes.Request{}))
			e, ok := errors.AsType[*hermes.ModelError](err)
			if !ok || e.Class != hermes.ClassTimeout || !e.Retry || !errors.Is(err, httpc.ErrTimeout) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %v, want a timeout that says %q", err, tt.says)
			}
		})
	}
}

// TestFinishedStreamsNeedNoEnd talks to a server that says all and then never
// closes.
func TestFinishedStreamsNeedNoEnd(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer srv.Close()
	m, err := hermes.Collect(chat.New(chat.Config{Config: base.Config{ID: "test:m", BaseURL: srv.URL}}).Stream(t.Context(), &hermes.Request{}))
	if err != nil || m.Text() != "x" {
		t.Errorf("%+v, %v", m, err)
	}
}

// FuzzAnswer feeds whole streams: whatever comes, there is one error at most,
// it is the last item, and it is a model error; or the answer has a finish.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(answer(modelsuite.Reply([]string{"a", "b"}, []hermes.ToolCall{{ID: "c", Name: "n", Arguments: "{}"}}))), true)
	f.Add([]byte(`{"choices":[{"message":{"content":[{"thinking":[]}],"tool_calls":[{"function":{"arguments":{}}}]}}]}`), false)
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"reasoning_details\":[{\"type\":1},null,{\"text\":2}]}}]}\n\ndata: [DONE]"), true)
	f.Fuzz(func(t *testing.T, body []byte, events bool) {
		kind := "application/json"
		if events {
			kind = "text/event-stream"
		}
		cfg := config(fixed{body, kind})
		cfg.Quirks.Replay = "reasoning_details"
		var failed error
		var a hermes.Assembly
		for d, err := range chat.New(cfg).Stream(t.Context(), &hermes.Request{}) {
			if failed != nil {
				t.Fatalf("%+v, %v after the error %v", d, err, failed)
			}
			failed = err
			a.Add(d)
		}
		m := a.Message()
		if _, ok := errors.AsType[*hermes.ModelError](failed); ok == (m.Finish != "") {
			t.Fatalf("finish %q and error %v", m.Finish, failed)
		}
		for _, c := range m.Calls {
			if failed == nil && (c.ID == "" || c.Name == "") {
				t.Fatalf("a call without id or name: %+v", c)
			}
		}
	})
}

type fixed struct {
	body []byte
	kind string
}

func (f fixed) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {f.kind}}, Body: io.NopCloser(bytes.NewReader(f.body))}, nil
}
