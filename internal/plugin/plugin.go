package plugin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"hermes"
	"hermes/internal/jsonrpc"
	"hermes/internal/text"
)

const (
	firstWait = time.Second
	mostWait  = 2 * time.Minute
	// steady is how long a program has to run until waits begin again from the first.
	steady = time.Minute
	// mostLate is after how many calls in a row without an answer a program is ended.
	mostLate = 3
)

// Plugin is one plugin that is enabled. It may be used concurrently.
type Plugin struct {
	cfg      Config
	manifest Manifest
	dir      string
	pin      Pin
	life     context.Context // ends with Plugins.Close
	calls    calls

	mu       sync.Mutex
	conn     *conn
	starting chan struct{} // closed when a start that runs is over; nil if none runs
	began    time.Time     // of the newest program
	retry    time.Time     // no start before
	wait     time.Duration
	reason   string // why the last program ended or did not start
	broken   string // why it cannot be used at all any more
	late     int    // calls in a row that timed out
	running  sync.WaitGroup
}

// Name returns the name of the plugin.
func (p *Plugin) Name() string { return p.manifest.Name }

// connection returns the connection to the program, and starts it if it does not run.
func (p *Plugin) connection(ctx context.Context) (*conn, error) {
	asked := false // of a start that this call waited for
	for {
		p.mu.Lock()
		switch {
		case p.life.Err() != nil:
			p.mu.Unlock()
			return nil, fmt.Errorf("the plugin %s has ended: %w", p.Name(), context.Cause(p.life))
		case p.broken != "":
			defer p.mu.Unlock()
			return nil, fmt.Errorf("the plugin %s cannot be used: %s", p.Name(), p.broken)
		case p.conn != nil && p.conn.rpc.Err() == nil:
			defer p.mu.Unlock()
			return p.conn, nil
		case p.conn != nil: // it has ended, and what is left of it is ended now
			over := p.conn.gone
			p.mu.Unlock()
			select {
			case <-over:
			case <-ctx.Done():
				return nil, fmt.Errorf("the plugin %s is still ending: %w", p.Name(), context.Cause(ctx))
			}
			continue
		case p.starting == nil && (asked || p.cfg.Now().Before(p.retry)):
			defer p.mu.Unlock()
			return nil, fmt.Errorf("the plugin %s cannot be used now: %s", p.Name(), p.reason)
		case p.starting == nil:
			p.starting = make(chan struct{})
			p.running.Go(p.launch) // ends with the start, which has a time
		}
		over := p.starting
		p.mu.Unlock()
		asked = true
		select {
		case <-over:
		case <-ctx.Done():
			return nil, fmt.Errorf("the plugin %s is still starting: %w", p.Name(), context.Cause(ctx))
		}
	}
}

// launch starts the program and watches it.
func (p *Plugin) launch() {
	c, fatal, err := p.open()
	p.mu.Lock()
	defer p.mu.Unlock()
	defer func() {
		close(p.starting)
		p.starting = nil
	}()
	switch {
	case fatal:
		p.broken = err.Error()
		p.cfg.Log.Warn("a plugin cannot be used", slog.String("plugin", p.Name()), slog.Any("err", err))
	case err != nil:
		p.failed(err)
	default:
		p.conn, p.began, p.late = c, p.cfg.Now(), 0
		p.running.Go(func() { p.watch(c) }) // ends with the program, or with Close
	}
}

// open starts the program and checks that it is what the user enabled. It is fatal if it is not.
func (p *Plugin) open() (c *conn, fatal bool, err error) {
	late := fmt.Errorf("it did not answer within %v; timeouts.start in its manifest sets how long to wait", p.manifest.startTime())
	ctx, cancel := context.WithTimeoutCause(p.life, p.manifest.startTime(), late)
	defer cancel()
	if d, err := Digest(p.dir); err != nil || d != p.pin.Digest {
		return nil, true, p.changed(err)
	}
	env, err := p.cfg.Environment(p.manifest, p.dir)
	if err != nil {
		return nil, false, err
	}
	if c, err = start(ctx, env, p.cfg.Program, p.dir, p.manifest, p); err != nil {
		return nil, false, err
	}
	var offer Offer
	if err = c.hello(ctx, p.cfg.Version, p.manifest); err == nil {
		offer, err = c.ask(ctx, p.manifest)
	}
	if err != nil {
		return nil, false, errors.Join(reasonOf(c, err), c.end())
	}
	if !offer.Same(p.pin.Offer) {
		return nil, true, errors.Join(fmt.Errorf("what it offers is not what you enabled; look at it with `hermes plugins enable %s`", p.Name()), c.end())
	}
	return c, false, nil
}

