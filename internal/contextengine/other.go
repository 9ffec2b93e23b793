package contextengine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"hermes"
	"hermes/internal/text"
)

// Piece is a part of an outline: the message of the transcript with the index From or, if From is
// negative, a text in place of messages that are left out.
type Piece struct {
	From int
	Text string
}

// Outline says what of a transcript is sent. No pieces mean all of it.
type Outline func(ctx context.Context, transcript []hermes.Message, p hermes.ContextUsage) ([]Piece, error)

// Other is the [hermes.ContextEngine] of a session whose outlines are made elsewhere, such as by a
// plugin. They are asked for when the built-in engine would shorten the transcript. The text of an
// outline gets the frame and the anchors of a summary. Without an outline, or with one that breaks a
// promise of a context engine, the built-in engine does the work. It must not be used concurrently.
type Other struct {
	o        OtherOptions
	failures int       // in a row
	quiet    time.Time // no outline is asked for until then
	left     int       // tokens of the transcript after the last outline, 0 for none
	window   int       // of that pass
	told     bool      // the user knows that the built-in engine does the work
}

// OtherOptions are what an [Other] works with. Name, Outline and Builtin are required.
type OtherOptions struct {
	Name    string // of the engine
	Who     string // makes the outlines, for the user and the model: "the plugin x"
	Source  string // of their text, as in [hermes.ProvenanceSource]
	Outline Outline
	Builtin *Engine
	Log     *slog.Logger
}

// NewOther returns the engine of one session.
func NewOther(o OtherOptions) *Other {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Other{o: o}
}

// Name returns the engine's name in the configuration.
func (e *Other) Name() string { return e.o.Name }

// Fit shortens the transcript by an outline, if the built-in engine would shorten it; see
// [hermes.ContextEngine].
func (e *Other) Fit(ctx context.Context, transcript []hermes.Message, p hermes.ContextUsage) (hermes.CompactResult, error) {
	same := hermes.CompactResult{Messages: transcript}
	builtin, now := e.o.Builtin, e.o.Builtin.now()
	b := builtin.cfg.budget(p.Model, p.Window, builtin.fixed)
	forced, have := p.Overflow || p.Demand, size(transcript)
	if p.Window != e.window {
		e.window, e.left = p.Window, 0
	}
	e.left = min(e.left, have) // less after an undo
	switch {
	case !forced && !due(transcript, p, b):
		return builtin.Fit(ctx, transcript, p) // it may shorten old results early
	case !forced && e.left > 0 && have-e.left < b.threshold/leastGrowth:
		return same, nil // it would be asked at every step
	case p.Overflow && e.left > 0 && have == e.left: // its own result is too long
		return builtin.Fit(ctx, transcript, p)
	case !p.Demand && now.Before(e.quiet):
		return e.instead(ctx, transcript, p, "")
	}
	pieces, err := e.o.Outline(ctx, transcript, p)
	if ctx.Err() != nil {
		return same, context.Cause(ctx)
	}
	var f hermes.CompactResult
	if err == nil {
		f, err = e.build(transcript, pieces, p, b)
	}
	if err != nil {
		e.failures++
		e.quiet = now.Add(cooldowns[min(e.failures, len(cooldowns))-1])
		e.o.Log.Warn("shorten the conversation", "engine", e.o.Name, "err", err, "failures", e.failures)
		return e.instead(ctx, transcript, p, err.Error())
	}
	e.failures, e.left = 0, size(f.Messages)
	return f, nil
}

// instead lets the built-in engine do the work. The user is told once.
func (e *Other) instead(ctx context.Context, transcript []hermes.Message, p hermes.ContextUsage, why string) (hermes.CompactResult, error) {
	if p.Idle { // nothing is urgent
		return hermes.CompactResult{Messages: transcript}, nil
	}
	f, err := e.o.Builtin.Fit(ctx, transcript, p)
	if err == nil && why != "" && !e.told {
		e.told = true
		note := fmt.Sprintf("The built-in engine shortens this conversation, because %s did not: %s.", e.o.Who, strings.TrimSuffix(text.OneLine(why, 300), "."))
		f.Note = strings.TrimSpace(note + " " + f.Note)
	}
	return f, err
}

// build makes the transcript of an outline. An error says which promise the outline breaks.
func (e *Other) build(old []hermes.Message, pieces []Piece, p hermes.ContextUsage, b budget) (hermes.CompactResult, error) {
	same := hermes.CompactResult{Messages: old}
	o, err := read(old, pieces)
	if err != nil {
		return same, err
	}
	if !slices.Contains(o.kept, false) {
		if p.Overflow {
			return same, errors.New("it leaves nothing out, and the provider refused the length")
		}
		if p.Demand {
			same.Note = upper(e.o.Who) + " changed nothing."
		}
		return same, nil
	}
	w := begin(old)
	a := o.anchors(w, b.anchors)
	gap := o.at
	for gap < len(old) && !o.kept[gap] {
		gap++
	}
	var entries []entry
	c := cut{last: -1}
	for i, one := range w.entries {
		switch {
		case i >= o.at && i < gap: // what assemble replaces
		case !o.kept[i]:
			continue
		case hasSummary(one.m): // the text takes its place
			if len(one.m.Parts) == 1 {
				continue
			}
			one.m.Parts = one.m.Parts[1:]
			one.origin.Same = false
		}
		if i < o.at {
			c.head++
		}
		if i < gap {
			c.tail++
		}
		entries = append(entries, one)
	}
	w.entries = entries
	words := fmt.Sprintf("(%s wrote this.)\n%s", e.o.Who, text.Clip(o.text, 6*b.summary))
	w.assemble(c, render(a, words, e.o.Builtin.redact))
	written := &w.entries[c.head].m
	written.Provenance = hermes.AddProvenance(written.Provenance, e.o.Source)
	if err := w.alternates(); err != nil {
		return same, err
	}
	return e.judge(w, p)
}

