package auxiliary

import "strings"

// withoutThinking removes the blocks in which some models write their thinking
// into the text, even if the opening or the closing tag is missing. It trims the
// rest.
func withoutThinking(text string) string {
	for _, tag := range [...]string{"think", "thinking", "reasoning", "REASONING_SCRATCHPAD"} {
		open, end := "<"+tag+">", "</"+tag+">"
		if i := lastFold(text, end); i >= 0 { // everything before it is thinking
			if j := indexFold(text, open); j < 0 || j > i || strings.TrimSpace(text[:j]) == "" {
				text = text[i+len(end):]
			} else {
				text = text[:j] + text[i+len(end):]
			}
		}
		if j := indexFold(text, open); j >= 0 { // never closed: there is no answer
			text = text[:j]
		}
	}
	return strings.TrimSpace(text)
}

func indexFold(s, sub string) int {
	for i := 0; i+len(sub) <= len(s); i++ {
		if strings.EqualFold(s[i:i+len(sub)], sub) {
			return i
		}
	}
	return -1
}

func lastFold(s, sub string) int {
	for i := len(s) - len(sub); i >= 0; i-- {
		if strings.EqualFold(s[i:i+len(sub)], sub) {
			return i
		}
	}
	return -1
}
