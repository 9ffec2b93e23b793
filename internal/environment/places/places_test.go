package places_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"hermes"
	"hermes/internal/environment/places"
	"hermes/internal/environment/remote"
)

// runner counts how often it is closed.
type runner struct{ closed *int }

func (runner) Exec(context.Context, remote.Script) (int, error) { return 0, remote.ErrNotRun }

func (r runner) Close() error {
	*r.closed++
	return nil
}

// TestAPlaceIsMadeOnceAndClosedWithItsLastSession, also if the parent ends before its child.
func TestAPlaceIsMadeOnceAndClosedWithItsLastSession(t *testing.T) {
	t.Parallel()
	var p places.Places
	made, closed := 0, 0
	open := func(session, parent string) *remote.Environment {
		t.Helper()
		e, err := p.Of(places.Asked{Session: session, Parent: parent, Dir: "/work"}, func() (*remote.Environment, error) {
			made++
			return remote.New(remote.Config{Runner: runner{&closed}}), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	if first, again := open("a", ""), open("a", ""); first != again || made != 1 || !p.Has("a") || p.Has("b") {
		t.Errorf("made %d", made)
	}
	if child := open("b", "a"); child == open("a", "") || made != 1 {
		t.Errorf("made %d for a child", made)
	}
	release := func(session string) {
		t.Helper()
		if err := p.Release(session); err != nil {
			t.Error(err)
		}
	}
	release("a")
	release("a")
	if closed != 0 || p.Has("a") {
		t.Errorf("closed %d", closed)
	}
	release("b")
	if closed != 1 {
		t.Errorf("closed %d", closed)
	}
	open("c", "a") // its parent has no place by now
	open("d", "")
	if err := p.Close(); err != nil || made != 3 || closed != 3 {
		t.Errorf("made %d, closed %d, %v", made, closed, err)
	}
	if _, err := p.Of(places.Asked{Session: "e"}, nil); !errors.Is(err, hermes.ErrClosed) {
		t.Error(err)
	}
}

// TestAFailureIsNotKept, and the place is made once although many ask for it.
func TestAFailureIsNotKept(t *testing.T) {
	t.Parallel()
	var p places.Places
	down, made, closed := errors.New("it is down"), 0, 0
	if _, err := p.Of(places.Asked{Session: "a"}, func() (*remote.Environment, error) { return nil, down }); !errors.Is(err, down) || p.Has("a") {
		t.Error(err)
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := p.Of(places.Asked{Session: "a"}, func() (*remote.Environment, error) {
				made++
				return remote.New(remote.Config{Runner: runner{&closed}}), nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if err := p.Close(); err != nil || made != 1 || closed != 1 {
		t.Errorf("made %d, closed %d, %v", made, closed, err)
	}
}
