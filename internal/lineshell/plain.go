package lineshell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Plain reports whether a line is one program with its words, which every shell of a Unix starts in the same
// way: it may have quotes and variables, and no redirection, pattern, pipe or second command.
func Plain(line string) bool {
	file, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil || len(file.Stmts) != 1 {
		return false
	}
	s := file.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || s.Negated || s.Background || s.Coprocess || len(s.Redirs) > 0 || len(call.Assigns) > 0 || len(call.Args) == 0 {
		return false
	}
	for _, w := range call.Args {
		if !plainParts(w.Parts, false) {
			return false
		}
	}
	return true
}

func plainParts(parts []syntax.WordPart, quoted bool) bool {
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if !quoted && strings.ContainsAny(strings.TrimPrefix(part.Value, "~/"), "*?[]{}=~!") {
				return false
			}
		case *syntax.SglQuoted:
			if part.Dollar {
				return false
			}
		case *syntax.DblQuoted:
			if part.Dollar || !plainParts(part.Parts, true) {
				return false
			}
		case *syntax.ParamExp:
			if part.Excl || part.Length || part.Width || part.Index != nil || part.Slice != nil || part.Repl != nil || part.Exp != nil {
				return false
			}
		default:
			return false
		}
	}
	return true
}
