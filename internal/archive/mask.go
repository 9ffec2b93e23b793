package archive

import (
	"encoding/json"
	"strings"

	"hermes"
)

// Mask removes secrets from a text, and from what has texts. It keeps nothing.
type Mask func(string) string

// Session masks a session and its messages in place: prompts, answers, thoughts, arguments of
// calls, results, and where these came from.
func (k Mask) Session(row *hermes.Session, list []hermes.Message) {
	row.Title, row.System = k(row.Title), k(row.System)
	run := &row.Run
	run.Prompt.Extra, run.Origin.Provenance = k(run.Prompt.Extra), k(run.Origin.Provenance)
	run.Origin.Task.Failure, run.Origin.Task.Schema = k(run.Origin.Task.Failure), k.json(run.Origin.Task.Schema)
	k.Messages(list)
}

// Messages masks messages in place.
func (k Mask) Messages(list []hermes.Message) {
	for i := range list {
		list[i] = k.Message(list[i])
	}
}

// Message returns a masked copy of a message. A block whose text was changed loses
// its signature, which would be wrong.
func (k Mask) Message(m hermes.Message) hermes.Message {
	parts, calls, thoughts := m.Parts, m.Calls, m.Reasoning
	m.Parts, m.Calls, m.Reasoning = nil, nil, nil
	m.Provenance, m.ToolName, m.CallID = k(m.Provenance), k(m.ToolName), k(m.CallID) // a model chooses any name
	for _, p := range parts {
		p.Text = k(p.Text)
		if p.Image != nil && p.Image.URL != "" {
			image := *p.Image
			image.URL = k(image.URL)
			p.Image = &image
		}
		m.Parts = append(m.Parts, p)
	}
	for _, c := range calls {
		if name := k(c.Name); name != c.Name {
			c.Name, c.Signature = name, ""
		}
		c.ID = k(c.ID)
		if text := k.json(c.Arguments); text != c.Arguments {
			c.Arguments, c.Signature = text, ""
		}
		m.Calls = append(m.Calls, c)
	}
	for _, r := range thoughts {
		if text := k(r.Text); text != r.Text {
			r = hermes.Reasoning{Text: text, Protocol: r.Protocol}
		}
		m.Reasoning = append(m.Reasoning, r)
	}
	return m
}

// json masks a text that may be JSON, which stays valid. A secret that is written
// with escapes is masked, too.
func (k Mask) json(text string) string {
	if !json.Valid([]byte(text)) {
		return k(text)
	}
	if plain := unescaped(text); plain != text && k(plain) != plain {
		text = plain
	}
	if out := k(text); json.Valid([]byte(out)) {
		return out
	}
	return `{"masked":true}`
}

// Snippet masks a part of a message in which marks show what was found. A mark may
// cut a secret; such a snippet loses its marks.
func (k Mask) Snippet(text string) string {
	plain := strings.NewReplacer(">>>", "", "<<<", "").Replace(text)
	if masked := k(plain); masked != plain {
		return masked
	}
	return k(text)
}

// Unsign removes the blocks that cannot be read, and so cannot be masked.
func Unsign(list []hermes.Message) {
	for i := range list {
		for j := range list[i].Calls {
			list[i].Calls[j].Signature = ""
		}
		for j, r := range list[i].Reasoning {
			list[i].Reasoning[j] = hermes.Reasoning{Text: r.Text, Protocol: r.Protocol}
		}
	}
}
