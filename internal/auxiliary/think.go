package auxiliary

import "strings"

// withoutThinking takes out the blocks in which some models write their
// thinking into the text, also where the opening or the closing tag is
// missing, and trims what is left.
func withoutThinking(text string) string {
	for _, tag := range [...]string{"think", "thinking", "reasoning", "REASONING_SCRATCHPAD"} {
		open, end := "<"+tag+">", "</"+tag+">"
		if i := lastFold(text, end); i >= 0 { // whatever stands before it was thought
			if j := indexFold(text, open); j < 0 || j > i || strings.TrimSpace(text[:j]) == "" {
				text = text[i+len(end):]
			} else {
				text = text[:j] + text[i+len(end):]
			}
		}
		if j := indexFold(text, open); j >= 0 { // never closed: the answer did not come
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
