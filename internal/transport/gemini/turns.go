package gemini

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/wire"
)

// The wire form of a conversation.
type (
	turn struct {
		Role  string `json:"role,omitempty"`
		Parts []part `json:"parts"`
	}
	part struct {
		Text      string    `json:"text,omitempty"`
		Thought   bool      `json:"thought,omitempty"`
		Inline    *blob     `json:"inlineData,omitempty"`
		File      *file     `json:"fileData,omitempty"`
		Call      *call     `json:"functionCall,omitempty"`
		Response  *response `json:"functionResponse,omitempty"`
		Signature string    `json:"thoughtSignature,omitempty"`
	}
	blob struct {
		MediaType string `json:"mimeType"`
		Data      string `json:"data"`
	}
	file struct {
		MediaType string `json:"mimeType,omitempty"`
		URI       string `json:"fileUri"`
	}
	call struct {
		ID   string          `json:"id,omitempty"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args,omitempty"`
	}
	response struct {
		ID       string `json:"id,omitempty"`
		Name     string `json:"name"`
		Response result `json:"response"`
	}
	result struct {
		Output string `json:"output,omitempty"`
		Error  string `json:"error,omitempty"`
	}
)

const (
	wireName = "gemini"
	begun    = "(the conversation begins here)"
	// unsigned stands where a call of another model's has no signature, as
	// Google's documentation says for transcripts that began elsewhere.
	unsigned = "skip_thought_signature_validator"
)

// writer brings a transcript into the order the protocol wants.
type writer struct {
	signed bool
	ids    wire.IDs
	names  map[string]string // of the open calls, by id
	turns  []turn
}

// turns are the user's first, roles alternating, each result in the turn after
// its call. Calls without result and results without call are left out.
func (m *Model) turns(msgs []hermes.Message) []turn {
	kept := wire.PairsOf(msgs)
	w := writer{signed: m.caps.signed, names: map[string]string{}}
	for i, msg := range msgs {
		switch msg.Role {
		case hermes.RoleUser:
			w.add("user", orElse(content(msg), wire.NoText))
		case hermes.RoleTool:
			if kept.Results[i] {
				w.addResult(msg)
			}
		case hermes.RoleAssistant:
			w.add("model", w.said(msg, kept.Calls[i]))
		}
	}
	if len(w.turns) == 0 || w.turns[0].Role == "model" {
		return slices.Insert(w.turns, 0, turn{"user", []part{{Text: begun}}})
	}
	return w.turns
}

// add joins parts to the last turn if it has the same role.
func (w *writer) add(role string, parts []part) {
	if n := len(w.turns); n > 0 && w.turns[n-1].Role == role {
		w.turns[n-1].Parts = append(w.turns[n-1].Parts, parts...)
		return
	}
	w.turns = append(w.turns, turn{role, parts})
}

// addResult puts a result before whatever else stands in its turn: the service
// wants the results right after their calls.
func (w *writer) addResult(msg hermes.Message) {
	r := &response{Name: cmp.Or(w.names[msg.CallID], msg.ToolName)}
	if w.signed {
		r.ID = w.ids.Of(msg.CallID)
	}
	if text := cmp.Or(msg.Text(), wire.NoOutput); msg.Failed {
		r.Response.Error = text
	} else {
		r.Response.Output = text
	}
	n := len(w.turns)
	if n == 0 || w.turns[n-1].Role != "user" {
		w.turns = append(w.turns, turn{Role: "user"})
		n++
	}
	last := &w.turns[n-1]
	at := slices.IndexFunc(last.Parts, func(p part) bool { return p.Response == nil })
	if at < 0 {
		at = len(last.Parts)
	}
	last.Parts = slices.Insert(last.Parts, at, part{Response: r})
	last.Parts = append(last.Parts, images(msg)...)
}

// said is the words, then the calls that have a result. The first call of a
// message bears the signature of the thinking that led to them all.
func (w *writer) said(msg hermes.Message, answered []bool) []part {
	var parts []part
	if text := msg.Text(); strings.TrimSpace(text) != "" {
		parts = append(parts, part{Text: text, Signature: textSignature(msg)})
	}
	first := true
	for i, c := range msg.Calls {
		if !answered[i] {
			continue
		}
		p := part{Call: &call{Name: c.Name, Args: wire.Object(c.Arguments)}, Signature: c.Signature}
		if w.signed {
			p.Call.ID = w.ids.Of(c.ID)
			if first && p.Signature == "" {
				p.Signature = unsigned
			}
		}
		w.names[c.ID] = c.Name
		first = false
		parts = append(parts, p)
	}
	return orElse(parts, wire.NoText)
}

// textSignature is the signature that came with the words of a message.
func textSignature(msg hermes.Message) string {
	for _, b := range msg.Reasoning {
		if b.Wire == wireName && b.Signature != "" {
			return b.Signature
		}
	}
	return ""
}

func orElse(parts []part, text string) []part {
	if len(parts) == 0 {
		return []part{{Text: text}}
	}
	return parts
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
	for _, img := range wire.Images(msg) {
		if len(img.Data) == 0 {
			parts = append(parts, part{File: &file{mediaType(img), img.URL}})
			continue
		}
		kind, data := wire.Base64(img)
		parts = append(parts, part{Inline: &blob{kind, data}})
	}
	return parts
}

// mediaType of a picture behind an address, by the end of its path.
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
