package provider

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"hermes"
	"hermes/internal/fault"
	"hermes/internal/httpc"
	"hermes/internal/modelinfo"
	"hermes/internal/transport/base"
)

// Provider returns a service by name, alias or "custom:name".
func (c *Catalogue) Provider(name string) (hermes.Provider, error) {
	e, err := c.endpoint(strings.ToLower(name))
	if err != nil {
		return nil, err
	}
	return &service{c, e}, nil
}

// service is a hermes.Provider.
type service struct {
	c *Catalogue
	e endpoint
}

// Name returns the id that references begin with.
func (s *service) Name() string { return s.e.id }

// Model returns the named model in its chain.
func (s *service) Model(name string) (hermes.Model, error) {
	if why := s.e.missing(); why != "" {
		return nil, fmt.Errorf("%w: %s", hermes.ErrNoModel, why)
	}
	return s.c.build(choice{s.e, s.c.nameFor(s.e, name)})
}

// List asks the service for its models.
func (s *service) List(ctx context.Context) ([]hermes.ModelInfo, error) {
	return s.c.list(ctx, s.e)
}

// maxList bounds a list of models, in bytes.
const maxList = 16 << 20

// list tries /models and then /v1/models below the service's address.
func (c *Catalogue) list(ctx context.Context, e endpoint) ([]hermes.ModelInfo, error) {
	if len(e.argv) > 0 { // a program is not started to be asked
		return []hermes.ModelInfo{{ID: e.Model, Name: "the program's own choice"}}, nil
	}
	key, err := e.lend(ctx)
	if err != nil {
		return nil, &unlisted{e, err}
	}
	if key.BaseURL != "" { // the key is for this address only
		e.BaseURL = key.BaseURL
	}
	root := strings.TrimRight(e.BaseURL, "/")
	paths := []string{root + "/models", root + "/v1/models"}
	switch e.Protocol {
	case ProtocolAnthropic:
		slices.Reverse(paths)
	case ProtocolGemini:
		paths = []string{root + "/models?pageSize=1000"}
	case ProtocolOllama:
		paths = []string{strings.TrimSuffix(strings.TrimSuffix(root, "/v1"), "/api") + "/v1/models"}
	case ProtocolBedrock:
		return nil, fmt.Errorf("%s does not list its models at this address; give the id of one, such as %s:us.anthropic.claude-sonnet-4-5-20250929-v1:0", e.id, e.id)
	}
	var firstErr error
	for _, url := range paths {
		list, err := c.listAt(ctx, e, key, url)
		if err == nil {
			c.learned.keep(e.BaseURL, list)
			if path := strings.TrimSuffix(strings.TrimPrefix(url, root), "/models"); path == "" || path == apiPath {
				c.bases.keep(e.BaseURL, path)
			}
			return list, nil
		}
		if firstErr == nil {
			firstErr = &unlisted{e, err}
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, firstErr
}

// unlisted is the error of a service that does not list its models.
type unlisted struct {
	endpoint
	err error
}

// Error is the text for the user; the cause is for the log.
func (e *unlisted) Error() string { return e.id + " does not list its models: " + e.why() }
func (e *unlisted) Unwrap() error { return e.err }

func (e *unlisted) why() string {
	why := fault.Classify(fault.Question{Err: e.err}).Message
	if no, ok := errors.AsType[*httpc.RedirectError](e.err); ok {
		why += "; " + base.NewAddress(no, e.BaseURL, e.setting())
	}
	return why
}

func (c *Catalogue) listAt(ctx context.Context, e endpoint, lent hermes.Key, url string) ([]hermes.ModelInfo, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	if key := lent.Secret.Reveal(); key != "" {
		e.setKey(req.Header, key)
	}
	header := e.header()
	if lent.BaseURL != "" && !sameServer(lent.BaseURL, e.custom.BaseURL) {
		header = withoutSecrets(header)
	}
	maps.Copy(req.Header, header)
	client, err := c.client(e)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxList))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, &fault.Failure{Status: resp.StatusCode, Header: resp.Header, Body: body}
	}
	return parseList(body)
}

// setKey sets the header in which the service expects the key.
func (e endpoint) setKey(h http.Header, key string) {
	switch {
	case e.Protocol == ProtocolAnthropic && !e.Bearer:
		h.Set("X-Api-Key", key)
		h.Set("Anthropic-Version", "2023-06-01")
	case e.Protocol == ProtocolGemini && !e.Bearer:
		h.Set("X-Goog-Api-Key", key)
	case e.Chat.KeyHeader != "":
		h.Set(e.Chat.KeyHeader, key)
	default:
		h.Set("Authorization", "Bearer "+key)
	}
}

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

	// Google's own names.
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

// parseList reads {"data": […]}, {"models": […]} or a bare list.
func parseList(body []byte) ([]hermes.ModelInfo, error) {
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
