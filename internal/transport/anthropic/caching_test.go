package anthropic_test

import (
	"encoding/json"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/transport/anthropic"
)

// TestCachingLineByLine holds each rule of prompt caching.
func TestCachingLineByLine(t *testing.T) {
	t.Parallel()
	user := func(text string) hermes.Message { return hermes.UserText(text) }
	says := func(text string) hermes.Message {
		return hermes.Message{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: text}}}
	}
	calls := hermes.Message{Role: hermes.RoleAssistant, Calls: []hermes.ToolCall{{ID: "c", Name: "todo", Arguments: "{}"}}}
	result := hermes.Message{Role: hermes.RoleTool, CallID: "c", Parts: []hermes.Part{{Text: "r"}}}
	picture := hermes.Message{Role: hermes.RoleUser, Parts: []hermes.Part{{Text: "see"}, {Image: &hermes.Image{URL: "https://x/y.png"}}}}
	long := []hermes.Message{user("u1"), says("a1"), user("u2"), says("a2"), user("u3"), says("a3"), user("u4")}
	const plain, hour = `"cache_control":{"type":"ephemeral"}`, `"cache_control":{"type":"ephemeral","ttl":"1h"}`
	for name, tt := range map[string]struct {
		ttl     string
		r       hermes.Request
		marks   int
		has     []string
		without []string
	}{
		"at most four: system and the last three": {"5m", hermes.Request{System: "s", Messages: long}, 4,
			[]string{`"s",` + plain, `"a3",` + plain, `"u4",` + plain, `"u3",` + plain}, []string{`"a2",` + plain}},
		"four others without a system prompt": {"5m", hermes.Request{Messages: long}, 4, []string{`"a2",` + plain}, []string{`"u2",` + plain}},
		"the same lifetime for all":           {"1h", hermes.Request{System: "s", Messages: long}, 4, []string{`"s",` + hour, `"u4",` + hour}, []string{plain + "}"}},
		"five minutes have no ttl":            {"5m", hermes.Request{System: "s", Messages: long}, 4, nil, []string{`"ttl"`}},
		"a text is one part":                  {"5m", hermes.Request{Messages: []hermes.Message{user("u")}}, 1, []string{`"content":[{"type":"text","text":"u",` + plain + `}]`}, nil},
		"in a list the last part":             {"5m", hermes.Request{Messages: []hermes.Message{picture}}, 1, []string{`y.png"},` + plain + `}]`}, []string{`"see",` + plain}},
		"a result carries it on its envelope": {"5m", hermes.Request{Messages: []hermes.Message{user("u"), calls, result}}, 3,
			[]string{`"content":[{"type":"text","text":"r"}],` + plain}, []string{`"r",` + plain}},
		"fewer messages, fewer marks":          {"5m", hermes.Request{System: "s", Messages: long[:1]}, 2, nil, nil},
		"a side task of one question has none": {"5m", hermes.Request{System: "s", Messages: long[:1], Purpose: "title_generation"}, 0, nil, []string{"cache_control"}},
		"one that goes on has them":            {"5m", hermes.Request{System: "s", Messages: long, Purpose: "review"}, 4, nil, nil},
		"off":                                  {"", hermes.Request{System: "s", Messages: long}, 0, nil, []string{"cache_control"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, err := json.Marshal(tt.r.Messages)
			if err != nil {
				t.Fatal(err)
			}
			got := string(sent(t, func(c *anthropic.Config) { c.Quirks.CacheTTL = tt.ttl }, &tt.r))
			if n := strings.Count(got, "cache_control"); n != tt.marks {
				t.Errorf("%d marks, want %d: %s", n, tt.marks, got)
			}
			for _, part := range tt.has {
				if !strings.Contains(got, part) {
					t.Errorf("no %s in %s", part, got)
				}
			}
			for _, part := range tt.without {
				if strings.Contains(got, part) {
					t.Errorf("%s in %s", part, got)
				}
			}
			if after, err := json.Marshal(tt.r.Messages); err != nil || string(after) != string(before) {
				t.Errorf("the caller's messages changed to %s (%v)", after, err)
			}
		})
	}
}
