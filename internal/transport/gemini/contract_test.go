package gemini_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"hermes"
	"hermes/hermestest/modelsuite"
	"hermes/internal/transport/base"
	"hermes/internal/transport/gemini"
)

var contract = modelsuite.Protocol{
	New: func(url string, client *http.Client) hermes.Model {
		return gemini.New(gemini.Config{Config: base.Config{ID: "test:m", Provider: "test", Model: "gemini-3-flash-preview", BaseURL: url, Client: client}})
	},
	Plain: func(url string, client *http.Client) hermes.Model {
		return gemini.New(gemini.Config{Config: base.Config{ID: "test:m", Provider: "test", Model: "gemini-2.5-flash", BaseURL: url, Client: client}})
	},
	Answer: answer,
	Failure: func() string {
		return "data: {\"error\":{\"code\":503,\"message\":\"The model is overloaded.\",\"status\":\"UNAVAILABLE\"}}\n\n"
	},
	Refusal: func(message string) string {
		return fmt.Sprintf(`{"error":{"code":400,"message":%q,"status":"SOME"}}`, message)
	},
	Messages: "contents",
}

func TestContract(t *testing.T) {
	t.Parallel()
	modelsuite.Run(t, contract)
}

func answer(a modelsuite.Answer) string {
	var b strings.Builder
	chunk := func(format string, args ...any) {
		fmt.Fprintf(&b, "data: {\"candidates\":[{%s}],\"usageMetadata\":{\"promptTokenCount\":%d,\"candidatesTokenCount\":%d,\"cachedContentTokenCount\":%d,\"thoughtsTokenCount\":%d}}\r\n\r\n", fmt.Sprintf(format, args...),
			a.Usage.Input+a.Usage.CacheRead, a.Usage.Output-a.Usage.Reasoning, a.Usage.CacheRead, a.Usage.Reasoning)
	}
	for _, piece := range a.Thinking {
		quoted, _ := json.Marshal(piece)
		chunk(`"content":{"parts":[{"text":%s,"thought":true}],"role":"model"},"index":0`, quoted)
	}
	for _, piece := range a.Text {
		quoted, _ := json.Marshal(piece)
		chunk(`"content":{"parts":[{"text":%s}],"role":"model"},"index":0`, quoted)
	}
	for _, c := range a.Calls {
		chunk(`"content":{"parts":[{"functionCall":{"id":%q,"name":%q,"args":%s}}],"role":"model"},"index":0`, c.ID, c.Name, c.Arguments)
	}
	stop := map[hermes.Finish]string{hermes.FinishLength: "MAX_TOKENS", hermes.FinishFilter: "SAFETY"}[a.Finish]
	chunk(`"content":{"parts":[{"text":""}],"role":"model"},"finishReason":%q,"index":0`, cmp.Or(stop, "STOP"))
	return b.String()
}

func TestHandoff(t *testing.T) {
	t.Parallel()
	modelsuite.RunHandoff(t, contract, "gemini", refuse)
}

// refuse says what the service would not take.
func refuse(body []byte) error {
	var b struct {
		Contents []struct {
			Role  string
			Parts []struct {
				Text     string
				Inline   *struct{ MimeType, Data string } `json:"inlineData"`
				File     *struct{ FileURI string }        `json:"fileData"`
				Call     *struct{ ID, Name string }       `json:"functionCall"`
				Response *struct {
					ID, Name string
					Response map[string]string
				} `json:"functionResponse"`
				Signature string `json:"thoughtSignature"`
			}
		}
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return err
	}
	var open []string
	for i, turn := range b.Contents {
		if want := []string{"user", "model"}[i%2]; turn.Role != want || len(turn.Parts) == 0 {
			return fmt.Errorf("turn %d is of %q, with %d parts", i, turn.Role, len(turn.Parts))
		}
		var calls, results []string
		for j, p := range turn.Parts {
			switch {
			case p.Call != nil:
				if len(calls) == 0 && p.Signature == "" {
					return fmt.Errorf("turn %d: a call without signature", i)
				}
				calls = append(calls, p.Call.ID+" "+p.Call.Name)
			case p.Response != nil:
				if len(results) != j || p.Response.Response["output"]+p.Response.Response["error"] == "" {
					return fmt.Errorf("turn %d: result %+v comes late or is empty", i, p.Response)
				}
				results = append(results, p.Response.ID+" "+p.Response.Name)
			case p.Text == "" && p.Inline == nil && p.File == nil:
				return fmt.Errorf("turn %d: an empty part", i)
			}
		}
		if strings.Join(open, ",") != strings.Join(results, ",") {
			return fmt.Errorf("turn %d: the calls %q got the results %q", i, open, results)
		}
		open = calls
	}
	if len(open) > 0 {
		return errors.New("calls without results")
	}
	return nil
}
