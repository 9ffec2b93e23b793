package protocoltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/protocol"
)

// writer is a model that writes the numbers below n.
func writer(n int) *hermestest.Script {
	return hermestest.NewScript(hermestest.Step{Deltas: numbers(n), Text: "."}).Forever()
}

// numbers are n pieces of text.
func numbers(n int) []hermes.Delta {
	list := make([]hermes.Delta, n)
	for i := range list {
		list[i] = hermes.Delta{Text: fmt.Sprintf("%d ", i)}
	}
	return list
}

// written is what numbers and the end of the step make.
func written(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d ", i)
	}
	return b.String() + "."
}

// read returns the text of the running turn as a frontend sees it, until the turn is done.
func (f *Frontend) read() (text string, err error) {
	if f.Snapshot.Turn != nil {
		text = f.Snapshot.Turn.Text
	}
	last := f.After
	for e := range f.Events {
		if e.Epoch == last.Epoch && e.Seq <= last.Seq {
			return text, fmt.Errorf("event %d came after %d", e.Seq, last.Seq)
		}
		last = protocol.After{Epoch: e.Epoch, Seq: e.Seq}
		f.After = last
		switch d := e.Event.(type) {
		case hermes.TextDelta:
			text += d.Text
		case hermes.TurnDone:
			return text, nil
		}
	}
	return text, errors.New("the events ended")
}

// testAttach attaches many frontends while an answer streams: each sees all of it once.
func testAttach(t *testing.T, connect Connect) {
	const n = 3000
	w := NewWorldOf(t, writer(n))
	c := connect(t, w, one)
	first := Open(t, c, one)
	first.Say("count")
	var all sync.WaitGroup
	for i := range 8 {
		c := connect(t, w, hermes.From{Client: fmt.Sprint(i), Platform: "cli"})
		all.Go(func() {
			f := Attach(t, c, first.ID, one, protocol.After{})
			if f.Snapshot.Done != nil {
				if f.Snapshot.Done.Text != written(n) {
					t.Errorf("frontend %d sees %q done", i, f.Snapshot.Done.Text)
				}
				return
			}
			want := written(n)
			if running := f.Snapshot.Turn; running != nil && f.Snapshot.Last > running.Said.ID {
				want = "" // the answer is stored, and the turn about to end
			}
			if text, err := f.read(); text != want || err != nil {
				t.Errorf("frontend %d read %d bytes of %d: %v", i, len(text), len(want), err)
			}
		})
	}
	if text, err := first.read(); text != written(n) || err != nil {
		t.Errorf("the first read %q: %v", text, err)
	}
	all.Wait()
}

// testContinue goes on at a position, again and again, without a snapshot.
func testContinue(t *testing.T, connect Connect) {
	const n = 500
	w := NewWorldOf(t, writer(n))
	c := connect(t, w, one)
	f := Open(t, c, one)
	f.Say("count")
	Next[hermes.TurnStarted](f)
	text := ""
	for over, rounds := false, 0; !over; rounds++ {
		f.Detach()
		for range f.Events { // what came before it was detached is not read
		}
		f = Attach(t, c, f.ID, one, f.After)
		if !f.Snapshot.Continued || f.Snapshot.Turn != nil || f.Snapshot.Epoch != f.After.Epoch {
			t.Fatalf("round %d: %+v", rounds, f.Snapshot)
		}
		for e := range f.Events {
			f.After = protocol.After{Epoch: e.Epoch, Seq: e.Seq}
			switch d := e.Event.(type) {
			case hermes.TextDelta:
				text += d.Text
			case hermes.TurnDone:
				over = true
			}
			break
		}
	}
	if diff := cmp.Diff(written(n), text); diff != "" {
		t.Error(diff)
	}
	if f = Attach(t, c, f.ID, one, protocol.After{Epoch: f.After.Epoch, Seq: f.After.Seq + 1000}); f.Snapshot.Continued {
		t.Error("it continued at a position that does not exist")
	}
}

// testOrder types in two frontends at once.
func testOrder(t *testing.T, connect Connect) {
	const each = 20
	w := NewWorldOf(t, hermestest.NewScript(hermestest.Say("ok")).Forever())
	a := Open(t, connect(t, w, one), one)
	b := Attach(t, connect(t, w, two), a.ID, two, protocol.After{})
	var typing sync.WaitGroup
	for _, f := range []*Frontend{a, b} {
		typing.Go(func() {
			for i := range each {
				f.Say(fmt.Sprintf("%s %d", f.From.Client, i))
			}
		})
	}
	orders := make([][]string, 2)
	for i, f := range []*Frontend{a, b} {
		typing.Go(func() {
			for len(orders[i]) < 2*each {
				orders[i] = append(orders[i], Next[hermes.TurnStarted](f).Message.Text())
			}
		})
	}
	typing.Wait()
	if diff := cmp.Diff(orders[0], orders[1]); diff != "" {
		t.Errorf("two orders: %s", diff)
	}
	for _, client := range []string{"one", "two"} {
		mine := slices.DeleteFunc(slices.Clone(orders[0]), func(s string) bool { return !strings.HasPrefix(s, client) })
		for i, text := range mine {
			if want := fmt.Sprintf("%s %d", client, i); text != want {
				t.Errorf("message %d of %s is %q", i, client, text)
			}
		}
	}
}

