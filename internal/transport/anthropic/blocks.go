package anthropic

import (
	"encoding/json"

	"hermes"
)

// openBlock is a content block that has begun.
type openBlock struct {
	kind      string
	call      int // the index of a tool call
	input     json.RawMessage
	pieces    bool // input came in pieces
	thinking  []byte
	signature string
	data      string
}

// begin processes the start of a block.
func (a *answer) begin(index int, c *content) error {
	b := &openBlock{kind: c.Type, data: c.Data, signature: c.Signature, input: c.Input}
	a.open[index] = b
	switch c.Type {
	case "text":
		if c.Text != "" {
			return a.yield(hermes.Delta{Text: c.Text})
		}
	case "thinking":
		return a.piece(index, &delta{Thinking: c.Thinking})
	case "tool_use":
		if c.Name != "" {
			a.named++
		}
		b.call = a.calls
		a.calls++
		return a.yield(hermes.Delta{Call: &hermes.CallDelta{Index: b.call, ID: a.ids.ID(c.ID), Name: c.Name}})
	}
	return nil
}

// piece processes an addition to a block.
func (a *answer) piece(index int, d *delta) error {
	b := a.open[index]
	if b == nil {
		b = &openBlock{kind: "text"} // some compatible services do not announce blocks
		a.open[index] = b
	}
	b.signature += d.Signature
	if d.Thinking != "" {
		b.thinking = append(b.thinking, d.Thinking...)
		return a.yield(hermes.Delta{Reasoning: d.Thinking})
	}
	if d.PartialJSON != "" && b.kind == "tool_use" {
		b.pieces = true
		return a.yield(hermes.Delta{Call: &hermes.CallDelta{Index: b.call, Arguments: d.PartialJSON}})
	}
	if d.Text != "" {
		return a.yield(hermes.Delta{Text: d.Text})
	}
	return nil
}

// end completes a block. Blocks that must be sent back are yielded whole.
func (a *answer) end(index int) error {
	b := a.open[index]
	delete(a.open, index)
	if b == nil {
		return nil
	}
	switch b.kind {
	case "thinking":
		if b.signature != "" {
			return a.yield(hermes.Delta{Block: &hermes.Reasoning{Protocol: protocolName, Text: string(b.thinking), Signature: b.signature}})
		}
	case "redacted_thinking":
		return a.yield(hermes.Delta{Block: &hermes.Reasoning{Protocol: protocolName, Opaque: b.data}})
	case "tool_use":
		if b.pieces {
			return nil
		}
		arguments := "{}" // a call without input has no pieces
		if len(b.input) > 0 && string(b.input) != "null" {
			arguments = string(b.input)
		}
		return a.yield(hermes.Delta{Call: &hermes.CallDelta{Index: b.call, Arguments: arguments}})
	}
	return nil
}
