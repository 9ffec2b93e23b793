package contextengine

import (
	"hermes"
	"hermes/internal/tokens"
)

// Config says when and how far to shorten. The zero value of a field is its
// default.
type Config struct {
	Threshold       float64 // part of the window that sets it off: 0.50
	ThresholdTokens int     // at most so many tokens; 0 is no such bound
	TargetRatio     float64 // tail, as part of the threshold: 0.20, within 0.10 to 0.80
	ProtectFirst    int     // messages of the head: 3
	ProtectLast     int     // least messages of the tail: 3
	MaxSummary      int     // most tokens of a summary: 12,000
}

const (
	minTokens     = 64_000 // no threshold lies below this
	nearlyFull    = 0.85   // except in windows that are hardly larger
	defaultWindow = 128_000
	minTail       = 3
	softCeiling   = 1.5 // the tail may be so much larger than its budget
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

// budget is what a window allows; it is made anew for every model.
type budget struct {
	threshold int // tokens that set compression off
	tail      int // tokens of the tail
	reach     int // tokens back to the last words of the person that still are the tail
	head      int // most tokens of the head
	summary   int // most tokens of a summary
	anchors   int // most tokens of what is carried along without a model
}

func (c Config) budget(window int) budget {
	if window <= 0 {
		window = defaultWindow
	}
	t := max(int(c.Threshold*float64(window)), minTokens)
	if c.ThresholdTokens > 0 {
		t = min(t, c.ThresholdTokens)
	}
	t = min(t, int(nearlyFull*float64(window)))
	return budget{
		threshold: t,
		tail:      int(c.TargetRatio * float64(t)),
		reach:     t * 2 / 5,
		head:      t / 3,
		summary:   max(min(window/20, c.MaxSummary), 256),
		anchors:   min(max(window/12, minAnchors), maxAnchors),
	}
}

// Threshold is how many tokens of a window set compression off.
func (e *Engine) Threshold(window int) int { return e.cfg.budget(window).threshold }

// summaryTokens is how long the summary of so many tokens may be.
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
	n := 4 // role and frame
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

// used is the best guess of what a request with this transcript costs: the
// provider's count, plus an estimate of what came after it. Without a count it
// waits for one, unless the estimate alone nearly fills the window: some
// services never count, and cut what is too long without a word.
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
