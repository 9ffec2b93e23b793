package egress

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Refusal is a connection that was not made, as the user and the model are told about it.
type Refusal struct {
	Host  string // in its plain form; quoted and cut if it is not valid
	Port  uint16 // 0 if it is not known
	Why   string
	First time.Time
	Last  time.Time
	Count int
	// Askable is set if a rule of the session could allow it.
	Askable bool
}

// kind says what can be done about a refusal.
type kind int

const (
	undecided kind = iota // a rule would allow it
	private               // a rule for this one host and port would allow it
	misused               // the client spoke otherwise than the target says
	malformed             // the target is not valid
	final                 // nothing allows it
)

// refused is the error of a connection that is not allowed.
type refused struct {
	target target
	why    string
	kind   kind
}

func (r *refused) Error() string {
	if r.kind == malformed {
		return r.target.host + " is refused: " + r.why
	}
	return r.target.String() + " is refused: " + r.why
}

// advice says what was refused and what to do, in words for a model.
func (r *refused) advice() string {
	if r.kind == malformed {
		return fmt.Sprintf("Hermes refused a connection to %s: %s. Write the host as a plain name and port.\n", r.target.host, r.why)
	}
	text := fmt.Sprintf("Hermes refused the connection to %s: %s.\n", r.target, r.why)
	switch r.kind {
	case undecided:
		return text + fmt.Sprintf("If the task needs this host, run the command again with need: [\"host %s\"], which asks the user. Do not look for another way to reach it.\n", r.target)
	case private:
		return text + fmt.Sprintf("Only a rule for exactly this host and port can allow a private address: run the command again with need: [\"host %s\"], which asks the user.\n", r.target)
	case misused:
		return text + "A connection must name the host that it was opened for. Connect to each host under its own name.\n"
	}
	return text + "This cannot be allowed by asking. Do the task without this host.\n"
}

// badTarget is the refusal of a target that cannot be read. Its text is from a process inside.
func badTarget(text string, err error) *refused {
	if len(text) > 80 {
		text = text[:80] + "…"
	}
	return &refused{target{host: strconv.QuoteToASCII(text)}, err.Error(), malformed}
}

// refusals is a bounded record: a process that floods it drops only what is oldest.
type refusals struct {
	most int
	list []Refusal // ordered by Last
}

// add counts a refusal and reports how often there was the same one.
func (l *refusals) add(r *refused, now time.Time) int {
	n := Refusal{Host: r.target.host, Port: r.target.port, Why: r.why, First: now, Askable: r.kind == undecided || r.kind == private}
	i := slices.IndexFunc(l.list, func(o Refusal) bool { return o.Host == n.Host && o.Port == n.Port && o.Why == n.Why })
	if i < 0 && len(l.list) >= l.most {
		i = 0
	} else if i >= 0 {
		n = l.list[i]
	}
	if i >= 0 {
		l.list = slices.Delete(l.list, i, i+1)
	}
	n.Last, n.Count = now, n.Count+1
	l.list = append(l.list, n)
	return n.Count
}

// since returns what was refused at a time or later, the newest last.
func (l *refusals) since(t time.Time) []Refusal {
	var out []Refusal
	for _, r := range l.list {
		if !r.Last.Before(t) {
			out = append(out, r)
		}
	}
	return out
}

// quiet bounds how many records a flood of refusals makes: a hundred at once, then one a
// second.
type quiet struct {
	tokens     float64
	last       time.Time
	suppressed int
}

// speak reports whether the next record is written, and how many were not before it.
func (q *quiet) speak(now time.Time) (int, bool) {
	if q.last.IsZero() {
		q.tokens = 100
	}
	q.tokens = min(100, q.tokens+now.Sub(q.last).Seconds())
	q.last = now
	if q.tokens < 1 {
		q.suppressed++
		return 0, false
	}
	n := q.suppressed
	q.tokens, q.suppressed = q.tokens-1, 0
	return n, true
}
