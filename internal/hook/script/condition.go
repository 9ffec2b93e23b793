package script

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"hermes/internal/policy/shell"
	"hermes/internal/policy/shell/lex"
)

// condition is the key if of a hook in the form of Claude Code: a rule for permissions, such as Bash(git push *) or
// Edit(*.ts), that a call must fit. Where it cannot be known whether one does, it does: the hook runs.
type condition struct {
	tools   []string // by the names of Claude Code; one with a * fits many
	subject string   // "" is every call of the tools
	fits    func(subject string, view asked, on folders) bool
}

// folders are what paths of a rule are relative to.
type folders struct {
	work    string // of the session
	project string // of a project's settings, else the working folder
	home    string
	// elsewhere says that the files of the session are not on this machine.
	elsewhere bool
}

// conditionRule is the form of a rule.
var conditionRule = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_*-]*)(?:\((.*)\))?$`)

// parseCondition reads a rule. The error says what is wrong with it.
func parseCondition(text string) (*condition, error) {
	parts := conditionRule.FindStringSubmatch(strings.TrimSpace(text))
	if parts == nil {
		return nil, fmt.Errorf("%q is not a rule of Claude Code, such as Bash(git push *)", text)
	}
	c := &condition{tools: []string{parts[1]}, subject: strings.TrimSpace(parts[2])}
	switch name := parts[1]; {
	case name == "Bash":
		c.fits = fitsCommand
		c.subject = commandGlob(c.subject)
	case name == "Edit":
		c.tools, c.fits = []string{"Edit", "Write", "MultiEdit", "NotebookEdit"}, fitsPath
	case name == "Read":
		c.tools, c.fits = []string{"Read", "Grep", "Glob"}, fitsPath
	case name == "Write":
		c.fits = fitsPath
	case name == "WebFetch":
		domain, ok := strings.CutPrefix(c.subject, "domain:")
		if c.subject != "" && (!ok || domain == "") {
			return nil, errors.New("WebFetch needs a domain, as in WebFetch(domain:example.org)")
		}
		var err error
		if domain, err = plainHost(domain); err != nil {
			return nil, fmt.Errorf("%q is not a domain (%v)", c.subject, err)
		}
		c.subject, c.fits = domain, fitsHost
	case strings.Contains(text, "("):
		return nil, fmt.Errorf("rules for a part of %s are not supported: leave the part in brackets out", name)
	case strings.Contains(name, "*") && !strings.HasPrefix(name, "mcp__"):
		return nil, fmt.Errorf("%q names no tool", name)
	default:
		if like := conditionTool(name); like != name {
			return nil, fmt.Errorf("%s is no tool for this event; did you mean %s?", name, like)
		}
	}
	if c.subject == "" && strings.Contains(text, "(") {
		return nil, fmt.Errorf("the brackets are empty: write %s for every call", parts[1])
	}
	if c.subject == "*" || c.subject == "**" {
		c.subject = ""
	}
	if c.subject != "" && len(c.tools) > 1 || parts[1] == "Write" && c.subject != "" {
		if _, err := pathRule(c.subject, folders{}); err != nil {
			return nil, fmt.Errorf("%q is not a pattern for paths (%v)", c.subject, err)
		}
	}
	return c, nil
}

// conditionTool returns how a tool is called in Claude Code, for one that was named in another way.
func conditionTool(name string) string {
	for _, tool := range mapped {
		if theirs := claudeName(tool, nil).name; name == tool || strings.EqualFold(name, theirs) {
			return theirs
		}
	}
	return name
}

// holds reports whether a call fits the rule. A nil condition always holds.
func (c *condition) holds(view asked, on folders) bool {
	if c == nil {
		return true
	}
	if !slices.ContainsFunc(c.tools, func(name string) bool {
		return name == view.tool || strings.HasPrefix(name, "mcp__") && (glob(name, view.tool) || strings.HasPrefix(view.tool, name+"__"))
	}) {
		return false
	}
	return c.subject == "" || c.fits(c.subject, view, on)
}

// example is an argument that fits the rule, for samples; "" if the rule names no subject.
func (c *condition) example(home string) (key, value string) {
	if c == nil || c.subject == "" {
		return "", ""
	}
	value = strings.ReplaceAll(strings.ReplaceAll(c.subject, "**", "*"), "*", "example")
	switch c.tools[0] {
	case "Bash":
		return "command", value
	case "Edit", "Read", "Write":
		if rest, ok := strings.CutPrefix(value, "~/"); ok {
			return "path", filepath.Join(home, rest)
		}
		return "path", strings.TrimPrefix(value, "/") // two are the root
	}
	return "", ""
}

// commandGlob is the pattern of a rule for commands: :* at its end is the old form of a blank and *.
func commandGlob(text string) string {
	if rest, ok := strings.CutSuffix(text, ":*"); ok {
		text = rest + " *"
	}
	return strings.Join(strings.Fields(text), " ")
}

// fitsCommand reports whether a line runs a command that fits a pattern: as a whole or as one of its commands, also behind
// sudo and the like, in substitutions and in text for another shell.
func fitsCommand(pattern string, view asked, _ folders) bool {
	line, ok := view.input["command"].(string)
	if !ok {
		return true
	}
	if _, err := lex.Parse(line); err != nil {
		return true
	}
	fits := func(text string) bool {
		rest, open := strings.CutSuffix(pattern, " *") // further words, or none
		return mayFit(pattern, text) || open && mayFit(rest, text)
	}
	if fits(strings.Join(strings.Fields(line), " ")) {
		return true
	}
	found := false
	complete := shell.Commands(line, func(words []string) bool {
		named := append([]string{filepath.Base(words[0])}, words[1:]...)
		found = strings.Contains(certain(words[0]), unknown) || fits(joined(words)) || fits(joined(named))
		return !found
	})
	return found || !complete
}

// unknown is a part of a command that is known when it runs.
const unknown = "\x00"

// certain returns a word of a command. One with a pattern of the shell is unknown: it becomes names of files, or none.
func certain(word string) string {
	if at := strings.IndexByte(word, '['); strings.ContainsAny(word, "*?") || at >= 0 && strings.Contains(word[at:], "]") {
		return unknown
	}
	return word
}

// joined is the text of a command. A word of which nothing is known may be none, or many.
func joined(words []string) string {
	var b strings.Builder
	gap := ""
	for _, word := range words {
		word = certain(word)
		if strings.Trim(word, unknown) == "" && word != "" {
			b.WriteString(unknown)
			gap = ""
			continue
		}
		b.WriteString(gap + word)
		gap = " "
	}
	return b.String()
}

// mayFit reports whether a text fits a pattern, or can where parts of it are unknown.
func mayFit(pattern, text string) bool {
	first, last := strings.Index(text, unknown), strings.LastIndex(text, unknown)
	if first < 0 {
		return glob(pattern, text)
	}
	head, tail := text[:first], text[last+1:]
	if !strings.Contains(pattern, "*") {
		return len(head)+len(tail) <= len(pattern) && strings.HasPrefix(pattern, head) && strings.HasSuffix(pattern, tail)
	}
	start, end := pattern[:strings.Index(pattern, "*")], pattern[strings.LastIndex(pattern, "*")+1:]
	n, m := min(len(head), len(start)), min(len(tail), len(end))
	return head[:n] == start[:n] && tail[len(tail)-m:] == end[len(end)-m:]
}

// glob matches a whole text; * is anything.
func glob(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	text, ok := strings.CutPrefix(text, parts[0])
	if !ok {
		return false
	}
	last := len(parts) - 1
	for _, part := range parts[1:last] {
		at := strings.Index(text, part)
		if at < 0 {
			return false
		}
		text = text[at+len(part):]
	}
	return strings.HasSuffix(text, parts[last])
}

// fitsHost reports whether a call reads a page of a host.
func fitsHost(domain string, view asked, _ folders) bool {
	var pages []any
	switch v := view.input["url"].(type) {
	case string:
		pages = []any{v}
	case []any:
		pages = v
	}
	return len(pages) == 0 || slices.ContainsFunc(pages, func(page any) bool {
		text, _ := page.(string)
		u, err := url.Parse(text)
		if err != nil {
			return true
		}
		host, err := plainHost(u.Hostname())
		return err != nil || host == "" || glob(domain, host)
	})
}

// plainHost is a host as it is looked up. A * in it stays, and so does what is ASCII but for its case: names of hosts
// with _ or -- are in use.
func plainHost(host string) (string, error) {
	parts := strings.Split(strings.TrimSuffix(host, "."), "*")
	for i, part := range parts {
		if part = strings.ToLower(part); ascii(part) {
			parts[i] = part
			continue
		}
		plain, err := idna.Lookup.ToASCII(part)
		if err != nil {
			return "", err
		}
		parts[i] = plain
	}
	return strings.TrimSuffix(strings.Join(parts, "*"), "."), nil
}

func ascii(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}
