// Package lex reads the text of command lines: it parses them, knows quotes, escapes and
// the names of programs, and marks the parts of a word that are only known at run time
// (mark.go). Its limits (limit.go) bound what the packages above it expand.
package lex

import (
	"errors"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// ErrNested is the error of a text with more than [MaxNesting] brackets, which is not read.
var ErrNested = errors.New("too many brackets")

// Parse reads statements up to the first syntax error. A shell runs the
// statements before the error anyway.
func Parse(text string) ([]*syntax.Stmt, error) {
	if openers(text) > MaxNesting {
		return nil, ErrNested
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

// Limits of everything that the analysis expands. What is longer or more is
// unknown, and an unknown command asks.
const (
	MaxNesting      = 2000     // brackets that a line may open; the parser's stack grows with them
	MaxDepth        = 16       // shells, functions, substitutions and wrappers inside each other
	MaxSteps        = 10_000   // commands that are judged; loops and functions multiply them
	MaxWork         = 1 << 20  // bytes and words that are expanded for one line
	MaxText         = 64 << 10 // bytes of a word, a here-document or an output
	MaxValue        = 8 << 10  // bytes of a variable or of an array
	MaxWords        = 1024     // words of a command, elements of an array
	MaxBraces       = 256      // words that one word with braces becomes
	MaxVariables    = 64       // variables that are remembered
	MaxAlternatives = 8        // values that a variable may have after a branch
	MaxFunction     = 16 << 10 // bytes of a function that is followed
	MaxIterations   = 32       // words of a loop that are followed one by one
	MaxPositions    = 256      // words of an unknown program that may begin a command
	MaxTexts        = 256      // arguments of a program that may be the text of one
	MaxFiles        = 64       // files that are remembered as written
)
