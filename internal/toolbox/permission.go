package toolbox

import (
	"context"
	"maps"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/argument"
)

// permission judges every call, whoever made it: the model, a script or a child. It
// refuses what is forbidden, and leaves to the layer approval what is to be asked.
func (b *Toolbox) permission(next runner) runner {
	return func(ctx context.Context, c *call) hermes.Result {
		b.noteRead(c)
		b.noteSettings(c)
		v := b.decide(ctx, c)
		rules := strings.Join(v.By, ", ")
		switch v.Outcome {
		case Forbidden:
			if c.rule = rules; rules != "" {
				c.by = byRule
			}
			return forbidden(v.Reason)
		case Planned:
			return planned()
		case Mistaken:
			return blocked("refused", "It did not run, and the user was not asked. Call it again as the reason says.", v.Reason)
		}
		if len(v.Risks) > 0 && len(v.Open) == 0 {
			if refused := b.recordAllowed(ctx, c, v.Risks, rules); refused != nil {
				return *refused
			}
		}
		c.open = v.Open
		return next(ctx, c)
	}
}

// forbidden is the refusal of a call that no mode and no approval allows.
func forbidden(why string) hermes.Result {
	return blocked("forbidden", "BLOCKED: this is never run: no mode and no approval can allow it. "+
		"Do not retry it, do not rephrase it, and do not try to reach the same goal by a different command. "+
		"If it is really needed, the user must do it by hand.", why)
}

// subject is what a call acts on, for the user: as the tool says it, else every
// argument.
func subject(ctx context.Context, c *call) hermes.Subject {
	if namer, ok := c.Tool.(hermes.SubjectNamer); ok {
		return namer.Subject(ctx, c.Call)
	}
	return hermes.Subject{Text: spelled(c.Arguments), Dir: folder(c.Call)}
}

// texts returns what rules that deny or ask look at: the command or subject of a
// call, or for a tool that does not name one every text among the arguments, and the
// words of each list as one command.
func texts(c *call) []string {
	switch _, names := c.Tool.(hermes.SubjectNamer); {
	case c.subject.Commands != nil:
		return c.subject.Commands
	case names:
		return []string{c.subject.Text}
	}
	return textsIn(nil, argument.Decode(c.Arguments))
}

func textsIn(all []string, value any) []string {
	switch v := value.(type) {
	case string:
		return append(all, v)
	case []any:
		all = append(all, words(v))
		for _, p := range v {
			all = textsIn(all, p)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			all = textsIn(all, v[name])
		}
	}
	return all
}

// words joins the texts of a list.
func words(list []any) string {
	var texts []string
	for _, v := range list {
		if text, ok := v.(string); ok {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, " ")
}

// folder is the folder in which the call would run.
func folder(c *hermes.Call) string {
	if c.Host == nil {
		return ""
	}
	if e := c.Host.Environment(); e != nil {
		if dir, err := e.Files().Resolve("."); err == nil {
			return dir
		}
	}
	return c.Host.Session().Dir
}

// ownRisks begin the keys of risks that change Hermes itself: its settings, what it
// remembers, its files, or a second agent with other rights.
var ownRisks = []string{"self-", "own-", "path:own-", "write-hermes"}

// AllowedUnattended reports whether a setting may allow a risk where no user can be
// asked. It never covers what only the user may allow, nor what would change the
// settings themselves.
func AllowedUnattended(r hermes.Risk) bool {
	return !r.Deny && !r.NoRemember && !r.EveryMode && !own(r)
}

// own reports whether a risk is one that changes Hermes itself.
func own(r hermes.Risk) bool {
	return slices.ContainsFunc(ownRisks, func(prefix string) bool { return strings.HasPrefix(r.Key, prefix) })
}