// judge refuses a transcript that is not short enough.
func (e *Other) judge(w *work, p hermes.ContextUsage) (hermes.CompactResult, error) {
	same := hermes.CompactResult{Messages: w.old}
	before, after := size(w.old), size(w.messages())
	rest := max(used(w.old, p)-before, 0)
	away := ""
	switch {
	case p.Idle && before-after < before/idleSaves:
		return same, nil
	case p.Idle:
		away = " while you were away"
	case after >= before:
		return same, errors.New("its outline is not shorter")
	case p.Overflow && float64(after+rest) >= nearlyFull*float64(cmp.Or(p.Window, defaultWindow)):
		return same, errors.New("its outline is still too long for the window")
	}
	return w.result(fmt.Sprintf("%s compacted the conversation%s: about %d tokens became %d. Everything stays searchable.", upper(e.o.Who), away, before, after)), nil
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// outline is an outline that keeps the promises about calls, order and the last messages.
type outline struct {
	kept []bool
	at   int // the index of the first message that the text replaces
	text string
}

// read reads an outline, and refuses one that breaks a promise of a context engine.
func read(old []hermes.Message, pieces []Piece) (outline, error) {
	o := outline{kept: make([]bool, len(old)), at: -1}
	if len(pieces) == 0 {
		for i := range o.kept {
			o.kept[i] = true
		}
		return o, nil
	}
	next := 0
	for _, one := range pieces {
		switch {
		case one.From < 0 && o.at >= 0:
			return o, errors.New("its outline has two texts")
		case one.From < 0:
			o.at, o.text = next, strings.TrimSpace(one.Text)
		case one.From >= len(old):
			return o, fmt.Errorf("its outline names message %d, and there are %d", one.From, len(old))
		case one.From < next:
			return o, errors.New("its outline changes the order of messages")
		default:
			o.kept[one.From] = true
			next = one.From + 1
		}
	}
	return o, o.check(old)
}

// check refuses an outline that breaks a promise of a context engine.
func (o outline) check(old []hermes.Message) error {
	last := begin(old).lastUser(1)
	switch all := !slices.Contains(o.kept, false); {
	case last >= 0 && !o.kept[last]:
		return errors.New("its outline leaves out the last message of the user")
	case len(old) > 0 && !o.kept[len(old)-1]:
		return errors.New("its outline leaves out the newest message")
	case o.at < 0 && all:
		return nil
	case o.at < 0 || o.text == "":
		return errors.New("its outline leaves messages out, with no text in their place")
	case o.at >= len(old) || o.kept[o.at]:
		return errors.New("its outline has a text where it leaves nothing out")
	}
	for i := 0; i < len(old); {
		end := i + 1
		for end < len(old) && old[end].Role == hermes.RoleTool {
			end++
		}
		for j := i + 1; j < end; j++ {
			if o.kept[j] != o.kept[i] || j == o.at {
				return errors.New("its outline separates a call from its result")
			}
		}
		i = end
	}
	return nil
}

// anchors returns what the text must not lose of the messages that are left out, of at most so many
// tokens.
func (o outline) anchors(w *work, most int) anchors {
	var a anchors
	for i, m := range w.old {
		_, planned := planOf(m)
		switch {
		case !o.kept[i]:
			a.add(m)
		case hasSummary(m):
			s, _, _ := splitSummary(m)
			a.addEarlier(s)
		case planned && i < o.at:
			a.plan(m)
		case planned: // it stays, and is newer
			a.open = nil
		}
	}
	last := w.lastUser(1)
	a.within = last >= 0 && slices.Contains(o.kept[last:], false)
	a.limit(most)
	return a
}

// alternates refuses messages of one role that come together only because others were left out, and
// a conversation that another than the user begins.
func (w *work) alternates() error {
	if w.entries[0].m.Role != hermes.RoleUser {
		return fmt.Errorf("its outline begins with a message of the %s", w.entries[0].m.Role)
	}
	for i := 1; i < len(w.entries); i++ {
		one, next := w.entries[i-1], w.entries[i]
		if one.m.Role == next.m.Role && one.m.Role != hermes.RoleTool && next.origin.Index != one.origin.Index+1 {
			return fmt.Errorf("its outline puts two messages of the %s together", one.m.Role)
		}
	}
	return nil
}
