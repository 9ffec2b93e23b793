package program

import (
	"slices"
	"strings"

	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
)

// FindAction is something that find does with what it finds.
type FindAction struct {
	Name     string   // -delete, -exec and so on
	Command  []string // what it runs
	File     string   // what it writes
	Narrowed bool     // a name decides what it is done with
}

// FindRoots splits the arguments of find into the folders that it searches and the
// expression.
func FindRoots(rest []string) (roots, expression []string) {
	i := 0
	for i < len(rest) && (rest[i] == "-H" || rest[i] == "-L" || rest[i] == "-P" || rest[i] == "-E" || rest[i] == "-x" || strings.HasPrefix(rest[i], "-O") || rest[i] == "-D" || rest[i] == "-f") {
		if rest[i] == "-D" {
			i++
		}
		i++
	}
	i = min(i, len(rest))
	for ; i < len(rest) && !strings.HasPrefix(rest[i], "-") && rest[i] != "(" && rest[i] != "!"; i++ {
		roots = append(roots, rest[i])
	}
	if len(roots) == 0 {
		roots = []string{"."}
	}
	return roots, rest[i:]
}

// FindExpression reads the expression of find, to know which actions a name
// narrows.
type FindExpression struct {
	Rest    []string
	depth   int
	Actions []FindAction
}

func (e *FindExpression) next() string {
	if len(e.Rest) == 0 {
		return ""
	}
	word := e.Rest[0]
	e.Rest = e.Rest[1:]
	return word
}

// Any reads alternatives. It reports whether each of them is narrowed.
func (e *FindExpression) Any(outer bool) bool {
	e.depth++
	defer func() { e.depth-- }()
	all := true
	for {
		narrowed := e.all(outer)
		all = all && narrowed
		if len(e.Rest) == 0 || e.Rest[0] == ")" {
			e.next()
			return all
		}
		e.next() // -o or a comma
	}
}

// all reads conditions that must all hold. It reports whether one of them narrows.
func (e *FindExpression) all(narrowed bool) bool {
	negated := false
	for len(e.Rest) > 0 {
		switch word := e.Rest[0]; word {
		case "-o", "-or", ",", ")":
			return narrowed
		case "!", "-not":
			e.next()
			negated = !negated
			continue
		case "-a", "-and":
			e.next()
			continue
		case "(":
			e.next()
			if e.depth >= lex.MaxDepth {
				e.Rest = nil
				return false
			}
			inner := e.Any(narrowed)
			narrowed = narrowed || inner && !negated
		default:
			narrowed = e.condition(narrowed, negated)
		}
		negated = false
	}
	return narrowed
}

// condition reads one test or action.
func (e *FindExpression) condition(narrowed, negated bool) bool {
	switch word := e.next(); word {
	case "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-lname", "-ilname", "-regex", "-iregex", "-inum", "-samefile":
		return e.narrows(word, e.next(), negated) || narrowed
	case "-delete":
		e.Actions = append(e.Actions, FindAction{Name: word, Narrowed: narrowed})
	case "-exec", "-execdir", "-ok", "-okdir":
		end := 0
		for end < len(e.Rest) && e.Rest[end] != ";" && e.Rest[end] != "+" {
			end++
		}
		e.Actions = append(e.Actions, FindAction{Name: word, Command: e.Rest[:end], Narrowed: narrowed})
		e.Rest = e.Rest[min(end+1, len(e.Rest)):]
	case "-fprint", "-fls", "-fprint0":
		e.Actions = append(e.Actions, FindAction{Name: word, File: e.next()})
	case "-fprintf":
		e.Actions = append(e.Actions, FindAction{Name: word, File: e.next()})
		e.next()
	default:
		// A word after a test that is not known is its value.
		if strings.HasPrefix(word, "-") && len(e.Rest) > 0 && !strings.HasPrefix(e.Rest[0], "-") && !slices.Contains([]string{"(", ")", "!", ","}, e.Rest[0]) {
			e.next()
		}
	}
	return narrowed
}

// narrows reports whether a test leaves only some names.
func (e *FindExpression) narrows(test, pattern string, negated bool) bool {
	if negated || lex.Dynamic(pattern) {
		return false
	}
	if strings.HasSuffix(test, "regex") {
		return strings.Trim(pattern, ".*/^$") != ""
	}
	return strings.Trim(pattern, "*?/.[]!^") != ""
}

// Replaced returns arguments in which one text is replaced by another.
func Replaced(args []string, old, with string) []string {
	out := slices.Clone(args)
	for i, a := range out {
		out[i] = strings.ReplaceAll(a, old, with)
	}
	return out
}

// ListedRoots returns the folders of which a command lists everything.
func ListedRoots(name string, rest []string) []string {
	words := getopt.PlainWords(rest)
	switch name {
	case "find", "gfind":
		roots, expression := FindRoots(rest)
		e := &FindExpression{Rest: append(slices.Clone(expression), "-delete")}
		e.Any(false)
		if e.Actions[len(e.Actions)-1].Narrowed {
			return nil
		}
		return roots
	case "fd", "fdfind":
		if len(words) > 1 && strings.Trim(words[0], ".*^$") == "" {
			return words[1:]
		}
	case "ls", "du", "tree", "printf", "rg":
		switch {
		case name == "rg" && !getopt.HasLong(rest, "--files"):
		case len(words) == 0:
			return []string{"."}
		default:
			return words
		}
	}
	return nil
}
