package terminal

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes/internal/ansi"
	"hermes/internal/text"
)

// How often the session is notified of lines that match.
const (
	watchEvery   = 15 * time.Second // at most one notice per process in this time
	watchStrikes = 3                // after so many notices in a row with dropped matches, watching ends
	watchHits    = 8                // notices of one process in total
	watchLine    = 4 << 10          // bytes of a line that are searched

	limitEvery = 10 * time.Second // of all processes together:
	limitCount = 15               // so many notices in that time,
	limitRest  = 30 * time.Second // then none for this long
)

// watcher notifies the session of lines of a process that contain a pattern. A
// process that matches too often is no longer watched; the session is notified
// of its end instead.
type watcher struct {
	job      *job
	patterns []string
	now      func() time.Time
	wake     func(string)
	limit    *limiter

	mu      sync.Mutex
	line    []byte // the current line, so far
	last    time.Time
	dropped int // matches since the last notice
	strikes int
	hits    int
	off     bool
}

func (t *shellOf) newWatcher(j *job, patterns []string) *watcher {
	return &watcher{
		job:      j,
		patterns: slices.DeleteFunc(slices.Clone(patterns), func(p string) bool { return p == "" }),
		now:      t.config.Now, wake: t.wake, limit: &t.notify,
	}
}

// see searches a piece of the output. A carriage return ends a line, too, so that
// no state of a line that is overwritten is missed.
func (w *watcher) see(text []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.off {
		return
	}
	for _, b := range text {
		if b != '\n' && b != '\r' {
			if len(w.line) < watchLine {
				w.line = append(w.line, b)
			}
			continue
		}
		line := ansi.Readable(string(w.line))
		w.line = w.line[:0]
		for _, p := range w.patterns {
			if strings.Contains(line, p) {
				w.found(p, line)
				break
			}
		}
		if w.off {
			return
		}
	}
}

// found sends a notice of a line, unless there are too many. Call it with the
// lock held.
func (w *watcher) found(pattern, line string) {
	now := w.now()
	if !w.last.IsZero() && now.Sub(w.last) < watchEvery || !w.limit.allow(now) {
		w.dropped++
		return
	}
	if w.dropped > 0 {
		w.strikes++
	} else {
		w.strikes = 0
	}
	w.hits++
	notice := fmt.Sprintf("[IMPORTANT: Background process %s matched %q]\n%s", w.job.id, pattern, text.Short(line, noticeTail))
	if w.dropped > 0 {
		notice += fmt.Sprintf("\n(%d more matching lines came before it)", w.dropped)
	}
	if w.strikes >= watchStrikes || w.hits >= watchHits {
		w.off = true
		w.job.promote()
		notice += "\n(Too many matches: it is no longer watched. You will be notified when it ends.)"
	}
	w.last, w.dropped = now, 0
	w.wake(notice)
}

// limiter limits the notices of all processes of a session.
type limiter struct {
	mu    sync.Mutex
	sent  []time.Time
	quiet time.Time // no notice before
}

func (l *limiter) allow(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Before(l.quiet) {
		return false
	}
	l.sent = slices.DeleteFunc(l.sent, func(at time.Time) bool { return now.Sub(at) >= limitEvery })
	if len(l.sent) >= limitCount {
		l.quiet = now.Add(limitRest)
		return false
	}
	l.sent = append(l.sent, now)
	return true
}
