package shell

import (
	"slices"
	"strings"
)

// findAction is something that find does with what it finds.
type findAction struct {
	name     string   // -delete, -exec and so on
	command  []string // what it runs
	file     string   // what it writes
	narrowed bool     // a name decides what it is done with
}

// search judges find: -delete, and the commands that it runs.
func (j *judge) search(rest []string, s situation) {
	roots, expression := findRoots(rest)
	e := &findExpression{rest: expression}
	e.any(false)
	for _, a := range e.actions {
		switch {
		case a.name == "-delete":
			j.ask("find-delete", "deletes every file that the search finds")
			for _, root := range roots {
				j.name(root)
				j.destroysFound(root, a.narrowed)
			}
		case a.file != "":
			j.write(a.file)
		case len(a.command) > 0:
			j.runsOnFound(a, roots, expression, s)
		}
	}
}

// runsOnFound judges a command that find runs with what it finds.
func (j *judge) runsOnFound(a findAction, roots, expression []string, s situation) {
	found := j.foundBy(expression)
	changes := j.changesFiles(a.command)
	if !changes {
		found += fromInput[1:]
	}
	if !a.narrowed && slices.ContainsFunc(roots, j.destroysVital) {
		found += fromVital[1:]
	}
	j.argv(replaced(a.command, "{}", found), situation{background: s.background})
	if changes {
		j.ask("find-exec-delete", "deletes every file that the search finds")
	}
	for _, root := range roots { // what it finds is below these
		if changes || destroysFiles(a.command) {
			j.destroysFound(root, a.narrowed)
		}
		below := root + "/" + filled
		if !a.narrowed {
			below = root
		}
		j.argv(replaced(a.command, "{}", below), situation{background: s.background})
	}
}

// destroysFound refuses to delete everything below a vital folder.
func (j *judge) destroysFound(root string, narrowed bool) {
	if !narrowed && j.destroysVital(root) {
		j.refuse("delete-root", deletesRoot)
	}
}

// changesFiles reports whether a command deletes the files that it gets.
func (j *judge) changesFiles(command []string) bool {
	switch program(innermost(command)) {
	case "rm", "unlink", "shred", "srm", "rimraf":
		return true
	}
	return false
}

// destroysFiles reports whether a command makes the files that it gets useless.
func destroysFiles(command []string) bool {
	switch program(innermost(command)) {
	case "rm", "unlink", "shred", "srm", "rimraf", "mv", "truncate", "chmod", "chown", "chgrp", "setfacl", "chattr":
		return true
	}
	return false
}

