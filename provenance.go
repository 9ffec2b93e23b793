package hermes

import (
	"slices"
	"strings"
	"unicode"
)

// Bounds of what is kept of the sources of outside text.
const (
	maxSource  = 60 // characters of one
	maxSources = 4  // that are named; of more the newest are
)

const (
	betweenSources = "; "
	moreSources    = "…"
)

// ProvenanceSource makes one source of outside text from what brought it and what
// that was about, such as "read_file" and a path: on one line and short.
func ProvenanceSource(what ...string) string {
	plain := strings.Map(func(r rune) rune {
		switch {
		case r == ';':
			return ','
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(strings.Join(what, " "), ""))
	runes := []rune(strings.Join(strings.Fields(plain), " "))
	if len(runes) > maxSource {
		runes = append(runes[:maxSource-1], '…')
	}
	return string(runes)
}

// AddProvenance joins sources of outside text, as they stand in [Message.Provenance]:
// each once, in order, and of many the newest.
func AddProvenance(have string, more ...string) string {
	list := splitSources(have)
	for _, m := range more {
		for _, s := range splitSources(m) {
			if !slices.Contains(list, s) {
				list = append(list, s)
			}
		}
	}
	cut := slices.Contains(list, moreSources)
	list = slices.DeleteFunc(list, func(s string) bool { return s == moreSources })
	if n := len(list) - maxSources; n > 0 {
		list, cut = list[n:], true
	}
	if cut {
		list = append([]string{moreSources}, list...)
	}
	return strings.Join(list, betweenSources)
}

func splitSources(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, betweenSources)
}

// TranscriptProvenance is what text from outside a transcript holds.
func TranscriptProvenance(transcript []Message) string {
	var all string
	for i := range transcript {
		if o := transcript[i].Provenance; o != "" {
			all = AddProvenance(all, o)
		}
	}
	return all
}
