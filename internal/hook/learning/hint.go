package learning

import (
	"fmt"
	"math"
	"time"

	"hermes"
)

const (
	// leastAlike is how alike a failure must be to one whose fix is shown.
	leastAlike = 0.6
	// halfLife is the time after which an untouched fix counts half.
	halfLife = 180 * 24 * time.Hour
	// skillAfter is how often a failure comes before it deserves a skill.
	skillAfter = 3
	maxFix     = 600 // characters
)

// worthShowing leaves out fixes that mostly did not help.
func worthShowing(l hermes.Learning) bool { return l.Fix != "" && l.Trust() >= 0.2 }

// weight is the trust in a fix as it fades with time.
func weight(l hermes.Learning, now time.Time) float64 {
	age := max(now.Sub(l.Touched), 0)
	return math.Sqrt(l.Trust()) * math.Pow(0.5, float64(age)/float64(halfLife))
}

// known is what is appended when a fix is known.
func known(l hermes.Learning, exact bool, times int) string {
	head := "This failed before"
	if !exact {
		head = fmt.Sprintf("This is similar to a failure from before (%q)", l.Pattern)
	}
	text := fmt.Sprintf("\n\n[%s. What helped then: %s", head, short(l.Fix))
	if l.Context != "" {
		text += " (" + short(l.Context) + ")"
	}
	text += "]"
	if times >= skillAfter {
		text += fmt.Sprintf("\n[It has come up %d times: consider a skill that has it among its pitfalls.]", times)
	}
	return text
}

// unknown is what is appended when a failure comes again and nobody has said
// what helps.
func unknown(l hermes.Learning) string {
	return fmt.Sprintf("\n\n[This failure has come up %d times without a known fix. Once you have found what helps, keep it with learning (action save).]", l.Seen)
}

func short(text string) string {
	runes := []rune(text)
	if len(runes) <= maxFix {
		return text
	}
	return string(runes[:maxFix]) + "…"
}
