package remote_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/protocol"
	"hermes/internal/protocol/remote"
)

// admit lets in who has the key.
func admit(_ context.Context, h remote.Hello) (hermes.From, error) {
	if h.Key != "key" {
		return hermes.From{}, remote.ErrKey
	}
	return hermes.From{Platform: h.Platform, Name: h.Name}, nil
}

// refuses is a client that fails with one error, and can be attached to.
type refuses struct {
	protocol.Client
	err error
}

func (r refuses) Do(context.Context, string, hermes.From, hermes.Op) error { return r.err }

// mustServe returns a client that is served by another one over a pipe.
func mustServe(t *testing.T, c protocol.Client) *remote.Client {
	t.Helper()
	server, client := memory(t)
	return mustConnect(t, c, server, client, remote.Hello{Key: "key", Name: "terminal 1", Platform: "cli"})
}

// TestErrorsAreTheSameOverAConnection for whoever decides by them, and in their words.
func TestErrorsAreTheSameOverAConnection(t *testing.T) {
	t.Parallel()
	wrapped := func(err error) error { return errors.Join(errors.New("what was done"), err) }
	for _, sentinel := range []error{
		hermes.ErrClosed, hermes.ErrLeased, hermes.ErrStaleLease, hermes.ErrNotFound, hermes.ErrAmbiguous, hermes.ErrTitleTaken, hermes.ErrNoModel, hermes.ErrInterrupted,
	} {
		for _, err := range []error{sentinel, wrapped(sentinel)} {
			got := mustServe(t, refuses{err: err}).Do(t.Context(), "s", hermes.From{}, hermes.Undo{})
			if !errors.Is(got, sentinel) || got.Error() != err.Error() || errors.Is(got, protocol.ErrConnection) {
				t.Errorf("%v became %v", err, got)
			}
		}
	}
	by := hermes.From{Client: "c", Platform: "cli", Name: "terminal 2", Attends: true}
	got := mustServe(t, refuses{err: wrapped(hermes.ErrAnswered{By: by})}).Do(t.Context(), "s", hermes.From{}, hermes.Undo{})
	if e, ok := errors.AsType[hermes.ErrAnswered](got); !ok || e.By != by {
		t.Errorf("answered: %v", got)
	}
	got = mustServe(t, refuses{err: hermes.ErrFixed{Session: "s", Parts: []string{"Tools.Enabled"}}}).Do(t.Context(), "s", hermes.From{}, hermes.Undo{})
	if e, ok := errors.AsType[hermes.ErrFixed](got); !ok || e.Session != "s" || len(e.Parts) != 1 {
		t.Errorf("fixed: %v", got)
	}
	for _, err := range []error{
		&hermes.Failure{Class: hermes.ClassBudget, Text: "the cap is reached", Hint: "raise it"},
		wrapped(&hermes.Failure{Class: hermes.ClassUnknown, Text: "x"}),
		&hermes.ModelError{Class: hermes.ClassAuth, Status: 401, Message: "bad key", Provider: "p"},
	} {
		got := mustServe(t, refuses{err: err}).Do(t.Context(), "s", hermes.From{}, hermes.Undo{})
		if f, ok := errors.AsType[*hermes.Failure](got); !ok || *f != *hermes.FailureOf(err) || got.Error() != err.Error() {
			t.Errorf("%#v became %#v: %v", hermes.FailureOf(err), f, got)
		}
	}
	plain := mustServe(t, refuses{err: errors.New("plain")}).Do(t.Context(), "s", hermes.From{}, hermes.Undo{})
	if _, ok := errors.AsType[*hermes.Failure](plain); ok || plain.Error() != "plain" {
		t.Errorf("plain became %v", plain)
	}
}

// TestAClientNeedsTheKey, and is told.
func TestAClientNeedsTheKey(t *testing.T) {
	t.Parallel()
	a, b := net.Pipe()
	over := make(chan error, 1)
	go func() { over <- remote.Serve(t.Context(), remote.NewStream(a), remote.Server{Admit: admit}) }()
	if _, err := remote.Dial(t.Context(), remote.NewStream(b), remote.Hello{Key: "guess"}); !errors.Is(err, remote.ErrKey) {
		t.Errorf("dialed: %v", err)
	}
	if err := <-over; !errors.Is(err, remote.ErrKey) {
		t.Errorf("served: %v", err)
	}
}

// TestAFrontendIsKnownAgain on its next connection, if it names itself.
func TestAFrontendIsKnownAgain(t *testing.T) {
	t.Parallel()
	known := func(client string) string {
		server, stream := memory(t)
		return mustConnect(t, refuses{}, server, stream, remote.Hello{Key: "key", Client: client}).From().Client
	}
	if a, b, other := known("a"), known("a"), known("b"); a != b || a == other {
		t.Errorf("known as %q, %q and %q", a, b, other)
	}
	if a, b := known(""), known(""); a == b {
		t.Errorf("two frontends without a name are both %q", a)
	}
	a, b := net.Pipe()
	over := make(chan error, 1)
	go func() { over <- remote.Serve(t.Context(), remote.NewStream(a), remote.Server{Admit: admit}) }()
	if _, err := remote.Dial(t.Context(), remote.NewStream(b), remote.Hello{Key: "key", Client: strings.Repeat("x", 101)}); err == nil || !strings.Contains(err.Error(), "100 bytes") {
		t.Errorf("a long name: %v", err)
	}
	<-over
	for _, own := range []string{"", "terminal 1"} { // what a frontend of the process itself is called
		if got := (remote.Hello{Client: own}).Own(); got == own {
			t.Errorf("a peer is %q", got)
		}
	}
}
