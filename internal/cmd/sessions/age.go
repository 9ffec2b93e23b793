package sessions

import (
	"strconv"
	"strings"
	"time"

	"hermes/internal/usage"
)

// age parses a duration: a number of days, or a number followed by s, m, min, h, d
// or w.
func age(text string) (time.Duration, error) {
	units := []struct {
		suffix string
		length time.Duration
	}{{"min", time.Minute}, {"m", time.Minute}, {"s", time.Second}, {"h", time.Hour}, {"d", 24 * time.Hour},
		{"w", 7 * 24 * time.Hour}, {"", 24 * time.Hour}}
	for _, u := range units {
		digits, ok := strings.CutSuffix(text, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.Atoi(strings.TrimSpace(digits))
		if err == nil && n >= 0 && n < 100_000 {
			return time.Duration(n) * u.length, nil
		}
		break
	}
	return 0, usage.Errorf("invalid time %q: use a date such as 2026-11-20, or an age such as 90d, 12h or 2w", text)
}
