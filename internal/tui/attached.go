package tui

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"hermes"
	"hermes/internal/protocol"
)

// Start says which session a chat begins with, and how it opens others.
type Start struct {
	// Run is the spec of a new session. A session that the chat resumes keeps its own tools and
	// prompt.
	Run hermes.RunSpec
	// Resume returns the id or the title of the stored session to begin with; "" begins a new
	// one, as nil does. It is called in the background, so that the prompt appears at once.
	Resume func(ctx context.Context) (string, error)
	// Attach is the id of a session that is live, perhaps in another process, to begin with. It
	// is opened only if it is not live any more. Quitting leaves it running.
	Attach string
}

// want says which session to open.
type want struct {
	first  bool   // the one of Start
	title  string // of a new session; may be empty
	resume string // the id of the session to resume
}

// attached is the session of the chat, and those that it is leaving.
type attached struct {
	client  protocol.Client
	from    hermes.From
	session *link // nil before a session is open
	leaving []chan struct{}
	// attachments is how often the chat attached to the session.
	attachments atomic.Int64
}

// link is a session that the chat watches.
type link struct {
	id      string
	foreign bool // it ran before the chat attached, and goes on without it
	updates <-chan protocol.Update
	detach  context.CancelFunc
}

// gotSession is the result of opening a session.
type gotSession struct {
	link   *link           // nil if it could not be opened; one that could not be attached to has to be left
	update protocol.Update // the first one
	opened openedMsg
}

// updates are those of the session, or nil, which blocks forever.
func (a *attached) updates() <-chan protocol.Update {
	if a.session == nil {
		return nil
	}
	return a.session.updates
}

// open opens a session and attaches to it.
func (a *attached) open(ctx context.Context, s Start, w want) gotSession {
	run, attach := s.Run, ""
	run.Session = w.resume
	switch {
	case w.first && s.Attach != "":
		run, attach = kept(run, s.Attach), s.Attach
	case w.first && s.Resume != nil:
		ref, err := s.Resume(ctx)
		if err != nil {
			return gotSession{opened: openedMsg{err: err}}
		}
		run.Session = ref
	case !w.first && w.resume != "":
		run = kept(run, w.resume)
	}
	resumed := run.Session != ""
	if attach != "" {
		got := a.watch(ctx, &link{id: attach, foreign: true}, kept(run, attach), true)
		if !errors.Is(got.opened.err, hermes.ErrClosed) {
			return got
		}
	}
	info, err := a.client.Open(ctx, a.from, run)
	if err != nil {
		return gotSession{opened: openedMsg{err: err}}
	}
	l := &link{id: info.ID}
	if w.title != "" {
		err = a.client.Do(ctx, l.id, a.from, hermes.SetTitle{Title: w.title})
	}
	got := a.watch(ctx, l, kept(run, l.id), resumed)
	got.opened.untitled = err
	return got
}

// kept is the spec of opening a stored session, which has tools and a prompt of its own.
func kept(run hermes.RunSpec, id string) hermes.RunSpec {
	run.Session, run.Tools, run.Prompt = id, hermes.ToolChoice{}, hermes.PromptChoice{}
	return run
}

// watch attaches to a session that is live.
func (a *attached) watch(ctx context.Context, l *link, run hermes.RunSpec, resumed bool) gotSession {
	watching, detach := context.WithCancel(context.WithoutCancel(ctx)) // it ends with the link
	abandoned := context.AfterFunc(ctx, detach)
	defer abandoned()
	l.detach = detach
	l.updates = protocol.Watched{Client: a.client, From: a.from, Run: run, Seen: -1}.Watch(watching)
	first, ok := <-l.updates
	opened := openedMsg{id: l.id, resumed: resumed, foreign: l.foreign, err: first.Failed}
	switch {
	case !ok:
		opened.err = context.Cause(ctx)
	case first.Snapshot != nil:
		opened.state = *first.Snapshot
	}
	if opened.err == nil && resumed {
		first.Missed, opened.last, opened.err = before(ctx, a.client, l.id, opened.state)
	}
	if opened.err != nil {
		detach()
	}
	return gotSession{link: l, update: first, opened: opened}
}

// maxTurn is how many messages of a running turn are read when the chat attaches.
const maxTurn = 200

// before reads what was said before a snapshot: what there is of the running turn, and the last
// messages before that.
func before(ctx context.Context, c protocol.Client, id string, s protocol.Snapshot) (turn, last []hermes.Message, err error) {
	until := s.Last
	if t := s.Turn; t != nil && t.Said.ID != 0 {
		turn, err = c.History(ctx, id, hermes.Range{After: t.Said.ID - 1, Before: s.Last + 1, Last: maxTurn})
		if err != nil {
			return nil, nil, err
		}
		if len(turn) == 0 || turn[0].ID != t.Said.ID {
			turn = slices.Insert(turn, 0, t.Said)
		}
		until = t.Said.ID - 1
	}
	last, err = lastSaid(ctx, c, id, until)
	return turn, last, err
}

// How the end of a resumed conversation is looked for: so many messages at a time, and no
// further back than so many times.
const (
	lastPage  = 50
	lastPages = 20
)

// lastSaid returns the last two messages of a conversation that have text of the user or the
// model, until the message with the id last.
func lastSaid(ctx context.Context, c protocol.Client, id string, last int64) ([]hermes.Message, error) {
	var said []hermes.Message
	for range lastPages {
		if last == 0 {
			break
		}
		page, err := c.History(ctx, id, hermes.Range{Before: last + 1, Last: lastPage})
		if err != nil || len(page) == 0 {
			return said, err
		}
		for _, m := range slices.Backward(page) {
			if m.Role != hermes.RoleTool && !m.Synthetic && m.Visible() != "" {
				said = slices.Insert(said, 0, m)
			}
			if len(said) == 2 {
				return said, nil
			}
		}
		last = page[0].ID - 1
	}
	return said, nil
}

// take makes a session the current one.
func (a *attached) take(l *link) { a.session = l }

// drop detaches from the session and leaves it in the background.
func (a *attached) drop() {
	if l := a.session; l != nil {
		a.session = nil
		a.leave(l)
	}
}

// leaveTime limits how long a session is told that the chat goes away.
const leaveTime = 5 * time.Second

// leave tells a session that the chat goes away, which ends one that no other frontend has.
func (a *attached) leave(l *link) {
	if l.detach(); l.foreign {
		return
	}
	left := make(chan struct{})
	a.leaving = append(a.leaving, left)
	go func() { // awaited before Run returns
		defer close(left)
		ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
		defer cancel()
		_ = a.client.Do(ctx, l.id, a.from, hermes.Leave{}) // it has ended, or its process has
	}()
}

// wait waits until all sessions are told.
func (a *attached) wait() {
	for _, left := range a.leaving {
		<-left
	}
}
