package base

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"hermes"
	"hermes/internal/texttool"
	"hermes/internal/tokens"
)

// NoText and NoOutput stand in the place of what services refuse to get empty.
const (
	NoText   = "(no text)"
	NoOutput = "(no output)"
)

// Tools keeps the last list of tools that was encoded: a session asks with the
// same one again and again. The zero value is ready; it may be used
// concurrently.
type Tools struct {
	mu   sync.Mutex
	list []hermes.Spec
	wire []byte
}

// Encode returns the encoding of the list, from memory where it is the same as
// the last time. The result must not be changed.
func (t *Tools) Encode(list []hermes.Spec, encode func([]hermes.Spec) ([]byte, error)) ([]byte, error) {
	if len(list) == 0 {
		return nil, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if slices.EqualFunc(t.list, list, sameTool) {
		return t.wire, nil
	}
	wire, err := encode(list)
	if err != nil {
		return nil, err
	}
	t.list, t.wire = slices.Clone(list), wire
	return wire, nil
}

func sameTool(a, b hermes.Spec) bool {
	return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Schema, b.Schema)
}

// JSON writes v with <, > and & as they are.
func JSON(b *bytes.Buffer, v any) error {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // Encode ends with a line break
	return nil
}

// List writes the items between commas, each encoded on its own, so that a list
// which grows begins with the same bytes.
func List[T any](b *bytes.Buffer, items []T) error {
	b.WriteByte('[')
	for i, item := range items {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := JSON(b, item); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}

// Object is the arguments of a call as the JSON object they should be; what is
// none becomes the empty one.
func Object(arguments string) json.RawMessage {
	raw := json.RawMessage(arguments)
	if t := strings.TrimSpace(arguments); !strings.HasPrefix(t, "{") || !json.Valid(raw) {
		return json.RawMessage("{}")
	}
	return raw
}

// Base64 is the data of an image, and its media type.
func Base64(img *hermes.Image) (mediaType, data string) {
	mediaType = img.MediaType
	if mediaType == "" {
		mediaType = "image/png"
	}
	return mediaType, base64.StdEncoding.EncodeToString(img.Data)
}

// ImageURL is the image's address, or its data as one.
func ImageURL(img *hermes.Image) string {
	if len(img.Data) == 0 {
		return img.URL
	}
	mediaType, data := Base64(img)
	return "data:" + mediaType + ";base64," + data
}

// Images are the pictures of a message.
func Images(msg hermes.Message) []*hermes.Image {
	var out []*hermes.Image
	for _, p := range msg.Parts {
		if p.Image != nil {
			out = append(out, p.Image)
		}
	}
	return out
}

// HasImages reports whether a message has pictures.
func HasImages(msg hermes.Message) bool {
	return slices.ContainsFunc(msg.Parts, func(p hermes.Part) bool { return p.Image != nil })
}

// Size is about how many bytes a request becomes, for the buffer it is written
// to. A long session would otherwise be copied again and again.
func Size(r *hermes.Request) int {
	const frame = 160 // of a message or call, beside its words
	n := len(r.System) + 4<<10
	for _, t := range r.Tools {
		n += len(t.Description) + len(t.Schema) + frame
	}
	for _, msg := range r.Messages {
		n += frame
		for _, p := range msg.Parts {
			n += len(p.Text)
			if p.Image != nil {
				n += base64.StdEncoding.EncodedLen(len(p.Image.Data)) + frame
			}
		}
		for _, c := range msg.Calls {
			n += len(c.Arguments) + frame
		}
		for _, b := range msg.Reasoning {
			n += len(b.Text) + len(b.Signature) + len(b.Opaque)
		}
	}
	return n + n/16 // what is escaped
}

// Estimate is the rough size of a request in tokens.
func Estimate(r *hermes.Request) int {
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

// TextCalls returns a scanner for calls that a model of one's own spells out as
// text; nil where the request allows none.
func TextCalls(r *hermes.Request) *texttool.Scanner {
	if len(r.Tools) == 0 || r.WordsOnly {
		return nil
	}
	names := map[string]bool{}
	for _, t := range r.Tools {
		names[t.Name] = true
	}
	return texttool.New(func(name string) bool { return names[name] })
}
