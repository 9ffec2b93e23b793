package fault

import (
	"cmp"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// longest is the longest wait that a service may ask for. A longer one is absurd
// and is ignored.
const longest = 31 * 24 * time.Hour

// RetryAfter reads a Retry-After value: seconds or an HTTP date. A date in the
// past is zero; ok is false if the value is neither.
func RetryAfter(value string, now time.Time) (wait time.Duration, ok bool) {
	value = strings.TrimSpace(value)
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && !math.IsNaN(seconds) {
		return secondsOf(seconds), true
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	return bound(at.Sub(now)), true
}

// wait returns how long the service asks to wait: from the headers first, then
// the fields of the body, then its text.
func (f *facts) wait() time.Duration {
	if f.failure == nil {
		return 0
	}
	h := f.failure.Header
	if ms, err := strconv.ParseFloat(either(h, "Retry-After-Ms"), 64); err == nil && ms > 0 {
		return secondsOf(ms / 1000)
	}
	now := f.Now
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date // the service's clock; ours may be wrong
	}
	if wait, ok := RetryAfter(either(h, "Retry-After"), now); ok {
		return wait
	}
	if f.delay > 0 {
		return bound(f.delay)
	}
	if !f.resetAt.IsZero() && !now.IsZero() {
		return bound(f.resetAt.Sub(now))
	}
	if wait := delayIn(f.text); wait > 0 {
		return bound(wait)
	}
	switch f.status {
	case 402, 429, 503, 529:
		return resetOf(h, now)
	}
	return 0
}

// either returns a header of the service, or the one of the service behind it
// that LiteLLM passes on under a name of its own.
func either(h http.Header, name string) string {
	return cmp.Or(h.Get(name), h.Get("llm_provider-"+name))
}

// delays reads the fields in which services say when a limit ends.
func (r *reading) delays(o map[string]any) {
	for k, v := range o {
		switch strings.ToLower(k) {
		case "retry_after", "retry_after_seconds", "retry-after", "retryafter", "resets_in_seconds", "reset_in_seconds", "retrydelay", "retry_delay":
			r.delay = max(r.delay, lengthOf(v, time.Second))
		case "retry_after_ms", "retry-after-ms":
			r.delay = max(r.delay, lengthOf(v, time.Millisecond))
		case "resets_at", "reset_at", "resetsat", "resetat", "reset_time", "x-ratelimit-reset", "quota_reset_at":
			if at, ok := momentOf(v); ok && at.After(r.resetAt) {
				r.resetAt = at
			}
		default:
			continue
		}
		r.resetSaid = r.resetSaid || v != nil
	}
}

// lengthOf reads a number in a unit, or a text such as "38s".
func lengthOf(v any, unit time.Duration) time.Duration {
	switch v := v.(type) {
	case float64:
		return secondsOf(v * unit.Seconds())
	case string:
		if n, err := strconv.ParseFloat(v, 64); err == nil {
			return secondsOf(n * unit.Seconds())
		}
		if d, err := time.ParseDuration(v); err == nil {
			return bound(d)
		}
	}
	return 0
}

// momentOf reads seconds or milliseconds since 1970, or a timestamp.
func momentOf(v any) (time.Time, bool) {
	s, isText := v.(string)
	n, isNumber := v.(float64)
	if isText {
		if at, err := time.Parse(time.RFC3339, s); err == nil {
			return at, true
		}
		f, err := strconv.ParseFloat(s, 64)
		n, isNumber = f, err == nil
	}
	switch {
	case !isNumber || !(n > 1e9) || n > 1e15:
		return time.Time{}, false
	case n > 1e12:
		return time.UnixMilli(int64(n)), true
	}
	return time.Unix(int64(n), 0), true
}

// saysReset reports headers that say when a limit ends.
func saysReset(h http.Header) bool {
	for name := range h {
		n := strings.ToLower(name)
		if strings.HasPrefix(strings.TrimPrefix(n, "llm_provider-"), "retry-after") || strings.Contains(n, "ratelimit") && strings.Contains(n, "reset") {
			return true
		}
	}
	return false
}

// resetOf returns the latest reset of the limits that are used up, or of all if
// no header says what remains.
func resetOf(h http.Header, now time.Time) time.Duration {
	var used, any time.Duration
	counted := false
	for name, values := range h {
		n := strings.ToLower(name)
		if !strings.Contains(n, "ratelimit") || !strings.Contains(n, "reset") || len(values) == 0 {
			continue
		}
		wait := headerWait(values[0], now)
		any = max(any, wait)
		if left := h.Get(strings.Replace(n, "reset", "remaining", 1)); left != "" {
			counted = true
			if left == "0" {
				used = max(used, wait)
			}
		}
	}
	if counted {
		return used
	}
	return any
}

// headerWait reads "1s", "6m0s", seconds, or a timestamp.
func headerWait(v string, now time.Time) time.Duration {
	if d, err := time.ParseDuration(v); err == nil {
		return bound(d)
	}
	if at, ok := momentOf(v); ok {
		return bound(at.Sub(now))
	}
	if n, err := strconv.ParseFloat(v, 64); err == nil {
		return secondsOf(n)
	}
	return 0
}

func secondsOf(n float64) time.Duration {
	if !(n > 0) || n > longest.Seconds() {
		return 0
	}
	return time.Duration(n * float64(time.Second))
}

func bound(d time.Duration) time.Duration {
	if d < 0 || d > longest {
		return 0
	}
	return d
}
