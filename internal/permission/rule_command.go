package permission

import (
	"errors"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"hermes/internal/policy/shell"
	"hermes/internal/policy/shell/inspect"
)

// commandPattern is one simple command, word by word: a word of a pattern fits exactly one word of
// a command. So no quote and no blank in a command can make it look like another.
type commandPattern struct {
	words []wordPattern
	rest  bool // any further words may follow
}

// wordPattern is a word, cut at each *.
type wordPattern []string

func (w wordPattern) literal() bool { return len(w) == 1 }

// parseCommand reads the subject of a rule for commands. A * after a letter or a digit, or by
// itself, at the end means any further words; another one a part of one word.
func parseCommand(text string) (commandPattern, error) {
	words, err := splitWords(text)
	if err != nil {
		return commandPattern{}, err
	}
	p := commandPattern{words: words}
	last := words[len(words)-1]
	if head := last[0]; len(last) == 2 && last[1] == "" && (head == "" || isWord(head[len(head)-1])) {
		p.rest = true
		p.words[len(words)-1] = wordPattern{head}
		if head == "" {
			p.words = words[:len(words)-1]
		}
	}
	program := slices.IndexFunc(p.words, func(w wordPattern) bool { return !w.literal() || !assigns(w[0]) })
	if program < 0 {
		return commandPattern{}, errors.New("it names no program")
	}
	for _, w := range p.words[:program+1] {
		if !w.literal() && !strings.Contains(w[0], "/") {
			return commandPattern{}, errors.New("name the program: a * may only begin behind it, or behind its folder")
		}
	}
	return p, nil
}

// splitWords splits a pattern into words. Quotes keep blanks, and stars as they are.
func splitWords(text string) ([]wordPattern, error) {
	var words []wordPattern
	var part strings.Builder
	var word wordPattern
	quote, begun := rune(0), false
	end := func() {
		if begun {
			words = append(words, append(word, part.String()))
		}
		part.Reset()
		word, begun = nil, false
	}
	for _, c := range text {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			part.WriteRune(c)
		case c == '\'' || c == '"':
			quote, begun = c, true
		case c == ' ' || c == '\t':
			end()
		case strings.ContainsRune("\n;&|<>()`$\\", c):
			return nil, errors.New("it is for one simple command, without " + string(c) + "; give a rule for each command, or quote it")
		case c == '*':
			begun = true
			word = append(word, part.String())
			part.Reset()
		default:
			begun = true
			part.WriteRune(c)
		}
	}
	if quote != 0 {
		return nil, errors.New("a quotation mark is missing")
	}
	if end(); len(words) == 0 {
		return nil, errors.New("it names no program")
	}
	return words, nil
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80
}

// assigns reports whether a word sets a variable for a command.
func assigns(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && syntax.ValidName(name)
}

// fits reports whether a command is one that the pattern describes. exact says that the pattern
// has each of its words.
func (p commandPattern) fits(command []string) (fits, exact bool) {
	if len(command) < len(p.words) || len(command) > len(p.words) && !p.rest {
		return false, false
	}
	exact = len(command) == len(p.words)
	for i, w := range p.words {
		if !w.fits(command[i]) {
			return false, false
		}
		exact = exact && w.literal()
	}
	return true, exact
}

// fits matches one word. What a * covers goes up no folder, and is no option unless the pattern
// begins it.
func (w wordPattern) fits(word string) bool {
	if w.literal() {
		return word == w[0]
	}
	if w[0] == "" && strings.HasPrefix(word, "-") || goesUp(word) {
		return false
	}
	rest, ok := strings.CutPrefix(word, w[0])
	if !ok {
		return false
	}
	for _, part := range w[1 : len(w)-1] {
		_, after, ok := strings.Cut(rest, part)
		if !ok {
			return false
		}
		rest = after
	}
	return strings.HasSuffix(rest, w[len(w)-1])
}

// goesUp reports whether a word has .. as a part of a path.
func goesUp(word string) bool {
	return slices.Contains(strings.FieldsFunc(word, func(r rune) bool { return strings.ContainsRune(`/\=:,`, r) }), "..")
}

// unmeant are the keys of risks that the author of a pattern did not mean by "any arguments": that a
// program other than the one in the rule runs, now or later, that no one can say what runs, and
// that secrets are sent. A pattern covers them only with each word of the command.
var unmeant = []string{
	"applies-download", "chmod-and-run", "database-exec", "download-to-shell", "dynamic-command", "dynamic-sql", "environment", "eval", "fetched-code",
	"git-config", "git-exec", "hg-exec", "hidden-command", "inline-code", "option-exec", "other-agent", "other-process", "pipe-to-shell", "raw-device", "remote-shell",
	"runs-later", "secret-commit", "secret-upload", "shadow-program", "shell-text", "svn-exec", "tool-settings", "too-deep", "types-for-user",
	"unknown-path", "unreadable",
}

// unmeantBegin begins the keys of risks of writing a protected file, of which the same holds.
const unmeantBegin = "write-"

// allowLine reports whether the rules have every simple command of a line.
func (rs Rules) allowLine(c Call, risk string) bool {
	commands, simple := inspect.Simple(c.Command)
	if !simple || !below(c.Workspace, c.Dir) {
		return false
	}
	for _, words := range commands {
		fits, exact := rs.command(words)
		if !fits || !exact && (slices.Contains(unmeant, risk) || strings.HasPrefix(risk, unmeantBegin)) {
			return false
		}
	}
	return rs.allowInner(commands, c)
}

// command reports whether a rule has a simple command, and whether one has each of its words.
func (rs Rules) command(words []string) (fits, exact bool) {
	for _, r := range rs {
		f, e := r.command.fits(words)
		fits, exact = fits || f, exact || e
	}
	return fits, exact
}

// allowInner reports whether the commands that those of the line start, as timeout and xargs
// do, have rules, too, or are harmless by themselves.
func (rs Rules) allowInner(commands [][]string, c Call) bool {
	allowed := true
	complete := shell.Commands(c.Command, func(words []string) bool {
		outer := slices.ContainsFunc(commands, func(all []string) bool { return slices.Equal(withoutAssigns(all), words) })
		if fits, _ := rs.command(words); !outer && !fits {
			allowed = harmless(words, c)
		}
		return allowed
	})
	return allowed && complete
}

func withoutAssigns(words []string) []string {
	for len(words) > 0 && assigns(words[0]) {
		words = words[1:]
	}
	return words
}

// harmless reports whether a command needs no approval by itself.
func harmless(words []string, c Call) bool {
	quoted := make([]string, len(words))
	for i, w := range words {
		text, err := syntax.Quote(w, syntax.LangBash)
		if err != nil { // it has a part that is only known at run time
			return false
		}
		quoted[i] = text
	}
	return c.Harmless != nil && c.Harmless(strings.Join(quoted, " "))
}
