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

// Summarize asks a model for a summary of at most about maxTokens tokens. The
// call is booked on the given turn.
type Summarize func(ctx context.Context, turn int64, prompt string, maxTokens int) (string, error)

// Engine shortens the transcript of one session. It must not be used
// concurrently.
type Engine struct {
	cfg       Config
	summarize Summarize
	redact    func(string) string
	now       func() time.Time
	log       *slog.Logger

	failures int       // failed summaries in a row
	quiet    time.Time // no model is asked for a summary until then
	poor     int       // passes in a row that saved little
	advised  bool      // the user knows that they saved little
	window   int       // the window of these passes

	fixed int  // tokens of a request beside the transcript, as far as counted
	left  int  // tokens that the last pass left of the transcript, 0 for none
	told  bool // the user knows that the prompt and the tools take most of the window
}

// Options are what an engine works with; all fields are optional. Without
// Summarize every summary is made without a model.
type Options struct {
	Config    Config
	Summarize Summarize
	Redact    func(string) string // removes secrets from prompts and summaries
	Now       func() time.Time
	Log       *slog.Logger
}

// New returns the engine of one session.
func New(o Options) *Engine {
	e := &Engine{cfg: o.Config.withDefaults(), summarize: o.Summarize, redact: o.Redact, now: o.Now, log: o.Log}
	if e.redact == nil {
		e.redact = func(s string) string { return s }
	}
	if e.now == nil {
		e.now = time.Now
	}
	if e.log == nil {
		e.log = slog.New(slog.DiscardHandler)
	}
	return e
}

// Name returns the engine's name in the configuration.
func (e *Engine) Name() string { return "compressor" }

// cooldowns is how long no model is asked for a summary after the first, the
// second and every further failure in a row.
var cooldowns = [...]time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute}

// keepOnDemand is how many exchanges stay when the user asks to compress
// without a number.
const keepOnDemand = 2

// maxPoor is how many passes in a row may save little before compression
// pauses.
const maxPoor = 2

// leastGrowth is the part of the threshold by which the transcript must have grown
// since the last pass, so that a small window is not compacted at every step.
const leastGrowth = 8

// idleSaves is the least part that a compaction of an idle session must save: a
// quarter.
const idleSaves = 4

// Fit shortens the transcript if it is over the threshold, refused as too long,
// if the user asked, or if the session is idle and it is worth it; see [hermes.ContextEngine].
func (e *Engine) Fit(ctx context.Context, transcript []hermes.Message, p hermes.ContextUsage) (hermes.CompactResult, error) {
	if p.Window != e.window { // another model: compression may help again
		e.window, e.fixed, e.left, e.told = p.Window, 0, 0, false
		e.helped()
	}
	if p.Used > 0 { // the least is the most exact: the size of a short transcript is hardly estimated
		e.fixed = min(cmp.Or(e.fixed, p.Window), max(used(transcript, p)-size(transcript), 1))
	}
	e.left = min(e.left, size(transcript)) // less after an undo
	f, err := e.fit(ctx, transcript, p, e.cfg.budget(p.Model, p.Window, e.fixed))
	if err != nil {
		return f, err
	}
	if f.From != nil {
		e.left = size(f.Messages)
	}
	f.Note = strings.TrimSpace(f.Note + e.crowded(transcript, p))
	return f, nil
}

// crowded returns, once for a window, what to do if the prompt and the tools take so
// much of it that the conversation must be shortened every few messages.
func (e *Engine) crowded(transcript []hermes.Message, p hermes.ContextUsage) string {
	b := e.cfg.budget(p.Model, p.Window, e.fixed)
	if e.told || p.Idle || !b.tight || !p.Overflow && !due(transcript, p, b) {
		return ""
	}
	e.told = true
	return fmt.Sprintf(" The prompt and the tools take about %d of the %d tokens of this model's window, so little of the conversation fits. Start the server with a larger context, choose another model with /model, or turn off tools with `hermes tools disable` for new sessions.", e.fixed, cmp.Or(p.Window, defaultWindow))
}

