package chain

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"hermes"
	"hermes/internal/fault"
	"hermes/internal/transport/base"
)

// Repair returns the layer that changes what a service refuses and retries at once.
// It remembers what helped for the endpoint while the program runs, so that the
// next call starts with it. Each remedy is tried once per call, with a notice. Fields
// of the body for which needed is true are never left out.
func Repair(known *Quirks, needed func(field string) bool) Layer {
	return func(next hermes.Model) hermes.Model { return &repairing{next, known, needed} }
}

type repairing struct {
	hermes.Model
	known  *Quirks
	needed func(field string) bool
}

// maxRepairs bounds the remedies of one call, for a service that refuses one
// field after another.
const maxRepairs = 8

// Stream reports what was changed (Notice).
func (m *repairing) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) {
		var a attempt
		tried := map[string]bool{}
		without := false // images are left out of this call
		for {
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
			if !a.again(yield, cutOff, m.ID()+": "+note) {
				return
			}
		}
	}
}

// leaveOutImages is the last remedy for images. It applies to one call only.
const leaveOutImages = "no images"

// remedy records what to change after a failure, and describes it in a note. It
// returns "" if nothing helps or everything was tried.
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
		case !tried["images"] && k.learn(smallImages):
			return "images", "the images are too large for the service; retrying with smaller ones"
		case !tried[leaveOutImages]:
			return leaveOutImages, "the images are still too large; retrying without them"
		}
	case hermes.ClassThinkingSignature, hermes.ClassEncryptedContent:
		if !tried["thinking"] && k.forget(r.Messages) {
			return "thinking", "the service rejects its own earlier thinking; retrying without it"
		}
	case hermes.ClassGrammar:
		if !tried["grammar"] && len(r.Tools) > 0 && k.learn(plainSchemas) {
			return "grammar", "the server cannot read the patterns in the tool schemas; retrying without them"
		}
	case hermes.ClassMultimodalTool:
		if !tried["results"] && hasImages(r) && k.learn(textResults) {
			return "results", "the service does not accept images in tool results; retrying with the images after them"
		}
	case hermes.ClassReasoningRequired:
		if !tried["effort"] && k.learn(mustThink) {
			return "effort", "the model cannot answer without thinking; retrying with minimal effort"
		}
	case hermes.ClassOAuthLongContext:
		if !tried["beta"] && k.learn(noLongContext) {
			return "beta", "this login may not use the long context; retrying without it"
		}
	case hermes.ClassFormat:
		if name, note := m.withoutAbility(err, r, tried); name != "" {
			return name, note
		}
		return m.withoutParameter(err, tried)
	}
	return "", ""
}

// withoutAbility leaves out what the model cannot do at all.
func (m *repairing) withoutAbility(err error, r *hermes.Request, tried map[string]bool) (name, note string) {
	k := m.known
	switch missing := fault.Missing(err); {
	case tried["no "+missing]:
	case missing == "tools" && len(r.Tools) > 0 && k.learn(noTools):
		return "no tools", "the model cannot use tools; going on without them. It can only talk: choose another one with /model"
	case missing == "thinking" && r.Effort != "" && k.learn(noThinking):
		return "no thinking", "the model cannot think on request; going on without it"
	case missing == "images" && hasImages(r) && k.learn(noImages):
		return "no images at all", "the model takes no images; going on without them"
	}
	return "", ""
}

// withoutParameter leaves out a field that the service refused by name.
func (m *repairing) withoutParameter(err error, tried map[string]bool) (name, note string) {
	field := fault.Parameter(err)
	if field == "" || tried["field "+field] || m.needed(field) || !m.known.drop(field) {
		return "", ""
	}
	return "field " + field, fmt.Sprintf("the service does not accept %q; retrying without it", field)
}

func hasImages(r *hermes.Request) bool {
	return slices.ContainsFunc(r.Messages, base.HasImages)
}
