package inspect

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"hermes/internal/policy/shell/lex"
)

// Simple returns the simple commands of a line that consists of nothing else: one, or
// several joined by ;, a new line, &&, || or |. Each is a list of words with quotes removed, which
// begins with the variables that are set for it, such as CI=1.
//
// It reports false for any line in which a command could be another than its words say: with
// substitutions, variables, patterns of file names, a tilde, escapes, here-documents, functions,
// groups, conditions, loops, commands in the background, invisible characters or syntax errors. Of
// redirections it knows those to and from /dev/null and between standard output and error.
func Simple(line string) (commands [][]string, ok bool) {
	if lex.Normalize(line) != line {
		return nil, false
	}
	list, err := lex.Parse(line)
	if err != nil || len(list) == 0 {
		return nil, false
	}
	for _, s := range list {
		if commands, ok = appendSimple(commands, s); !ok {
			return nil, false
		}
	}
	return commands, true
}

// appendSimple appends the simple commands of a statement.
func appendSimple(commands [][]string, s *syntax.Stmt) (all [][]string, ok bool) {
	if s.Background || s.Coprocess || s.Disown || slices.ContainsFunc(s.Redirs, func(r *syntax.Redirect) bool { return !discards(r) }) {
		return nil, false
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		words, ok := simpleWords(c)
		return append(commands, words), ok
	case *syntax.BinaryCmd:
		if c.Op == syntax.PipeAll || len(s.Redirs) > 0 {
			return nil, false
		}
		if commands, ok = appendSimple(commands, c.X); !ok {
			return nil, false
		}
		return appendSimple(commands, c.Y)
	}
	return nil, false
}

// simpleWords returns the words of a command and what is set for it.
func simpleWords(c *syntax.CallExpr) (words []string, ok bool) {
	if len(c.Args) == 0 { // it sets variables of the shell
		return nil, false
	}
	for _, a := range c.Assigns {
		if a.Name == nil || a.Array != nil || a.Index != nil || a.Append || a.Naked {
			return nil, false
		}
		value := ""
		if a.Value != nil {
			if value, ok = writtenOut(a.Value); !ok {
				return nil, false
			}
		}
		words = append(words, a.Name.Value+"="+value)
	}
	for _, w := range c.Args {
		word, ok := writtenOut(w)
		if !ok || strings.HasPrefix(word, "=") { // zsh replaces =name
			return nil, false
		}
		words = append(words, word)
	}
	return words, true
}

// discards reports whether a redirection only drops output, reads nothing, or joins standard
// output and error.
func discards(r *syntax.Redirect) bool {
	word, ok := writtenOut(r.Word)
	if !ok || r.Hdoc != nil || r.N != nil && r.N.Value != "1" && r.N.Value != "2" {
		return false
	}
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.AppAll, syntax.RdrIn:
		return word == "/dev/null"
	case syntax.DplOut:
		return word == "1" || word == "2"
	}
	return false
}
