package protocol

import (
	"context"
	"errors"
	"time"

	"hermes"
)

// Update is what a frontend that watches a session gets: exactly one field is set.
type Update struct {
	// Snapshot says that the frontend is attached. Unless it is Continued, it replaces all that
	// the frontend knows of the running turn, of questions and of what waits. Missed are the messages that were stored since the last update.
	Snapshot *Snapshot
	Missed   []hermes.Message
	// Envelope carries the next event.
	Envelope *Envelope
	// Lost says why the session is out of reach. The watch goes on trying to attach again.
	Lost error
	// Failed says why the watch has given up. It is the last update.
	Failed error
}

// Watched says which session to watch, for whom.
type Watched struct {
	Client Client
	From   hermes.From
	// Run opens the session again if it is not live any more; its Session is the id.
	Run hermes.RunSpec
	// Seen is the id of the last stored message that the frontend shows: later ones come in
	// Update.Missed. Less than 0 means that it needs none that are stored now.
	Seen int64
	// Patience limits how long a lost session is tried; 0 means as long as ctx.
	Patience time.Duration
}

// ErrConnection means that the connection to the process of the session was lost.
var ErrConnection = errors.New("the connection to the session was lost")

// The pauses between tries to attach again.
const (
	firstPause = 20 * time.Millisecond
	maxPause   = time.Second
)

// Watch attaches a frontend to a session that is live and keeps it attached: after it lagged,
// after its connection was lost, and after the session was closed or its process ended, which
// opens it again. What was stored meanwhile is not missed. The first update is a snapshot,
// or Failed. The channel is closed after Failed or when ctx ends.
func (w Watched) Watch(ctx context.Context) <-chan Update {
	out := make(chan Update, 16)
	go func() { // ends with ctx
		defer close(out)
		(&watch{Watched: w, ctx: ctx, out: out}).run()
	}()
	return out
}

// watch is a Watch that goes on.
type watch struct {
	Watched
	ctx   context.Context
	out   chan<- Update
	after After
	last  int64 // the newest stored message that the frontend has
	begun bool
	// detach ends the last attachment.
	detach context.CancelFunc
}

func (w *watch) run() {
	for {
		events, err := w.attach()
		if err != nil {
			w.send(Update{Failed: err})
			return
		}
		lost := w.follow(events)
		w.detach()
		if w.ctx.Err() != nil {
			return
		}
		if lost != nil && !w.send(Update{Lost: lost}) {
			return
		}
	}
}

// attach tries to attach until it succeeds, and sends the snapshot.
func (w *watch) attach() (<-chan Envelope, error) {
	pause, tried := firstPause, time.Duration(0)
	for {
		events, err := w.try()
		if err == nil || w.ctx.Err() != nil || !w.begun || !again(err) || w.Patience > 0 && tried > w.Patience {
			return events, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-w.ctx.Done():
			timer.Stop()
			return nil, context.Cause(w.ctx)
		}
		tried, pause = tried+pause, min(2*pause, maxPause)
	}
}

// again reports whether an error of opening or attaching may go away by itself: the process
// that ran the session is ending, or another one is taking it over.
func again(err error) bool {
	return errors.Is(err, hermes.ErrLeased) || errors.Is(err, hermes.ErrClosed) || errors.Is(err, hermes.ErrStaleLease) || errors.Is(err, ErrConnection)
}

// try attaches once; a session that is not live is opened first.
func (w *watch) try() (_ <-chan Envelope, err error) {
	ctx, detach := context.WithCancel(w.ctx)
	w.detach = detach
	defer func() {
		if err != nil { // or the session would count this frontend twice
			detach()
		}
	}()
	snapshot, events, err := w.Client.Attach(ctx, w.Run.Session, w.From, w.after)
	if errors.Is(err, hermes.ErrClosed) && w.begun {
		if _, err := w.Client.Open(w.ctx, w.From, w.Run); err != nil {
			return nil, err
		}
		snapshot, events, err = w.Client.Attach(ctx, w.Run.Session, w.From, w.after)
	}
	if err != nil {
		return nil, err
	}
	if snapshot.Continued {
		w.send(Update{Snapshot: &snapshot})
		return events, nil
	}
	missed, err := w.missed(snapshot.Last)
	if err != nil {
		return nil, err
	}
	w.begun, w.last, w.after = true, snapshot.Last, After{snapshot.Epoch, snapshot.Seq}
	w.send(Update{Snapshot: &snapshot, Missed: missed})
	return events, nil
}

// missed reads what was stored after the last message that the frontend has.
func (w *watch) missed(until int64) ([]hermes.Message, error) {
	if !w.begun {
		if w.Seen < 0 {
			return nil, nil
		}
		w.last = w.Seen
	}
	var all []hermes.Message
	for last := w.last; last < until; {
		page, err := w.Client.History(w.ctx, w.Run.Session, hermes.Range{After: last, Before: until + 1, First: MaxPage, Raw: true})
		if err != nil {
			return nil, err
		}
		if len(page) == 0 {
			break
		}
		all, last = append(all, page...), page[len(page)-1].ID
	}
	return all, nil
}

// follow passes events on until the channel is closed. It returns why the session is out of
// reach, or nil if the frontend only lagged.
func (w *watch) follow(events <-chan Envelope) error {
	for e := range events {
		switch d := e.Event.(type) {
		case hermes.Lagged:
			return nil
		case hermes.Closed:
			if e.Parent == "" {
				return hermes.ErrClosed
			}
		case hermes.TurnStarted:
			w.stored(e, d.Message.ID)
		case hermes.Appended:
			w.stored(e, d.Message.ID)
		}
		if w.after = (After{e.Epoch, e.Seq}); !w.send(Update{Envelope: &e}) {
			return nil
		}
	}
	return ErrConnection
}

func (w *watch) stored(e Envelope, id int64) {
	if e.Parent == "" {
		w.last = max(w.last, id)
	}
}

func (w *watch) send(u Update) bool {
	select {
	case w.out <- u:
		return true
	case <-w.ctx.Done():
		return false
	}
}
