package ratelimit

import (
	"strconv"
	"strings"
	"time"

	"hermes/internal/text"
)

// words describes a limit in numbers by its key: "requests", "tokens-minute",
// "requests-1h", "input-tokens"; "" are requests.
func words(key string) string {
	var what []string
	per := ""
	for part := range strings.SplitSeq(key, "-") {
		switch part {
		case "", "user", "project":
		case "1s", "second":
			per = " per second"
		case "1m", "minute":
			per = " per minute"
		case "1h", "hour":
			per = " per hour"
		case "1d", "24h", "day":
			per = " per day"
		case "month":
			per = " per month"
		default:
			what = append(what, part)
		}
	}
	if len(what) == 0 {
		what = []string{"requests"}
	}
	return strings.Join(what, " ") + per
}

// planName describes a window of Anthropic's subscriptions: "5h", "7d",
// "7d_opus". The one without a length only repeats the one that decides.
func planName(key string) string {
	length, rest, _ := strings.Cut(key, "_")
	if length == "overage" {
		return "extra usage"
	}
	if len(length) < 2 {
		return ""
	}
	n, err := strconv.Atoi(length[:len(length)-1])
	unit := map[byte]string{'m': "minute", 'h': "hour", 'd': "day"}[length[len(length)-1]]
	if err != nil || n <= 0 || unit == "" {
		return ""
	}
	name := text.Plural(n, unit, unit+"s")
	if rest != "" {
		name += ", " + strings.ReplaceAll(rest, "_", " ")
	}
	return name
}

// period describes a window of Codex by its length in minutes, or else by its key.
func period(minutes, key string) string {
	own := ""
	for _, side := range []string{"primary", "secondary"} {
		if model, ok := strings.CutSuffix(key, side); ok && model != "" {
			own = ", " + strings.ReplaceAll(strings.Trim(model, "-"), "-", " ")
		}
	}
	n, err := strconv.Atoi(minutes)
	switch {
	case err != nil || n <= 0 || n > 1e6:
		return strings.ReplaceAll(key, "-", " ")
	case n%(24*60) == 0:
		return text.Plural(n/(24*60), "day", "days") + own
	case n%60 == 0:
		return text.Plural(n/60, "hour", "hours") + own
	}
	return text.Plural(n, "minute", "minutes") + own
}

// length orders the names of windows of a plan; unknown ones come last.
func length(name string) time.Duration {
	number, unit, _ := strings.Cut(name, " ")
	n, err := strconv.Atoi(number)
	if err != nil {
		return farthest
	}
	switch {
	case strings.HasPrefix(unit, "minute"):
		return time.Duration(n) * time.Minute
	case strings.HasPrefix(unit, "hour"):
		return time.Duration(n) * time.Hour
	}
	return time.Duration(n) * 24 * time.Hour
}