// findRoots splits the arguments of find into the folders that it searches and the
// expression.
func findRoots(rest []string) (roots, expression []string) {
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

// findExpression reads the expression of find, to know which actions a name
// narrows.
type findExpression struct {
	rest    []string
	depth   int
	actions []findAction
}

func (e *findExpression) next() string {
	if len(e.rest) == 0 {
		return ""
	}
	word := e.rest[0]
	e.rest = e.rest[1:]
	return word
}

// any reads alternatives. It reports whether each of them is narrowed.
func (e *findExpression) any(outer bool) bool {
	e.depth++
	defer func() { e.depth-- }()
	all := true
	for {
		narrowed := e.all(outer)
		all = all && narrowed
		if len(e.rest) == 0 || e.rest[0] == ")" {
			e.next()
			return all
		}
		e.next() // -o or a comma
	}
}

// all reads conditions that must all hold. It reports whether one of them narrows.
func (e *findExpression) all(narrowed bool) bool {
	negated := false
	for len(e.rest) > 0 {
		switch word := e.rest[0]; word {
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
			if e.depth >= maxDepth {
				e.rest = nil
				return false
			}
			inner := e.any(narrowed)
			narrowed = narrowed || inner && !negated
		default:
			narrowed = e.condition(narrowed, negated)
		}
		negated = false
	}
	return narrowed
}

// condition reads one test or action.
func (e *findExpression) condition(narrowed, negated bool) bool {
	switch word := e.next(); word {
	case "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-lname", "-ilname", "-regex", "-iregex", "-inum", "-samefile":
		return e.narrows(word, e.next(), negated) || narrowed
	case "-delete":
		e.actions = append(e.actions, findAction{name: word, narrowed: narrowed})
	case "-exec", "-execdir", "-ok", "-okdir":
		end := 0
		for end < len(e.rest) && e.rest[end] != ";" && e.rest[end] != "+" {
			end++
		}
		e.actions = append(e.actions, findAction{name: word, command: e.rest[:end], narrowed: narrowed})
		e.rest = e.rest[min(end+1, len(e.rest)):]
	case "-fprint", "-fls", "-fprint0":
		e.actions = append(e.actions, findAction{name: word, file: e.next()})
	case "-fprintf":
		e.actions = append(e.actions, findAction{name: word, file: e.next()})
		e.next()
	default:
		// A word after a test that is not known is its value.
		if strings.HasPrefix(word, "-") && len(e.rest) > 0 && !strings.HasPrefix(e.rest[0], "-") && !slices.Contains([]string{"(", ")", "!", ","}, e.rest[0]) {
			e.next()
		}
	}
	return narrowed
}

// narrows reports whether a test leaves only some names.
func (e *findExpression) narrows(test, pattern string, negated bool) bool {
	if negated || dynamic(pattern) {
		return false
	}
	if strings.HasSuffix(test, "regex") {
		return strings.Trim(pattern, ".*/^$") != ""
	}
	return strings.Trim(pattern, "*?/.[]!^") != ""
}

// foundBy returns a mark for the files that a search finds.
func (j *judge) foundBy(search []string) string {
	if slices.ContainsFunc(search, j.secretWord) {
		return fromSecret
	}
	return filled
}

func replaced(args []string, old, with string) []string {
	out := slices.Clone(args)
	for i, a := range out {
		out[i] = strings.ReplaceAll(a, old, with)
	}
	return out
}

// searchWithFd judges fd, whose first word is a pattern and whose others are the
// folders that it searches.
func (j *judge) searchWithFd(rest []string, s situation) {
	for i, a := range rest {
		if a != "-x" && a != "-X" && a != "--exec" && a != "--exec-batch" {
			continue
		}
		found := j.foundBy(rest[:i])
		command := rest[i+1:]
		if !slices.ContainsFunc(command, func(a string) bool { return strings.Contains(a, "{}") }) {
			command = append(slices.Clone(command), "{}")
		}
		if j.changesFiles(command) {
			j.ask("find-exec-delete", "deletes every file that the search finds")
		}
		j.argv(replaced(command, "{}", found), situation{background: s.background})
		if words := plainWords(rest[:i]); destroysFiles(command) && (len(words) == 0 || strings.Trim(words[0], ".*^$") == "") {
			roots := []string{"."}
			if len(words) > 1 {
				roots = words[1:]
			}
			for _, root := range roots {
				j.destroysFound(root, false)
			}
		}
		return
	}
}

// listedRoots returns the folders of which a command lists everything.
func (j *judge) listedRoots(name string, rest []string) []string {
	words := plainWords(rest)
	switch name {
	case "find", "gfind":
		roots, expression := findRoots(rest)
		e := &findExpression{rest: append(slices.Clone(expression), "-delete")}
		e.any(false)
		if e.actions[len(e.actions)-1].narrowed {
			return nil
		}
		return roots
	case "fd", "fdfind":
		if len(words) > 1 && strings.Trim(words[0], ".*^$") == "" {
			return words[1:]
		}
	case "ls", "du", "tree", "printf", "rg":
		switch {
		case name == "rg" && !hasLong(rest, "--files"):
		case len(words) == 0:
			return []string{"."}
		default:
			return words
		}
	}
	return nil
}

// passesOn reports whether a filter passes lines on as they are.
func passesOn(name string) bool {
	switch name {
	case "sort", "head", "tail", "cat", "tac", "tee", "uniq", "shuf", "rev", "pv", "less", "tr", "sponge", "sudo":
		return true
	}
	return false
}

// deletesListed refuses commands that delete what is listed from a vital folder.
func (j *judge) deletesListed(command []string, roots []string) {
	if !destroysFiles(command) {
		return
	}
	for _, root := range roots {
		j.destroysFound(root, false)
	}
}
