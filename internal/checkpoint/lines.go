package checkpoint

import "strings"

// Lines counts the lines that a change adds and removes, of files that are texts.
func (c Change) Lines() (added, removed int) {
	inHunk := false
	for line := range strings.Lines(c.Text) {
		switch {
		case strings.HasPrefix(line, "@@ "):
			inHunk = true
		case !inHunk:
		case line[0] == '+':
			added++
		case line[0] == '-':
			removed++
		}
	}
	return added, removed
}

// What says in a word what happened to the path: added, removed or changed.
func (c Change) What() string {
	switch {
	case c.Old.Kind == None:
		return "added"
	case c.New.Kind == None:
		return "removed"
	}
	return "changed"
}
