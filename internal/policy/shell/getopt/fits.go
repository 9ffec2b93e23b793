package getopt

import (
	"slices"
	"strconv"
	"strings"
)

// Fits reports whether the arguments of a program fit a pattern. A pattern is
// alternatives, separated by spaces; an alternative is conditions that must all hold,
// joined by &; ! negates a condition. words are what counts as plain words of args.
//
//	always      whatever the arguments are
//	args        there is an argument
//	help        it only asks for help or for the version
//	1           there are words 0 and 1
//	0=add,del*  word 0 is one of these; * is any text at the beginning or end of a name
//	any=a,b     a word is one of these; last= is about the last word
//	arg=a,b     any argument is one of these, also an option; arg0= is about the first
//	has=text    the arguments, joined by spaces, have a text; text= ignores case
//	-abc        one of the short options is given, see HasShort
//	-ab/cd      the same where c and d take a value, see CertainShort
//	-f=a,b      a value of the option is one of these
//	--all       the long option is given, see HasLong
func Fits(words, args []string, pattern string) bool {
	for alternative := range strings.SplitSeq(pattern, " ") {
		all := true
		for condition := range strings.SplitSeq(alternative, "&") {
			positive := strings.TrimPrefix(condition, "!")
			if holds(words, args, positive) == (positive != condition) {
				all = false
				break
			}
		}
		if all {
			return true
		}
	}
	return false
}

func holds(words, args []string, condition string) bool {
	kind, names, compares := strings.Cut(condition, "=")
	one := func(word string) bool { return isOneOf(word, names) }
	switch {
	case kind == "always":
		return true
	case kind == "args":
		return len(args) > 0
	case kind == "help":
		return AsksHelp(args)
	case kind == "any":
		return slices.ContainsFunc(words, one)
	case kind == "last":
		return len(words) > 0 && one(words[len(words)-1])
	case kind == "arg":
		return slices.ContainsFunc(args, one)
	case kind == "arg0":
		return len(args) > 0 && one(args[0])
	case kind == "has":
		return strings.Contains(strings.Join(args, " "), names)
	case kind == "text":
		return strings.Contains(strings.ToLower(strings.Join(args, " ")), names)
	case strings.HasPrefix(kind, "--"):
		return HasLong(args, kind)
	case kind[0] == '-' && compares:
		return slices.ContainsFunc(OptionValues(args, kind, kind), one)
	case kind[0] == '-':
		if letters, valued, ok := strings.Cut(kind[1:], "/"); ok {
			return CertainShort(args, letters, valued)
		}
		return HasShort(args, kind[1:])
	}
	i, err := strconv.Atoi(kind)
	return err == nil && i < len(words) && (!compares || one(words[i]))
}

// isOneOf reports whether a word is one of a list that is separated by commas.
func isOneOf(word, list string) bool {
	for name := range strings.SplitSeq(list, ",") {
		text := strings.Trim(name, "*")
		switch begins, ends := strings.HasSuffix(name, "*"), strings.HasPrefix(name, "*"); {
		case begins && ends && strings.Contains(word, text), begins && !ends && strings.HasPrefix(word, text), ends && !begins && strings.HasSuffix(word, text), word == name:
			return true
		}
	}
	return false
}

// Table is calls of programs: a line has the names of programs, a colon, and a pattern
// for their arguments, see [Fits].
type Table map[string]string

// NewTable reads a table. It panics if a line has no colon, a program is named twice, or
// a condition is not one of those of [Fits].
func NewTable(text string) Table {
	t := Table{}
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		names, pattern, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || !readable(pattern) {
			panic("getopt: cannot read the line of a table: " + line)
		}
		for name := range strings.FieldsSeq(names) {
			if t[name] != "" {
				panic("getopt: a table names a program twice: " + name)
			}
			t[name] = pattern
		}
	}
	return t
}

// readable reports whether all conditions of a pattern are known.
func readable(pattern string) bool {
	for condition := range strings.FieldsFuncSeq(pattern, func(r rune) bool { return r == ' ' || r == '&' }) {
		kind, _, _ := strings.Cut(strings.TrimPrefix(condition, "!"), "=")
		switch kind {
		case "always", "args", "help", "any", "last", "arg", "arg0", "has", "text":
			continue
		}
		if _, err := strconv.ParseUint(kind, 10, 8); err != nil && !strings.HasPrefix(kind, "-") {
			return false
		}
	}
	return true
}

// Has reports whether a call is in the table.
func (t Table) Has(name string, args []string) bool {
	pattern, ok := t[name]
	return ok && Fits(PlainWords(args), args, pattern)
}
