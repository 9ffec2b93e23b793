package provider

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"hermes"
	"hermes/internal/fault"
	"hermes/internal/httpc"
)

// The waits of the retry layer.
const (
	backoffBase  = 5 * time.Second
	backoffLocal = time.Second // the user's own server either runs or does not
	backoffCap   = 120 * time.Second
	jitter       = 0.5 // adds at most this share
	// longestWait is the longest wait that a service may ask for by default.
	// Beyond it the failure goes to another key or model, or to the user.
	longestWait = 10 * time.Minute
	// longestBeforeOther is the same if a fallback model is configured.
	longestBeforeOther = time.Minute
	// longestSame is the same if another key could be used at once. That key
	// is used after one retry anyway, however short the wait.
	longestSame = 10 * time.Second
)

// retrying retries a call when the failure says that this may help.
type retrying struct {
	hermes.Model
	tries int // after the first
	// spare reports whether another key could be used instead; nil means no.
	spare   func() bool
	base    time.Duration
	longest time.Duration // that a service may ask for
	known   *learnedQuirks
	sleep   func(context.Context, time.Duration) error
	rand    func() float64
}

// maxStalls is how many answers of an endpoint may stall in a row before it is
// no longer retried. Each of them costs minutes.
const maxStalls = 5

func (c *Catalogue) retry(ch choice, key hermes.Key) Layer {
	tries := c.cfg.Retries
	if tries == 0 {
		tries = 3
	}
	base := backoffBase
	if isLocal(ch.BaseURL) {
		base = backoffLocal
	}
	longest := c.cfg.LongestWait
	if len(c.cfg.Fallback) > 0 {
		longest = min(longest, longestBeforeOther)
	}
	var spare func() bool
	if ch.keys != nil {
		spare = func() bool { return ch.keys.Spare(key) }
	}
	return func(next hermes.Model) hermes.Model {
		return &retrying{
			Model: next, tries: tries, spare: spare, base: base, longest: longest, known: c.quirks.of(ch),
			sleep: c.cfg.Sleep, rand: c.cfg.Rand,
		}
	}
}

// Stream reports what it waits for (Notice), and withdraws what was already
// shown before it starts over (Reset).
func (m *retrying) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) {
		var spent hermes.Usage // of attempts that failed
		for try := 0; ; try++ {
			a := attempt{spent: spent}
			if !a.run(m.Model.Stream(ctx, r), yield) {
				m.known.stalls.Store(0)
				return
			}
			a.judge()
			wait, again := m.patience(ctx, a.err, try)
			if !again {
				yield(hermes.Delta{}, counted(a.err, try+1))
				return
			}
			spent = spent.Add(a.usage)
			if a.shown && !yield(hermes.Delta{Reset: "the answer was cut off"}, nil) {
				return
			}
			if !yield(hermes.Delta{Notice: m.notice(a.err, wait, try)}, nil) {
				return
			}
			if err := m.sleep(ctx, wait); err != nil {
				yield(hermes.Delta{}, err)
				return
			}
		}
	}
}

// attempt is one call of the model below.
type attempt struct {
	spent hermes.Usage
	usage hermes.Usage
	shown bool // something was yielded that must be withdrawn
	err   error
}

// run passes the deltas on. It returns true if the attempt failed, false if
// there is nothing more to do.
func (a *attempt) run(answer iter.Seq2[hermes.Delta, error], yield func(hermes.Delta, error) bool) bool {
	for d, err := range answer {
		if err != nil {
			a.err = err
			return true
		}
		switch {
		case d.Reset != "":
			a.shown = false
		case d.Text != "", d.Reasoning != "", d.Call != nil, d.Block != nil:
			a.shown = true
		case d.Usage != nil:
			a.usage = *d.Usage
			all := a.spent.Add(a.usage)
			d.Usage = &all
		}
		if !yield(d, nil) {
			return false
		}
	}
	return false
}

// judge corrects the class of a failure: if a connection broke after part of the
// answer came, the size of the request was not the cause.
func (a *attempt) judge() {
	e, ok := errors.AsType[*hermes.ModelError](a.err)
	if !ok || !a.shown || e.Class != hermes.ClassOverflow || e.Status != 0 {
		return
	}
	c := *e
	c.Class, c.Compress, c.Retry, c.Fallback = hermes.ClassTimeout, false, true, true
	a.err = &c
}

// counted adds the number of attempts to a failure.
func counted(err error, times int) error {
	e, ok := err.(*hermes.ModelError)
	if !ok || times < 2 {
		return err
	}
	c := *e
	c.Message = fmt.Sprintf("%s (tried %d times)", e.Message, times)
	return &c
}

// stalled counts answers that stall, one after another.
func (m *retrying) stalled(e *hermes.ModelError) bool {
	if !errors.Is(e, httpc.ErrTimeout) {
		return false
	}
	return m.known.stalls.Add(1) >= maxStalls
}

// patience decides whether to retry, and after how long.
func (m *retrying) patience(ctx context.Context, err error, try int) (time.Duration, bool) {
	e, ok := errors.AsType[*hermes.ModelError](err)
	if !ok || ctx.Err() != nil || m.stalled(e) || !e.Retry || try >= m.tries || e.RetryAfter > m.longest {
		return 0, false
	}
	if e.Compress && try > 0 {
		return 0, false // it was guessed from the size, and the guess was right
	}
	if e.Rotate && (try > 0 || e.RetryAfter > longestSame) && m.spare != nil && m.spare() {
		return 0, false
	}
	base := m.base
	if errors.Is(e, fault.ErrEmpty) {
		base = min(base, backoffLocal) // the service is not overloaded
	}
	r := m.rand()
	// Callers that got the same wait must not come back at the same moment.
	stated := e.RetryAfter + time.Duration(r*float64(min(e.RetryAfter/10, backoffBase)))
	return max(backoff(base, try, r), stated), true
}

// backoff doubles from the base to the cap and adds jitter, so that sessions
// that failed together do not come back together. r is a random number from 0
// to 1.
func backoff(base time.Duration, try int, r float64) time.Duration {
	wait := backoffCap
	if try < 16 {
		wait = min(base<<try, backoffCap)
	}
	return wait + time.Duration(jitter*r*float64(wait))
}

func (m *retrying) notice(err error, wait time.Duration, try int) string {
	why := "the call failed"
	if e, ok := errors.AsType[*hermes.ModelError](err); ok {
		why = reason(e)
	}
	return fmt.Sprintf("%s: %s; retrying in %v (%d of %d)", m.ID(), why, wait.Round(100*time.Millisecond), try+1, m.tries)
}

// reason describes a failure in a few plain words.
func reason(e *hermes.ModelError) string {
	switch e.Class {
	case hermes.ClassRateLimit, hermes.ClassUpstreamRateLimit:
		return "too many requests"
	case hermes.ClassOverloaded:
		return "the service is overloaded"
	case hermes.ClassServerError:
		return "the service failed"
	case hermes.ClassTimeout:
		if e.Err != nil && e.Status == 0 {
			return e.Message
		}
		return "the service did not answer in time"
	}
	return e.Message
}
