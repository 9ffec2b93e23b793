package fault

import (
	"strconv"
	"strings"
	"time"
)

// delayIn finds the wait that a text asks for: "try again in 1.5s", "resets in
// 2hr 15min", "retry after 20 seconds". The text is lower case.
func delayIn(text string) time.Duration {
	for _, lead := range []string{"again in ", "again after ", "retry in ", "retry after ", "resets in ", "reset in ", "reset after ", "resets after ", "available in ", "wait for ", "wait "} {
		rest := text
		for {
			i := strings.Index(rest, lead)
			if i < 0 {
				break
			}
			rest = rest[i+len(lead):]
			if d := lengthIn(rest); d > 0 {
				return d
			}
		}
	}
	return 0
}

// lengthIn adds up the numbers with units at the beginning of a text.
func lengthIn(text string) time.Duration {
	var total time.Duration
	for _, filler := range []string{"about ", "approximately ", "at least ", "another ", "~"} {
		text = strings.TrimPrefix(text, filler)
	}
	for total < longest {
		n, rest, ok := leadingNumber(text)
		if !ok {
			break
		}
		word := rest[:wordLen(rest)]
		unit := unitOf(word)
		if unit == 0 || n > longest.Seconds()*1000 {
			break
		}
		total += time.Duration(n * float64(unit))
		text = strings.TrimLeft(rest[len(word):], " ,")
		text = strings.TrimPrefix(text, "and ")
	}
	return total
}

// leadingNumber reads the number and skips the blank after it.
func leadingNumber(s string) (n float64, rest string, ok bool) {
	end := 0
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || s[end] == '.') {
		end++
	}
	n, err := strconv.ParseFloat(s[:end], 64)
	return n, strings.TrimLeft(s[end:], " "), err == nil
}

func wordLen(s string) int {
	n := 0
	for n < len(s) && s[n] >= 'a' && s[n] <= 'z' {
		n++
	}
	return n
}

func unitOf(word string) time.Duration {
	switch word {
	case "ms", "millisecond", "milliseconds":
		return time.Millisecond
	case "s", "sec", "secs", "second", "seconds":
		return time.Second
	case "m", "min", "mins", "minute", "minutes":
		return time.Minute
	case "h", "hr", "hrs", "hour", "hours":
		return time.Hour
	case "d", "day", "days":
		return 24 * time.Hour
	}
	return 0
}
