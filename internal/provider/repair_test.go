package provider_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/provider"
)

// picky is a server that refuses a request until its body pleases it.
type picky struct {
	status  int
	message string
	refuse  func(body string, h http.Header) bool
	bodies  []string
}

func (p *picky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	p.bodies = append(p.bodies, string(raw))
	if p.refuse(string(raw), r.Header) {
		w.WriteHeader(p.status)
		fmt.Fprintf(w, `{"error":{"type":"invalid_request_error","message":%q}}`, p.message)
		return
	}
	if strings.HasSuffix(r.URL.Path, "/messages") {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, `data: {"type":"message_start","message":{"usage":{"input_tokens":1}}}

data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"ok"}}

data: {"type":"content_block_stop","index":0}

data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}

data: {"type":"message_stop"}

`)
		return
	}
	says("ok")(w, r)
}

func contains(part string) func(string, http.Header) bool {
	return func(body string, _ http.Header) bool { return strings.Contains(body, part) }
}

// widePicture is a PNG with more pixels in a row than services look at.
func widePicture(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1600, 8))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// everything is a request with all that can be refused.
func everything(t *testing.T) *hermes.Request {
	t.Helper()
	warm := 0.5
	seen := hermes.Message{Role: hermes.RoleTool, CallID: "1", ToolName: "look", Parts: []hermes.Part{{Text: "seen"}, {Image: &hermes.Image{MediaType: "image/png", Data: widePicture(t)}}}}
	return &hermes.Request{
		System: "s", Temperature: &warm, Effort: hermes.EffortNone,
		Tools: []hermes.Spec{{Name: "look", Description: "d", Schema: json.RawMessage(`{"type":"object","properties":{"x":{"type":"string","pattern":"^a$"}}}`)}},
		Messages: []hermes.Message{
			hermes.UserText("look"),
			{Role: hermes.RoleAssistant, Reasoning: []hermes.Reasoning{{Protocol: "anthropic", Text: "hm", Signature: "bad-signature"}}, Calls: []hermes.ToolCall{{ID: "1", Name: "look", Arguments: `{}`}}},
			seen,
		},
	}
}

func TestWhatIsRefusedIsChanged(t *testing.T) {
	t.Parallel()
	const claude, other = "/anthropic", "/v1"
	tests := []struct {
		name, path string
		server     picky
		notice     string
	}{
		{"images", other, picky{status: 400, message: "image exceeds 5 MB maximum", refuse: contains("image/png")}, "retrying with smaller ones"},
		{"signature", claude, picky{status: 400, message: "Invalid `signature` in `thinking` block", refuse: contains("bad-signature")}, "its own earlier thinking"},
		{"grammar", other, picky{status: 400, message: "failed to parse grammar", refuse: contains(`"pattern"`)}, "patterns"},
		{"images in results", claude, picky{status: 400, message: "images are not supported in tool results", refuse: func(body string, _ http.Header) bool {
			_, rest, _ := strings.Cut(body, `"tool_result"`)
			result, _, _ := strings.Cut(rest, "]")
			return strings.Contains(result, "base64")
		}}, "retrying with the images after them"},
		{"effort", other, picky{status: 400, message: "Reasoning is mandatory for this endpoint and cannot be disabled.", refuse: contains(`"reasoning_effort":"none"`)}, "retrying with minimal effort"},
		{"a field", other, picky{status: 400, message: "Unsupported parameter: 'temperature' is not supported with this model.", refuse: contains(`"temperature"`)}, `does not accept "temperature"`},
		{"a field of the head", other, picky{status: 400, message: "Unrecognized request argument supplied: stream_options", refuse: contains(`"stream_options"`)}, `does not accept "stream_options"`},
		{"tools", other, picky{status: 400, message: "registry.ollama.ai/library/smol:latest does not support tools", refuse: contains(`"tools"`)}, "cannot use tools"},
		{"tools, over Messages", claude, picky{status: 400, message: "m does not support tools", refuse: contains(`"tools"`)}, "choose another one with /model"},
		{"tools of a server without a parser", other, picky{status: 400, message: "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set", refuse: contains(`"tools"`)}, "cannot use tools"},
		{"pictures", other, picky{status: 500, message: "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj", refuse: contains("image/png")}, "takes no images"},
		{"pictures, over Messages", claude, picky{status: 400, message: "This model does not support image input", refuse: contains("image/png")}, "takes no images"},
		{"thinking", other, picky{status: 400, message: `"smol" does not support thinking`, refuse: contains(`"reasoning_effort"`)}, "going on without it"},
		{"long context", claude, picky{status: 400, message: "The long context beta is not yet available for this subscription.", refuse: func(_ string, h http.Header) bool {
			return strings.Contains(h.Get("Anthropic-Beta"), "context-1m")
		}}, "retrying without it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(&tt.server)
			t.Cleanup(srv.Close)
			c, waits := patient(t, "", func(cfg *provider.Config) {
				cfg.Model = "box:claude-sonnet-4-6"
				if tt.name == "effort" || tt.name == "thinking" { // which is not sent to who may not know it
					cfg.Model, cfg.BaseURL = "m", srv.URL
				}
				cfg.Custom = map[string]provider.Custom{"box": {BaseURL: srv.URL + tt.path, Key: "k", Header: map[string]string{"Anthropic-Beta": "other-1, context-1m-2025-08-07"}}}
			})
			m, err := c.Model(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			r := everything(t)
			var notices []string
			for d, err := range m.Stream(t.Context(), r) {
				if err != nil {
					t.Fatalf("%v\n%.300s", err, tt.server.bodies[len(tt.server.bodies)-1])
				}
				if d.Notice != "" {
					notices = append(notices, d.Notice)
				}
			}
			if len(tt.server.bodies) != 2 || len(notices) != 1 || !strings.Contains(notices[0], tt.notice) || len(*waits) > 0 {
				t.Errorf("called %d times, notices %q, waited %v", len(tt.server.bodies), notices, *waits)
			}
			if _, err := hermes.Collect(m.Stream(t.Context(), r)); err != nil || len(tt.server.bodies) != 3 {
				t.Errorf("the quirk was not remembered: %d requests, %v", len(tt.server.bodies), err)
			}
			if diff := cmp.Diff(r, everything(t)); diff != "" {
				t.Errorf("the request was changed: %s", diff)
			}
			if a, b := tt.server.bodies[1], tt.server.bodies[2]; a != b {
				t.Error("the same request became other bytes")
			}
		})
	}
}

