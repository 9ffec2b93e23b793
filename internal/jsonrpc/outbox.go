package jsonrpc

import (
	"context"
	"sync"
	"time"
)

// maxQueued is how many bytes may wait to be written; a larger message waits alone. So a peer
// that does not read costs little, and whoever sends waits.
const maxQueued = 64 << 10

// outbox is what waits to be written. Many add, one takes.
type outbox struct {
	wake chan struct{} // holds one

	mu      sync.Mutex
	list    [][]byte
	size    int
	writing bool
	changed chan struct{} // closed when there is less; nil if no one waits for that
}

func newOutbox() outbox { return outbox{wake: make(chan struct{}, 1)} }

// add queues a message. It waits for room until one of the contexts ends.
func (o *outbox) add(ctx, conn context.Context, message []byte) error {
	for {
		if conn.Err() != nil {
			return context.Cause(conn)
		}
		less := o.try(message)
		if less == nil {
			return nil
		}
		select {
		case <-less:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-conn.Done():
			return context.Cause(conn)
		}
	}
}

// try queues a message if there is room; otherwise it returns what to wait for.
func (o *outbox) try(message []byte) <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.size > 0 && o.size+len(message) > maxQueued {
		return o.waiter()
	}
	o.list, o.size = append(o.list, message), o.size+len(message)
	select {
	case o.wake <- struct{}{}:
	default:
	}
	return nil
}

func (o *outbox) waiter() <-chan struct{} {
	if o.changed == nil {
		o.changed = make(chan struct{})
	}
	return o.changed
}

// notify wakes whoever waits for less.
func (o *outbox) notify() {
	if o.changed != nil {
		close(o.changed)
		o.changed = nil
	}
}

// take waits for messages and returns them all, or nil when the connection has ended.
func (o *outbox) take(conn context.Context) [][]byte {
	for {
		select {
		case <-o.wake:
		case <-conn.Done():
			return nil
		}
		o.mu.Lock()
		batch := o.list
		o.list, o.size, o.writing = nil, 0, len(batch) > 0
		o.notify()
		o.mu.Unlock()
		if len(batch) > 0 {
			return batch
		}
	}
}

// written says that what was taken is written.
func (o *outbox) written() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.writing = false
	o.notify()
}

// flush waits until all is written, at most for a time.
func (o *outbox) flush(conn context.Context, most time.Duration) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	for {
		o.mu.Lock()
		if !o.writing && len(o.list) == 0 {
			o.mu.Unlock()
			return
		}
		less := o.waiter()
		o.mu.Unlock()
		select {
		case <-less:
		case <-timer.C:
			return
		case <-conn.Done():
			return
		}
	}
}
