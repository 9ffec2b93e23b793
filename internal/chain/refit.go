package chain

import (
	"hash/maphash"
	"slices"

	"hermes"
	"hermes/internal/picture"
)

// messages returns the transcript as this endpoint accepts it. The caller holds
// the lock.
func (k *Quirks) messages(in []hermes.Message, withoutImages bool) []hermes.Message {
	out := make([]hermes.Message, 0, len(in)+1)
	var moved []hermes.Part // images of results
	for i, msg := range in {
		if k.forgotten.Len() > 0 && len(msg.Reasoning) > 0 {
			msg.Reasoning = slices.DeleteFunc(slices.Clone(msg.Reasoning), func(b hermes.Reasoning) bool {
				known, _ := k.forgotten.Get(k.blockID(b))
				return known
			})
		}
		msg.Parts = k.parts(msg.Parts, withoutImages)
		if k.refused[textResults] && msg.Role == hermes.RoleTool {
			msg.Parts, moved = apart(msg.Parts, moved)
		}
		out = append(out, msg)
		last := i+1 == len(in) || in[i+1].Role != hermes.RoleTool
		if last && len(moved) > 0 {
			parts := append([]hermes.Part{{Text: "Images returned by the tools:"}}, moved...)
			out = append(out, hermes.Message{Role: hermes.RoleUser, Parts: parts, Synthetic: true, Turn: msg.Turn})
			moved = nil
		}
	}
	return out
}

// apart separates the images from the rest of a result.
func apart(parts, moved []hermes.Part) (rest, images []hermes.Part) {
	for _, p := range parts {
		if p.Image != nil {
			moved = append(moved, p)
			continue
		}
		rest = append(rest, p)
	}
	return rest, moved
}

// parts shrinks images, or replaces them with a note.
func (k *Quirks) parts(in []hermes.Part, without bool) []hermes.Part {
	if !k.refused[smallImages] && !k.refused[noImages] && !without || !slices.ContainsFunc(in, func(p hermes.Part) bool { return p.Image != nil }) {
		return in
	}
	out := slices.Clone(in)
	for i, p := range out {
		if p.Image == nil {
			continue
		}
		if k.refused[noImages] {
			out[i] = hermes.Part{Text: "[Image omitted: the model takes no images.]", Hidden: p.Hidden}
			continue
		}
		img := p.Image
		if k.refused[smallImages] && len(img.Data) > 0 {
			img = k.small(img)
		}
		if img == nil || without {
			out[i] = hermes.Part{Text: "[Image omitted: too large for the model service.]", Hidden: p.Hidden}
			continue
		}
		out[i].Image = img
	}
	return out
}

// The bounds of a small image: the side that vision models look at, and well
// below the 5 MB that services accept after base64 encoding.
const (
	smallSide  = 1568
	smallBytes = 1 << 20
)

// small returns a smaller copy of the image, the image itself if it is small, or
// nil if it cannot be read.
func (k *Quirks) small(img *hermes.Image) *hermes.Image {
	w, h, err := picture.Size(img.Data)
	if len(img.Data) <= smallBytes && (err != nil || max(w, h) <= smallSide) {
		return img
	}
	return k.shrunk.Make(maphash.Bytes(k.seed, img.Data), func() *hermes.Image {
		data, err := picture.Shrink(img.Data, smallSide, smallBytes)
		if err != nil {
			return nil
		}
		return &hermes.Image{MediaType: picture.MediaType, Data: data}
	})
}
