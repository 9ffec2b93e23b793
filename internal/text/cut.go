package text

// Cut bounds a text in characters and marks the cut.
func Cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return string(runes[:most]) + " … [cut]"
}
