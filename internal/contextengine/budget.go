package contextengine

import (
	"hermes"
	"hermes/internal/tokens"
)

// Config says when and how much to shorten. The zero value of a field means
// its default.
type Config struct {
	Threshold       float64 // part of the window that starts a compression; default 0.50
	ThresholdTokens int     // maximum of the threshold in tokens; 0 means none
	TargetRatio     float64 // size of the tail as part of the threshold, 0.10 to 0.80; default 0.20
	ProtectFirst    int     // messages of the head; default 3
	ProtectLast     int     // minimum messages of the tail; default 3
	MaxSummary      int     // maximum tokens of a summary; default 12,000
}

const (
	minTokens     = 64_000 // minimum threshold
	nearlyFull    = 0.85   // maximum threshold, as part of the window
	defaultWindow = 128_000
	minTail       = 3
	softCeiling   = 1.5 // factor by which the tail may exceed its budget
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

// Threshold returns how many tokens start a compression in this window.
func (e *Engine) Threshold(window int) int { return e.cfg.budget(window).threshold }

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
