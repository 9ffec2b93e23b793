package text

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Moment parses a point in time as people write it: a date, a date with time, or an
// age such as 90d, 12h, 2w, 1h30m or a number of days, which counts back from now. A
// date without a zone is in the zone of now. An empty text is the zero time.
func Moment(text string, now time.Time) (time.Time, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, time.DateTime, "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02T15:04:05", time.RFC3339} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	back, ok := readAge(text)
	if !ok {
		return time.Time{}, fmt.Errorf("invalid time %q: use a date such as 2026-11-20 or 2026-11-20 15:04, or an age such as 90d, 12h or 2w", text)
	}
	return now.Add(-back), nil
}

// maxAge bounds an age, so that no moment is out of range.
const maxAge = 100_000 * 24 * time.Hour

// readAge parses a duration: a number of days, a number followed by s, m, min, h, d or w, or
// one in the form of Go.
func readAge(text string) (time.Duration, bool) {
	for _, u := range []struct {
		suffix string
		length time.Duration
	}{{"min", time.Minute}, {"m", time.Minute}, {"s", time.Second}, {"h", time.Hour}, {"d", 24 * time.Hour},
		{"w", 7 * 24 * time.Hour}, {"", 24 * time.Hour}} {
		digits, ok := strings.CutSuffix(text, u.suffix)
		if !ok {
			continue
		}
		if n, err := strconv.ParseFloat(strings.TrimSpace(digits), 64); err == nil && n >= 0 && n*float64(u.length) <= float64(maxAge) {
			return time.Duration(n * float64(u.length)), true
		}
		break
	}
	d, err := time.ParseDuration(text)
	return d, err == nil && d >= 0 && d <= maxAge
}

// Age writes how long something has lasted, in its largest unit: 12 s, 3 min, 1.5 h. Less than nothing is 0 s.
func Age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", max(int(d.Seconds()), 0))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}
