package toolbox

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/policy"
)

// maxSource limits how much of a call is named as the source of its result,
// before it is shortened further.
const maxSource = 200

// provenance records that a result is untrusted text, unless the tool is
// trusted. It is the innermost layer, so a call that did not run has no source.
func (b *Toolbox) provenance(next runner) runner {
	return func(ctx context.Context, c *call) hermes.Result {
		if c.spec.Trusted {
			return next(ctx, c)
		}
		chosen := b.chosen(ctx, c.Call) // before the call can change what its paths lead to
		r := next(ctx, c)
		named := r.Provenance != ""
		if !named {
			r.Provenance = hermes.ProvenanceSource(c.spec.Name, b.clean(preview(c.spec.Name, c.Arguments, maxSource)))
		}
		r.Provenance = hermes.MarkChosen(r.Provenance, func(string) bool { return chosen && !named && !policy.ShowsFetched(r.Text) })
		return r
	}
}

// taint returns the risk of a call that changes what is kept for later sessions
// after this session has read untrusted text, which may have asked for the
// change. Text of trusted folders does not count for what is only remembered. Each kind of change has its own key.
func (b *Toolbox) taint(c *call) (hermes.Risk, bool) {
	if c.spec.Persists == nil || c.Host == nil {
		return hermes.Risk{}, false
	}
	kind := c.spec.Persists(c.Arguments)
	if kind == "" {
		return hermes.Risk{}, false
	}
	from := outside(kind, c.Host.Session().Provenance)
	if from == "" {
		return hermes.Risk{}, false
	}
	reason := "this is kept for later sessions, and this session has read text that you neither wrote nor trusted (" + from + ")"
	if advice := b.lessAsking(c); advice != "" {
		reason += ". " + advice
	}
	return hermes.Risk{Key: "taint:" + kind, NoRemember: true, Reason: reason}, true
}

// canPropose reports whether a change may become a pending change: no user
// could be asked, and there is no other risk.
func (c *call) canPropose(decision hermes.Decision) bool {
	unanswered := decision == hermes.Unattended || decision == hermes.TimedOut
	return unanswered && c.spec.CanPropose && !slices.ContainsFunc(c.open, func(r hermes.Risk) bool { return !r.NoRemember })
}

// spelled lists all arguments of a call for the user: one per line, with longer
// texts indented below their name, so that no text looks like an argument.
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
