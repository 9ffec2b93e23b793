package model

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// shown is how many candidates are listed at once.
const shown = 15

// chooseModel lets the user filter a list by parts of names until one is chosen by its
// number. An empty line cancels.
func chooseModel(in io.Reader, out io.Writer, refs []string) (string, error) {
	lines := bufio.NewScanner(in)
	left := refs
	for {
		for i, r := range left[:min(len(left), shown)] {
			fmt.Fprintf(out, "%3d  %s\n", i+1, r)
		}
		if len(left) > shown {
			fmt.Fprintf(out, "     and %d more\n", len(left)-shown)
		}
		fmt.Fprint(out, "Number, part of a name, or Enter to cancel: ")
		if !lines.Scan() {
			fmt.Fprintln(out)
			return "", lines.Err()
		}
		word := strings.TrimSpace(lines.Text())
		if word == "" {
			return "", nil
		}
		if n, err := strconv.Atoi(word); err == nil && n >= 1 && n <= min(len(left), shown) {
			return left[n-1], nil
		}
		found := match(refs, word)
		if len(found) == 0 {
			fmt.Fprintf(out, "No match for %q.\n", word)
			continue
		}
		if len(found) == 1 {
			return found[0], nil
		}
		left = found
	}
}

// match finds the references that contain the letters of word in order. Those
// that contain the whole word come first.
func match(refs []string, word string) []string {
	word = strings.ToLower(word)
	var whole, spread []string
	for _, r := range refs {
		switch lower := strings.ToLower(r); {
		case strings.Contains(lower, word):
			whole = append(whole, r)
		case inOrder(lower, word):
			spread = append(spread, r)
		}
	}
	return slices.Concat(whole, spread)
}

func inOrder(text, letters string) bool {
	for _, l := range letters {
		i := strings.IndexRune(text, l)
		if i < 0 {
			return false
		}
		text = text[i+len(string(l)):]
	}
	return true
}
