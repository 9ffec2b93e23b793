package base

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"hermes"
	"hermes/internal/texttool"
	"hermes/internal/tokens"
)

// NoText and NoOutput replace empty texts, which services refuse.
const (
	NoText   = "(no text)"
	NoOutput = "(no output)"
)

// Tools caches the last list of tools that was encoded, since a session sends the
// same one each time. The zero value is ready; it may be used concurrently.
type Tools struct {
	mu      sync.Mutex
	list    []hermes.Spec
	encoded []byte
}

// Encode returns the encoding of the list, from the cache if the list is the same
// as the last one. The result must not be changed.
func (t *Tools) Encode(list []hermes.Spec, encode func([]hermes.Spec) ([]byte, error)) ([]byte, error) {
	if len(list) == 0 {
		return nil, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if slices.EqualFunc(t.list, list, sameTool) {
		return t.encoded, nil
	}
	raw, err := encode(list)
	if err != nil {
		return nil, err
	}
	t.list, t.encoded = slices.Clone(list), raw
	return raw, nil
}

func sameTool(a, b hermes.Spec) bool {
	return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Schema, b.Schema)
}

// JSON writes v without escaping <, > and &.
func JSON(b *bytes.Buffer, v any) error {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // Encode ends with a line break
	return nil
}

// Fields writes the fields of an object after others, sorted by name.
func Fields(b *bytes.Buffer, fields map[string]json.RawMessage) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		b.WriteByte(',')
		_ = JSON(b, name) // a string can always be encoded
		b.WriteByte(':')
		b.Write(fields[name])
	}
}

// List writes the items between commas, each encoded separately, so that a
// growing list begins with the same bytes.
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

// Object returns the arguments of a call as a JSON object; anything else becomes
// the empty object.
func Object(arguments string) json.RawMessage {
	raw := json.RawMessage(arguments)
	if t := strings.TrimSpace(arguments); !strings.HasPrefix(t, "{") || !json.Valid(raw) {
		return json.RawMessage("{}")
	}
	return raw
}

// Base64 returns the data of an image, and its media type.
func Base64(img *hermes.Image) (mediaType, data string) {
	mediaType = img.MediaType
	if mediaType == "" {
		mediaType = "image/png"
	}
	return mediaType, base64.StdEncoding.EncodeToString(img.Data)
}

// ImageURL returns the image's address, or its data as a data URL.
func ImageURL(img *hermes.Image) string {
	if len(img.Data) == 0 {
		return img.URL
	}
	mediaType, data := Base64(img)
	return "data:" + mediaType + ";base64," + data
}

// Images returns the images of a message.
func Images(msg hermes.Message) []*hermes.Image {
	var out []*hermes.Image
	for _, p := range msg.Parts {
		if p.Image != nil {
			out = append(out, p.Image)
		}
	}
	return out
}

// HasImages reports whether a message has images.
func HasImages(msg hermes.Message) bool {
	return slices.ContainsFunc(msg.Parts, func(p hermes.Part) bool { return p.Image != nil })
}

// Size returns the approximate number of bytes of an encoded request, for the size
// of its buffer. A growing buffer would copy a long session many times.
func Size(r *hermes.Request) int {
	const frame = 160 // of a message or call, besides its text
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

// Estimate returns the rough size of a request in tokens.
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

// TextCalls returns a scanner for calls that a local model writes as text; nil if
// the request allows no calls.
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
