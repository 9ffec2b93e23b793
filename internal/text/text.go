// Package text has small helpers for the sentences that the program writes for
// people and models. It does not know what the sentences are about.
package text

import "strconv"

// Plural returns a number with its noun: Plural(1, "entry", "entries") is
// "1 entry", Plural(3, "entry", "entries") is "3 entries".
func Plural[N int | int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.FormatInt(int64(n), 10) + " " + many
}
