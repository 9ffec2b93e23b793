package model

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"hermes/internal/chooser"
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
		found := chooser.Match(refs, word)
		switch len(found) {
		case 0:
			fmt.Fprintf(out, "No match for %q.\n", word)
			continue
		case 1:
			return refs[found[0]], nil
		}
		left = nil
		for _, i := range found {
			left = append(left, refs[i])
		}
	}
}
