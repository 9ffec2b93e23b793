package remote

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"hermes/internal/liveness"
	"hermes/internal/shellstate"
)

// How long the scripts of this package may take that no one waits for with a context.
const (
	askTime = 30 * time.Second
	endTime = 20 * time.Second
)

// place is where the commands of all views run.
type place struct {
	runner Runner
	shell  string          // as configured
	word   string          // ends the name of the state folder, and begins the ids of commands
	notes  string          // as configured
	life   context.Context // ends when the last view is closed
	end    context.CancelCauseFunc

	mu      sync.Mutex
	views   int
	asking  *asking          // the question to the place, or its answer
	noted   *liveness.Folder // used by the question and after it; nil without a note
	slots   []string         // ids of the commands in them; "" is free
	pending []target         // what could not be ended yet
	carried carrying
	active  sync.WaitGroup
}

// target is a command to be ended.
type target struct {
	slot  int
	id    string
	grace time.Duration // from the signal to the forced end; 0 is usualGrace
}

// The time from the signal to the forced end of commands, and the longest that one may ask for.
const (
	usualGrace = time.Second
	mostGrace  = endTime - 5*time.Second
)

// rounds is a grace in the rounds of end.sh.
func rounds(grace time.Duration) string {
	if grace <= 0 {
		grace = usualGrace
	}
	return strconv.Itoa(int(min(grace, mostGrace) / (50 * time.Millisecond)))
}

func (p *place) view(dir string, env []string) *Environment {
	p.mu.Lock()
	p.views++
	p.mu.Unlock()
	e := &Environment{place: p, id: p.word + "." + word() + ".", first: dir, dir: dir, extra: env}
	e.life, e.end = context.WithCancelCause(context.Background())
	return e
}

// take gives a command the lowest free slot. The files of a slot in the state folder are
// used again, so that their number is that of the commands which run at once.
func (p *place) take(id string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	for slot, used := range p.slots {
		if used == "" {
			p.slots[slot] = id
			return slot
		}
	}
	p.slots = append(p.slots, id)
	return len(p.slots) - 1
}

func (p *place) free(slot int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.slots[slot] = ""
}

//go:embed end.sh
var endScript string

// kill ends one command in the place.
func (p *place) kill(t target) error {
	f := p.known()
	if f == nil {
		return nil // nothing has begun
	}
	return p.script(endScript, f.state, fmt.Sprint(t.slot), t.id, "", "", rounds(t.grace))
}

// endOne ends one command in the place and frees its slot. If the place cannot be reached,
// that is done before the next command begins.
func (p *place) endOne(t target) error {
	err := p.kill(t)
	if err == nil {
		p.free(t.slot)
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pending = append(p.pending, t)
	return err
}

// endPending ends what could not be ended when it should have been.
func (p *place) endPending() error {
	p.mu.Lock()
	pending := p.pending
	p.pending = nil
	p.mu.Unlock()
	var errs []error
	for _, t := range pending {
		errs = append(errs, p.endOne(t))
	}
	return errors.Join(errs...)
}

// endMany ends all commands whose ids begin with a word, except some, and groups that a
// place without /proc knows.
func (p *place) endMany(begin string, except, groups []string) error {
	f := p.known()
	if f == nil {
		return nil
	}
	return p.script(endScript, f.state, "", begin, strings.ReplaceAll(strings.Join(except, "|"), ".", "[.]"), strings.Join(groups, " "), rounds(0))
}

// script runs a script of this package, which must succeed soon.
func (p *place) script(text string, args ...string) error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), endTime, errors.New("the place did not answer in time"))
	defer cancel()
	var problem bytes.Buffer
	code, err := p.exec(ctx, Script{Text: arguments(args...) + text, Stderr: &problem})
	switch {
	case err != nil:
		return fmt.Errorf("end what runs in the place: %w", err)
	case code != 0:
		return errors.New("some processes in the place could not be ended: " + strings.TrimSpace(problem.String()))
	}
	return nil
}

// exec runs a script, a second time if it certainly did not run.
func (p *place) exec(ctx context.Context, s Script) (int, error) {
	code, err := p.runner.Exec(ctx, s)
	if errors.Is(err, ErrNotRun) && ctx.Err() == nil && s.Stdin == nil {
		code, err = p.runner.Exec(ctx, s)
	}
	return code, err
}

// release closes the place with its last view.
func (p *place) release() error {
	p.mu.Lock()
	p.views--
	last := p.views == 0
	p.mu.Unlock()
	if !last {
		return nil
	}
	p.end(errClosed)
	p.active.Wait()
	var errs []error
	if f := p.known(); f != nil {
		errs = append(errs, p.endPending(), p.uncarry(f), p.script(`rm -rf -- "$1" || { sleep 1; rm -rf -- "$1"; }`, f.state))
	}
	if err := errors.Join(errs...); err == nil && p.noted != nil {
		errs = append(errs, p.noted.Remove()) // else the next program tries again
	}
	return errors.Join(append(errs, p.runner.Close())...)
}

// arguments is the line that gives a script its arguments.
func arguments(args ...string) string {
	var b strings.Builder
	b.WriteString("set --")
	for _, a := range args {
		b.WriteString(" " + shellstate.Quote(a))
	}
	return b.String() + "\n"
}
