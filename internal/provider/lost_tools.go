package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"time"

	"hermes"
	"hermes/internal/chain"
	"hermes/internal/serverinfo"
	"hermes/internal/tokens"
)

// watchTools is the layer that notices that a server leaves out the tools of a
// request: some chat templates have no place for them, and the server says
// nothing. The model can only talk then. The user is told once for each model.
// It is for the user's own servers; services refuse such a request.
func (c *Catalogue) watchTools(ch choice) chain.Layer {
	switch ch.Protocol {
	case ProtocolChat, ProtocolAnthropic, ProtocolResponses:
	default:
		return nil
	}
	if !isLocal(ch.BaseURL) && ch.custom.BaseURL == "" && ch.id != "custom" {
		return nil
	}
	return func(next hermes.Model) hermes.Model { return &toolWatch{Model: next, c: c, ch: ch} }
}

type toolWatch struct {
	hermes.Model
	c  *Catalogue
	ch choice
}

// Stream warns at the end of an answer (Warning).
func (m *toolWatch) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) {
		called, prompt := false, 0
		for d, err := range m.Model.Stream(ctx, r) {
			switch {
			case d.Call != nil:
				called = true
			case d.Usage != nil:
				prompt = int(d.Usage.Prompt())
			case d.Finish != "":
				if warning := m.warning(ctx, r, called, prompt); warning != "" && !yield(hermes.Delta{Warning: warning}, nil) {
					return
				}
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// warning decides once for each model. A call proves that the model has its tools.
func (m *toolWatch) warning(ctx context.Context, r *hermes.Request, called bool, prompt int) string {
	if len(r.Tools) == 0 || prompt == 0 && !called {
		return ""
	}
	tools, rest := promptSize(r)
	low := tools >= fewTools && prompt < rest+tools*3/4
	if !called && !low || !m.c.watchOnce(m.ch) || called {
		return ""
	}
	const advice = "It can only talk. Start the server with a chat template that has tools (llama.cpp: --jinja --chat-template-file FILE), or choose another model with /model."
	switch m.c.template(ctx, m.ch.endpoint) {
	case withTools:
		return ""
	case withoutTools:
		return fmt.Sprintf("%s does not get the tools: the chat template of its server leaves them out. %s", m.ID(), advice)
	}
	if prompt >= (tools+rest)*2/5 {
		return "" // tokenizers differ
	}
	return fmt.Sprintf("%s seems not to get the tools: its server counted %d tokens for a request of about %d. %s", m.ID(), prompt, tools+rest, advice)
}

// fewTools is the size in tokens of tool specs below which an estimate proves
// nothing.
const fewTools = 50

// promptSize estimates the tokens of the tools and of everything else.
func promptSize(r *hermes.Request) (tools, rest int) {
	rest = tokens.Text(r.System)
	for _, msg := range r.Messages {
		rest += tokens.Text(msg.Text())
	}
	for _, t := range r.Tools {
		tools += tokens.Texts(t.Name, t.Description, string(t.Schema))
	}
	return tools, rest
}

// watchOnce reports whether a model was not judged before.
func (c *Catalogue) watchOnce(ch choice) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	id := ch.BaseURL + "\n" + ch.model
	before := c.judged[id]
	c.judged[id] = true
	return !before
}

// template says what is known about a chat template.
type template int

const (
	unknownTemplate template = iota
	withTools
	withoutTools
)

// template asks llama.cpp's server for its chat template. Other servers do not
// know the address.
func (c *Catalogue) template(ctx context.Context, e endpoint) template {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	root := strings.TrimSuffix(strings.TrimRight(e.BaseURL, "/"), serverinfo.APIPath)
	key, err := e.lend(ctx)
	if err != nil || key.BaseURL != "" && key.BaseURL != e.BaseURL {
		return unknownTemplate
	}
	var props struct {
		Template string           `json:"chat_template"`
		Caps     map[string]*bool `json:"chat_template_caps"`
	}
	body, err := c.get(ctx, e, key, nil, root+"/props")
	if err != nil || json.Unmarshal(body, &props) != nil {
		return unknownTemplate
	}
	tools, calls := props.Caps["supports_tools"], props.Caps["supports_tool_calls"]
	switch {
	case tools != nil && *tools, calls != nil && *calls, strings.Contains(props.Template, "tools"):
		return withTools
	case tools != nil, props.Template != "": // older servers have the template only
		return withoutTools
	}
	return unknownTemplate
}
