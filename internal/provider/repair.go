package provider

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"hermes"
	"hermes/internal/fault"
)

// repair is the layer that changes what a service refuses and asks again at
// once. What helped is remembered for the endpoint while the program runs, so
// that the next call begins with it. Each remedy is tried once a call, and told.
func (c *Catalogue) repair(ch choice) Layer {
	known := c.quirks.of(ch)
	return func(next hermes.Model) hermes.Model {
		return &repairing{Model: next, known: known, protocol: ch.Wire}
	}
}

type repairing struct {
	hermes.Model
	known    *learnedQuirks
	protocol string
}

// maxRepairs bounds the remedies of one call: a service that refuses one field
// after another is not to be asked for ever.
const maxRepairs = 8

// Stream tells the person what was changed (Notice).
func (m *repairing) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) {
		var spent hermes.Usage
		tried := map[string]bool{}
		without := false // images are left out of this call
		for {
			a := attempt{spent: spent}
			if !a.run(m.Model.Stream(ctx, m.known.apply(r, without)), yield) {
				return
			}
			name, note := m.remedy(a.err, r, tried)
			if name == "" || ctx.Err() != nil || len(tried) >= maxRepairs {
				yield(hermes.Delta{}, a.err)
				return
			}
			tried[name] = true
			without = without || name == leaveOutImages
			spent = spent.Add(a.usage)
			if a.shown && !yield(hermes.Delta{Reset: "the answer broke off and is asked for again"}, nil) {
				return
			}
			if !yield(hermes.Delta{Notice: fmt.Sprintf("%s: %s; asking again", m.ID(), note)}, nil) {
				return
			}
		}
	}
}

// leaveOutImages is the last resort against images: it is for one call only.
const leaveOutImages = "no images"

// remedy notes what is to be changed after a failure, and says it in words. It
// returns "" where nothing helps, or nothing that was not tried.
func (m *repairing) remedy(err error, r *hermes.Request, tried map[string]bool) (name, note string) {
	e, ok := errors.AsType[*hermes.ModelError](err)
	if !ok {
		return "", ""
	}
	k := m.known
	switch e.Class {
	case hermes.ClassImageTooLarge:
		switch {
		case !hasImages(r):
		case !tried["images"] && k.learn(&k.smallImages):
			return "images", "the service takes no images of this size; they are made smaller"
		case !tried[leaveOutImages]:
			return leaveOutImages, "the images are still too large; they are left out of this call"
		}
	case hermes.ClassThinkingSignature, hermes.ClassEncryptedContent:
		if !tried["thinking"] && k.forget(r.Messages) {
			return "thinking", "the service does not know its own thoughts of earlier answers again; they are left out"
		}
	case hermes.ClassGrammar:
		if !tried["grammar"] && len(r.Tools) > 0 && k.learn(&k.plainSchemas) {
			return "grammar", "the server cannot read the patterns in the tools' schemas; they are left out"
		}
	case hermes.ClassMultimodalTool:
		if !tried["results"] && hasImages(r) && k.learn(&k.textResults) {
			return "results", "the service takes no images in tool results; they follow behind them"
		}
	case hermes.ClassReasoningRequired:
		if !tried["effort"] && k.learn(&k.mustThink) {
			return "effort", "the model cannot answer without thinking; it is asked to think a little"
		}
	case hermes.ClassOAuthLongContext:
		if !tried["beta"] && k.learn(&k.noLongContext) {
			return "beta", "this login may not use the long context; it is asked for without"
		}
	case hermes.ClassFormat:
		return m.withoutParameter(err, tried)
	}
	return "", ""
}

// withoutParameter leaves a field out that the service refused by name.
func (m *repairing) withoutParameter(err error, tried map[string]bool) (name, note string) {
	field := fault.Parameter(err)
	if field == "" || tried["field "+field] || m.protocol == WireAnthropic && field == "max_tokens" {
		return "", ""
	}
	if !m.known.drop(field) {
		return "", ""
	}
	return "field " + field, fmt.Sprintf("the service does not take %q; it is left out", field)
}

func hasImages(r *hermes.Request) bool {
	for _, msg := range r.Messages {
		for _, p := range msg.Parts {
			if p.Image != nil {
				return true
			}
		}
	}
	return false
}
