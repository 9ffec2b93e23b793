package contextengine

import (
	"strings"

	"hermes"
	"hermes/internal/tokens"
)

// Config says when and how much to shorten. The zero value of a field means
// its default.
type Config struct {
	Threshold       float64 // part of the window that starts a compression; default 0.50
	ThresholdTokens int     // maximum of the threshold in tokens; 0 means none
	// ModelThresholds replaces Threshold for the models that a key is a part of:
	// of the model's name, or "provider:part" for one provider. The longest key
	// wins; letters match in any case. Only values from 0 to 1 count.
	ModelThresholds map[string]float64
	// SmallWindow is the least part of a window below 512,000 tokens, for models
	// without a threshold of their own; 0 means none.
	SmallWindow float64
	TargetRatio float64 // size of the tail as part of the threshold, 0.10 to 0.80; default 0.20
	// LeanTail makes the tail a fortieth of the window instead, from 10,000 to
	// 25,000 tokens and at most a fifth of the window and two fifths of the threshold.
	LeanTail     bool
	ProtectFirst int // messages of the head; default 3
	// ProtectLast is how many messages of the tail stay although they exceed its
	// budget, as long as they are within one and a half of it; at least 3 stay
	// whatever their size.
	ProtectLast int
	MaxSummary  int // maximum tokens of a summary; default 12,000

	// PruneTokens is the size from which old results of at least PruneResult
	// bytes are shortened before the threshold is reached, if that saves at
	// least PruneSaves tokens; 0 means never.
	PruneTokens, PruneResult, PruneSaves int
}

const (
	minTokens     = 64_000  // minimum threshold
	smallWindow   = 512_000 // windows below it are small
	nearlyFull    = 0.85    // maximum threshold, as part of the window
	defaultWindow = 128_000
	minTail       = 3
	softCeiling   = 1.5 // factor by which the tail may exceed its budget
	minLeanTail   = 10_000
	maxLeanTail   = 25_000
	minSummary    = 2_000
	maxSummary    = 12_000
	minAnchors    = 1_000
	maxAnchors    = 8_000
)

func (c Config) withDefaults() Config {
	if c.Threshold <= 0 {
		c.Threshold = 0.50
	}
	if c.TargetRatio == 0 {
		c.TargetRatio = 0.20
	}
	c.TargetRatio = min(max(c.TargetRatio, 0.10), 0.80)
	if c.ProtectFirst <= 0 {
		c.ProtectFirst = 3
	}
	if c.ProtectLast < minTail {
		c.ProtectLast = minTail
	}
	if c.MaxSummary <= 0 || c.MaxSummary > maxSummary {
		c.MaxSummary = maxSummary
	}
	return c
}

// budget holds the limits for a window, in tokens.
type budget struct {
	threshold int // starts a compression
	tail      int
	reach     int // maximum tail that reaches back to the user's last message
	head      int
	summary   int
	anchors   int
	space     int  // the window, without the prompt and the tools if it is tight
	tight     bool // the window is small, and the prompt and the tools take most of it
}

// budget returns the limits for a window of which fixed tokens are not the
// transcript: the prompt and the tools. If these take more than half of the threshold
// of a small window, the parts of the transcript get their shares of the rest.
func (c Config) budget(model string, window, fixed int) budget {
	if window <= 0 {
		window = defaultWindow
	}
	t := max(int(c.share(model, window)*float64(window)), minTokens)
	if c.ThresholdTokens > 0 {
		t = min(t, c.ThresholdTokens)
	}
	t = min(t, int(nearlyFull*float64(window)))
	tail := int(c.TargetRatio * float64(t))
	if c.LeanTail {
		tail = min(max(window/40, minLeanTail), maxLeanTail, window/5, t*2/5)
	}
	b := budget{
		threshold: t,
		tail:      tail,
		reach:     t * 2 / 5,
		head:      t / 3,
		summary:   max(min(window/20, c.MaxSummary), 256),
		anchors:   min(max(window/12, minAnchors), maxAnchors),
		space:     window,
	}
	if window < minTokens && fixed > t/2 {
		rest := max(t-fixed, t/8)
		b.tail, b.reach, b.head = min(tail, rest/4), rest/3, rest/6
		b.summary, b.anchors = min(b.summary, max(rest/5, 128)), min(b.anchors, rest/6)
		b.space, b.tight = max(window-fixed, window/8), true
	}
	return b
}

// share returns which part of the window starts a compression.
func (c Config) share(model string, window int) float64 {
	best, share := "", c.Threshold
	for key, v := range c.ModelThresholds {
		if v > 0 && v <= 1 && len(key) > len(best) && covers(strings.ToLower(key), strings.ToLower(model)) {
			best, share = key, v
		}
	}
	if best == "" && window < smallWindow {
		share = max(share, c.SmallWindow)
	}
	return share
}

// covers reports whether a key of ModelThresholds means a model: a part of its
// name, or "provider:part".
func covers(key, ref string) bool {
	service, name, ok := strings.Cut(strings.TrimPrefix(ref, "custom:"), ":")
	if !ok {
		service, name = "", ref
	}
	if provider, part, ok := strings.Cut(key, ":"); ok && provider == service {
		return strings.Contains(name, part)
	}
	return strings.Contains(name, key)
}

// Threshold returns how many tokens start a compression for a model with this
// window.
func (e *Engine) Threshold(model string, window int) int {
	return e.cfg.budget(model, window, 0).threshold
}

// summaryTokens returns how long a summary of so many tokens may be.
func (b budget) summaryTokens(compressed int) int {
	return min(max(compressed/5, minSummary), b.summary)
}

// size estimates the tokens of messages.
func size(list []hermes.Message) int {
	n := 0
	for i := range list {
		n += sizeOf(&list[i])
	}
	return n
}

func sizeOf(m *hermes.Message) int {
	n := 4 // role and separators
	for i := range m.Parts {
		if m.Parts[i].Image != nil {
			n += tokens.Image
			continue
		}
		n += tokens.Text(m.Parts[i].Text)
	}
	for i := range m.Calls {
		n += tokens.Texts(m.Calls[i].Name, m.Calls[i].Arguments) + 8
	}
	return n
}

// used returns the best guess of the size of a request with this transcript:
// the provider's count plus an estimate of what was added since. Without a
// count it returns 0, unless the estimate alone nearly fills the window: some
// services never count, and silently cut what is too long.
func used(transcript []hermes.Message, p hermes.ContextUsage) int {
	if p.Used <= 0 {
		if n := size(transcript); p.Window > 0 && float64(n) >= nearlyFull*float64(p.Window) {
			return n
		}
		return 0
	}
	n := min(max(p.Counted, 0), len(transcript))
	return p.Used + size(transcript[n:])
}
