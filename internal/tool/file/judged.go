package file

import (
	"fmt"
	"slices"
	"sync"

	"hermes"
)

// maxJudged bounds the calls that are remembered while they are under way. The oldest is
// dropped first.
const maxJudged = 1024

// judged remembers where the paths of a call led when its risk was assessed. A call
// waits for its approval between that and its run. Its methods may be called
// concurrently.
type judged struct {
	mu    sync.Mutex
	calls map[string]map[string]target // by call, then by path as asked for
	order []string
}

// target is where a path led.
type target struct{ entry, real string }

func (p location) target() target { return target{p.entry, p.real} }

func callKey(c *hermes.Call) string { return sessionOf(c) + "\x00" + c.ID + "\x00" + c.Name }

// assessed records the paths of a call.
func (j *judged) assessed(c *hermes.Call, targets map[string]target) {
	j.mu.Lock()
	defer j.mu.Unlock()
	key := callKey(c)
	if j.calls == nil {
		j.calls = map[string]map[string]target{}
	}
	if _, known := j.calls[key]; !known {
		j.order = append(j.order, key)
	}
	j.calls[key] = targets
	if len(j.order) > maxJudged {
		delete(j.calls, j.order[0])
		j.order = j.order[1:]
	}
}

// over drops a call that has run or was refused.
func (j *judged) over(c *hermes.Call) {
	j.mu.Lock()
	defer j.mu.Unlock()
	key := callKey(c)
	if _, known := j.calls[key]; known {
		delete(j.calls, key)
		j.order = slices.DeleteFunc(j.order, func(k string) bool { return k == key })
	}
}

// check refuses a path that needs approval and leads to another file than the one
// that the user was asked about.
func (j *judged) check(c *hermes.Call, asked string, now location) error {
	if !now.writeVerdict().Ask {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	targets, known := j.calls[callKey(c)]
	if !known || targets[asked] == now.target() {
		return nil
	}
	return fmt.Errorf("%s leads to %s, which it did not when the call was approved: nothing was written, send the call again", now.path, now.real)
}
