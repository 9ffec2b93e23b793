package serverinfo

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hermes"
	"hermes/internal/fault"
	"hermes/internal/modelinfo"
)

// listed is a model as services describe it. Each service fills some fields.
type listed struct {
	ID            string `json:"id"`
	Name          string `json:"name"`
	DisplayName   string `json:"display_name"`
	ContextLength int    `json:"context_length"`
	MaxModelLen   int    `json:"max_model_len"`
	MaxInput      int    `json:"max_input_tokens"`
	MaxOutput     int    `json:"max_output_tokens"`
	MaxTokens     int    `json:"max_tokens"` // of an answer
	TopProvider   struct {
		MaxOutput int `json:"max_completion_tokens"`
	} `json:"top_provider"`
	Architecture struct {
		Input []string `json:"input_modalities"`
	} `json:"architecture"`
	Meta struct {
		Window  int `json:"n_ctx"`       // that the server was started with
		Trained int `json:"n_ctx_train"` // what the model could have
	} `json:"meta"`
	Parameters []string        `json:"supported_parameters"`
	Pricing    json.RawMessage `json:"pricing"` // in many forms
	google
}

// google has Google's own names.
type google struct {
	Display   string   `json:"displayName"`
	MaxPrompt int      `json:"inputTokenLimit"`
	MaxAnswer int      `json:"outputTokenLimit"`
	Methods   []string `json:"supportedGenerationMethods"`
	Thinking  bool     `json:"thinking"`
}

// id is the name to request; empty for models that cannot chat. Google puts it
// after "models/" in another field.
func (m listed) id() string {
	if name, ok := strings.CutPrefix(m.Name, "models/"); ok && m.ID == "" && slices.Contains(m.Methods, "generateContent") {
		return name
	}
	return m.ID
}

// window returns the context length that the server uses, which may be less than
// what the model could have.
func (m listed) window() int {
	if m.Meta.Window > 0 {
		return m.Meta.Window
	}
	return max(m.ContextLength, m.MaxModelLen, m.MaxInput, m.Meta.Trained, m.MaxPrompt)
}

// listedPrice is in dollars per token, which aggregators write as strings.
type listedPrice struct {
	Prompt     any `json:"prompt"`
	Completion any `json:"completion"`
	CacheRead  any `json:"input_cache_read"`
	CacheWrite any `json:"input_cache_write"`
}

// priceOf returns nil unless both directions have a valid price. It converts
// prices per token to prices per million tokens.
func priceOf(model string, raw json.RawMessage) *hermes.Price {
	var p listedPrice
	if len(raw) == 0 || json.Unmarshal(raw, &p) != nil {
		return nil
	}
	rate := func(v any) hermes.Money {
		text, ok := v.(string)
		usd, err := strconv.ParseFloat(text, 64)
		if !ok || err != nil || usd < 0 || usd > 1 {
			return -1
		}
		return hermes.USD(usd * 1e6)
	}
	in, out := rate(p.Prompt), rate(p.Completion)
	if in < 0 || out < 0 {
		return nil
	}
	write := rate(p.CacheWrite)
	return &hermes.Price{Input: in, Output: out, CacheRead: rate(p.CacheRead), CacheWrite: write, CacheWriteLong: longWrite(model, write)}
}

// longWrite is the rate of writing to a cache of one hour where a list has one rate
// for writing.
func longWrite(model string, write hermes.Money) hermes.Money {
	if modelinfo.OwnLongCache(model) {
		return -1
	}
	return write
}

// ParseList reads a list of models: {"data": […]}, {"models": […]} or a bare list. Models
// that cannot chat are left out where the list says so. It fails if none is left.
func ParseList(body []byte) ([]hermes.ModelInfo, error) {
	var wrapped struct {
		Data   []listed `json:"data"`
		Models []listed `json:"models"`
	}
	if err := json.Unmarshal(body, &wrapped); err != nil {
		if json.Unmarshal(body, &wrapped.Data) != nil {
			return nil, fmt.Errorf("%w: it is not a list of models", fault.ErrGarbage)
		}
	}
	all := wrapped.Data
	if len(all) == 0 {
		all = wrapped.Models
	}
	var out []hermes.ModelInfo
	for _, m := range all {
		id := m.id()
		if id == "" {
			continue
		}
		out = append(out, hermes.ModelInfo{
			ID: id, Name: cmp.Or(m.DisplayName, m.Display, m.Name),
			ContextLength: m.window(),
			OutputLimit:   cmp.Or(m.TopProvider.MaxOutput, m.MaxOutput, m.MaxTokens, m.MaxAnswer),
			Vision:        slices.Contains(m.Architecture.Input, "image"),
			Reasoning:     m.Thinking || slices.Contains(m.Parameters, "reasoning"),
			Tools:         slices.Contains(m.Parameters, "tools"),
			Price:         priceOf(m.id(), m.Pricing),
		})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: the list of models is empty", fault.ErrGarbage)
	}
	return out, nil
}

// Chatting returns the ids of the models of a list that can chat.
func Chatting(list []hermes.ModelInfo) []string {
	var ids []string
	for _, m := range list {
		if name := strings.ToLower(m.ID); !strings.Contains(name, "embed") && !strings.Contains(name, "rerank") {
			ids = append(ids, m.ID)
		}
	}
	return ids
}
