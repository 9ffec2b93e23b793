package protocol_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/protocol"
)

// attachment is what a scripted client does when it is attached to.
type attachment struct {
	err      error
	openErr  error // of opening first, after ErrClosed
	snapshot protocol.Snapshot
	events   []protocol.Envelope
	history  []hermes.Message
	page     error // of History
	open     bool  // the channel stays open
}

// scripted plays one attachment after another.
type scripted struct {
	protocol.Client
	script []attachment
	now    attachment
	after  []protocol.After
	asked  []hermes.Range
	open   atomic.Int64 // attachments
}

func (s *scripted) Attach(ctx context.Context, _ string, _ hermes.From, after protocol.After) (protocol.Snapshot, <-chan protocol.Envelope, error) {
	s.now, s.script = s.script[0], s.script[1:]
	s.after = append(s.after, after)
	if s.now.err != nil {
		return protocol.Snapshot{}, nil, s.now.err
	}
	events := make(chan protocol.Envelope, len(s.now.events))
	for _, e := range s.now.events {
		events <- e
	}
	if !s.now.open {
		close(events)
	} else {
		s.open.Add(1)
		context.AfterFunc(ctx, func() { s.open.Add(-1); close(events) })
	}
	return s.now.snapshot, events, nil
}

func (s *scripted) Open(context.Context, hermes.From, hermes.RunSpec) (protocol.SessionInfo, error) {
	return protocol.SessionInfo{}, s.now.openErr
}

func (s *scripted) History(_ context.Context, _ string, r hermes.Range) ([]hermes.Message, error) {
	s.asked = append(s.asked, r)
	return s.now.history, s.now.page
}

func message(id int64) hermes.Message { return hermes.Message{ID: id, Role: hermes.RoleAssistant} }

func at(seq int64, e hermes.Event) protocol.Envelope {
	return protocol.Envelope{Session: "s", Epoch: 1, Seq: seq, Event: e}
}

// TestWatchMissesNothing goes through all ways to lose a session and to get it back.
func TestWatchMissesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		c := &scripted{script: []attachment{
			{snapshot: protocol.Snapshot{Epoch: 1, Seq: 3, Last: 2}, events: []protocol.Envelope{
				at(4, hermes.Appended{Message: message(3)}), at(5, hermes.TextDelta{Text: "a"}), {Session: "s", Event: hermes.Lagged{}},
			}},
			{snapshot: protocol.Snapshot{Epoch: 1, Seq: 50, Last: 5}, history: []hermes.Message{message(4), message(5)}}, // and the connection is lost
			{err: protocol.ErrConnection},
			{snapshot: protocol.Snapshot{Epoch: 1, Seq: 50, Continued: true}, events: []protocol.Envelope{at(51, hermes.Closed{})}},
			{err: hermes.ErrClosed, openErr: hermes.ErrLeased}, // another process is taking it over
			{err: hermes.ErrClosed},
			{snapshot: protocol.Snapshot{Epoch: 2, Last: 5}, open: true},
		}}
		updates := protocol.Watched{Client: c, From: hermes.From{}, Run: hermes.RunSpec{Session: "s"}, Seen: 2}.Watch(ctx)
		var got []string
		for u := range updates {
			switch {
			case u.Snapshot != nil && u.Snapshot.Continued:
				got = append(got, "continued")
			case u.Snapshot != nil:
				word := "snapshot"
				for range u.Missed {
					word += " missed"
				}
				got = append(got, word)
			case u.Lost != nil:
				got = append(got, "lost: "+u.Lost.Error())
			case u.Envelope != nil:
				got = append(got, "event")
			}
			if u.Snapshot != nil && u.Snapshot.Epoch == 2 {
				cancel()
			}
		}
		want := []string{
			"snapshot", "event", "event", "snapshot missed missed", "lost: the connection to the session was lost", "continued",
			"lost: the session is closed", "snapshot",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		positions := []protocol.After{{}, {Epoch: 1, Seq: 5}, {Epoch: 1, Seq: 50}, {Epoch: 1, Seq: 50}, {Epoch: 1, Seq: 50}, {Epoch: 1, Seq: 50}, {Epoch: 1, Seq: 50}}
		if diff := cmp.Diff(positions, c.after); diff != "" {
			t.Errorf("attached after -want +got:\n%s", diff)
		}
		pages := []hermes.Range{{After: 3, Before: 6, First: protocol.MaxPage, Raw: true}}
		if diff := cmp.Diff(pages, c.asked); diff != "" {
			t.Errorf("read -want +got:\n%s", diff)
		}
	})
}

// TestWatchGivesUp where trying again does not help.
func TestWatchGivesUp(t *testing.T) {
	t.Parallel()
	broken := errors.New("the database is damaged")
	for name, script := range map[string][]attachment{
		"at first":  {{err: hermes.ErrClosed}},
		"afterward": {{snapshot: protocol.Snapshot{Epoch: 1}}, {err: broken}},
	} {
		var last protocol.Update
		c := &scripted{script: script}
		for u := range (protocol.Watched{Client: c, Run: hermes.RunSpec{Session: "s"}, Seen: -1}).Watch(t.Context()) {
			last = u
		}
		if last.Failed == nil || len(c.script) > 0 {
			t.Errorf("%s: the last update is %+v", name, last)
		}
	}
}

// TestWatchIsAttachedOnce: an attachment that it cannot use has ended before the next begins.
func TestWatchIsAttachedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &scripted{script: []attachment{
			{snapshot: protocol.Snapshot{Epoch: 1, Seq: 1, Last: 1}, history: []hermes.Message{message(1)}},
			{snapshot: protocol.Snapshot{Epoch: 1, Seq: 9, Last: 9}, page: protocol.ErrConnection, open: true},
			{snapshot: protocol.Snapshot{Epoch: 1, Seq: 9, Last: 9}, history: []hermes.Message{message(9)}, open: true},
		}}
		ctx, cancel := context.WithCancel(t.Context())
		updates := (protocol.Watched{Client: c, Run: hermes.RunSpec{Session: "s"}}).Watch(ctx)
		for u := range updates {
			if u.Snapshot != nil && u.Snapshot.Last == 9 {
				break
			}
		}
		synctest.Wait()
		if n := c.open.Load(); n != 1 {
			t.Errorf("it is attached %d times", n)
		}
		cancel()
		synctest.Wait()
	})
}