// TestRemediesComeToAnEnd asks servers that refuse whatever is changed.
func TestRemediesComeToAnEnd(t *testing.T) {
	t.Parallel()
	always := func(string, http.Header) bool { return true }
	tests := []struct {
		message string
		class   hermes.Class
		asked   int
	}{
		{"image exceeds 5 MB maximum", hermes.ClassImageTooLarge, 3}, // smaller, then left out
		{"failed to parse grammar", hermes.ClassGrammar, 2},
		{"Unsupported parameter: 'temperature'", hermes.ClassFormat, 2},
		{"Unsupported parameter: 'messages'", hermes.ClassFormat, 1},
		{"Reasoning is mandatory", hermes.ClassReasoningRequired, 2},
	}
	for _, tt := range tests {
		server := picky{status: 400, message: tt.message, refuse: always}
		srv := httptest.NewServer(&server)
		t.Cleanup(srv.Close)
		c, _ := patient(t, srv.URL, nil)
		m, err := c.Model(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := hermes.Collect(m.Stream(t.Context(), everything(t))); hermes.ClassOf(err) != tt.class || len(server.bodies) != tt.asked {
			t.Errorf("%s: %d requests, %v", tt.message, len(server.bodies), err)
		}
	}
}

func TestAnswersThatAreNoneAreAskedAgain(t *testing.T) {
	t.Parallel()
	raw := func(chunk string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: {\"choices\":[%s]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n", chunk)
		}
	}
	content := func(text string) http.HandlerFunc {
		return raw(fmt.Sprintf(`{"delta":{"content":%q},"finish_reason":"stop"}`, text))
	}
	tests := []struct {
		name string
		bad  http.HandlerFunc
		says string
	}{
		{"nothing", raw(`{"delta":{},"finish_reason":"stop"}`), "returned an empty answer"},
		{"blanks", content(" \n\t"), "returned an empty answer"},
		{"marks", content("<|im_end|><|im_end|></s>"), "no text"},
		{"too much", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for i := range 50 {
				text := strings.Repeat("x", 1<<10) + fmt.Sprint(i)
				for len(text) < 1<<20 {
					text += fmt.Sprint(len(text)) + text[:min(len(text), 1<<14)]
				}
				if _, err := fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%q}}]}\n\n", text); err != nil {
					return
				}
			}
		}, "longer than 8 MB"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv, _ := scripted(t, tt.bad, says("ok"))
			c, waits := patient(t, srv.URL, nil)
			_, m, err := collect(t, c)
			if err != nil || m.Text() != "ok" || len(*waits) != 1 {
				t.Errorf("got %q, %v, waited %v", m.Text(), err, *waits)
			}
			srv, asked := scripted(t, tt.bad, tt.bad, tt.bad, tt.bad)
			c, _ = patient(t, srv.URL, nil)
			if _, _, err := collect(t, c); err == nil || !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), "tried 4 times") || len(*asked) != 4 {
				t.Errorf("error %v after %d requests", err, len(*asked))
			}
		})
	}
	for _, good := range []string{"<b>bold</b>", "[1]", "<think>hm</think>words", "hm\n</think>words", "See `</think>`.", "<|x|> words", "0", "。", "…"} {
		srv, _ := scripted(t, content(good))
		c, _ := patient(t, srv.URL, nil)
		if _, m, err := collect(t, c); err != nil || m.Finish != hermes.FinishStop {
			t.Errorf("%q: %v", good, err)
		}
	}
	srv, _ := scripted(t, raw(`{"delta":{},"finish_reason":"content_filter"}`))
	c, _ := patient(t, srv.URL, nil)
	if _, _, err := collect(t, c); hermes.ClassOf(err) != hermes.ClassContentPolicy {
		t.Errorf("held back by a filter: %v", err)
	}
}

// TestEndpointsThatStandStillAreNotAskedForEver counts answers that stall. The
// service answers without a network, in a bubble whose clock goes on only when
// all wait.
func TestEndpointsThatStandStillAreNotAskedForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		service := serviceFunc(func(r *http.Request) (*http.Response, error) {
			_, _ = io.Copy(io.Discard, r.Body)
			if asked++; asked < 7 {
				<-r.Context().Done()
				return nil, context.Cause(r.Context())
			}
			w := httptest.NewRecorder()
			says("ok")(w, r)
			return w.Result(), nil
		})
		c, _ := patient(t, "http://box.test", func(cfg *provider.Config) { cfg.Client = &http.Client{Transport: service} })
		for _, want := range []int{4, 5, 6, 7} { // four tries, then one, one, and one that answers
			_, _, err := collect(t, c)
			if asked != want || (err == nil) != (want == 7) {
				t.Errorf("asked %d times, want %d; %v", asked, want, err)
			}
		}
	})
}

// serviceFunc is a service without a network.
type serviceFunc func(*http.Request) (*http.Response, error)

func (f serviceFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
