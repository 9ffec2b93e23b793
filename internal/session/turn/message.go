package turn

import (
	"context"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"hermes"
	"hermes/internal/recallblock"
)

// SplitProvenance removes the provenance from the parts of a new message and
// returns it. A picture counts as untrusted, because it may show any text.
func SplitProvenance(parts []hermes.Part) (plain []hermes.Part, provenance string) {
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

// AddRecalled adds what the memory knows to a user message, as a hidden first part in a
// recall block. It is stored with the message, so that the next request begins with the
// same bytes. A block that the transcript already has is not added again.
func AddRecalled(m *hermes.Message, known hermes.Recalled, transcript []hermes.Message) {
	part := recallblock.Wrap(firstChars(known.Text, hermes.MaxRecall))
	carries := func(m hermes.Message) bool {
		return slices.ContainsFunc(m.Parts, func(p hermes.Part) bool { return p.Hidden && p.Text == part })
	}
	if part == "" || slices.ContainsFunc(transcript, carries) {
		return
	}
	m.Parts = slices.Insert(m.Parts, 0, hermes.Part{Text: part, Hidden: true})
	m.Provenance = hermes.AddProvenance(m.Provenance, known.Provenance)
}

// Recalled reports whether a part of a message is a recall block.
func Recalled(p hermes.Part) bool {
	return p.Hidden && p.Text != "" && strings.TrimSpace(recallblock.Strip(p.Text)) == ""
}

func firstChars(text string, n int) string {
	if len(text) <= n || utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n])
}

// AddSurroundings appends to a user message what changed around the session since the
// message before, if that is anything.
func AddSurroundings(m *hermes.Message, text string) {
	if text != "" {
		m.Parts = append(m.Parts[:len(m.Parts):len(m.Parts)], hermes.Part{Text: surroundingsHead + text + "]", Hidden: true})
	}
}

// surroundingsHead begins the part with the surroundings. Stored transcripts
// have it, so it must not change.
const surroundingsHead = "[Around you now: "

// IsSurroundings reports whether a part of a message holds the surroundings.
func IsSurroundings(p hermes.Part) bool {
	return p.Hidden && strings.HasPrefix(p.Text, surroundingsHead)
}

// The notes about plan mode. Stored transcripts have them, so they must not change.
const (
	planBegun = "[Plan mode: only calls that change nothing are run, all others are refused. Read what you need, present a plan, and end your turn. Only the user ends plan mode.]"
	planEnded = "[Plan mode has ended.]"
)

// AddPlan tells the model with a user message that the session is in plan mode, and with the
// first one afterwards that it no longer is. Then no refused call has to tell it.
func AddPlan(m *hermes.Message, plan bool, transcript []hermes.Message) {
	note := func(p hermes.Part) bool { return p.Hidden && (p.Text == planBegun || p.Text == planEnded) }
	m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), note) // of a retried message
	if plan {
		m.Parts = append(m.Parts, hermes.Part{Text: planBegun, Hidden: true})
		return
	}
	for _, before := range slices.Backward(transcript) {
		if before.Role == hermes.RoleUser {
			if slices.ContainsFunc(before.Parts, func(p hermes.Part) bool { return p.Hidden && p.Text == planBegun }) {
				m.Parts = append(m.Parts, hermes.Part{Text: planEnded, Hidden: true})
			}
			return
		}
	}
}

// AddParts appends to a message what hooks want the model to read with it.
func AddParts(m *hermes.Message, parts []hermes.Part) {
	added, from := SplitProvenance(parts)
	for _, p := range added {
		if !slices.Contains(m.Parts, p) { // a retried message has it
			m.Parts = append(m.Parts[:len(m.Parts):len(m.Parts)], p)
		}
	}
	m.Provenance = hermes.AddProvenance(m.Provenance, from)
}

// Scrubbed is a model whose answers do not repeat recall blocks.
type Scrubbed struct{ hermes.Model }

// Stream removes recall blocks from the answer's text.
func (u Scrubbed) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) {
		var scrub recallblock.Scrubber
		rest := func() bool {
			text := scrub.Flush()
			return text == "" || yield(hermes.Delta{Text: text}, nil)
		}
		for d, err := range u.Model.Stream(ctx, r) {
			switch {
			case err != nil, d.Call != nil, d.Finish != "":
				if !rest() {
					return
				}
			case d.Reset != "":
				scrub.Reset()
			case d.Text != "":
				if d.Text = scrub.Feed(d.Text); d.Text == "" {
					continue
				}
			}
			if !yield(d, err) {
				return
			}
		}
		rest()
	}
}
