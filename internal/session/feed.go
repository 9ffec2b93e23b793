package session

import (
	"context"
	"slices"
	"sync"
	"time"

	"hermes"
	"hermes/internal/protocol"
)

// The ring keeps the newest events of a session for its subscribers: at most so many, and about
// so many bytes. While no turn runs it shrinks to idleRing bytes.
const (
	ringEvents = 4096
	ringBytes  = 2 << 20
	idleRing   = 64 << 10
)

// attendGrace is how long a user still counts as there after the last frontend that can answer
// was detached: it may only have lagged, or lost its connection.
const attendGrace = time.Minute

// feed numbers the events of a session and passes them to its subscribers without waiting for
// them. All read from one ring, each at its own position; one that falls out of the ring gets
// [hermes.Lagged] and attaches again. So a slow subscriber costs nothing.
type feed struct {
	mu      sync.Mutex
	session string
	now     func() time.Time
	up      *feed     // of the parent session, which shows what its children do; nil if there is none
	signed  time.Time // when a text was last shown above
	epoch   int64
	seq     int64
	ring
	view  protocol.View
	subs  []*subscriber
	ended bool
	left  time.Time // when the last frontend that attends was detached; zero if there was none or it left for good
	opens string    // the client that opened the session
	freed bool      // a frontend has left for good while others were attached: the last one ends the session
}

// ring holds the newest envelopes. All of them are counted, across epochs.
type ring struct {
	list    []protocol.Envelope
	weights []int          // of the envelopes in the list, in bytes
	first   int64          // the number of the first one in the list
	seen    int64          // the number of the first one that has no reader so far; until then a text can grow
	dropped protocol.After // the position of the last one that is no longer in the list
	joined  joiner         // text that belongs to the last one
	bytes   int
}

// subscriber is one reader of the ring.
type subscriber struct {
	from hermes.From
	next int64         // the number of the event that it reads next; guarded by feed.mu
	wake chan struct{} // holds one
	out  chan protocol.Envelope
	gone bool // its frontend has left for good; guarded by feed.mu
}

// newFeed returns the feed of a session that no process has run; see renumber.
func newFeed(session string, now func() time.Time, parent *Session) *feed {
	f := &feed{session: session, now: now, epoch: 1}
	if parent != nil {
		f.up = parent.feed
	}
	return f
}

