package terminal

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// How often the session is told about lines that match.
const (
	watchEvery   = 15 * time.Second // one notice of a process in this time
	watchStrikes = 3                // so many times in a row with more: no more of them
	watchHits    = 8                // notices of one process, ever
	watchLine    = 4 << 10          // bytes of a line that are looked at

	limitEvery = 10 * time.Second // of all processes together:
	limitCount = 15               // so many notices in that time,
	limitRest  = 30 * time.Second // and then silence for this long
)

// watcher tells the session about lines of a process that contain a pattern.
// A process that says too much is not watched any more; its end is told
// instead.
type watcher struct {
	job      *job
	patterns []string
	now      func() time.Time
	wake     func(string)
	limit    *limiter

	mu      sync.Mutex
	line    []byte // begun, without its end yet
	last    time.Time
	dropped int // matches since the last notice
	strikes int
	hits    int
	off     bool
}

func (t *Toolset) newWatcher(j *job, patterns []string) *watcher {
	return &watcher{
		job:      j,
		patterns: slices.DeleteFunc(slices.Clone(patterns), func(p string) bool { return p == "" }),
		now:      t.config.Now, wake: t.config.Wake, limit: &t.notify,
	}
}

// see looks at a piece of the output.
func (w *watcher) see(text []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.off {
		return
	}
	for _, b := range text {
		if b != '\n' {
			if len(w.line) < watchLine {
				w.line = append(w.line, b)
			}
			continue
		}
		line := readable(string(w.line))
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

// found needs the lock.
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
	text := fmt.Sprintf("[IMPORTANT: Background process %s matched %q]\n%s", w.job.id, pattern, shorten(line, noticeTail))
	if w.dropped > 0 {
		text += fmt.Sprintf("\n(%d more matching lines came before it)", w.dropped)
	}
	if w.strikes >= watchStrikes || w.hits >= watchHits {
		w.off = true
		w.job.promote()
		text += "\n(It matches too often: it is not watched any more. You will be told when it ends.)"
	}
	w.last, w.dropped = now, 0
	w.wake(text)
}

// limiter bounds the notices of all processes of a session.
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
