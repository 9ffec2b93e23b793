package chain

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
	// longestSame is the longest wait that a service may ask for if another key
	// could be used at once. That key is used after one retry anyway, however
	// short the wait.
	longestSame = 10 * time.Second
)

// RetryConfig says how a layer of one model retries.
type RetryConfig struct {
	Tries int  // after the first
	Own   bool // the user's own server, which either runs or does not: the waits are short
	// Spare reports whether another key could be used instead; nil means no.
	Spare func() bool
	// Longest is the longest wait that a service may ask for before it serves a
	// request. Beyond it the failure goes to another key or model, or to the user.
	Longest func(*hermes.Request) time.Duration
	Quirks  *Quirks
	Window  func() int // the model's context length in tokens, 0 if unknown
	Sleep   func(context.Context, time.Duration) error
	Rand    func() float64
}

type retrying struct {
	hermes.Model
	RetryConfig
}

// maxStalls is how many answers of an endpoint may stall in a row before it is
// no longer retried. Each of them costs minutes.
const maxStalls = 5

// Retry returns the layer that retries a call when the failure says that this may
// help.
func Retry(c RetryConfig) Layer {
	return func(next hermes.Model) hermes.Model { return &retrying{next, c} }
}

// Stream reports what it waits for (Notice), and withdraws what was already
// shown before it starts over (Reset).
func (m *retrying) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) {
		var (
			a    attempt
			last hermes.Class
			same int // attempts in a row that failed like the last one
		)
		for try := 0; ; try++ {
			if !a.run(m.Model.Stream(ctx, r), yield) {
				m.Quirks.stalls.Store(0)
				m.Quirks.accept(base.Size(r))
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
			if !a.again(yield, cutOff, m.notice(a.err, wait, try)) {
				return
			}
			if err := m.Sleep(ctx, wait); err != nil {
				yield(hermes.Delta{}, err)
				return
			}
		}
	}
}

// judge corrects the class of a failure: a connection that broke is no sign of a
// request that is too long if part of the answer came, if the endpoint has taken
// a request of about that size, or if the request is well within the window.
func (m *retrying) judge(a *attempt, r *hermes.Request) {
	e, ok := errors.AsType[*hermes.ModelError](a.err)
	if !ok || e.Class != hermes.ClassOverflow || e.Status != 0 {
		return
	}
	if !a.shown && !m.Quirks.accepts(base.Size(r)) && !m.fits(r) {
		return
	}
	c := *e
	c.Class, c.Compress, c.Retry, c.Fallback = hermes.ClassTimeout, false, true, true
	a.err = &c
}

// fits reports whether a request is well within the known window.
func (m *retrying) fits(r *hermes.Request) bool {
	window := m.Window()
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
	return FarBelow(base.Estimate(r), m.Window())
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
	return m.Quirks.stalls.Add(1) >= maxStalls
}

// patience decides whether to retry, and after how long.
func (m *retrying) patience(ctx context.Context, err error, try int, r *hermes.Request) (time.Duration, bool) {
	e, ok := errors.AsType[*hermes.ModelError](err)
	if !ok || ctx.Err() != nil || m.stalled(e) || try >= m.Tries || e.RetryAfter > m.Longest(r) {
		return 0, false
	}
	// "too long" is believed when it is said again. A side task, whose answer can be
	// done without, does not ask a server that fails again and again.
	once := e.Compress && e.Status != 0 || r.Purpose != "" && e.Class == hermes.ClassServerError
	if !e.Retry && !m.refusedWrongly(e, r) || once && try > 0 {
		return 0, false
	}
	if e.Rotate && (try > 0 || e.RetryAfter > longestSame) && m.Spare != nil && m.Spare() {
		return 0, false
	}
	wait := backoffBase
	if m.Own {
		wait = backoffLocal
	}
	if errors.Is(e, fault.ErrEmpty) {
		wait = min(wait, backoffLocal) // the service is not overloaded
	}
	share := m.Rand()
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
	return fmt.Sprintf("%s: %s; retrying in %v (%d of %d)", m.ID(), why, wait.Round(100*time.Millisecond), try+1, m.Tries)
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

// FarBelow reports whether a request of so many tokens is much smaller than the
// window, so that it cannot be too long. No window is smaller than 4,096 tokens.
func FarBelow(size, window int) bool {
	if window <= 0 {
		return size < 2048
	}
	return size < window/2
}
