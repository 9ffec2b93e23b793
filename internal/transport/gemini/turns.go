package gemini

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/transport/base"
)

// The parts of a turn.
type (
	part struct {
		Text      string // or one of the four below
		Inline    *blob
		File      *file
		Call      *call
		Response  *response
		Signature string
	}
	blob     struct{ MediaType, Data string }
	file     struct{ MediaType, URI string } // MediaType may be empty
	call     struct{ ID, Name, Args string } // Args is a JSON object
	response struct {
		ID, Name string
		Response struct{ Output, Error string } // one of them
	}
)

const (
	protocolName = "gemini"
	begun        = "(the conversation begins here)"
	// unsigned replaces the missing signature of another model's call, as
	// Google's documentation says for transcripts that began elsewhere.
	unsigned = "skip_thought_signature_validator"
)

// writer brings a transcript into the order that the protocol requires. It writes a
// turn when the next one begins, since messages are added to it until then.
// Frequent parts are written by hand, with the fields in the order of
// encoding/json.
type writer struct {
	b      *bytes.Buffer
	signed bool
	ids    base.IDs
	names  map[string]string // of the open calls, by id

	role    string // of the open turn; empty before the first
	parts   []part // of the open turn, the results of calls first
	results int    // how many of the parts are results
	written int    // number of turns written
}

// writeTurns writes a user turn first, alternating roles, each result in the turn
// after its call. Calls without a result and results without a call are left out.
func (m *Model) writeTurns(b *bytes.Buffer, msgs []hermes.Message) error {
	msgs = base.Sendable(msgs)
	kept := base.PairsOf(msgs)
	w := writer{b: b, signed: m.caps.signed, names: map[string]string{}}
	b.WriteByte('[')
	for i, msg := range msgs {
		var err error
		switch msg.Role {
		case hermes.RoleUser:
			if err = w.turn("user"); err == nil {
				w.add(content(msg))
			}
		case hermes.RoleTool:
			if kept.Results[i] {
				err = w.addResult(msg)
			}
		case hermes.RoleAssistant:
			if err = w.turn("model"); err == nil {
				w.said(msg, kept.Calls[i])
			}
		}
		if err != nil {
			return err
		}
	}
	if w.role == "" {
		w.role, w.parts = "user", []part{{Text: begun}}
	}
	if err := w.flush(); err != nil {
		return err
	}
	b.WriteByte(']')
	return nil
}

// turn makes sure that the open turn has this role. The first is the user's.
func (w *writer) turn(role string) error {
	if w.role == role {
		return nil
	}
	if w.role == "" && role == "model" {
		w.role, w.parts = "user", append(w.parts, part{Text: begun})
	}
	if err := w.flush(); err != nil {
		return err
	}
	w.role = role
	return nil
}

// flush writes the open turn and empties it.
func (w *writer) flush() error {
	if w.role == "" {
		return nil
	}
	if w.written > 0 {
		w.b.WriteByte(',')
	}
	w.written++
	w.b.WriteString(`{"role":"`)
	w.b.WriteString(w.role)
	w.b.WriteString(`","parts":[`)
	for i := range w.parts {
		if i > 0 {
			w.b.WriteByte(',')
		}
		if err := w.parts[i].write(w.b); err != nil {
			return err
		}
	}
	w.b.WriteString(`]}`)
	w.parts, w.results = w.parts[:0], 0
	return nil
}

// add puts parts at the end of the open turn; if there are none, it adds a
// placeholder.
func (w *writer) add(parts []part) {
	if len(parts) == 0 {
		parts = []part{{Text: base.NoText}}
	}
	w.parts = append(w.parts, parts...)
}

// addResult puts a result before all other parts of its turn: the service requires
// the results right after their calls.
func (w *writer) addResult(msg hermes.Message) error {
	if err := w.turn("user"); err != nil {
		return err
	}
	r := &response{Name: cmp.Or(w.names[msg.CallID], msg.ToolName)}
	if w.signed {
		r.ID = w.ids.Of(msg.CallID)
	}
	if text := cmp.Or(msg.Text(), base.NoOutput); msg.Failed {
		r.Response.Error = text
	} else {
		r.Response.Output = text
	}
	w.parts = slices.Insert(w.parts, w.results, part{Response: r})
	w.results++
	w.parts = append(w.parts, images(msg)...)
	return nil
}

