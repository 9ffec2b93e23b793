package lex

import (
	"errors"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

var errNested = errors.New("too many brackets")

// Parse reads statements up to the first syntax error. A shell runs the
// statements before the error anyway.
func Parse(text string) ([]*syntax.Stmt, error) {
	if openers(text) > MaxNesting {
		return nil, errNested
	}
	var list []*syntax.Stmt
	var first error
	for s, err := range syntax.NewParser(syntax.Variant(syntax.LangBash)).StmtsSeq(strings.NewReader(text)) {
		// No break: the parser continues after some errors, and would panic.
		if first == nil && err != nil {
			first = err
		}
		if first == nil {
			list = append(list, s)
		}
	}
	return list, first
}

// openers counts what may open a nested construct.
func openers(text string) int {
	n := 0
	for _, opener := range []string{"(", "{", "`", "if ", "while ", "until ", "for ", "case ", "[["} {
		n += strings.Count(text, opener)
	}
	return n
}

// WithoutMarks replaces the characters that mark unknown text.
func WithoutMarks(line string) string {
	if !strings.ContainsAny(line, Marks+Split) {
		return line
	}
	out := []byte(line)
	for i, c := range out {
		if strings.IndexByte(Marks+Split, c) >= 0 {
			out[i] = 0x7f
		}
	}
	return string(out)
}
