package turn

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"

	"hermes"
	"hermes/internal/link"
)

// KnownHosts returns whether the user knows a host: the settings list it, or the user named it in a
// message of the transcript. listed may be nil. What a child session is told is not the user's.
func KnownHosts(listed func(host string) bool, transcript []hermes.Message, child bool) func(host string) bool {
	named := sync.OnceValue(func() []string {
		var texts []string
		for _, m := range transcript {
			if m.Role != hermes.RoleUser || m.Synthetic || m.Provenance != "" || child {
				continue
			}
			for _, p := range m.Parts {
				if !p.Hidden {
					texts = append(texts, p.Text)
				}
			}
		}
		return link.Hosts(texts...)
	})
	return func(host string) bool {
		return listed != nil && listed(host) || link.Below(host, named())
	}
}

// Guarded is a model in whose answers no link carries data to a host that the user does not know, once the
// session has read untrusted text, which may have asked for it. Such links are spelled so that no program opens
// them; so they are shown, stored and sent. It serves one turn.
type Guarded struct {
	hermes.Model
	calls *Calls
	last  *link.Stream // of the answer before, which may have been cut in the middle of a link
}

// Guard returns the model of a turn.
func Guard(m hermes.Model, calls *Calls) *Guarded { return &Guarded{Model: m, calls: calls} }

// Stream changes links in the answer's text.
func (g *Guarded) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	if g.calls.Now().Provenance == "" {
		return g.Model.Stream(ctx, r)
	}
	return func(yield func(hermes.Delta, error) bool) {
		guard := link.Guard{Known: g.calls.KnowsHost}
		before := g.last
		text := guard.After(before)
		var told []string
		rest := func() bool {
			if t := text.End(); t != "" && !yield(hermes.Delta{Text: t}, nil) {
				return false
			}
			g.last = text
			var more []string
			for _, h := range text.Hosts() {
				if !slices.Contains(told, h) {
					more = append(more, h)
				}
			}
			told = append(told, more...)
			return len(more) == 0 || yield(hermes.Delta{Warning: spelledOut(more)}, nil)
		}
		for d, err := range g.Model.Stream(ctx, r) {
			switch {
			case err != nil, d.Call != nil, d.Finish != "":
				if !rest() {
					return
				}
			case d.Reset != "":
				text = guard.After(before)
			case d.Text != "":
				if d.Text = text.Feed(d.Text); d.Text == "" {
					continue
				}
			}
			if !yield(d, err) {
				return
			}
		}
		rest()
	}
}

// spelledOut tells the user why a link cannot be opened.
func spelledOut(hosts []string) string {
	return "A link to " + strings.Join(hosts, ", ") + " may carry data away, and untrusted text may have asked for it. It is spelled so that nothing opens it. " +
		"If you know the host, name it in a message, or add it to security.known_hosts."
}
