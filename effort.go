package hermes

import (
	"slices"
	"strings"
)

// Effort is how much a reasoning model should think; empty means the model's
// default.
type Effort string

// The levels of effort, lowest first. A transport uses the nearest level that
// its model has.
const (
	EffortNone    Effort = "none"
	EffortMinimal Effort = "minimal"
	EffortLow     Effort = "low"
	EffortMedium  Effort = "medium"
	EffortHigh    Effort = "high"
	EffortXHigh   Effort = "xhigh"
	EffortMax     Effort = "max"
)

// Efforts returns all levels, lowest first.
func Efforts() []Effort {
	return []Effort{EffortNone, EffortMinimal, EffortLow, EffortMedium, EffortHigh, EffortXHigh, EffortMax}
}

// ParseEffort parses a level; case and surrounding blanks do not matter, and
// "ultra" means [EffortMax]. It returns false for any other word; the level is
// then left to the model.
func ParseEffort(word string) (Effort, bool) {
	e := Effort(strings.ToLower(strings.TrimSpace(word)))
	if e == "ultra" {
		e = EffortMax
	}
	return e, slices.Contains(Efforts(), e)
}

// EffortOf returns the level for a model: the override for its name, else the
// general level. Names match without provider, vendor, case and separators.
// Invalid levels are ignored.
func EffortOf(model, general string, overrides map[string]string) Effort {
	want := plainModel(model)
	best, found := "", false
	for name, word := range overrides {
		e, ok := ParseEffort(word)
		// If two overrides name the same model, the first in sort order wins.
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

// plainModel returns a model's name without provider and vendor, in lower
// case, with "-" for every separator.
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
