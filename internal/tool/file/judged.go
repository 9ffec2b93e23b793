package file

import (
	"fmt"
	"sync"

	"hermes"
	"hermes/internal/lru"
)

// maxJudged bounds the calls that are remembered while they are under way.
const maxJudged = 1024

// judged remembers where the paths of a call led when its risk was assessed. A call
// waits for its approval between that and its run. Its methods may be called
// concurrently.
type judged struct {
	mu    sync.Mutex
	calls *lru.Map[string, map[string]target] // by call, then by path as asked for
}

func newJudged() *judged { return &judged{calls: lru.New[string, map[string]target](maxJudged)} }

// target is where a path led.
type target struct{ entry, real string }

func (p location) target() target { return target{p.entry, p.real} }

func callKey(c *hermes.Call) string { return sessionOf(c) + "\x00" + c.ID + "\x00" + c.Name }

// assessed records the paths of a call.
func (j *judged) assessed(c *hermes.Call, targets map[string]target) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.calls.Put(callKey(c), targets)
}

// led returns where a path led when the risk of a call was assessed; "" is not known.
func (j *judged) led(c *hermes.Call, asked string) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	targets, _ := j.calls.Get(callKey(c))
	return targets[asked].real
}

// over drops a call that has run or was refused.
func (j *judged) over(c *hermes.Call) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.calls.Delete(callKey(c))
}

// check refuses a path that needs approval and leads to another file than the one
// that the user was asked about.
func (j *judged) check(c *hermes.Call, asked string, now location) error {
	if !now.writeVerdict().Ask {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	targets, known := j.calls.Get(callKey(c))
	if !known || targets[asked] == now.target() {
		return nil
	}
	return fmt.Errorf("%s leads to %s, which it did not when the call was approved: nothing was written, send the call again", now.path, now.real)
}
