// Package ratelimit reads the response headers in which model services say how
// many requests and tokens are left, and until when: those of OpenAI and of the
// many services that copy them (Groq, Cerebras, Mistral, OpenRouter, Nous), of
// Anthropic with its subscription windows, of Codex, and of the IETF draft in its
// older forms and in the structured one (structured.go).
//
// It must not know services, credentials or frontends: headers and a time come
// in, windows go out. Start at Parse; book.go keeps what was read last.
package ratelimit

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"hermes/internal/order"
)

// Window is one limit of a service and how far it is used.
type Window struct {
	// Name says what is limited, in plain words: "requests", "tokens per
	// minute", "5 hours", "7 days, opus".
	Name string
	// Plan says that the window belongs to a subscription. Such a window has no
	// numbers, only a share.
	Plan bool
	// Limit and Left are numbers of requests or tokens, negative if unknown.
	Limit, Left int64
	// Used is the share that is used, from 0 to 1, negative if unknown. It may
	// be above 1 where a service lets more pass.
	Used float64
	// Reset is when the window begins again; zero if unknown.
	Reset time.Time
}

// The bounds of what is read. Services have at most a dozen windows.
const (
	mostWindows = 16
	longestName = 40
	farthest    = 400 * 24 * time.Hour // of a reset
)

// reading is a window while its headers are read.
type reading struct {
	limit, left, used string
	reset             string
	minutes           string // the length of a window of Codex
}

// Parse returns the windows that the headers of an answer describe, those of a
// subscription first, then by name; nil if there are none. Headers that cannot be
// read count as not there.
func Parse(h http.Header, now time.Time) []Window {
	found := map[string]*reading{}
	for name, values := range h {
		if len(values) == 0 || len(name) >= 100 {
			continue
		}
		switch name = strings.ToLower(name); name {
		case "ratelimit", "ratelimit-policy":
			structured(found, strings.Join(values, ","))
		default:
			collect(found, name, strings.TrimSpace(values[0]))
		}
	}
	var list []Window
	for _, key := range slices.Sorted(maps.Keys(found)) {
		if w, ok := found[key].window(key, now); ok && len(list) < mostWindows {
			list = append(list, w)
		}
	}
	order.By(list, func(a, b Window) int {
		if a.Plan != b.Plan {
			if a.Plan {
				return -1
			}
			return 1
		}
		if a.Plan { // the shorter window first
			return cmp.Or(cmp.Compare(length(a.Name), length(b.Name)), strings.Compare(a.Name, b.Name))
		}
		return strings.Compare(a.Name, b.Name)
	})
	return list
}

// collect adds a header to its window, if it is one of a window. The key of a
// window is the name of the header without its prefix and the field.
func collect(found map[string]*reading, name, value string) {
	at := func(key string) *reading {
		if found[key] == nil {
			found[key] = &reading{}
		}
		return found[key]
	}
	if rest, ok := strings.CutPrefix(name, "x-codex-"); ok {
		for field, put := range map[string]func(*reading){
			"-used-percent":        func(r *reading) { r.used = value + "%" },
			"-window-minutes":      func(r *reading) { r.minutes = value },
			"-reset-after-seconds": func(r *reading) { r.reset = value },
			"-reset-at":            func(r *reading) { r.reset = cmp.Or(r.reset, value) },
		} {
			if key, ok := strings.CutSuffix(rest, field); ok {
				put(at("codex " + key))
			}
		}
		return
	}
	key := ""
	switch {
	case cutPrefix(&name, "anthropic-ratelimit-"), cutPrefix(&name, "x-ratelimit-"), cutPrefix(&name, "ratelimit-"):
	case cutPrefix(&name, "x-tokenlimit-"): // Together
		key = "tokens"
	default:
		return
	}
	parts := strings.Split(name, "-")
	last := len(parts) - 1
	field := parts[0] // OpenAI: limit-requests
	switch parts[last] {
	case "limit", "remaining", "reset", "utilization": // Anthropic: requests-limit
		field, parts = parts[last], parts[:last]
	default:
		parts = parts[1:]
	}
	if len(parts) > 0 {
		key = strings.Join(parts, "-")
	}
	switch field {
	case "limit":
		at(key).limit = value
	case "remaining":
		at(key).left = value
	case "reset":
		at(key).reset = value
	case "utilization":
		at(key).used = value
	}
}

func cutPrefix(name *string, prefix string) bool {
	rest, ok := strings.CutPrefix(*name, prefix)
	*name = rest
	return ok
}

// window reads the values. It returns false if they say nothing.
func (r *reading) window(key string, now time.Time) (Window, bool) {
	w := Window{Limit: count(r.limit), Left: count(r.left), Used: share(r.used), Reset: reset(r.reset, now)}
	switch rest, plan := strings.CutPrefix(key, "unified"); {
	case strings.HasPrefix(key, "codex "):
		w.Plan, w.Name = true, period(r.minutes, strings.TrimPrefix(key, "codex "))
	case plan:
		w.Plan, w.Name = true, planName(strings.TrimPrefix(rest, "-"))
	default:
		w.Name = words(key)
	}
	if w.Used < 0 && w.Limit > 0 && w.Left >= 0 {
		w.Used = float64(w.Limit-min(w.Left, w.Limit)) / float64(w.Limit)
	}
	known := w.Used >= 0 || w.Left >= 0 || !w.Plan && w.Limit > 0
	return w, known && w.Name != "" && len(w.Name) <= longestName
}

// count reads a number, which may stand before a policy as in "100, 100;w=60".
func count(s string) int64 {
	s, _, _ = strings.Cut(s, ",")
	s, _, _ = strings.Cut(s, ";")
	x, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || x < 0 || x > 1e15 || x != x {
		return -1
	}
	return int64(x)
}

// share reads a part of 1, or a percentage.
func share(s string) float64 {
	number, percent := strings.CutSuffix(s, "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || x < 0 || x > 1e6 || x != x {
		return -1
	}
	if percent {
		x /= 100
	}
	return x
}

// reset reads when a window ends: a duration ("6m0s", "1.5s", "120ms"), seconds,
// seconds or milliseconds since 1970, or a date. A time in the past is now.
func reset(s string, now time.Time) time.Time {
	var at time.Time
	if d, err := time.ParseDuration(s); err == nil && s != "0" {
		at = now.Add(d)
	} else if x, err := strconv.ParseFloat(s, 64); err == nil && x >= 0 && x < 1e14 {
		switch {
		case x >= 1e12:
			at = time.UnixMilli(int64(x))
		case x >= 1e9:
			at = time.Unix(int64(x), 0)
		default:
			at = now.Add(time.Duration(min(x, farthest.Seconds()*2) * float64(time.Second)))
		}
	} else if t, err := time.Parse(time.RFC3339, s); err == nil {
		at = t
	} else if t, err := http.ParseTime(s); err == nil {
		at = t
	}
	switch {
	case at.IsZero() || at.Sub(now) > farthest:
		return time.Time{}
	case at.Before(now):
		return now
	}
	return at
}
