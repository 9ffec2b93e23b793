package chat

import (
	"bytes"
	"fmt"

	"hermes"
	"hermes/internal/schema"
	"hermes/internal/transport/base"
)

// encodeHead returns the body up to the tools, which is the same for a whole
// session.
func (m *Model) encodeHead() []byte {
	var b bytes.Buffer
	b.WriteString(`{"model":`)
	_ = base.JSON(&b, m.cfg.Model)
	base.Fields(&b, m.cfg.Quirks.Extra)
	if m.cfg.Quirks.NoStream {
		b.WriteString(`,"stream":false`)
		return b.Bytes()
	}
	b.WriteString(`,"stream":true`)
	if !m.cfg.Quirks.NoUsageOption {
		b.WriteString(`,"stream_options":{"include_usage":true}`)
	}
	return b.Bytes()
}

// encode writes the whole body.
func (m *Model) encode(r *hermes.Request) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(base.Size(r))
	b.Write(m.head)
	if f := m.cfg.Quirks.SessionField; f != "" && r.Session != "" {
		b.WriteByte(',')
		_ = base.JSON(&b, f)
		b.WriteByte(':')
		_ = base.JSON(&b, r.Session)
	}
	list, err := m.tools.Encode(r.Tools, encodeTools)
	if err != nil {
		return nil, err
	}
	b.Write(list)
	b.WriteString(`,"messages":`)
	if err := base.List(&b, m.messages(r)); err != nil {
		return nil, fmt.Errorf("encode the conversation: %w", err)
	}
	m.writeTail(&b, r)
	b.WriteByte('}')
	return b.Bytes(), nil
}

// writeTail writes what may differ from call to call.
func (m *Model) writeTail(b *bytes.Buffer, r *hermes.Request) {
	if r.WordsOnly && len(r.Tools) > 0 {
		b.WriteString(`,"tool_choice":"none"`)
	}
	if r.MaxTokens > 0 {
		field := m.cfg.Quirks.MaxTokens
		if field == "" {
			field = "max_tokens"
			if thinksFirst(m.cfg.Model) {
				field = "max_completion_tokens"
			}
		}
		fmt.Fprintf(b, `,%q:%d`, field, r.MaxTokens)
	}
	if t := base.Temperature(m.cfg.Model, r.Temperature); t != nil && !m.cfg.Quirks.NoTemperature && !thinksFirst(m.cfg.Model) {
		b.WriteString(`,"temperature":`)
		_ = base.JSON(b, *t)
	}
	m.writeEffort(b, r.Effort)
	base.Fields(b, m.cfg.Quirks.Tail)
}

func (m *Model) writeEffort(b *bytes.Buffer, e hermes.Effort) {
	if e == "" {
		return
	}
	on := e != hermes.EffortNone
	switch m.cfg.Quirks.Effort {
	case "effort":
		fmt.Fprintf(b, `,"reasoning_effort":%q`, effortWord(m.cfg.Model, e))
	case "object":
		if !on {
			b.WriteString(`,"reasoning":{"enabled":false}`)
			return
		}
		word := e
		if e == hermes.EffortMax {
			word = hermes.EffortXHigh
		}
		fmt.Fprintf(b, `,"reasoning":{"effort":%q}`, word)
	case "thinking":
		kind := "enabled"
		if !on {
			kind = "disabled"
		}
		fmt.Fprintf(b, `,"thinking":{"type":%q}`, kind)
	case "enable_thinking":
		fmt.Fprintf(b, `,"enable_thinking":%t`, on)
	}
}

// encodeTools writes the list of tools.
func encodeTools(tools []hermes.Spec) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(`,"tools":[`)
	for i, t := range tools {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"type":"function","function":{"name":`)
		_ = base.JSON(&b, t.Name)
		b.WriteString(`,"description":`)
		_ = base.JSON(&b, t.Description)
		b.WriteString(`,"parameters":`)
		b.Write(schema.Clean(t.Schema))
		b.WriteString(`}}`)
	}
	b.WriteByte(']')
	return b.Bytes(), nil
}
