package getopt

import (
	"strings"

	"hermes/internal/policy/shell/lex"
)

// Wrapper describes the arguments of a program that runs another one: which
// options take a value, and how many plain words come before the command.
type Wrapper struct {
	Values string // short options with a value
	Long   string // long options with a value, between spaces
	Words  int    // plain words before the command
	Assign bool   // NAME=value before the command
	Alone  string // short options without a value
	Known  string // long options without a value, between spaces
}

// Inner returns the command that the wrapper runs, without the wrapper's own
// arguments.
func (w Wrapper) Inner(args []string) []string {
	words := w.Words
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			return args[min(i+1+words, len(args)):]
		case strings.HasPrefix(a, "--"):
			if strings.Contains(w.Long, " "+a+" ") {
				i++
			}
		case len(a) > 1 && a[0] == '-':
			// The last option of a cluster may take the next word.
			if at := strings.IndexAny(a[1:], w.Values); w.Values != "" && at >= 0 && at == len(a)-2 {
				i++
			}
		case w.Assign && (lex.IsAssignment(a) || strings.HasPrefix(a, "BASH_FUNC_") && strings.Contains(a, "=")):
		case words > 0:
			words--
		default:
			return args[i:]
		}
	}
	return nil
}

// Unclear reports whether the wrapper's own arguments have an option that is not
// known, which may take the next word.
func (w Wrapper) Unclear(own []string) bool {
	for _, a := range own {
		long, _, attached := strings.Cut(a, "=")
		switch {
		case a == "--" || len(a) < 2 || a[0] != '-':
		case strings.HasPrefix(a, "--"):
			if !attached && !strings.Contains(w.Long+w.Known, " "+long+" ") {
				return true
			}
		case !strings.ContainsAny(a[1:], w.Values) && strings.Trim(a[1:], w.Alone+"0123456789") != "":
			return true
		}
	}
	return false
}

// Rest returns the plain words of a command line, without options and the values
// of those that take one.
func (w Wrapper) Rest(args []string) []string {
	var words []string
	for len(args) > 0 {
		args = w.Inner(args)
		if len(args) > 0 {
			words, args = append(words, args[0]), args[1:]
		}
	}
	return words
}
