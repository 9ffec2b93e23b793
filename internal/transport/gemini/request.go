package gemini

import (
	"bytes"
	"encoding/json"
	"fmt"

	"hermes"
	"hermes/internal/schema"
	"hermes/internal/transport/base"
)

// encode writes the whole body.
func (m *Model) encode(r *hermes.Request) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(base.Size(r))
	b.WriteByte('{')
	list, err := m.tools.Encode(r.Tools, encodeTools)
	if err != nil {
		return nil, err
	}
	b.Write(list)
	if r.System != "" {
		b.WriteString(`"systemInstruction":{"parts":[{"text":`)
		base.Text(&b, r.System)
		b.WriteString(`}]},`)
	}
	b.WriteString(`"contents":`)
	if err := m.writeTurns(&b, r.Messages); err != nil {
		return nil, fmt.Errorf("encode the conversation: %w", err)
	}
	if err := m.writeTail(&b, r); err != nil {
		return nil, err
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// writeTail writes what may differ from call to call.
func (m *Model) writeTail(b *bytes.Buffer, r *hermes.Request) error {
	if r.WordsOnly && len(r.Tools) > 0 {
		b.WriteString(`,"toolConfig":{"functionCallingConfig":{"mode":"NONE"}}`)
	}
	var g struct {
		MaxTokens   int       `json:"maxOutputTokens,omitempty"`
		Temperature *float64  `json:"temperature,omitempty"`
		Thinking    *thinking `json:"thinkingConfig,omitempty"`
	}
	g.MaxTokens, g.Thinking = r.MaxTokens, m.caps.thinkingFor(r.Effort)
	if !m.caps.noTemperature {
		g.Temperature = r.Temperature
	}
	if g.MaxTokens <= 0 && g.Temperature == nil && g.Thinking == nil {
		return nil
	}
	b.WriteString(`,"generationConfig":`)
	return base.JSON(b, g)
}

func encodeTools(tools []hermes.Spec) ([]byte, error) {
	type function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters,omitempty"`
	}
	type group struct {
		Functions []function `json:"functionDeclarations"`
	}
	var g group
	for _, t := range tools {
		g.Functions = append(g.Functions, function{t.Name, t.Description, schema.Gemini(t.Schema)})
	}
	var b bytes.Buffer
	b.WriteString(`"tools":`)
	if err := base.JSON(&b, []group{g}); err != nil {
		return nil, fmt.Errorf("encode tools: %w", err)
	}
	b.WriteByte(',')
	return b.Bytes(), nil
}
