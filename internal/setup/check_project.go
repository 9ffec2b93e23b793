package setup

import (
	"context"
	"strings"

	"hermes/internal/text"
	"hermes/internal/trust"
)

// projectCheck says whether the settings that the project of the working folder brings
// along are trusted.
func projectCheck(d Deps) Check {
	return Check{Name: "project", Run: func(context.Context) Finding {
		p, decision, err := d.Project()
		switch {
		case err != nil:
			return Finding{Warn, err.Error(), "Fix what it names; until then the project settings allow nothing"}
		case p.Empty():
			return Finding{OK, "no project settings in this folder", ""}
		}
		var names []string
		for _, f := range p.Files {
			names = append(names, text.VisibleName(f.Path))
		}
		found := text.Plural(len(names), "file", "files") + " of project settings (" + strings.Join(names[:min(len(names), 5)], ", ") + ")"
		switch {
		case decision.State == trust.Trusted:
			return Finding{OK, found + ", trusted: they may allow what they say", ""}
		case decision.State == trust.Declined:
			return Finding{OK, found + ", declined: they may forbid and ask, but allow nothing", ""}
		case decision.Before != nil:
			return Finding{Warn, found + ", changed since you trusted them: they may forbid and ask, but allow nothing", "Look at the changes: hermes trust"}
		}
		return Finding{Warn, found + ", not trusted: they may forbid and ask, but allow nothing", "Look at them: hermes trust"}
	}}
}
