package learning

import (
	"fmt"
	"math"
	"time"

	"hermes"
	"hermes/internal/text"
)

const (
	// leastWeight is the lowest weight at which the fix of a failure in other words
	// is shown.
	leastWeight = 0.6
	// halfLife is the time after which an untouched fix counts half.
	halfLife = 180 * 24 * time.Hour
	// skillAfter is how often a failure occurs before a skill is suggested.
	skillAfter = 3
	maxFix     = 600 // characters
)

// worthShowing excludes fixes that mostly did not help.
func worthShowing(l hermes.Learning) bool { return l.Fix != "" && l.Trust() >= 0.2 }

// weight returns the trust in a fix, which decreases with time.
func weight(l hermes.Learning, now time.Time) float64 {
	age := max(now.Sub(l.Touched), 0)
	return math.Sqrt(l.Trust()) * math.Pow(0.5, float64(age)/float64(halfLife))
}

// known returns the text to append for a known fix.
func known(l hermes.Learning, exact bool, times int) string {
	head := "This failed before"
	if !exact {
		head = fmt.Sprintf("This is similar to an earlier failure (%q)", l.Pattern)
	}
	hint := fmt.Sprintf("\n\n[%s. What helped then: %s", head, text.Short(l.Fix, maxFix))
	if l.Context != "" {
		hint += " (" + text.Short(l.Context, maxFix) + ")"
	}
	hint += "]"
	if times >= skillAfter {
		hint += fmt.Sprintf("\n[It has come up %d times: consider adding it to the pitfalls of a skill.]", times)
	}
	return hint
}

// unknown returns the text to append for a repeated failure without a fix.
func unknown(l hermes.Learning) string {
	return fmt.Sprintf("\n\n[This failure has come up %d times without a known fix. Once you find what helps, save it with the tool learning (action save, pattern, fix; if it is not in your list, through tool_call).]", l.Seen)
}