// changed words that the files are not those that the user enabled.
func (p *Plugin) changed(err error) error {
	if err != nil {
		return fmt.Errorf("%w; after that, enable it with `hermes plugins enable %s`", err, p.Name())
	}
	return fmt.Errorf("its files have changed since you enabled it; look at them, then use `hermes plugins enable %s`", p.Name())
}

// reasonOf says why a program that did not answer has ended, if it has.
func reasonOf(c *conn, err error) error {
	if errors.Is(err, jsonrpc.ErrEnded) && c.rpc.Err() != nil {
		return c.rpc.Err()
	}
	return err
}

// failed notes why there is no program, and when to try again: at once after the first loss of one that
// ran, and after that of one that ran for long. Call it with the lock held.
func (p *Plugin) failed(err error) {
	now, ran := p.cfg.Now(), !p.began.IsZero()
	if ran && now.Sub(p.began) >= steady {
		p.wait = 0
	}
	p.reason = text.OneLine(text.Plain(err.Error()), 500)
	switch {
	case p.wait == 0 && ran:
		p.retry, p.wait = now, firstWait
	default:
		p.wait = max(p.wait, firstWait)
		p.retry = now.Add(p.wait)
		p.wait = min(2*p.wait, mostWait)
	}
	p.began = time.Time{}
	p.cfg.Log.Warn("a plugin has ended", slog.String("plugin", p.Name()), slog.String("reason", p.reason))
}

// watch waits for the end of a program, or of this one, and ends what is left of it.
func (p *Plugin) watch(c *conn) {
	select {
	case <-c.rpc.Done():
	case <-p.life.Done():
	}
	why := c.rpc.Err()
	if err := c.end(); err != nil {
		p.cfg.Log.Warn("a plugin did not end well", slog.String("plugin", p.Name()), slog.Any("err", err))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conn = nil
	close(c.gone)
	if why != nil { // else this program ends
		p.failed(why)
	}
}

// answered counts calls without an answer. A program that gives none any more is ended.
func (p *Plugin) answered(c *conn, late bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !late {
		p.late = 0
		return
	}
	if p.late++; p.late >= mostLate && p.conn == c {
		p.late = 0
		p.running.Go(func() { _ = c.rpc.Close() }) // in a second at most; watch does the rest
	}
}

// State returns why the plugin cannot be used, "" if nothing is known against it.
func (p *Plugin) State() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken != "" {
		return p.broken
	}
	if p.conn == nil && p.cfg.Now().Before(p.retry) {
		return p.reason
	}
	return ""
}

var errLate = errors.New("it did not answer in time")

// call sends a request that belongs to a call and returns its result. host is nil if nothing can be
// asked meanwhile.
func (p *Plugin) call(ctx context.Context, method string, host hermes.Host, most time.Duration, params func(id string) any, result any) error {
	ctx, cancelTime := context.WithTimeoutCause(ctx, most, errLate)
	defer cancelTime()
	c, err := p.connection(ctx)
	if err != nil {
		return err
	}
	id, done := p.calls.begin(ctx, host)
	defer done()
	err = c.rpc.Call(ctx, method, params(id), result)
	switch refused, said := errors.AsType[*jsonrpc.Error](err); {
	case err == nil:
		p.answered(c, false)
		return nil
	case said:
		p.answered(c, false)
		return fmt.Errorf("the plugin %s did not do it: %s", p.Name(), text.Cut(text.Plain(refused.Message), 4000))
	case ctx.Err() != nil:
		p.cancel(c, id)
		if errors.Is(context.Cause(ctx), errLate) {
			p.answered(c, true)
			return fmt.Errorf("the plugin %s did not answer within %v: %w", p.Name(), most, errLate)
		}
		return context.Cause(ctx)
	case errors.Is(err, jsonrpc.ErrEnded):
		return fmt.Errorf("the plugin %s: %w (%s)", p.Name(), errLost, text.OneLine(text.Plain(c.rpc.Err().Error()), 300))
	}
	return fmt.Errorf("the plugin %s: %s", p.Name(), text.OneLine(text.Plain(err.Error()), 500))
}

// errLost means that the program ended before it answered.
var errLost = errors.New("its program ended before it answered")

// cancel tells the program that the result of a call does not matter any more.
func (p *Plugin) cancel(c *conn, id string) {
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	_ = c.rpc.Notify(ctx, noticeCancel, cancel{id}) // it goes on in vain if it is not told
}
