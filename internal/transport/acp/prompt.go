package acp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"

	"hermes"
	"hermes/internal/transport/base"
)

// intro precedes the conversation. The messages are JSON, so that no text in them
// can pass for another message.
const intro = `Continue the conversation below: write the next message of the role "assistant", in plain text or Markdown. Work from the conversation alone and answer in words; your own tools are refused here, and those that the instructions name are not available to you.

# Instructions

`

// turns precedes the messages.
const turns = "\n\n# Conversation, one JSON object a line, oldest first\n\n"

// block is a content block of the protocol.
type block struct {
	Type string `json:"type"`
	Text string `json:"text,omitempty"`
	Mime string `json:"mimeType,omitempty"`
	Data string `json:"data,omitempty"`
}

// turn is a message as the program sees it.
type turn struct {
	Role   string `json:"role"`
	Tool   string `json:"tool,omitempty"`
	Failed bool   `json:"failed,omitempty"`
	Text   string `json:"text,omitempty"`
	Calls  []call `json:"calls,omitempty"`
	Images int    `json:"images,omitempty"` // not sent
}

type call struct {
	Tool      string `json:"tool"`
	Arguments string `json:"arguments"`
}

// prompt writes a request as one prompt. Within a session it begins with the bytes
// of the one before, as far as the text goes. Images of the last message are sent if
// the program takes images; of others only their number is told.
func prompt(r *hermes.Request, images bool) []block {
	var b bytes.Buffer
	b.WriteString(intro)
	b.WriteString(strings.TrimSpace(r.System))
	b.WriteString(turns)
	var pictures []block
	for i, m := range r.Messages {
		t := turn{Role: string(m.Role), Tool: m.ToolName, Failed: m.Failed, Text: m.Text()}
		for _, c := range m.Calls {
			t.Calls = append(t.Calls, call{c.Name, c.Arguments})
		}
		for _, p := range base.Images(m) {
			if images && i == len(r.Messages)-1 && len(p.Data) > 0 {
				pictures = append(pictures, block{Type: "image", Mime: p.MediaType, Data: base64.StdEncoding.EncodeToString(p.Data)})
			} else {
				t.Images++
			}
		}
		line, err := json.Marshal(t)
		if err != nil {
			continue // cannot happen: it has texts and numbers only
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	return append([]block{{Type: "text", Text: b.String()}}, pictures...)
}
