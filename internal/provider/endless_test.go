package provider_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/provider"
)

// forever serves a chunk until the client goes away.
func forever(chunk string, gone chan<- struct{}) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		defer func() { gone <- struct{}{} }()
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			if _, err := io.WriteString(w, "data: {\"choices\":[{\"delta\":"+chunk+"}]}\n\n"); err != nil || r.Context().Err() != nil {
				return
			}
		}
	}
}

func TestEndlessRepetitionIsStopped(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ chunk, says string }{
		"text":         {`{"content":"-\n"}`, `the answer was stopped because it repeated "-\n"`},
		"thinking":     {`{"reasoning_content":"Wait, let me look again. "}`, `the thinking was stopped because it repeated`},
		"thinking tag": {`{"content":"<think>\n\n"}`, `the answer was stopped because it repeated`},
		"arguments":    {`{"tool_calls":[{"index":0,"id":"a","function":{"name":"write","arguments":"0, "}}]}`, `the tool call was stopped because it repeated "`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gone := make(chan struct{}, 3)
			srv, asked := scripted(t, forever(tt.chunk, gone), forever(tt.chunk, gone), forever(tt.chunk, gone), says("ok"))
			c, _ := patient(t, srv.URL, nil)
			_, _, err := collect(t, c)
			e, ok := errors.AsType[*hermes.ModelError](err)
			if !ok || e.Class != hermes.ClassRepetition || e.Retry || !strings.Contains(e.Message, tt.says) || e.Provider == "" {
				t.Errorf("error %v", err)
			}
			<-gone // both calls were ended
			<-gone
			if len(*asked) != 2 || (*asked)[0] == (*asked)[1] || !strings.Contains((*asked)[1], "repeated the same text") {
				t.Errorf("asked %d times: %.300q", len(*asked), *asked)
			}
			if _, m, err := collect(t, c); err != nil || m.Text() != "ok" || len(m.Calls) > 0 {
				t.Errorf("asked without repeating: %q, %v", m.Text(), err)
			}
		})
	}
}

func TestEndlessRepetitionIsLeftToAnotherModel(t *testing.T) {
	t.Parallel()
	stuck := forever(`{"content":"-\n"}`, make(chan struct{}, 2))
	bad, _ := scripted(t, stuck, stuck)
	good, _ := scripted(t, says("ok"))
	c, _ := patient(t, bad.URL, func(cfg *provider.Config) {
		cfg.Fallback = []provider.Selection{{Provider: "other", Model: "n", BaseURL: good.URL}}
	})
	if lines, m, err := collect(t, c); err != nil || m.Text() != "ok" {
		t.Errorf("got %q, %v, shown %q", m.Text(), err, fmt.Sprint(lines))
	}
}
