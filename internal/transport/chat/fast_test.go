package chat

import (
	"bytes"
	"encoding/json"
	"testing"

	"hermes"
)

// slow reads a chunk the long way and returns its text if it says nothing else.
func slow(data []byte) (text string, only bool) {
	if !json.Valid(data) {
		return "", false
	}
	a := newAnswer(&hermes.Request{}, nil, "")
	var all []hermes.Delta
	a.yield = func(d hermes.Delta) error {
		all = append(all, d)
		return nil
	}
	var c chunk
	if json.Unmarshal(data, &c) != nil || c.failed() || c.Usage != nil || len(c.Choices) != 1 || c.Choices[0].Index != 0 {
		return "", false
	}
	if a.choice(&c.Choices[0]) != nil || a.finish != "" || len(all) != 1 || all[0].Text == "" {
		return "", false
	}
	return all[0].Text, true
}

var chunks = []string{
	`{"id":"c","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[{"index":0,"delta":{"content":"word "},"finish_reason":null}]}`,
	`{"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":"a\nb \"c\" \\ d/e é 日本"},"logprobs":null,"finish_reason":null}],"usage":null}`,
	`{"choices": [{"index": 0, "delta": {"content": "spaced"}}]}`,
	`{"choices":[{"index":0,"delta":{"content":"escape \u00e9"}}]}`,
	`{"choices":[{"index":0,"delta":{"content":"x","token_ids":null},"stop_reason":null}],"error":null,"usage":null}`,
	`{"choices":[{"index":0,"delta":{"content":"x","Content":null},"Delta":null}],"Choices":null}`,
	`{"choices":[{"index":0,"delta":{"content":""}}]}`,
	`{"choices":[{"index":0,"delta":{"content":null}}]}`,
	`{"choices":[{"index":1,"delta":{"content":"other"}}]}`,
	`{"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]}`,
	`{"choices":[{"index":0,"delta":{"content":"x","reasoning":"y"}}]}`,
	`{"choices":[{"index":0,"delta":{"content":"x"}}],"error":{"message":"e"}}`,
	`{"choices":[{"index":0,"delta":{"content":"x"}}],"usage":{"prompt_tokens":1}}`,
	`{"choices":[{"index":0,"delta":{"content":"x","content":"y"}}]}`,
	`{"choices":[{"index":0,"delta":{"content":"x"}},{"index":0,"delta":{"content":"y"}}]}`,
	`{"choices":[{"delta":{"content":"x"}}],"choices":[{"delta":{"content":"y"}}]}`,
	`{"id":"\"","choices":[{"index":0,"delta":{"content":"x\\"}}]}`,
	`{"choices":[{"index":0,"delta":{"content":"x"}}]}}`,
	`{"choices":[{"index":0,"delta":{"content":"x"`,
	`{"created":00,"choices":[{"index":0,"delta":{"content":"x"}}]}`,
	"{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\xff\"}}]}",
	"{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"raw\nbreak\"}}]}",
}

func TestFastPathAgrees(t *testing.T) {
	t.Parallel()
	taken := 0
	for _, c := range chunks {
		text, ok := plain([]byte(c))
		if !ok {
			continue
		}
		taken++
		if want, only := slow([]byte(c)); !only || text != want {
			t.Errorf("%s: read %q, want %q", c, text, want)
		}
	}
	if taken != 4 {
		t.Errorf("%d chunks took the fast path, want 4", taken)
	}
}

func FuzzFastPath(f *testing.F) {
	for _, c := range chunks {
		f.Add([]byte(c))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		text, ok := plain(bytes.TrimSpace(data))
		if !ok {
			return
		}
		if want, only := slow(data); !only || text != want {
			t.Errorf("%q: read %q, want %q, %v", data, text, want, only)
		}
	})
}
