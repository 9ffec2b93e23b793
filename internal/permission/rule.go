package permission

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Rule is about calls of one tool or of a group of tools: all of them, or those with a subject that
// fits. It is written "tool" or "tool: subject". The subject of terminal is a command, and that of
// file tools a pattern of paths:
//
//	terminal: go test*            go test with any arguments
//	terminal: git push origin *   any further words after these
//	terminal: rm -rf build/*      one path below build
//	write_file: ./docs/**         files below docs, at any depth
//	file.write                    every call that changes files
//	browser.*                     every tool of the group browser
//	mcp__github__*                every tool whose name begins so
//
// A rule that allows is read strictly: each word and each path must be described. One that denies or
// asks matches wider; see [Policy]. The zero value is about nothing.
type Rule struct {
	text    string
	tool    toolPattern
	whole   bool   // every call of the tools
	subject string // as it is written, with ~ replaced
	home    string // the folder that ~ was replaced with; "" if it was not
	base    string // where relative patterns of paths begin; "" is the folder of the session
	// For rules that allow.
	command commandPattern
	path    pathPattern
	// For rules that deny or ask: the subject in lower case, its words, and whether it is more
	// than one simple command.
	glob   string
	words  []string
	joined bool
}

// ParseRule reads a rule that allows. It does not know which tools there are.
func ParseRule(text string) (Rule, error) { return parseStrict(text, "") }

// parseStrict reads a rule that allows. home is the user's home folder; without one, ~ is refused.
func parseStrict(text, home string) (Rule, error) {
	r, err := parseRule(text, home)
	if err != nil {
		return r, err
	}
	if r.tool.glob && strings.ContainsAny(r.tool.name[:1], "*?[") {
		return Rule{}, fmt.Errorf("the rule %q does not begin with the name of a tool; a pattern of tools that are allowed begins with a part of their names", text)
	}
	switch {
	case r.whole:
	case r.tool.commands():
		r.command, err = parseCommand(r.subject)
	case r.tool.files():
		r.path, err = parsePath(r.subject)
	default:
		err = fmt.Errorf("only the calls of %s, %s, file.* and terminal.* can be told apart; for every call write only %s", toolCommand, strings.Join(fileTools[:], ", "), r.Tool())
	}
	if err != nil {
		return Rule{}, fmt.Errorf("the rule %q: %w", text, err)
	}
	return r, nil
}

// parseWide reads a rule that denies or asks.
func parseWide(text, home string) (Rule, error) {
	r, err := parseRule(text, home)
	if err != nil {
		return r, err
	}
	if r.tool = r.tool.inLowerCase(); r.whole {
		return r, nil
	}
	if r.tool.files() {
		if r.subject == "~" && home != "" {
			r.subject = home
		}
		own := strings.TrimPrefix(r.subject, cmp.Or(r.home, home)) // a home folder may have any name
		if strings.HasPrefix(own, "~") || strings.ContainsAny(own, "$`{}\"'") {
			return Rule{}, fmt.Errorf("the rule %q has ~NAME or one of $ ` { } \" ', which patterns of files do not know: write the path as it is, with ~/ for your home folder, and ? for any character", text)
		}
	}
	if whole, ok := unquoted(r.subject); ok {
		r.subject = whole
	}
	r.glob = plain(r.subject)
	words, err := splitWords(r.subject)
	if r.joined = err != nil; r.joined {
		r.glob = oneSeparator(r.glob)
	}
	if r.tool.commands() && !r.joined {
		switch program := strings.Join(words[0], "*"); {
		case strings.ContainsAny(program, " \t"):
			return Rule{}, fmt.Errorf("the rule %q names the program %q, with a blank: quote no more than one word", text, program)
		case hasBraces(r.subject):
			return Rule{}, fmt.Errorf("the rule %q has braces, which patterns do not know: give a rule for each", text)
		}
	}
	for len(words) > 1 && words[0].literal() && assigns(words[0][0]) {
		words = words[1:]
	}
	for _, w := range words {
		r.words = append(r.words, strings.ToLower(strings.Join(w, "*")))
	}
	return r, nil
}

