// Package text has small helpers for the sentences that the program writes for
// people and models. It does not know what the sentences are about.
package text

import (
	"fmt"
	"strconv"
)

// Plural returns a number with its noun: Plural(1, "entry", "entries") is
// "1 entry", Plural(3, "entry", "entries") is "3 entries".
func Plural[N int | int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.FormatInt(int64(n), 10) + " " + many
}

// Tokens writes a number of tokens short: 950, 12.3k, 1.2M.
func Tokens(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 100_000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// Size writes a number of bytes short: 950 B, 1.5 KB, 12.3 MB. A KB is 1,024 bytes.
func Size(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	value, names := float64(n)/unit, []string{"KB", "MB", "GB", "TB"}
	for value >= unit && len(names) > 1 {
		value, names = value/unit, names[1:]
	}
	return fmt.Sprintf("%.1f %s", value, names[0])
}
