package chat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"hermes"
	"hermes/internal/schema"
	"hermes/internal/tokens"
)

// encodeHead is the body up to the tools: what a session never changes.
func (m *Model) encodeHead() []byte {
	var b bytes.Buffer
	b.WriteString(`{"model":`)
	writeJSON(&b, m.cfg.Model)
	for _, k := range slices.Sorted(maps.Keys(m.cfg.Quirks.Extra)) {
		b.WriteByte(',')
		writeJSON(&b, k)
		b.WriteByte(':')
		b.Write(m.cfg.Quirks.Extra[k])
	}
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
	b.Grow(len(m.head) + 2*len(r.System) + 512*len(r.Messages) + 1024)
	b.Write(m.head)
	if f := m.cfg.Quirks.SessionField; f != "" && r.Session != "" {
		b.WriteByte(',')
		writeJSON(&b, f)
		b.WriteByte(':')
		writeJSON(&b, r.Session)
	}
	b.Write(m.encodeTools(r.Tools))
	b.WriteString(`,"messages":[`)
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for i, msg := range m.messages(r) {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := enc.Encode(msg); err != nil {
			return nil, fmt.Errorf("encode message %d: %w", i, err)
		}
		b.Truncate(b.Len() - 1) // Encode ends with a line break
	}
	b.WriteByte(']')
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
	if r.Temperature != nil && !m.cfg.Quirks.NoTemperature && !thinksFirst(m.cfg.Model) {
		b.WriteString(`,"temperature":`)
		writeJSON(b, *r.Temperature)
	}
	m.writeEffort(b, r.Effort)
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

// encodeTools writes the list of tools, or nothing where there is none. A
// session asks with the same list again and again, so the last one is kept.
func (m *Model) encodeTools(tools []hermes.Spec) []byte {
	if len(tools) == 0 {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if slices.EqualFunc(m.tools, tools, sameTool) {
		return m.wire
	}
	var b bytes.Buffer
	b.WriteString(`,"tools":[`)
	for i, t := range tools {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"type":"function","function":{"name":`)
		writeJSON(&b, t.Name)
		b.WriteString(`,"description":`)
		writeJSON(&b, t.Description)
		b.WriteString(`,"parameters":`)
		b.Write(schema.Clean(t.Schema))
		b.WriteString(`}}`)
	}
	b.WriteByte(']')
	m.tools, m.wire = slices.Clone(tools), b.Bytes()
	return m.wire
}

func sameTool(a, b hermes.Spec) bool {
	return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Schema, b.Schema)
}

// writeJSON writes a value that always can be encoded, <, > and & as they are.
func writeJSON(b *bytes.Buffer, v any) {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err == nil {
		b.Truncate(b.Len() - 1)
	}
}

// estimate is the rough size of a request in tokens.
func estimate(r *hermes.Request) int {
	n := tokens.Text(r.System)
	for _, t := range r.Tools {
		n += (len(t.Description) + len(t.Schema)) / 4
	}
	for _, msg := range r.Messages {
		for _, p := range msg.Parts {
			n += tokens.Text(p.Text)
			if p.Image != nil {
				n += tokens.Image
			}
		}
		for _, c := range msg.Calls {
			n += len(c.Arguments) / 4
		}
	}
	return n
}