// hasBraces reports whether a text has {a,b} outside of quotes.
func hasBraces(text string) bool {
	quote, open, comma := rune(0), false, false
	for _, c := range text {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '{':
			open, comma = true, false
		case c == ',':
			comma = open
		case c == '}' && comma:
			return true
		case c == ' ' || c == '}':
			open, comma = false, false
		}
	}
	return false
}

// unquoted returns what is in the quotes around a whole subject.
func unquoted(text string) (string, bool) {
	if n := len(text); n > 2 && (text[0] == '\'' || text[0] == '"') && text[n-1] == text[0] && strings.IndexByte(text[1:n-1], text[0]) < 0 {
		return text[1 : n-1], true
	}
	return text, false
}

var separators = strings.NewReplacer("&&", " ; ", "||", " ; ", "\n", " ; ", ";", " ; ", "|", " | ")

// oneSeparator writes what is between the commands of a line in one way.
func oneSeparator(text string) string {
	return plain(separators.Replace(text))
}

// parseRule reads what rules of all kinds have in common.
func parseRule(text, home string) (Rule, error) {
	name, subject, narrowed := strings.Cut(text, ":")
	r := Rule{text: strings.TrimSpace(text), subject: strings.TrimSpace(subject)}
	var err error
	if r.tool, err = parseTool(strings.TrimSpace(name)); err != nil {
		return Rule{}, fmt.Errorf("the rule %q %w; write it as TOOL or TOOL: SUBJECT", text, err)
	}
	if narrowed && r.subject == "" {
		return Rule{}, fmt.Errorf("the rule %q has nothing after the colon; for every call of %s write only %s", text, r.Tool(), r.Tool())
	}
	r.whole = !narrowed || r.subject == "*"
	if rest, ok := strings.CutPrefix(r.subject, "~/"); ok && r.tool.files() && home != "" {
		r.home = strings.TrimSuffix(home, "/")
		r.subject = r.home + "/" + rest
	}
	return r, nil
}

// Tool is the name of the tool, or the pattern or group of tools, as it is written.
func (r Rule) Tool() string {
	if r.tool.group != "" {
		return r.tool.group + "." + r.tool.part
	}
	return r.tool.name
}

// Names reports whether the rule is about a tool of this name in a toolset.
func (r Rule) Names(tool, toolset string) bool {
	return r.tool.fits(&Call{Tool: tool, Toolset: toolset}) || r.tool.fits(&Call{Tool: tool, Toolset: toolset, Writes: true})
}

// Concerns reports whether a rule that denies or asks may be about the calls of a tool in a toolset.
func (r Rule) Concerns(tool, toolset string) bool {
	return r.tool.mayFit(&Call{Tool: tool, Toolset: toolset}) || r.tool.mayFit(&Call{Tool: tool, Toolset: toolset, Writes: true})
}

// String is the rule as it was written.
func (r Rule) String() string { return r.text }

// SplitRules splits a list of rules at its commas. A comma of a rule itself is written \, there.
func SplitRules(list string) []string {
	var rules []string
	var rule strings.Builder
	for i := 0; i < len(list); i++ {
		switch {
		case list[i] == '\\' && i+1 < len(list) && list[i+1] == ',':
			i++
			rule.WriteByte(',')
		case list[i] == ',':
			rules = append(rules, strings.TrimSpace(rule.String()))
			rule.Reset()
		default:
			rule.WriteByte(list[i])
		}
	}
	return append(rules, strings.TrimSpace(rule.String()))
}

// Rules are the rules of a run. Together they decide about a call: each simple command of a line
// and each file of a patch may be allowed by another one.
type Rules []Rule

// ParseRules reads rules, one from each text.
func ParseRules(texts []string) (Rules, error) {
	var rules Rules
	for _, text := range texts {
		r, err := ParseRule(text)
		if err != nil {
			return nil, err
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// Allow reports whether the rules allow a call although it has the risk with this key. The caller
// asks only about risks that a rule may cover at all; see toolbox.AllowedUnattended.
func (rs Rules) Allow(c Call, risk string) bool {
	var own Rules
	for _, r := range rs {
		if r.tool.fits(&c) {
			own = append(own, r)
		}
	}
	switch {
	case len(own) == 0:
		return false
	case slices.ContainsFunc(own, func(r Rule) bool { return r.whole }):
		return true
	case c.Tool == toolCommand:
		return own.allowLine(c, risk)
	}
	return own.allowFiles(c)
}
