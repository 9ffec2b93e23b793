package session

import (
	"slices"

	"hermes"
)

// provenance returns the sources of untrusted text in the session's context:
// those it began with and those of its messages.
func (s *Session) provenance() string {
	return hermes.AddProvenance(s.row.Provenance, hermes.TranscriptProvenance(s.transcript))
}

// splitProvenance removes the provenance from the parts of a new message and
// returns it. A picture counts as untrusted, because it may show any text.
func splitProvenance(parts []hermes.Part) (plain []hermes.Part, provenance string) {
	plain = slices.Clone(parts)
	for i := range plain {
		provenance = hermes.AddProvenance(provenance, plain[i].Provenance)
		if plain[i].Image != nil {
			provenance = hermes.AddProvenance(provenance, "a picture")
		}
		plain[i].Provenance = ""
	}
	return plain, provenance
}

// Finish adds the provenance of a call's result to the session's.
func (h *host) Finish(r *hermes.Result) {
	if !h.journaled { // a call that did not come as far as its question asks nothing
		h.asking.set(h.call.ID, false)
	}
	r.Provenance = hermes.AddProvenance(h.callTaint.String(), r.Provenance)
	h.taint.Add(r.Provenance)
}

// inheritProvenance gives messages of a context engine the provenance of the
// messages they replace, whatever the engine set.
func inheritProvenance(inserted []hermes.Insertion, hidden []hermes.Message) {
	from := hermes.TranscriptProvenance(hidden)
	for i := range inserted {
		inserted[i].Message.Provenance = hermes.AddProvenance(inserted[i].Message.Provenance, from)
	}
}
