package getopt

import (
	"iter"
	"slices"
	"strings"
)

// OptionValues returns the values of a short and a long option. The value of a
// short one may also come after a cluster that it ends, as in -xzC folder.
func OptionValues(args []string, short, long string) []string {
	var values []string
	for i, a := range args {
		name, value, joined := strings.Cut(a, "=")
		switch {
		case a == "--":
			return values
		case HasLong([]string{name}, long) && joined:
			values = append(values, value)
		case (a == short || HasLong([]string{a}, long) || endsCluster(a, short)) && i+1 < len(args):
			values = append(values, args[i+1])
		case strings.HasPrefix(a, short) && !strings.HasPrefix(a, "--") && len(a) > len(short):
			values = append(values, a[len(short):])
		}
	}
	return values
}

// endsCluster reports whether a word is a cluster of short options, the last of
// which is the given one.
func endsCluster(word, short string) bool {
	return len(short) == 2 && len(word) > 2 && word[0] == '-' && word[len(word)-1] == short[1] && !strings.HasPrefix(word, short) &&
		strings.Trim(word[1:], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// ShortOptions lists the short options before -- with their values. Those in
// valued take the rest of their word or, if that is empty, the next word.
func ShortOptions(args []string, valued string) iter.Seq2[byte, string] {
	return func(yield func(byte, string) bool) {
		for i := 0; i < len(args) && args[i] != "--"; i++ {
			a := args[i]
			if len(a) < 2 || a[0] != '-' || a[1] == '-' {
				continue
			}
			for at := 1; at < len(a); at++ {
				if strings.IndexByte(valued, a[at]) < 0 {
					if !yield(a[at], "") {
						return
					}
					continue
				}
				value := a[at+1:]
				if value == "" && i+1 < len(args) {
					i++
					value = args[i]
				}
				if !yield(a[at], value) {
					return
				}
				break
			}
		}
	}
}

// CertainShort reports whether one of the short options is certainly given: unlike
// for hasShort, a letter in the value of another option does not count.
func CertainShort(args []string, letters, valued string) bool {
	for option := range ShortOptions(args, valued) {
		if strings.IndexByte(letters, option) >= 0 {
			return true
		}
	}
	return false
}

// mayTakeValue reports whether a word is an option that may take the next word as
// its value.
func mayTakeValue(word string) bool {
	return len(word) > 1 && word[0] == '-' && !strings.Contains(word, "=") && !slices.Contains(switches, word)
}

// CertainOption reports whether a word that fits, such as --help, is certainly an
// option.
func CertainOption(rest []string, fits func(string) bool) bool {
	for i, a := range rest {
		if a == "--" {
			return false
		}
		if fits(a) && (i == 0 || !mayTakeValue(rest[i-1])) {
			return true
		}
	}
	return false
}

// AsksHelp reports whether a command only shows its help or its version.
func AsksHelp(rest []string) bool {
	return CertainOption(rest, func(a string) bool { return HasLong([]string{a}, "--help") || HasLong([]string{a}, "--version") })
}

// PossibleCalls lists what the words of a command may be, without options: all of
// them, and what follows the first if an option before it may take that as its
// value, and so on. The first word of each is what may be the verb. A list may be
// empty.
func PossibleCalls(rest []string) [][]string {
	words := PlainWords(rest)
	all := [][]string{words}
	after := false
	for _, a := range rest {
		switch {
		case a == "--":
			return all
		case len(a) > 1 && a[0] == '-':
			after = mayTakeValue(a)
		case !after:
			return all
		default:
			words, after = words[1:], false
			all = append(all, words)
		}
	}
	return all
}
