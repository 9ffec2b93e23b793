package toolbox

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"hermes"
	"hermes/internal/argument"
)

// permission judges every call, whoever made it: the model, a script or a child. It
// finds the risks of the call, refuses what a rule forbids, and leaves to the layer
// approval what neither the mode nor a grant allows.
func (b *Toolbox) permission(next runner) runner {
	return func(ctx context.Context, c *call) hermes.Result {
		b.noteRead(c)
		if glob := b.denied(ctx, c); glob != "" {
			return forbidden("it matches the rule " + glob + " in approvals.deny")
		}
		var found []hermes.Risk
		if assessor, ok := c.Tool.(hermes.RiskAssessor); ok {
			found = assessor.AssessRisk(ctx, c.Call)
		}
		kept, ok := b.taint(c)
		if ok {
			found = append(slices.Clip(found), kept)
		}
		if i := slices.IndexFunc(found, func(r hermes.Risk) bool { return r.Deny && !r.Mistake }); i >= 0 {
			return forbidden(found[i].Reason)
		}
		if i := slices.IndexFunc(found, func(r hermes.Risk) bool { return r.Mistake }); i >= 0 {
			return blocked("refused", "It did not run, and the user was not asked. Call it again as the reason says.", found[i].Reason)
		}
		if found = tainted(c, found); len(found) > 0 {
			c.subject = subject(ctx, c)
			if ok { // what is kept is shown whole
				c.subject.Text, c.subject.Detail = spelled(c.Arguments), ""
			}
			c.open = b.byRules(ctx, c, b.approvals.open(c, found))
		}
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

// denied returns the rule of approvals.deny that forbids a call, or "". For a
// tool that does not name its subject every text among the arguments counts.
func (b *Toolbox) denied(ctx context.Context, c *call) string {
	globs := b.approvals.rules.Deny
	if len(globs) == 0 {
		return ""
	}
	if namer, ok := c.Tool.(hermes.SubjectNamer); ok {
		return denied(namer.Subject(ctx, c.Call).Text, globs)
	}
	return deniedIn(argument.Decode(c.Arguments), globs)
}

// deniedIn returns the first glob that a text in a value matches, or that a
// list of words matches as one command, or "".
func deniedIn(value any, globs []string) string {
	var parts []any
	switch v := value.(type) {
	case string:
		return denied(v, globs)
	case []any:
		if glob := denied(words(v), globs); glob != "" {
			return glob
		}
		parts = v
	case map[string]any:
		parts = slices.Collect(maps.Values(v))
	}
	for _, p := range parts {
		if glob := deniedIn(p, globs); glob != "" {
			return glob
		}
	}
	return ""
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

// visible spells out the characters that could make a text look different on a
// screen: control characters, invisible ones, blanks that no shell takes for one
// and those that change the direction of writing. Line breaks and tabs stay.
func visible(text string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(text, "\ufffd") {
		if r == ' ' || r == '\n' || r == '\t' || !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zs, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point) && r != 0x2800 {
			b.WriteRune(r)
			continue
		}
		fmt.Fprintf(&b, "<U+%04X>", r)
	}
	return b.String()
}

// visibleName is visible for what has one line, such as a path, whose characters a program
// may have chosen: line breaks and blanks in a row are spelled out as well.
func visibleName(text string) string {
	text = visible(text)
	var b strings.Builder
	for i, r := range text {
		if r == '\n' || r == '\t' || r == ' ' && strings.HasPrefix(text[i+1:], " ") {
			fmt.Fprintf(&b, "<U+%04X>", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// ownRisks begin the keys of risks that change Hermes itself: its settings, what it
// remembers, its files, or a second agent with other rights.
var ownRisks = []string{"self-", "own-", "path:own-", "write-hermes"}

// AllowedUnattended reports whether a setting may allow a risk where no user can be
// asked. It never covers what only the user may allow, nor what would change the
// settings themselves.
func AllowedUnattended(r hermes.Risk) bool {
	return !r.Deny && !r.NoRemember && !own(r)
}

// own reports whether a risk is one that changes Hermes itself.
func own(r hermes.Risk) bool {
	return slices.ContainsFunc(ownRisks, func(prefix string) bool { return strings.HasPrefix(r.Key, prefix) })
}