// expect gives a frontend whose user can answer a moment to attach.
func (f *feed) expect(from hermes.From) {
	if !from.Attends {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left = f.now()
}

// publish passes an event on.
func (f *feed) publish(e hermes.Event) {
	if c, ok := e.(hermes.Compacted); ok {
		c.CompactResult = hermes.CompactResult{} // the whole transcript
		e = c
	}
	at := f.now()
	f.add(f.session, "", at, e)
	if f.up == nil {
		return
	}
	if e = f.above(at, e); e == nil {
		return
	}
	for up := f.up; up != nil; up = up.up {
		up.add(f.session, f.up.session, at, e)
	}
}

// signEvery is how often a child that only thinks or writes is shown above.
const signEvery = 5 * time.Second

// above returns what the sessions above are shown of an event, or nil. Of what the model writes
// that is a sign of life now and then, without the text.
func (f *feed) above(at time.Time, e hermes.Event) hermes.Event {
	switch d := e.(type) {
	case hermes.TextDelta:
		e = hermes.TextDelta{}
	case hermes.ReasoningDelta:
		e = hermes.ReasoningDelta{}
	case hermes.CallDeltaSeen:
		e = hermes.CallDeltaSeen{Name: d.Name}
	default:
		if !shownAbove(e) {
			return nil
		}
		return e
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if at.Sub(f.signed) < signEvery {
		return nil
	}
	f.signed = at
	return e
}

// shownAbove reports whether an event of a child is shown under its parents. For the rest, a
// frontend attaches to the child.
func shownAbove(e hermes.Event) bool {
	switch e.(type) {
	case hermes.Appended, hermes.Compacted, hermes.Queued, hermes.Steered, hermes.Titled,
		hermes.Configured, hermes.CommandDone, hermes.Rewound, hermes.Reset:
		return false
	}
	return true
}

// add numbers an event, keeps it, and wakes the subscribers.
func (f *feed) add(session, parent string, at time.Time, e hermes.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seq++
	env := protocol.Envelope{Session: session, Parent: parent, Epoch: f.epoch, Seq: f.seq, Time: at, Event: e}
	f.view.Apply(env)
	if n := len(f.list); n > 0 && f.seen < f.end() && f.joined.add(&f.list[n-1], env) {
		piece, _ := textOf(e)
		f.weights[n-1], f.bytes = f.weights[n-1]+len(piece), f.bytes+len(piece)
	} else {
		f.joined.end(f.list)
		w := weight(e)
		f.list, f.weights, f.bytes = append(f.list, env), append(f.weights, w), f.bytes+w
	}
	if len(f.list) > ringEvents || f.bytes > ringBytes {
		f.shrink(ringEvents, ringBytes, f.end())
	}
	f.rest()
	for _, s := range f.subs {
		s.signal()
	}
}

// end is the number of the next event.
func (f *ring) end() int64 { return f.first + int64(len(f.list)) }

// shrink drops the oldest events until few enough are left, and none from number before on. The
// newest is kept.
func (f *ring) shrink(events, bytes int, before int64) {
	n := 0
	for n < len(f.list)-1 && f.first+int64(n) < before && (len(f.list)-n > events || f.bytes > bytes) {
		f.bytes -= f.weights[n]
		f.dropped = protocol.After{Epoch: f.list[n].Epoch, Seq: f.list[n].Seq}
		f.list[n] = protocol.Envelope{} // the array lives on
		n++
	}
	f.list, f.weights, f.first = f.list[n:], f.weights[n:], f.first+int64(n)
}

// rest frees most of the ring when no turn runs. What a subscriber can still read stays.
func (f *feed) rest() {
	if f.bytes <= idleRing || !f.view.Idle() {
		return
	}
	read := f.end()
	for _, s := range f.subs {
		if s.next >= f.first { // else it attaches again anyway
			read = min(read, s.next)
		}
	}
	if f.shrink(ringEvents, idleRing, read); cap(f.list) > 2*len(f.list)+64 {
		f.list, f.weights = slices.Clone(f.list), slices.Clone(f.weights)
	}
}

// renumber begins an epoch, if it is a new one.
func (f *feed) renumber(epoch int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if epoch != f.epoch {
		f.epoch, f.seq = epoch, 0
	}
}

// attach adds a subscriber, until ctx ends. The snapshot has what the session knows of itself;
// attach adds what its events tell, or says that the frontend needs none.
func (f *feed) attach(ctx context.Context, from hermes.From, after protocol.After, s protocol.Snapshot) (protocol.Snapshot, <-chan protocol.Envelope) {
	sub := &subscriber{from: from, wake: make(chan struct{}, 1), out: make(chan protocol.Envelope, 64)}
	f.mu.Lock()
	defer f.mu.Unlock()
	sub.next, f.seen = f.end(), f.end()
	if at, ok := f.find(after); ok {
		sub.next = at
		s = protocol.Snapshot{Epoch: after.Epoch, Seq: after.Seq, Continued: true}
	} else {
		s.Epoch, s.Seq = f.epoch, f.seq
		f.view.Fill(&s)
		for _, o := range f.subs {
			s.Frontends = append(s.Frontends, o.from)
		}
	}
	f.subs = append(f.subs, sub)
	go f.serve(ctx, sub) // ends with ctx or with the session
	return s, sub.out
}

// find returns the number of the event after a position, if everything since then is in the ring.
func (f *feed) find(after protocol.After) (int64, bool) {
	switch {
	case after.Epoch == 0 || after.Epoch != f.epoch:
		return 0, false
	case after == f.dropped:
		return f.first, true
	case after.Seq == 0: // before the first one of the epoch
		i := slices.IndexFunc(f.list, func(e protocol.Envelope) bool { return e.Epoch == f.epoch })
		if i < 0 {
			i = len(f.list)
		}
		return f.first + int64(i), f.dropped.Epoch != f.epoch
	}
	for i, e := range slices.Backward(f.list) {
		switch {
		case e.Epoch != f.epoch || e.Seq < after.Seq:
			return 0, false // in the middle of a joined text
		case e.Seq == after.Seq:
			return f.first + int64(i) + 1, true
		}
	}
	return 0, false
}

// serve hands a subscriber its events.
func (f *feed) serve(ctx context.Context, s *subscriber) {
	defer close(s.out)
	defer f.remove(s)
	for {
		batch, lagged, over := f.read(s)
		for _, e := range batch {
			select {
			case s.out <- e:
			case <-ctx.Done():
				return
			}
		}
		switch {
		case lagged:
			select {
			case s.out <- protocol.Envelope{Session: f.session, Event: hermes.Lagged{}}:
			case <-ctx.Done():
			}
			return
		case len(batch) > 0:
			continue
		case over:
			return
		}
		select {
		case <-s.wake:
		case <-ctx.Done():
			return
		}
	}
}

// The limits of what a subscriber holds outside of the ring.
const (
	batchEvents = 256
	batchBytes  = 256 << 10
	maxJoined   = 4096 // size from which a text is joined no more
)

// read returns the next events of a subscriber; successive pieces of text are one. lagged says
// that they are no longer in the ring, over that no more will come.
func (f *feed) read(s *subscriber) (batch []protocol.Envelope, lagged, over bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s.next < f.first {
		return nil, true, false
	}
	f.joined.end(f.list)
	var joined joiner
	at := int(s.next - f.first)
	bytes := 0
	for at < len(f.list) && len(batch) < batchEvents && bytes < batchBytes {
		e := f.list[at]
		bytes += f.weights[at]
		at++
		if len(batch) > 0 && joined.add(&batch[len(batch)-1], e) {
			continue
		}
		joined.end(batch)
		batch = append(batch, e)
	}
	joined.end(batch)
	over = f.ended && at == len(f.list)
	s.next = f.first + int64(at)
	f.seen = max(f.seen, s.next)
	f.rest()
	return batch, false, over
}

// joiner joins pieces of text to the last envelope of a batch.
type joiner struct{ more []byte }

// add joins the text of an event to the last one, if both are text of one kind.
func (j *joiner) add(last *protocol.Envelope, e protocol.Envelope) bool {
	before, kind := textOf(last.Event)
	piece, same := textOf(e.Event)
	if kind == 0 || kind != same || last.Session != e.Session || last.Epoch != e.Epoch || len(before)+len(j.more) >= maxJoined {
		return false
	}
	j.more = append(j.more, piece...)
	last.Seq, last.Time = e.Seq, e.Time
	return true
}

// end completes the last envelope of a batch.
func (j *joiner) end(batch []protocol.Envelope) {
	if len(j.more) == 0 {
		return
	}
	last := &batch[len(batch)-1]
	switch d := last.Event.(type) {
	case hermes.TextDelta:
		last.Event = hermes.TextDelta{Text: d.Text + string(j.more)}
	case hermes.ReasoningDelta:
		last.Event = hermes.ReasoningDelta{Text: d.Text + string(j.more)}
	}
	j.more = j.more[:0]
}

// textOf returns the text of a delta and its kind, 0 for other events.
func textOf(e hermes.Event) (string, int) {
	switch d := e.(type) {
	case hermes.TextDelta:
		return d.Text, 1
	case hermes.ReasoningDelta:
		return d.Text, 2
	}
	return "", 0
}

// weight estimates how much memory an event takes in the ring, in bytes.
func weight(e hermes.Event) int {
	const envelope = 120
	switch d := e.(type) {
	case hermes.TextDelta:
		return envelope + len(d.Text)
	case hermes.ReasoningDelta:
		return envelope + len(d.Text)
	case hermes.Appended:
		return envelope + protocol.Size(d.Message)
	case hermes.TurnStarted:
		return envelope + protocol.Size(d.Message)
	case hermes.CallStarted:
		return envelope + len(d.Call.Arguments) + len(d.Preview)
	case hermes.CallDone:
		return envelope + len(d.Call.Arguments) + len(d.Shown) + protocol.Size(d.Result)
	case hermes.CallProgress:
		return envelope + len(d.Text)
	case hermes.Notice:
		return envelope + len(d.Text)
	case hermes.CommandDone:
		return envelope + len(d.Text) + len(d.Arg)
	case hermes.TurnDone:
		return envelope + len(d.Text) + 200
	case hermes.Asked:
		if d.Approval != nil {
			return envelope + len(d.Approval.Subject) + len(d.Approval.Detail) + 500
		}
	}
	return envelope + 100
}

func (s *subscriber) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (f *feed) remove(s *subscriber) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.subs = slices.DeleteFunc(f.subs, func(x *subscriber) bool { return x == s })
	if s.from.Attends && !s.gone {
		f.left = f.now()
	}
}

// leave takes note that a frontend goes away for good, and reports whether the session ends: no other one is
// attached. Another session that asked this one ends it only if it opened it, or if whoever did has left.
func (f *feed) leave(from hermes.From) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	others := false
	for _, s := range f.subs {
		s.gone = s.gone || s.from.Client == from.Client
		others = others || !s.gone
	}
	if from.Attends {
		f.left = time.Time{}
	}
	stays := from.Platform == hermes.PlatformPeer && from.Client != f.opens && !f.freed
	f.freed = f.freed || others && !stays
	return !others && !stays
}

// close ends every subscription once its events are read.
func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	for _, s := range f.subs {
		s.signal()
	}
}

// attended reports whether a frontend is attached whose user can answer, or was a moment ago.
func (f *feed) attended() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.left.IsZero() && f.now().Sub(f.left) < attendGrace || slices.ContainsFunc(f.subs, func(s *subscriber) bool { return s.from.Attends && !s.gone })
}

// frontends returns how many frontends are attached.
func (f *feed) frontends() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, s := range f.subs {
		if !s.gone {
			n++
		}
	}
	return n
}

// fill sets the fields of a snapshot that the events tell.
func (f *feed) fill(s *protocol.Snapshot) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.view.Fill(s)
}