// testLagged does not read while much happens.
func testLagged(t *testing.T, connect Connect) {
	const turns = 40
	big := strings.Repeat("x", 64<<10)
	w := NewWorldOf(t, hermestest.NewScript(hermestest.Step{Deltas: []hermes.Delta{{Text: big}}}).Forever())
	c := connect(t, w, one)
	slow := Open(t, c, one)
	fast := Attach(t, connect(t, w, two), slow.ID, two, protocol.After{})
	for i := range turns {
		fast.Do(say(fmt.Sprint(i))) // this is not slowed down
		Next[hermes.TurnDone](fast)
	}
	if _, err := c.Sessions(t.Context(), protocol.Filter{}); err != nil { // a call does not wait behind events
		t.Fatal(err)
	}
	lagged, got := false, 0
	for e := range slow.Events {
		if _, lagged = e.Event.(hermes.Lagged); lagged {
			continue
		}
		slow.After = protocol.After{Epoch: e.Epoch, Seq: e.Seq}
		if d, ok := e.Event.(hermes.TextDelta); ok {
			got += len(d.Text)
		}
	}
	if !lagged || got >= turns*len(big) {
		t.Errorf("lagged %v after %d bytes", lagged, got)
	}
	again := Attach(t, c, slow.ID, one, slow.After)
	if again.Snapshot.Continued || again.Snapshot.Done == nil || again.Snapshot.Done.Turn != turns {
		t.Errorf("attached again: continued %v, %+v", again.Snapshot.Continued, again.Snapshot.Session)
	}
}

// testDetach ends subscriptions and sees that the session knows.
func testDetach(t *testing.T, connect Connect) {
	w := NewWorld(t, hermestest.Say("hello"))
	c := connect(t, w, one)
	a := Open(t, c, one)
	b := Attach(t, connect(t, w, two), a.ID, two, protocol.After{})
	a.Detach()
	for range a.Events {
	}
	for !alone(t, c, a.ID) {
	}
	b.Say("hi")
	Next[hermes.TurnDone](b)
}

// alone reports whether one frontend is attached.
func alone(t *testing.T, c protocol.Client, id string) bool {
	list, err := c.Sessions(t.Context(), protocol.Filter{Live: true, ID: id})
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	return list[0].Running.Frontends == 1
}

// testWatched watches a session that lags and closes.
func testWatched(t *testing.T, connect Connect) {
	w := NewWorldOf(t, hermestest.NewScript(hermestest.Say("ok")).Forever())
	c, other := connect(t, w, one), connect(t, w, two)
	f := Open(t, other, two)
	f.Say("first")
	Next[hermes.TurnDone](f)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stored []string
	closed := false
	for u := range (protocol.Watched{Client: c, From: one, Run: hermes.RunSpec{Session: f.ID}}).Watch(ctx) {
		switch {
		case u.Failed != nil:
			t.Fatal(u.Failed)
		case u.Lost != nil && !errors.Is(u.Lost, hermes.ErrClosed):
			t.Errorf("lost: %v", u.Lost)
		case u.Snapshot != nil:
			for _, m := range u.Missed {
				stored = append(stored, m.Text())
			}
			if !closed {
				closed = true
				f.Detach()
				for range f.Events {
				}
				f.Say("second") // seen as events
			} else if len(stored) < 6 {
				if err := c.Do(t.Context(), f.ID, one, say("third")); err != nil {
					t.Error(err)
				}
			}
		case u.Envelope != nil:
			switch d := u.Envelope.Event.(type) {
			case hermes.TurnStarted:
				stored = append(stored, d.Message.Text())
			case hermes.Appended:
				stored = append(stored, d.Message.Text())
			case hermes.TurnDone:
				if len(stored) == 4 {
					if err := c.Do(t.Context(), f.ID, one, hermes.Leave{}); err != nil {
						t.Error(err)
					}
				} else {
					cancel()
				}
			}
		}
	}
	if diff := cmp.Diff([]string{"first", "ok", "second", "ok", "third", "ok"}, stored); diff != "" {
		t.Error(diff)
	}
}

// testCancelled cancels calls.
func testCancelled(t *testing.T, connect Connect) {
	w := NewWorld(t, hermestest.Say("hello"))
	hold := make(chan struct{})
	w.Prepare = func() { <-hold }
	c := connect(t, w, one)
	f := Open(t, c, one)
	ctx, cancel := context.WithCancelCause(t.Context())
	mine := errors.New("mine")
	cancel(mine)
	if _, _, err := c.Attach(ctx, f.ID, one, protocol.After{}); err != nil && !errors.Is(err, mine) {
		t.Errorf("attach: %v", err)
	}
	for !alone(t, c, f.ID) {
	}
	close(hold)
	f.Say("hi")
	Next[hermes.TurnDone](f)
}
