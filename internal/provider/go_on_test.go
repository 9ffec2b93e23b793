package provider_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/provider"
)

// answers serves these chunks of a chat completion.
func answers(chunks ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, c := range chunks {
			fmt.Fprintf(w, "data: {\"choices\":[%s]}\n\n", c)
		}
		fmt.Fprint(w, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n")
	}
}

// TestAnswersThatAreOnlyThinkingGoOn: the same request is never sent twice.
func TestAnswersThatAreOnlyThinkingGoOn(t *testing.T) {
	t.Parallel()
	content := func(text, finish string) http.HandlerFunc {
		return answers(fmt.Sprintf(`{"delta":{"content":%q},"finish_reason":%q}`, text, finish))
	}
	for _, tt := range []struct {
		name  string
		bad   http.HandlerFunc
		times int // before it fails
		says  string
	}{
		{"thinking", answers(`{"delta":{"reasoning_content":"hm"},"finish_reason":"stop"}`), 4, "only sent its thinking and no answer"},
		{"thinking in tags", content("<think>hm</think>\n", "stop"), 4, "only sent its thinking"},
		{"thinking without an opening tag", content("hm\n</think>\n\n", "stop"), 4, "only sent its thinking"},
		{"thinking without an end", content("<think>hm", "stop"), 4, "only sent its thinking"},
		{"the limit", answers(`{"delta":{"reasoning_content":"hm"},"finish_reason":"length"}`), 2, "output limit before it answered"},
		{"the limit, in tags", content("<think>hm", "length"), 2, "output limit before it answered"},
		{"the limit, hidden thinking", answers(`{"delta":{},"finish_reason":"length"}`), 2, "output limit before it answered"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv, asked := scripted(t, tt.bad, says("ok"))
			c, waits := patient(t, srv.URL, nil)
			lines, m, err := collect(t, c)
			if err != nil || m.Text() != "ok" || len(*waits) > 0 || m.Usage.Prompt() != 20 || !strings.Contains(strings.Join(lines, "\n"), "asking it to go on") {
				t.Errorf("got %q, usage %+v, %v, waited %v, shown %q", m.Text(), m.Usage, err, *waits, lines)
			}
			if !strings.Contains((*asked)[1], `[You`) || !strings.Contains((*asked)[1], `"hi"`) {
				t.Errorf("the second request is %s", (*asked)[1])
			}
			srv, asked = scripted(t, slices.Repeat([]http.HandlerFunc{tt.bad}, tt.times)...)
			c, _ = patient(t, srv.URL, nil)
			_, _, err = collect(t, c)
			if err == nil || !strings.Contains(err.Error(), tt.says) || len(*asked) != tt.times {
				t.Errorf("error %v after %d requests", err, len(*asked))
			}
			slices.Sort(*asked)
			if len(slices.Compact(*asked)) != tt.times {
				t.Error("the same request was sent twice")
			}
		})
	}
}

// TestCommentaryGoesOn: what the model said before its answer is sent back, and
// is part of the one answer that is stored.
func TestCommentaryGoesOn(t *testing.T) {
	t.Parallel()
	item := func(phase, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			message := fmt.Sprintf(`{"type":"message","id":"m","role":"assistant","phase":%q,"content":[{"type":"output_text","text":%q}]}`, phase, text)
			fmt.Fprintf(w, "event: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":%s}\n\n", message)
			fmt.Fprintf(w, "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[%s],\"usage\":{\"input_tokens\":10,\"output_tokens\":2}}}\n\n", message)
		}
	}
	srv, asked := scripted(t, item("commentary", "I will look."), item("commentary", "Looking now."), item("final_answer", "It is 4."))
	c, _ := patient(t, "", func(cfg *provider.Config) {
		cfg.Model = "box:gpt-5.4"
		cfg.Custom = map[string]provider.Custom{"box": {BaseURL: srv.URL, Key: "k", APIMode: "codex_responses"}}
	})
	_, m, err := collect(t, c)
	if err != nil || m.Text() != "It is 4." || len(m.Reasoning) != 2 || m.Finish != hermes.FinishStop {
		t.Fatalf("got %q with %v, %v", m.Text(), m.Reasoning, err)
	}
	for i, want := range []string{"I will look.", "Looking now."} {
		if body := (*asked)[i+1]; !strings.Contains(body, want) || strings.Count(body, `"phase":"commentary"`) != i+1 {
			t.Errorf("request %d lacks %q: %s", i+2, want, body)
		}
	}
}
