package learning

import (
	"fmt"
	"strconv"

	"hermes"
)

// tally describes the counts of a learning.
func tally(l hermes.Learning) string {
	text := "not seen yet"
	if l.Seen > 0 {
		text = "seen " + times(l.Seen)
	}
	if l.Shown+l.Helped+l.Failed > 0 {
		text += fmt.Sprintf(", shown %s, helped %d, failed %d", times(l.Shown), l.Helped, l.Failed)
	}
	return text
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return itoa(n) + " times"
}

func itoa(n int) string { return strconv.Itoa(n) }

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
