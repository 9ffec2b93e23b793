package anthropic_test

import (
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
	"hermes/internal/transport/anthropic"
	"hermes/internal/transport/base"
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
	const piece = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"x\"}}\n\n"
	forEver := func(w http.ResponseWriter, r *http.Request, text string) {
		for r.Context().Err() == nil {
			begin(w, text)
		}
	}
	tests := []struct {
		name   string
		clocks httpc.Clocks
		serve  http.HandlerFunc
		says   string
	}{
		{"never answers", httpc.Clocks{FirstByte: short}, func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "no answer within"},
		{"headers only", httpc.Clocks{FirstByte: short}, func(w http.ResponseWriter, r *http.Request) { begin(w, ""); <-r.Context().Done() }, "no answer within"},
		{"stops in the middle", httpc.Clocks{Idle: short}, func(w http.ResponseWriter, r *http.Request) { begin(w, piece); <-r.Context().Done() }, "no more data arrived"},
		{"pings for ever", httpc.Clocks{Stale: short}, func(w http.ResponseWriter, r *http.Request) {
			begin(w, piece)
			forEver(w, r, "event: ping\ndata: {\"type\":\"ping\"}\n\n")
		}, "stalled"},
		{"one byte after another", httpc.Clocks{Stale: short}, func(w http.ResponseWriter, r *http.Request) {
			begin(w, piece+"data: ")
			forEver(w, r, ".")
		}, "stalled"},
		{"words for ever", httpc.Clocks{Whole: 2 * short}, func(w http.ResponseWriter, r *http.Request) { forEver(w, r, piece) }, "not complete"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // only then the server notices that the client has gone
				tt.serve(w, r)
			}))
			defer srv.Close()
			m := anthropic.New(anthropic.Config{Config: base.Config{ID: "test:m", Provider: "test", Model: "claude-sonnet-4-6", BaseURL: srv.URL, Clocks: tt.clocks}})
			got, err := hermes.Collect(m.Stream(t.Context(), &hermes.Request{}))
			e, ok := errors.AsType[*hermes.ModelError](err)
			if !ok || e.Class != hermes.ClassTimeout || !e.Retry || !errors.Is(err, httpc.ErrTimeout) || !strings.Contains(err.Error(), tt.says) || got.Finish != "" {
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
		_, _ = io.WriteString(w, answer(modelsuite.Reply([]string{"x"}, nil)))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer srv.Close()
	m, err := hermes.Collect(anthropic.New(anthropic.Config{Config: base.Config{ID: "test:m", Model: "claude-sonnet-4-6", BaseURL: srv.URL}}).Stream(t.Context(), &hermes.Request{}))
	if err != nil || m.Text() != "x" {
		t.Errorf("%+v, %v", m, err)
	}
}

// TestUsageOfABrokenAnswerIsReported checks the counts of a broken answer.
func TestUsageOfABrokenAnswerIsReported(t *testing.T) {
	t.Parallel()
	whole := answer(modelsuite.Reply([]string{"x", "y"}, nil))
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, whole[:len(whole)/2])
	}))
	defer srv.Close()
	m, err := hermes.Collect(anthropic.New(anthropic.Config{Config: base.Config{ID: "test:m", Model: "claude-sonnet-4-6", BaseURL: srv.URL}}).Stream(t.Context(), &hermes.Request{}))
	if err == nil || m.Usage == nil || m.Usage.Input != 10 {
		t.Errorf("usage %+v, %v", m.Usage, err)
	}
}
