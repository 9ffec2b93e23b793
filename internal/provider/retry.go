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
	"hermes/internal/transport/base"
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
	longest func(*hermes.Request) time.Duration // the longest wait that a service may ask for
	known   *learnedQuirks
	window  func() int // the model's context length in tokens, 0 if unknown
	sleep   func(context.Context, time.Duration) error
	rand    func() float64
}

// maxStalls is how many answers of an endpoint may stall in a row before it is
// no longer retried. Each of them costs minutes.
const maxStalls = 5

// longestFor returns the longest wait that a service may ask for before it serves a request.
func (c *Config) longestFor(r *hermes.Request) time.Duration {
	if r.Attended || r.Purpose != "" {
		return c.LongestWait
	}
	return c.UnattendedWait
}

func (c *Catalogue) retry(ch choice, key hermes.Key) Layer {
	tries := c.cfg.Retries
	if tries == 0 {
		tries = 3
	}
	wait := backoffBase
	if isLocal(ch.BaseURL) {
		wait = backoffLocal
	}
	longest := c.cfg.longestFor
	if len(c.cfg.Fallback) > 0 {
		longest = func(r *hermes.Request) time.Duration { return min(c.cfg.longestFor(r), longestBeforeOther) }
	}
	var spare func() bool
	if ch.keys != nil {
		spare = func() bool { return ch.keys.Spare(key) }
	}
	return func(next hermes.Model) hermes.Model {
		return &retrying{
			Model: next, tries: tries, spare: spare, base: wait, longest: longest, known: c.quirks.of(ch),
			window: func() int { n, _ := c.lengths(ch); return n },
			sleep:  c.cfg.Sleep, rand: c.cfg.Rand,
		}
	}
}

// Stream reports what it waits for (Notice), and withdraws what was already
// shown before it starts over (Reset).
func (m *retrying) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) {
		var (
			spent hermes.Usage // of attempts that failed
			last  hermes.Class
			same  int // attempts in a row that failed like the last one
		)
		for try := 0; ; try++ {
			a := attempt{spent: spent}
			if !a.run(m.Model.Stream(ctx, r), yield) {
				m.known.stalls.Store(0)
				m.known.accept(base.Size(r))
				return
			}
			m.judge(&a, r)
			if class := hermes.ClassOf(a.err); class != last {
				last, same = class, 0
			}
			same++
			wait, again := m.patience(ctx, a.err, try, r)
			if !again {
				yield(hermes.Delta{}, counted(a.err, same))
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

// judge corrects the class of a failure: a connection that broke is no sign of a
// request that is too long if part of the answer came, if the endpoint has taken
// a request of about that size, or if the request is well within the window.
func (m *retrying) judge(a *attempt, r *hermes.Request) {
	e, ok := errors.AsType[*hermes.ModelError](a.err)
	if !ok || e.Class != hermes.ClassOverflow || e.Status != 0 {
		return
	}
	if !a.shown && !m.known.accepts(base.Size(r)) && !m.fits(r) {
		return
	}
	c := *e
	c.Class, c.Compress, c.Retry, c.Fallback = hermes.ClassTimeout, false, true, true
	a.err = &c
}

// fits reports whether a request is well within the known window.
func (m *retrying) fits(r *hermes.Request) bool {
	window := m.window()
	return window > 0 && base.Estimate(r) < window/10*6
}

// refusedWrongly reports a service that calls a request too long, or its body too
// large, that is far from it. Such a refusal often passes.
func (m *retrying) refusedWrongly(e *hermes.ModelError, r *hermes.Request) bool {
	const small = 256 << 10 // bytes, which every service takes and no price tier begins below
	if !e.Compress || e.Retry || base.Size(r) >= small || fault.Allowance(e) > 0 {
		return false
	}
	switch e.Class {
	case hermes.ClassPayloadTooLarge, hermes.ClassLongContextTier:
		return true
	}
	return farBelow(base.Estimate(r), m.window())
}

// counted adds to a failure how many attempts in a row ended with it.
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
func (m *retrying) patience(ctx context.Context, err error, try int, r *hermes.Request) (time.Duration, bool) {
	e, ok := errors.AsType[*hermes.ModelError](err)
	if !ok || ctx.Err() != nil || m.stalled(e) || try >= m.tries || e.RetryAfter > m.longest(r) {
		return 0, false
	}
	// "too long" is believed when it is said again. A side task, whose answer can be
	// done without, does not ask a server that fails again and again.
	once := e.Compress && e.Status != 0 || r.Purpose != "" && e.Class == hermes.ClassServerError
	if !e.Retry && !m.refusedWrongly(e, r) || once && try > 0 {
		return 0, false
	}
	if e.Rotate && (try > 0 || e.RetryAfter > longestSame) && m.spare != nil && m.spare() {
		return 0, false
	}
	wait := m.base
	if errors.Is(e, fault.ErrEmpty) {
		wait = min(wait, backoffLocal) // the service is not overloaded
	}
	share := m.rand()
	// Callers that got the same wait must not come back at the same moment.
	stated := e.RetryAfter + time.Duration(share*float64(min(e.RetryAfter/10, backoffBase)))
	return max(backoff(wait, try, share), stated), true
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
