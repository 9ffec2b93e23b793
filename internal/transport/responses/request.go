package responses

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"hermes"
	"hermes/internal/schema"
	"hermes/internal/transport/base"
)

// encodeHead returns the body up to the session, which never changes.
func (m *Model) encodeHead() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"model":%s,"store":false,"stream":%t`, quote(m.cfg.Model), !m.cfg.Quirks.NoStream)
	if m.reasons() {
		b.WriteString(`,"include":["reasoning.encrypted_content"]`)
	}
	base.Fields(&b, m.cfg.Quirks.Extra)
	return b.Bytes()
}

// quote writes a text as JSON, without escaping <, > and &.
func quote(s string) string {
	var b bytes.Buffer
	_ = base.JSON(&b, s) // a string can always be encoded
	return b.String()
}

// reasons reports whether reasoning is requested and sent back.
func (m *Model) reasons() bool { return !m.cfg.Quirks.NoReasoning && reasons(m.cfg.Model) }

// encode writes the whole body.
func (m *Model) encode(r *hermes.Request) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(base.Size(r))
	b.Write(m.head)
	if r.Session != "" {
		fmt.Fprintf(&b, `,"prompt_cache_key":%s`, quote(cacheKey(r.Session)))
	}
	list, err := m.tools.Encode(r.Tools, encodeTools)
	if err != nil {
		return nil, err
	}
	b.Write(list)
	if m.cfg.Quirks.Codex {
		fmt.Fprintf(&b, `,"instructions":%s`, quote(cmp.Or(r.System, unasked)))
	}
	b.WriteString(`,"input":`)
	if err := m.writeItems(&b, r); err != nil {
		return nil, fmt.Errorf("encode the conversation: %w", err)
	}
	m.writeTail(&b, r)
	b.WriteByte('}')
	return b.Bytes(), nil
}

// unasked replaces a missing system prompt, since the back end requires one.
const unasked = "You are a helpful assistant."

// cacheKey returns the session's id in the length that the service accepts.
func cacheKey(session string) string {
	const longest = 64
	if len(session) <= longest {
		return session
	}
	sum := sha256.Sum256([]byte(session))
	return hex.EncodeToString(sum[:])
}

// writeTail writes what may differ from call to call.
func (m *Model) writeTail(b *bytes.Buffer, r *hermes.Request) {
	if r.WordsOnly && len(r.Tools) > 0 {
		b.WriteString(`,"tool_choice":"none"`)
	}
	if m.reasons() {
		m.writeReasoning(b, r.Effort)
	}
	base.Fields(b, m.cfg.Quirks.Tail)
	if m.cfg.Quirks.Codex {
		return
	}
	if r.MaxTokens > 0 {
		const least = 16 // the service refuses less
		fmt.Fprintf(b, `,"max_output_tokens":%d`, max(least, r.MaxTokens))
	}
	if t := base.Temperature(m.cfg.Model, r.Temperature); t != nil && !reasons(m.cfg.Model) {
		fmt.Fprintf(b, `,"temperature":%v`, *t)
	}
}

// writeReasoning requests the effort, and a summary that the user can read while
// waiting. Summaries and streams need the same account verification, so a request
// without streaming does not ask for a summary.
func (m *Model) writeReasoning(b *bytes.Buffer, e hermes.Effort) {
	word := effortWord(m.cfg.Model, e)
	switch {
	case word == "" && m.cfg.Quirks.NoStream:
	case word == "":
		b.WriteString(`,"reasoning":{"summary":"auto"}`)
	case m.cfg.Quirks.NoStream || word == string(hermes.EffortNone):
		fmt.Fprintf(b, `,"reasoning":{"effort":%q}`, word)
	default:
		fmt.Fprintf(b, `,"reasoning":{"effort":%q,"summary":"auto"}`, word)
	}
}

func encodeTools(tools []hermes.Spec) ([]byte, error) {
	type tool struct {
		Type        string          `json:"type"`
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
		Strict      bool            `json:"strict"` // else the service would rewrite the schema
	}
	var b bytes.Buffer
	b.WriteString(`,"tools":`)
	var list []tool
	for _, t := range tools {
		list = append(list, tool{"function", t.Name, t.Description, schema.Clean(t.Schema), false})
	}
	if err := base.JSON(&b, list); err != nil {
		return nil, fmt.Errorf("encode tools: %w", err)
	}
	return b.Bytes(), nil
}