func (e *Engine) fit(ctx context.Context, transcript []hermes.Message, p hermes.ContextUsage, b budget) (hermes.CompactResult, error) {
	same := hermes.CompactResult{Messages: transcript}
	forced := p.Overflow || p.Demand
	if !forced && (e.poor >= maxPoor || !due(transcript, p, b)) {
		return e.pruneAhead(transcript, p, b), nil
	}
	if b.tight && !forced && !p.Idle && e.left > 0 && size(transcript)-e.left < b.threshold/leastGrowth {
		return same, nil // the last pass could not make it shorter
	}
	k := keep{exchanges: p.Keep, firm: p.Keep > 0}
	if p.Demand { // keep only the requested exchanges
		b.tail, k.exchanges = 0, cmp.Or(p.Keep, keepOnDemand)
	}
	w := begin(transcript)
	w.prune(w.tailFrom(b, e.cfg.byBudget(), k), prunedFrom)
	before := size(transcript)
	if !forced && spaceMade(w, before, p, used(transcript, p), b) {
		e.helped()
		return w.result(fmt.Sprintf("Older tool results were shortened: about %d tokens became %d.", before, size(w.messages()))), nil
	}
	c, ok := w.cut(b, e.cfg, k)
	switch {
	case ok:
	case !p.Overflow:
		return same, nil
	case w.changed():
		return w.result("Older tool results were shortened."), nil
	case w.squeeze(b.space):
		return w.result("Tool results that are too long for the model's window were cut."), nil
	default:
		if c, ok = w.cutHard(b); !ok {
			return same, errTooShort
		}
	}
	if p.Idle && size(w.between(c)) < before/idleSaves {
		return same, nil // not worth the price of a summary
	}
	summary, fixed, err := e.summary(ctx, w, c, b, p)
	if err != nil {
		return same, err
	}
	if summary.Text == "" && b.tight && !p.Idle && before-size(w.messages()) >= before/10 {
		return w.result("There is no summary, because the model failed. Older tool results were shortened."), nil
	}
	if summary.Text == "" {
		return same, nil // keep the transcript after a failure
	}
	w.assemble(c, summary)
	w.sanitize()
	after := w.size(0, len(w.entries))
	if rest := max(used(transcript, p)-before, 0); float64(after+rest) >= nearlyFull*float64(cmp.Or(p.Window, defaultWindow)) && w.squeeze(b.space) {
		after = w.size(0, len(w.entries))
	}
	if p.Idle && before-after < before/idleSaves {
		return same, nil
	}
	if p.Demand && after >= before {
		same.Note = "A summary would be longer than the text it replaces, so nothing was compressed."
		return same, nil
	}
	if fixed && !forced && before-after < before/10 {
		same.Note = e.judge(before, after) // the messages are worth more than what a fixed note saves
		return same, nil
	}
	away := ""
	if p.Idle {
		away = " while you were away"
	}
	note := fmt.Sprintf("The conversation was compacted%s: about %d tokens became %d. Everything stays searchable.", away, before, after)
	if fixed {
		note += " The summary failed: a fixed note replaces " + text.Plural(c.count(), "message", "messages") + "."
	}
	return w.result(note + e.judge(before, after)), nil
}

// pruneAhead shortens large old results before the threshold is reached, if the
// settings ask for it and it is worth the break of the provider's cache.
func (e *Engine) pruneAhead(transcript []hermes.Message, p hermes.ContextUsage, b budget) hermes.CompactResult {
	same := hermes.CompactResult{Messages: transcript}
	if e.cfg.PruneTokens <= 0 || used(transcript, p) < e.cfg.PruneTokens {
		return same
	}
	w := begin(transcript)
	b.reach = b.tail // also in a turn that is long
	w.prune(w.tailFrom(b, e.cfg.byBudget(), keep{}), max(e.cfg.PruneResult, prunedFrom))
	before, after := size(transcript), size(w.messages())
	if !w.changed() || before-after < e.cfg.PruneSaves {
		return same
	}
	return w.result(fmt.Sprintf("Older tool results were shortened: about %d tokens became %d.", before, after))
}

// due reports whether the transcript is long enough to be shortened: from the
// threshold on, and while the session is idle from half of it.
func due(transcript []hermes.Message, p hermes.ContextUsage, b budget) bool {
	if !p.Idle {
		return used(transcript, p) >= b.threshold
	}
	return max(used(transcript, p), size(transcript)) >= b.threshold/2
}

