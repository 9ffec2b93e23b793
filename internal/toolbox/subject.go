package toolbox

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"hermes"
)

// subject is what a call acts on, for the user: as the tool says it, else every
// argument.
func subject(ctx context.Context, c *call) hermes.Subject {
	if namer, ok := c.tool.(hermes.SubjectNamer); ok {
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
	if namer, ok := c.tool.(hermes.SubjectNamer); ok {
		return denied(namer.Subject(ctx, c.Call).Text, globs)
	}
	return deniedIn(decodeJSON(c.Arguments), globs)
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
