package hermes

import (
	"slices"
	"strings"
)

// Efforts lists the levels, lowest first.
func Efforts() []Effort {
	return []Effort{EffortNone, EffortMinimal, EffortLow, EffortMedium, EffortHigh, EffortXHigh, EffortMax}
}

// ParseEffort reads a level in any case, with blanks round it; "ultra" is the
// highest there is. Other words are no level: they give false, and the model
// is left its own.
func ParseEffort(word string) (Effort, bool) {
	e := Effort(strings.ToLower(strings.TrimSpace(word)))
	if e == "ultra" {
		e = EffortMax
	}
	return e, slices.Contains(Efforts(), e)
}

// EffortOf is the level for a model: that of the overrides whose name is the
// model's, however either is spelled, else the general one. Levels that are
// none are ignored.
func EffortOf(model, general string, overrides map[string]string) Effort {
	want := plainModel(model)
	best, found := "", false
	for name, word := range overrides {
		e, ok := ParseEffort(word)
		// Of two spellings of one name the first in order holds.
		if ok && plainModel(name) == want && (!found || name < best) {
			best, found, general = name, true, string(e)
		}
	}
	e, ok := ParseEffort(general)
	if !ok {
		return ""
	}
	return e
}

// plainModel is a model's name without service and vendor, in lower case,
// with one sign for every separator.
func plainModel(ref string) string {
	ref = strings.ToLower(strings.TrimSpace(ref))
	if i := strings.LastIndexByte(ref, '/'); i >= 0 {
		ref = ref[i+1:]
	} else if head, rest, ok := strings.Cut(ref, ":"); ok && !strings.ContainsAny(head, ".0123456789") { // a service, not a name with a tag
		ref = rest
		if _, own, named := strings.Cut(rest, ":"); named && head == "custom" {
			ref = own
		}
	}
	return strings.Map(func(r rune) rune {
		if r == '.' || r == '_' || r == ' ' || r == ':' {
			return '-'
		}
		return r
	}, ref)
}
