package ollama

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"hermes"
	"hermes/internal/schema"
	"hermes/internal/transport/base"
)

// The JSON format of a conversation.
type (
	message struct {
		Role     string   `json:"role"`
		Content  string   `json:"content"`
		Thinking string   `json:"thinking,omitempty"`
		Images   []string `json:"images,omitempty"`
		Calls    []call   `json:"tool_calls,omitempty"`
		ToolName string   `json:"tool_name,omitempty"`
		CallID   string   `json:"tool_call_id,omitempty"`
	}
	call struct {
		ID       string   `json:"id,omitempty"`
		Function function `json:"function"`
	}
	function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	options struct {
		Context     int      `json:"num_ctx,omitempty"`
		MaxTokens   int      `json:"num_predict,omitempty"`
		Temperature *float64 `json:"temperature,omitempty"`
	}
)

const (
	protocolName = "ollama"
	// inWords is the last message if no calls are wanted: the protocol has no
	// other way to say it, and the tools must stay for the server's prompt
	// cache.
	inWords = "Answer in words now. Do not call a tool."
)

// encode writes the whole body.
func (m *Model) encode(r *hermes.Request, s *shown) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(base.Size(r))
	b.WriteString(`{"model":`)
	if err := base.JSON(&b, m.cfg.Model); err != nil {
		return nil, err
	}
	fmt.Fprintf(&b, `,"stream":%t`, !m.cfg.Quirks.NoStream)
	if m.cfg.Quirks.KeepAlive != "" {
		fmt.Fprintf(&b, `,"keep_alive":%q`, m.cfg.Quirks.KeepAlive)
	}
	list, err := m.tools.Encode(r.Tools, encodeTools)
	if err != nil {
		return nil, err
	}
	b.Write(list)
	b.WriteString(`,"messages":`)
	if err := base.List(&b, messages(r)); err != nil {
		return nil, fmt.Errorf("encode the conversation: %w", err)
	}
	if err := m.writeTail(&b, r, s); err != nil {
		return nil, err
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// writeTail writes what may differ from call to call. The server must refuse a
// prompt that is too long, not silently cut its beginning.
func (m *Model) writeTail(b *bytes.Buffer, r *hermes.Request, s *shown) error {
	b.WriteString(`,"truncate":false,"shift":false`)
	if think := m.think(r.Effort, s); think != "" {
		b.WriteString(`,"think":` + think)
	}
	b.WriteString(`,"options":`)
	return base.JSON(b, options{Context: s.context(m.cfg.Window), MaxTokens: r.MaxTokens, Temperature: base.Temperature(m.cfg.Model, r.Temperature)})
}

// think returns the switch for thinking, as JSON; empty leaves it to the server. A
// model that cannot think refuses the switch.
func (m *Model) think(e hermes.Effort, s *shown) string {
	if e == "" || !s.can("thinking") {
		return ""
	}
	if !strings.Contains(strings.ToLower(m.cfg.Model), "gpt-oss") {
		return map[bool]string{true: "true", false: "false"}[e != hermes.EffortNone]
	}
	switch e { // it always thinks, at three levels
	case hermes.EffortNone, hermes.EffortMinimal, hermes.EffortLow:
		return `"low"`
	case hermes.EffortMedium:
		return `"medium"`
	}
	return `"high"`
}

func messages(r *hermes.Request) []message {
	msgs := base.Sendable(r.Messages)
	kept := base.PairsOf(msgs)
	out := make([]message, 0, len(r.Messages)+2)
	if r.System != "" {
		out = append(out, message{Role: "system", Content: r.System})
	}
	names := map[string]string{}
	var shown []*hermes.Image // from results; models expect them in a user message
	for i, msg := range msgs {
		switch msg.Role {
		case hermes.RoleUser:
			out = append(out, withImages(message{Role: "user", Content: msg.Text()}, base.Images(msg)))
		case hermes.RoleAssistant:
			out = append(out, said(msg, kept.Calls[i], names))
		case hermes.RoleTool:
			if !kept.Results[i] {
				continue
			}
			out = append(out, message{Role: "tool", Content: cmp.Or(msg.Text(), base.NoOutput), ToolName: cmp.Or(names[msg.CallID], msg.ToolName), CallID: msg.CallID})
			shown = append(shown, base.Images(msg)...)
			if last := i+1 == len(msgs) || msgs[i+1].Role != hermes.RoleTool; last && len(shown) > 0 {
				out = append(out, withImages(message{Role: "user", Content: "Images returned by the tools:"}, shown))
				shown = nil
			}
		}
	}
	if r.WordsOnly && len(r.Tools) > 0 {
		out = append(out, message{Role: "user", Content: inWords})
	}
	return out
}

// withImages adds the data of images to a message. The server does not fetch
// addresses, so these are added as text.
func withImages(m message, images []*hermes.Image) message {
	for _, img := range images {
		if len(img.Data) > 0 {
			_, data := base.Base64(img)
			m.Images = append(m.Images, data)
			continue
		}
		m.Content = strings.TrimPrefix(m.Content+"\n", "\n") + "(an image that could not be loaded: " + img.URL + ")"
	}
	if m.Content == "" && len(m.Images) == 0 {
		m.Content = base.NoText
	}
	return m
}

// said converts an assistant's message. Thinking is sent back only with calls: the
// model continues from it after the tool results.
func said(msg hermes.Message, answered []bool, names map[string]string) message {
	m := message{Role: "assistant", Content: msg.Text()}
	for i, c := range msg.Calls {
		if answered[i] {
			names[c.ID] = c.Name
			m.Calls = append(m.Calls, call{c.ID, function{c.Name, base.Object(c.Arguments)}})
		}
	}
	if len(m.Calls) > 0 {
		for _, b := range msg.Reasoning {
			if b.Protocol == protocolName {
				m.Thinking += b.Text
			}
		}
		return m
	}
	if strings.TrimSpace(m.Content) == "" {
		m.Content = base.NoText
	}
	return m
}

func encodeTools(tools []hermes.Spec) ([]byte, error) {
	type described struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	type tool struct {
		Type     string    `json:"type"`
		Function described `json:"function"`
	}
	var list []tool
	for _, t := range tools {
		list = append(list, tool{"function", described{t.Name, t.Description, schema.Clean(t.Schema)}})
	}
	var b bytes.Buffer
	b.WriteString(`,"tools":`)
	if err := base.JSON(&b, list); err != nil {
		return nil, fmt.Errorf("encode tools: %w", err)
	}
	return b.Bytes(), nil
}