// said adds the text, then the calls that have a result. The first call of a
// message has the signature of the thinking that led to all of them.
func (w *writer) said(msg hermes.Message, answered []bool) {
	before := len(w.parts)
	if text := msg.Text(); strings.TrimSpace(text) != "" {
		w.parts = append(w.parts, part{Text: text, Signature: textSignature(msg)})
	}
	first := true
	for i, c := range msg.Calls {
		if !answered[i] {
			continue
		}
		p := part{Call: &call{Name: c.Name, Args: base.ObjectText(c.Arguments)}, Signature: c.Signature}
		if w.signed {
			p.Call.ID = w.ids.Of(c.ID)
			if first && p.Signature == "" {
				p.Signature = unsigned
			}
		}
		w.names[c.ID] = c.Name
		first = false
		w.parts = append(w.parts, p)
	}
	if len(w.parts) == before {
		w.parts = append(w.parts, part{Text: base.NoText})
	}
}

// write writes a part. It has either a text, a call or a result.
func (p *part) write(b *bytes.Buffer) error {
	b.WriteByte('{')
	switch {
	case p.Inline != nil:
		b.WriteString(`"inlineData":{"mimeType":`)
		base.Text(b, p.Inline.MediaType)
		b.WriteString(`,"data":`)
		base.Text(b, p.Inline.Data)
		b.WriteByte('}')
	case p.File != nil:
		b.WriteString(`"fileData":{`)
		field(b, "mimeType", p.File.MediaType, ",")
		b.WriteString(`"fileUri":`)
		base.Text(b, p.File.URI)
		b.WriteByte('}')
	case p.Call != nil:
		b.WriteString(`"functionCall":{`)
		field(b, "id", p.Call.ID, ",")
		b.WriteString(`"name":`)
		base.Text(b, p.Call.Name)
		b.WriteString(`,"args":`)
		if err := json.Compact(b, []byte(p.Call.Args)); err != nil {
			return err
		}
		b.WriteByte('}')
	case p.Response != nil:
		b.WriteString(`"functionResponse":{`)
		field(b, "id", p.Response.ID, ",")
		b.WriteString(`"name":`)
		base.Text(b, p.Response.Name)
		b.WriteString(`,"response":{`)
		field(b, "output", p.Response.Response.Output, "")
		field(b, "error", p.Response.Response.Error, "")
		b.WriteString(`}}`)
	default:
		b.WriteString(`"text":`)
		base.Text(b, p.Text)
	}
	if p.Signature != "" {
		b.WriteString(`,"thoughtSignature":`)
		base.Text(b, p.Signature)
	}
	b.WriteByte('}')
	return nil
}

// field writes a field and what follows it, unless it is empty.
func field(b *bytes.Buffer, name, value, after string) {
	if value == "" {
		return
	}
	b.WriteByte('"')
	b.WriteString(name)
	b.WriteString(`":`)
	base.Text(b, value)
	b.WriteString(after)
}

// textSignature returns the signature that came with the text of a message.
func textSignature(msg hermes.Message) string {
	for _, b := range msg.Reasoning {
		if b.Protocol == protocolName && b.Signature != "" {
			return b.Signature
		}
	}
	return ""
}

func content(msg hermes.Message) []part {
	var parts []part
	if text := msg.Text(); strings.TrimSpace(text) != "" {
		parts = append(parts, part{Text: text})
	}
	return append(parts, images(msg)...)
}

func images(msg hermes.Message) []part {
	var parts []part
	for _, img := range base.Images(msg) {
		if len(img.Data) == 0 {
			parts = append(parts, part{File: &file{mediaType(img), img.URL}})
			continue
		}
		kind, data := base.Base64(img)
		parts = append(parts, part{Inline: &blob{kind, data}})
	}
	return parts
}

// mediaType returns the media type of an image at an address, by the end of its
// path.
func mediaType(img *hermes.Image) string {
	path, _, _ := strings.Cut(strings.ToLower(img.URL), "?")
	switch {
	case img.MediaType != "":
		return img.MediaType
	case strings.HasSuffix(path, ".png"):
		return "image/png"
	case strings.HasSuffix(path, ".webp"):
		return "image/webp"
	case strings.HasSuffix(path, ".gif"):
		return "image/gif"
	}
	return "image/jpeg"
}
