package responses

import (
	"encoding/json"
	"strings"

	"hermes"
	"hermes/internal/transport/base"
)

// The JSON format of answers.
type (
	event struct {
		Type     string          `json:"type"`
		Index    int             `json:"output_index"`
		Part     int             `json:"summary_index"`
		Delta    string          `json:"delta"`
		Args     string          `json:"arguments"`
		Item     *said           `json:"item"`
		Response *response       `json:"response"`
		Error    json.RawMessage `json:"error"`
	}
	response struct {
		Object     string          `json:"object"`
		Status     string          `json:"status"`
		Output     []said          `json:"output"`
		Usage      *usage          `json:"usage"`
		Error      json.RawMessage `json:"error"`
		Incomplete *struct {
			Reason string `json:"reason"`
		} `json:"incomplete_details"`
	}
	// said is one item of the output.
	said struct {
		Type      string  `json:"type"`
		Status    string  `json:"status"`
		Phase     string  `json:"phase"`
		Content   []piece `json:"content"`
		Summary   []piece `json:"summary"`
		Encrypted string  `json:"encrypted_content"`
		CallID    string  `json:"call_id"`
		Name      string  `json:"name"`
		Arguments string  `json:"arguments"`
	}
	piece struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	}
	usage struct {
		Input        base.Count `json:"input_tokens"`
		Output       base.Count `json:"output_tokens"`
		Total        base.Count `json:"total_tokens"`
		Cached       base.Count `json:"cached_tokens"`
		InputDetails *struct {
			Cached  base.Count `json:"cached_tokens"`
			Written base.Count `json:"cache_write_tokens"`
		} `json:"input_tokens_details"`
		OutputDetails *struct {
			Reasoning base.Count `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
		Cost        base.Dollars `json:"cost"`
		BYOK        *bool        `json:"is_byok"`
		CostDetails struct {
			Upstream base.Dollars `json:"upstream_inference_cost"`
		} `json:"cost_details"`
	}
)

// text joins the texts of an item.
func (o *said) text() string {
	var b strings.Builder
	for _, p := range o.Content {
		b.WriteString(p.Text + p.Refusal)
	}
	return b.String()
}

// thought joins the summary of a reasoning item, or else its plain text.
func (o *said) thought() string {
	var parts []string
	for _, p := range o.Summary {
		parts = append(parts, p.Text)
	}
	if len(parts) == 0 {
		return o.text()
	}
	return strings.Join(parts, "\n\n")
}

func (o *said) refuses() bool {
	for _, p := range o.Content {
		if p.Refusal != "" {
			return true
		}
	}
	return false
}

// isError reports whether a field of an answer holds an error.
func isError(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", "{}", `""`:
		return false
	}
	return true
}

// tokens maps the usage: nested fields win over top-level ones, and the input
// excludes what went through the cache.
func (u *usage) tokens() *hermes.Usage {
	out := base.Tokens{Prompt: u.Input, Output: u.Output, Total: u.Total, CacheRead: u.Cached}
	if u.InputDetails != nil {
		out.CacheRead, out.CacheWrite = u.InputDetails.Cached, u.InputDetails.Written
	}
	if u.OutputDetails != nil {
		out.Reasoning = u.OutputDetails.Reasoning
	}
	return out.Usage()
}

// cost returns what the service says that the answer costs, nil if nothing.
func (u *usage) cost() *hermes.Money { return base.Cost(u.Cost, u.CostDetails.Upstream, u.BYOK) }
