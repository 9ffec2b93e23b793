package text

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

const (
	// maxTail is how much a [Tail] keeps, in bytes.
	maxTail = 4 << 10
	// mostSaid is how much may be written to a [Tail] at once until it is a flood, and saidEachSecond how much
	// more with each second, in bytes.
	mostSaid       = 64 << 20
	saidEachSecond = 1 << 20
)

// Tail keeps the last 4 KiB of what is written to it, such as what a program said before it ended. The
// zero value is empty. It may be used concurrently.
type Tail struct {
	// Flooded is called once, when more than 64 MiB are written, and 1 MiB for each second: its program is to
	// be ended. It must not wait. Nil lets everything pass.
	Flooded func(why error)
	// Now is the clock; nil is that of the system.
	Now func() time.Time

	mu    sync.Mutex
	kept  []byte
	since time.Time // since which said is counted
	said  int64
	over  bool
}

// Write keeps the end. It never fails.
func (t *Tail) Write(p []byte) (int, error) {
	if t.keep(p) {
		t.Flooded(errFlood)
	}
	return len(p), nil
}

var errFlood = fmt.Errorf("it was ended because it wrote more than %s to its standard error at once", Size(mostSaid))

// keep keeps the end, and reports whether this makes a flood.
func (t *Tail) keep(p []byte) (flood bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p[max(0, len(p)-maxTail):]...)
	t.kept = t.kept[max(0, len(t.kept)-maxTail):]
	if t.Flooded == nil || t.over {
		return false
	}
	now := time.Now
	if t.Now != nil {
		now = t.Now
	}
	at := now()
	if passed := at.Sub(t.since).Truncate(time.Second); passed > 0 {
		t.since = t.since.Add(passed) // what is left of a second counts later
		t.said -= int64(min(passed, mostSaid/saidEachSecond*time.Second)/time.Second) * saidEachSecond
	}
	if t.said <= 0 {
		t.since, t.said = at, 0
	}
	t.said += int64(len(p))
	t.over = t.said > mostSaid
	return t.over
}

// Last returns the last line that is not empty, for people: plain, and 300 characters at most.
func (t *Tail) Last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.kept)), "\n")
	return OneLine(Plain(lines[len(lines)-1]), 300)
}
