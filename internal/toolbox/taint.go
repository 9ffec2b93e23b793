package toolbox

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"hermes"
)

// maxSource bounds what of a call stands in the source of its result, before
// it is shortened further.
const maxSource = 200

// provenance notes of a result that its text comes from outside, unless the tool
// is known to bring none. What did not run brings nothing.
func (b *Toolbox) provenance(m member, next runner) runner {
	if m.spec.Trusted {
		return next
	}
	return func(ctx context.Context, c *hermes.Call) hermes.Result {
		r := next(ctx, c)
		if r.Provenance == "" {
			r.Provenance = hermes.ProvenanceSource(m.spec.Name, b.clean(preview(m.spec.Name, c.Arguments, maxSource)))
		}
		return r
	}
}

// taint is the concern about a call that changes what outlives the
// conversation, where text from outside may have asked for it. Each kind of
// change has its own key.
func taint(m member, c *hermes.Call) (hermes.Risk, bool) {
	if m.spec.Persists == nil || c.Host == nil {
		return hermes.Risk{}, false
	}
	kind := m.spec.Persists(c.Arguments)
	if kind == "" {
		return hermes.Risk{}, false
	}
	from := c.Host.Session().Provenance
	return hermes.Risk{
		Key: "taint:" + kind, NoRemember: true,
		Reason: "this would outlast the conversation, in which text from outside was read: " + from,
	}, from != ""
}

// canPropose reports whether a change that nobody could be asked about may be
// laid aside: nothing else speaks against it.
func canPropose(m member, decision hermes.Decision, open []hermes.Risk) bool {
	silent := decision == hermes.Unattended || decision == hermes.TimedOut
	return silent && m.spec.CanPropose && !slices.ContainsFunc(open, func(r hermes.Risk) bool { return !r.NoRemember })
}

func anyNoRemember(open []hermes.Risk) bool {
	return slices.ContainsFunc(open, func(r hermes.Risk) bool { return r.NoRemember })
}

// spelled is all arguments of a call as a person reads them: one to a line,
// longer texts below their name and further in, so that no text passes for an
// argument.
func spelled(arguments json.RawMessage) string {
	var b strings.Builder
	given, ok := decodeJSON(arguments).(map[string]any)
	if !ok {
		return string(arguments)
	}
	spell(&b, given, "")
	return strings.TrimRight(b.String(), "\n")
}

func spell(b *strings.Builder, v any, indent string) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			b.WriteString(indent + name + ":")
			spellValue(b, v[name], indent+"    ")
		}
	case []any:
		for _, item := range v {
			b.WriteString(indent + "-")
			spellValue(b, item, indent+"    ")
		}
	}
}

func spellValue(b *strings.Builder, v any, indent string) {
	switch v := v.(type) {
	case map[string]any, []any:
		b.WriteString("\n")
		spell(b, v, indent)
	case string:
		if !strings.ContainsAny(v, "\r\n") {
			b.WriteString(" " + v + "\n")
			return
		}
		b.WriteString("\n")
		for line := range strings.Lines(v) {
			b.WriteString(indent + strings.TrimRight(line, "\n") + "\n")
		}
	default:
		text, err := plainJSON(v)
		if err != nil { // what was decoded has a JSON form
			text = json.RawMessage("?")
		}
		b.WriteString(" " + string(text) + "\n")
	}
}
