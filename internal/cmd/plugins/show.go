package plugins

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"hermes/internal/cmd/factory"
	"hermes/internal/markup"
	"hermes/internal/plugin"
	"hermes/internal/text"
)

// indent is where texts of plugins begin, so that no line of one looks like a line of Hermes.
const indent = "             "

// fold puts a text of a plugin after a beginning of Hermes' own. Its other lines, also those that a
// terminal of this width would break, are indented; a width of 0 breaks none.
func fold(head, s string, width int) string {
	var b strings.Builder
	for i, line := range strings.Split(strings.ReplaceAll(text.Visible(s), "\t", "    "), "\n") {
		if i > 0 {
			head = indent
		}
		for {
			n := fitting(line, max(width-1-markup.Width(head), 20))
			if width == 0 {
				n = len(line)
			}
			b.WriteString(head + line[:n] + "\n")
			if line = line[n:]; line == "" {
				break
			}
			head = indent
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// fitting is how many bytes of a line fit, up to a blank if there is one.
func fitting(line string, width int) (n int) {
	blank := 0
	for w := 0; n < len(line); {
		size, cells := markup.Cluster(line[n:])
		if w += cells; w > width {
			if blank > 0 {
				return blank
			}
			return max(n, size)
		}
		if n += size; line[n-1] == ' ' {
			blank = n
		}
	}
	return n
}

// fold is fold at the width of the terminal.
func (n noun) fold(head, s string) string {
	width := 0
	if factory.IsTerminal(n.Out) {
		width = n.Width()
	}
	return fold(head, s, width)
}

// line says a line with a text of a plugin.
func (n noun) line(c *factory.Call, what, format string, args ...any) {
	c.Say("%s", n.fold(fmt.Sprintf("  %-10s ", what), fmt.Sprintf(format, args...)))
}

// note notes a text of a plugin.
func (n noun) note(c *factory.Call, s string) { c.Note("%s", n.fold("", s)) }

// say shows what a plugin declares.
func (n noun) say(c *factory.Call, m plugin.Manifest) {
	c.Say("%s", n.fold(m.Name+" "+text.VisibleName(m.Version)+": ", m.Description))
	n.line(c, "program", "%s", strings.Join(m.Program, " "))
	n.granted(c, m)
}

// granted shows what a plugin may do.
func (n noun) granted(c *factory.Call, m plugin.Manifest) {
	var secrets []string
	for _, s := range m.Capabilities.Secrets {
		secrets = append(secrets, s.Name+" for "+strings.Join(s.Hosts, ", "))
	}
	declared := m.Capabilities
	for _, line := range []struct {
		what string
		list []string
	}{{"reaches", declared.Hosts}, {"reads", declared.Read}, {"writes", declared.Write}, {"programs", declared.Programs}, {"secrets", secrets}, {"calls", declared.Tools}} {
		if len(line.list) > 0 {
			n.line(c, line.what, "%s", strings.Join(line.list, "; "))
		}
	}
	for _, gap := range n.App().PluginGaps(declared) {
		n.line(c, "note", "%s", gap)
	}
	if slices.Contains(m.Kinds, plugin.KindMemory) {
		n.line(c, "memory", "gets what you and the agent say, after `hermes memory setup %s`", m.Name)
	}
	if slices.Contains(m.Kinds, plugin.KindContext) {
		n.line(c, "context", "gets whole conversations when they are shortened, after `hermes config set context.engine %s`", m.Name)
	}
	if slices.Contains(m.Kinds, plugin.KindModel) {
		n.line(c, "model", "gets all that a model gets in sessions with the model plugin:%s/MODEL", m.Name)
	}
	if slices.Contains(m.Kinds, plugin.KindEnvironment) {
		n.line(c, "commands", "of sessions with --backend plugin:%s: it sees and runs all of them, with their files", m.Name)
	}
	if declared.Approvals {
		n.line(c, "asks", "you, also whether a call may run")
	}
	if q := declared.Complete; q != nil {
		n.line(c, "asks", "a model, %d times a minute at most", q.PerMinute)
	}
}

// tell shows what a plugin offers, whole: a model reads all of it.
func (n noun) tell(c *factory.Call, name string, o plugin.Offer) {
	for _, t := range o.Tools {
		n.line(c, "tool", "%s%s: %s", t.Name, claims(t), t.Description)
		for _, s := range said(t.Schema) {
			c.Say("%s", n.fold(indent, s))
		}
	}
	for _, h := range o.Hooks {
		more := ""
		if h.Guard {
			more = ", refuses if it fails"
		}
		if h.Timeout > 0 {
			more += fmt.Sprintf(", within %d s", h.Timeout)
		}
		n.line(c, "hook", "%s %s%s", h.Event, h.Tools, more)
	}
	for _, s := range o.Sections {
		n.line(c, "prompt", "%s: %s", s.Name, s.Text)
	}
	for _, one := range o.Commands {
		n.line(c, "command", "/%s %s: %s", one.Name, one.Args, one.Help)
	}
	for _, m := range o.Models {
		n.line(c, "model", "plugin:%s/%s: %s", name, m.Name, m.Facts())
	}
	for _, m := range o.MemoryCommands {
		n.line(c, "command", "hermes memory %s %s: %s", name, m.Name, m.Help)
	}
}

// claims is what a plugin says of a tool that decides how its calls are run.
func claims(t plugin.Tool) string {
	var list []string
	switch t.Effect {
	case "none":
		list = append(list, "says that it only reads")
	case "idempotent":
		list = append(list, "says that a call may be repeated")
	}
	if t.Parallel {
		list = append(list, "runs beside other calls")
	}
	if len(list) == 0 {
		return ""
	}
	return " (" + strings.Join(list, ", ") + ")"
}

var word = regexp.MustCompile(`^[A-Za-z0-9_.:/#$-]{0,64}$`)

// said is what a schema says in words: descriptions, and any other text or name that is more than a
// word, each behind the names that lead to it.
func said(schema json.RawMessage) (lines []string) {
	var at any
	if json.Unmarshal(schema, &at) != nil {
		return []string{string(schema)}
	}
	var walk func(path []string, at any)
	walk = func(path []string, at any) {
		switch at := at.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(at)) {
				if !word.MatchString(key) {
					lines = append(lines, "a name: "+key)
				}
				walk(append(slices.Clip(path), key), at[key])
			}
		case []any:
			for _, one := range at {
				walk(path, one)
			}
		case string:
			last := ""
			if len(path) > 0 {
				last = path[len(path)-1]
			}
			if last == "description" || !word.MatchString(at) {
				names := slices.DeleteFunc(slices.Clone(path), func(p string) bool { return p == "properties" || p == "description" })
				lines = append(lines, strings.Join(names, ".")+": "+at)
			}
		}
	}
	walk(nil, at)
	return lines
}
