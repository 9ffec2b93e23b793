package anthropic

import (
	"bytes"
	"cmp"
	"encoding/json"
	"unicode/utf8"

	"hermes"
	"hermes/internal/transport/base"
)

// The JSON format of answers.
type (
	event struct {
		Type         string          `json:"type"`
		Index        int             `json:"index"`
		Message      *message        `json:"message"`
		ContentBlock *content        `json:"content_block"`
		Delta        *delta          `json:"delta"`
		Usage        *usage          `json:"usage"`
		Error        json.RawMessage `json:"error"`
	}
	message struct {
		Type       string          `json:"type"`
		Content    []content       `json:"content"`
		StopReason string          `json:"stop_reason"`
		Usage      *usage          `json:"usage"`
		Error      json.RawMessage `json:"error"`
	}
	content struct {
		Type      string          `json:"type"`
		Text      string          `json:"text"`
		Thinking  string          `json:"thinking"`
		Signature string          `json:"signature"`
		Data      string          `json:"data"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Input     json.RawMessage `json:"input"`
	}
	delta struct {
		Text        string `json:"text"`
		Thinking    string `json:"thinking"`
		Signature   string `json:"signature"`
		PartialJSON string `json:"partial_json"`
		StopReason  string `json:"stop_reason"`
	}
	usage struct {
		Input      base.Count `json:"input_tokens"`
		Output     base.Count `json:"output_tokens"`
		CacheRead  base.Count `json:"cache_read_input_tokens"`
		CacheWrite base.Count `json:"cache_creation_input_tokens"`
		// Of routers.
		Cost        base.Dollars `json:"cost"`
		BYOK        *bool        `json:"is_byok"`
		CostDetails struct {
			Upstream base.Dollars `json:"upstream_inference_cost"`
		} `json:"cost_details"`
	}
)

// count processes a usage: the last one counts, but the counts of the prompt are
// in the first one and may be missing or zero later.
func (a *answer) count(u *usage) {
	if u == nil {
		return
	}
	a.counted = true
	all := &a.usage
	all.Input = max(all.Input, u.Input)
	all.Output = max(all.Output, u.Output)
	all.CacheRead = max(all.CacheRead, u.CacheRead)
	all.CacheWrite = max(all.CacheWrite, u.CacheWrite)
	all.Cost = max(all.Cost, u.Cost)
	all.CostDetails.Upstream = max(all.CostDetails.Upstream, u.CostDetails.Upstream)
	all.BYOK = cmp.Or(u.BYOK, all.BYOK)
}

// tokens maps the usage. In this protocol, input already excludes the cache.
func (u usage) tokens() *hermes.Usage {
	return &hermes.Usage{
		Input: int64(u.Input), Output: int64(u.Output), CacheRead: int64(u.CacheRead), CacheWrite: int64(u.CacheWrite), Calls: 1,
	}
}

var (
	textHead = []byte(`{"type":"content_block_delta","index":`)
	textMid  = []byte(`,"delta":{"type":"text_delta","text":"`)
)

// plainText reads the most frequent event, a piece of text without escapes in the
// form that Anthropic sends, without a parser. For anything else ok is false.
func plainText(data []byte) (string, bool) {
	rest, ok := bytes.CutPrefix(data, textHead)
	for ok && len(rest) > 0 && rest[0] >= '0' && rest[0] <= '9' {
		rest = rest[1:]
	}
	if rest, ok = bytes.CutPrefix(rest, textMid); !ok {
		return "", false
	}
	n := bytes.IndexByte(rest, '"')
	if n <= 0 {
		return "", false
	}
	text, tail := rest[:n], rest[n:]
	for _, c := range text {
		if c == '\\' || c < ' ' {
			return "", false
		}
	}
	if string(bytes.TrimRight(tail, " \t")) != `"}}` || !utf8.Valid(text) {
		return "", false
	}
	return string(text), true
}
