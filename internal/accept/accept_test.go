package accept_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"hermes/internal/accept"
	"hermes/internal/accept/accepttest"
)

// TestNextOutlastsErrorsThatPass, and pauses longer after each, up to a second.
func TestNextOutlastsErrorsThatPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := accepttest.New(100)
		ours, theirs := net.Pipe()
		defer ours.Close()
		go func() { l.Conns() <- theirs }()
		start := time.Now()
		if got, err := accept.Next(t.Context(), l); got != theirs || err != nil {
			t.Fatalf("got %v, %v, want the connection", got, err)
		}
		// 5 ms to 640 ms are 8 pauses, then 92 of a second.
		if got, want := time.Since(start), 1275*time.Millisecond+92*time.Second; got != want {
			t.Errorf("it took %v, want %v", got, want)
		}
	})
}

func TestNextEndsWithItsListener(t *testing.T) {
	t.Parallel()
	l := accepttest.New(1)
	l.Close()
	if got, err := accept.Next(t.Context(), l); got != nil || !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v, %v, want net.ErrClosed", got, err)
	}
}

// TestNextEndsWithItsContext, in a pause too, and closes a connection that came after that.
func TestNextEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		start := time.Now()
		if got, err := accept.Next(ctx, accepttest.New(100)); got != nil || !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 10*time.Millisecond {
			t.Errorf("in a pause: got %v, %v after %v", got, err, time.Since(start))
		}
		l := accepttest.New(0)
		ours, theirs := net.Pipe()
		go func() { l.Conns() <- theirs }()
		if got, err := accept.Next(ctx, l); got != nil || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("with a connection: got %v, %v", got, err)
		}
		if _, err := ours.Read(make([]byte, 1)); err == nil {
			t.Error("the connection that came late is open")
		}
	})
}