// spaceMade reports whether pruning alone brought the transcript well below
// the threshold.
func spaceMade(w *work, before int, p hermes.ContextUsage, used int, b budget) bool {
	saved := before - size(w.messages())
	if p.Idle {
		return saved >= before/idleSaves && max(used, before)-saved < b.threshold/2
	}
	return saved > before/10 && used-saved < b.threshold*7/10
}

var errTooShort = errors.New("the conversation does not fit into the context window of the model and cannot be shortened further; send less at once, start a new session with /new, or choose a model with a larger window")

// advice is what the user can do when compaction pauses.
const advice = " Compaction saved little twice in a row, so it pauses. Start a new session with /new, or keep one topic with /compress TOPIC."

// judge counts passes that saved less than a tenth. It returns the advice when
// compaction pauses for it, once until it helps again.
func (e *Engine) judge(before, after int) string {
	if before-after >= before/10 {
		e.helped()
		return ""
	}
	if e.poor++; e.poor < maxPoor || e.advised {
		return ""
	}
	e.advised = true
	return advice
}

// helped ends a pause.
func (e *Engine) helped() { e.poor, e.advised = 0, false }

// summary returns the summary of the cut messages, without a text if the
// transcript must stay as it is for now. fixed reports that no model made it.
func (e *Engine) summary(ctx context.Context, w *work, c cut, b budget, p hermes.ContextUsage) (summary hermes.Part, fixed bool, err error) {
	middle := w.between(c)
	a := gather(w, c, b.anchors)
	forced := p.Overflow || p.Demand
	if e.summarize == nil || !p.Demand && e.now().Before(e.quiet) {
		if !forced {
			return hermes.Part{}, false, nil
		}
		return render(a, staticSummary(a), e.redact), true, nil
	}
	most := b.summaryTokens(size(middle))
	words, err := e.summarize(ctx, w.turn(), e.redact(prompt(middle, a, p.Focus, promptText(p.Window))), most)
	if ctx.Err() != nil {
		return hermes.Part{}, false, context.Cause(ctx)
	}
	words = text.Clip(clean(words), 6*most) // some models ignore the limit
	if err == nil && words == "" {
		err = errors.New("the summary was empty")
	}
	if err == nil {
		e.failures = 0
		return render(a, words, e.redact), false, nil
	}
	e.failures++
	e.quiet = e.now().Add(cooldowns[min(e.failures, len(cooldowns))-1])
	e.log.Warn("summarize the conversation", "err", err, "failures", e.failures)
	if p.Overflow || e.failures > 1 && !p.Idle {
		return render(a, staticSummary(a), e.redact), true, nil
	}
	if p.Demand {
		return hermes.Part{}, false, fmt.Errorf("summarize the conversation, which is unchanged: %w", err)
	}
	return hermes.Part{}, false, nil
}

// work is a transcript being shortened: its entries and their origins.
type work struct {
	old     []hermes.Message
	entries []entry
}

type entry struct {
	m      hermes.Message
	origin hermes.MessageOrigin
}

// turn returns the newest turn of the transcript.
func (w *work) turn() int64 {
	if len(w.old) == 0 {
		return 0
	}
	return w.old[len(w.old)-1].Turn
}

func begin(transcript []hermes.Message) *work {
	w := &work{old: transcript, entries: make([]entry, len(transcript))}
	for i, m := range transcript {
		w.entries[i] = entry{m, hermes.MessageOrigin{Index: i, Same: true}}
	}
	return w
}

// replace replaces a message by another form of it.
func (w *work) replace(i int, m hermes.Message) {
	w.entries[i].m = m
	w.entries[i].origin.Same = false
}

func (w *work) changed() bool {
	return len(w.entries) != len(w.old) || slices.ContainsFunc(w.entries, func(e entry) bool { return !e.origin.Same })
}

func (w *work) messages() []hermes.Message {
	out := make([]hermes.Message, len(w.entries))
	for i := range w.entries {
		out[i] = w.entries[i].m
	}
	return out
}

func (w *work) result(note string) hermes.CompactResult {
	w.dropRepeats()
	f := hermes.CompactResult{Messages: w.messages(), From: make([]hermes.MessageOrigin, len(w.entries)), Note: note}
	for i := range w.entries {
		f.From[i] = w.entries[i].origin
	}
	return f
}
