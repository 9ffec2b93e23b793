package memory

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Target names one of the two files.
type Target string

// The targets.
const (
	Notes Target = "memory" // MEMORY.md
	User  Target = "user"   // USER.md
)

// Targets returns both files, in the order of the prompt.
func Targets() []Target { return []Target{Notes, User} }

// ParseTarget parses the name of a target. A blank name means Notes.
func ParseTarget(name string) (Target, error) {
	switch t := Target(strings.ToLower(strings.TrimSpace(name))); t {
	case Notes, User:
		return t, nil
	case "":
		return Notes, nil
	}
	return "", fmt.Errorf("there is no memory %q; use memory (notes) or user (who the user is)", name)
}

func (t Target) file() string {
	if t == User {
		return "USER.md"
	}
	return "MEMORY.md"
}

func (t Target) title() string {
	if t == User {
		return "USER PROFILE (who the user is)"
	}
	return "MEMORY (your personal notes)"
}

const (
	section   = "§"
	separator = "\n" + section + "\n"
)

// parse splits a file into entries: trimmed, without empty ones and duplicates.
// It accepts files that were edited by hand.
func parse(content string) []string {
	content = strings.TrimPrefix(strings.ToValidUTF8(content, "\ufffd"), "\ufeff")
	content = strings.ReplaceAll(strings.ReplaceAll(content, "\r\n", "\n"), "\r", "\n")
	var entries []string
	var entry []string
	flush := func() {
		text := strings.TrimSpace(strings.Join(entry, "\n"))
		if text != "" && !slices.Contains(entries, text) {
			entries = append(entries, text)
		}
		entry = entry[:0]
	}
	for line := range strings.SplitSeq(content, "\n") {
		if strings.TrimSpace(line) == section {
			flush()
			continue
		}
		entry = append(entry, line)
	}
	flush()
	return entries
}

func join(entries []string) string { return strings.Join(entries, separator) }

// size returns what a limit counts: the characters of the entries and their
// separators.
func size(entries []string) int { return utf8.RuneCountInString(join(entries)) }

// usage formats how full a target is: "67% — 1,474/2,200 chars".
func usage(n, limit int) string {
	return fmt.Sprintf("%d%% — %s/%s chars", n*100/max(limit, 1), grouped(n), grouped(limit))
}

// grouped formats a number with commas.
func grouped(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
