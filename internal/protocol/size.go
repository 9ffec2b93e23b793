package protocol

import "hermes"

// Size estimates how much memory a message takes, in bytes.
func Size(m hermes.Message) int {
	n := 400
	for _, p := range m.Parts {
		n += len(p.Text)
		if p.Image != nil {
			n += len(p.Image.Data)
		}
	}
	for _, c := range m.Calls {
		n += len(c.Arguments) + len(c.Signature)
	}
	for _, r := range m.Reasoning {
		n += len(r.Text) + len(r.Opaque) + len(r.Signature)
	}
	return n
}
