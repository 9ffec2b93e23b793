package web

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

type outcome struct {
	answer *answer
	err    error
}

// asking makes a call in the background.
func asking(ctx context.Context, a *answers, ask func(context.Context) (*answer, error)) chan outcome {
	done := make(chan outcome, 1)
	go func() {
		got, err := a.get(ctx, "key", ask)
		done <- outcome{got, err}
	}()
	return done
}

// TestEqualRequestsShareOne, also one that the first call no longer waits for.
func TestEqualRequestsShareOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAnswers(time.Minute, time.Now)
		began, goOn := 0, make(chan struct{})
		ask := func(ctx context.Context) (*answer, error) {
			began++
			select {
			case <-goOn:
				return &answer{backend: "one"}, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		stopped, stop := context.WithCancel(t.Context())
		first := asking(stopped, a, ask)
		synctest.Wait()
		second, third := asking(t.Context(), a, ask), asking(t.Context(), a, ask)
		synctest.Wait()
		stop()
		if o := <-first; !errors.Is(o.err, context.Canceled) {
			t.Errorf("the stopped call: %+v", o)
		}
		close(goOn)
		for _, c := range []chan outcome{second, third, asking(t.Context(), a, ask)} {
			if o := <-c; o.err != nil || o.answer.backend != "one" {
				t.Errorf("another call: %+v", o)
			}
		}
		if began != 1 {
			t.Errorf("%d requests, want 1", began)
		}
	})
}

// TestTheLastCallEndsTheRequest, waits for its end, and leaves nothing to who asks later.
func TestTheLastCallEndsTheRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAnswers(time.Minute, time.Now)
		ended := false
		ctx, stop := context.WithCancel(t.Context())
		first := asking(ctx, a, func(ctx context.Context) (*answer, error) {
			<-ctx.Done()
			ended = true
			return nil, ctx.Err()
		})
		synctest.Wait()
		stop()
		if o := <-first; !errors.Is(o.err, context.Canceled) || !ended {
			t.Errorf("got %+v, ended %v", o, ended)
		}
		if got, err := a.get(t.Context(), "key", func(context.Context) (*answer, error) { return &answer{backend: "later"}, nil }); err != nil || got.backend != "later" {
			t.Errorf("later: %+v, %v", got, err)
		}
	})
}

// TestAStoppedCallDoesNotWaitForWhatGoesOn: neither for a request that does not end, nor for a page that takes long to
// become text; and only so many of these go on.
func TestAStoppedCallDoesNotWaitForWhatGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, goOn := newAnswers(time.Minute, time.Now), make(chan struct{})
		ctx, stop := context.WithCancel(t.Context())
		first := asking(ctx, a, func(context.Context) (*answer, error) {
			<-goOn
			return &answer{}, nil
		})
		synctest.Wait()
		began := time.Now()
		stop()
		if o := <-first; !errors.Is(o.err, context.Canceled) || time.Since(began) > time.Second {
			t.Errorf("got %+v after %v", o, time.Since(began))
		}
		set, read := New(Config{}), atomic.Int32{}
		for range maxReading + 2 {
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			if _, err := set.apart(ctx, func() (page, error) { read.Add(1); <-goOn; return page{}, nil }); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a slow page: %v", err)
			}
			stop()
		}
		if n := read.Load(); n != maxReading {
			t.Errorf("%d pages are read, want %d", n, maxReading)
		}
		close(goOn)
		synctest.Wait()
		if p, err := set.apart(t.Context(), func() (page, error) { return page{text: "Tea."}, nil }); err != nil || p.text != "Tea." {
			t.Errorf("afterwards: %+v, %v", p, err)
		}
		if _, err := set.apart(t.Context(), func() (page, error) { panic("oh") }); err == nil || !strings.Contains(err.Error(), "oh") {
			t.Errorf("a mistake: %v", err)
		}
	})
}

// TestAMistakeEndsOneRequest only, as an error.
func TestAMistakeEndsOneRequest(t *testing.T) {
	t.Parallel()
	a := newAnswers(time.Minute, time.Now)
	if _, err := a.get(t.Context(), "key", func(context.Context) (*answer, error) { panic("oh") }); err == nil || !strings.Contains(err.Error(), "oh") {
		t.Errorf("got %v", err)
	}
}

// TestWhatIsKeptIsBounded in number and bytes: the oldest is forgotten.
func TestWhatIsKeptIsBounded(t *testing.T) {
	t.Parallel()
	a := newAnswers(time.Hour, time.Now)
	for i := range 40 {
		one := &answer{page: page{text: strings.Repeat("x", 1<<20)}, at: time.Now()}
		a.keep(string(rune('a'+i)), one)
	}
	if _, first := a.kept.Get("a"); first || a.bytes > maxKept || a.kept.Len() != maxKept>>20 {
		t.Errorf("%d answers with %d bytes are kept, the first %v", a.kept.Len(), a.bytes, first)
	}
	a.keep("too large", &answer{page: page{text: strings.Repeat("x", maxKept)}})
	for i := range 2 * maxAnswers {
		a.keep("small"+strings.Repeat("y", i), &answer{})
	}
	if _, large := a.kept.Get("too large"); large || a.kept.Len() > maxAnswers {
		t.Errorf("%d answers are kept, the large one %v", a.kept.Len(), large)
	}
}
