package toolbox

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"hermes"
)

// subject is what a call acts on, for the user: as the tool says it, else every
// argument.
func subject(ctx context.Context, m member, c *hermes.Call) hermes.Subject {
	if namer, ok := m.tool.(hermes.SubjectNamer); ok {
		return namer.Subject(ctx, c)
	}
	return hermes.Subject{Text: spelled(c.Arguments), Dir: folder(c)}
}

// denied returns the rule of approvals.deny that forbids a call, or "". For a
// tool that does not name its subject every text among the arguments counts.
func (b *Toolbox) denied(ctx context.Context, m member, c *hermes.Call) string {
	globs := b.approvals.rules.Deny
	if len(globs) == 0 {
		return ""
	}
	if namer, ok := m.tool.(hermes.SubjectNamer); ok {
		return denied(namer.Subject(ctx, c).Text, globs)
	}
	given, _ := decodeJSON(c.Arguments).(map[string]any)
	for _, v := range given {
		text, ok := v.(string)
		if !ok {
			continue
		}
		if glob := denied(text, globs); glob != "" {
			return glob
		}
	}
	return ""
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
// screen: control characters, invisible ones and those that change the
// direction of writing. Line breaks and tabs stay.
func visible(text string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(text, "\ufffd") {
		if r == '\n' || r == '\t' || !unicode.IsControl(r) && !unicode.Is(unicode.Cf, r) && r != 0x2028 && r != 0x2029 {
			b.WriteRune(r)
			continue
		}
		fmt.Fprintf(&b, "<U+%04X>", r)
	}
	return b.String()
}
