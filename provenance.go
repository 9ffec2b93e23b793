package hermes

import (
	"slices"
	"strings"
	"unicode"
)

// Limits of a provenance.
const (
	maxSource  = 60 // characters of one source
	maxSources = 4  // sources; the newest are kept
)

const (
	betweenSources = "; "
	moreSources    = "…"
)

// ProvenanceSource returns the name of one source of untrusted text, made from
// the parts of what, such as "read_file" and a path. It is short and has no
// line breaks.
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

// AddProvenance joins the sources in several provenances, in the form of
// [Message.Provenance]: each source once, in order. If there are too many, it
// keeps the newest and begins with "…".
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

// TranscriptProvenance returns the provenance of a whole transcript: the
// sources of all untrusted text in it.
func TranscriptProvenance(transcript []Message) string {
	var all string
	for i := range transcript {
		if o := transcript[i].Provenance; o != "" {
			all = AddProvenance(all, o)
		}
	}
	return all
}
