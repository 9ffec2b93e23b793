// Package keychain keeps secrets in the keychain of the operating system: the
// Secret Service on Linux, the Keychain on macOS, the Credential Manager on
// Windows.
//
// Many machines have none, servers above all; that is ErrNone, with words that
// say what to do, and never a hang or a helper process left behind. Callers
// keep a reference; what it means is theirs. Start reading at Keychain.
package keychain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zalando/go-keyring"
)

// ErrNone means that this machine has no keychain that could be used.
var ErrNone = errors.New("this machine has no keychain that can be used")

// ErrMissing means that the keychain holds nothing under this name.
var ErrMissing = errors.New("the keychain holds no such secret")

// patience is how long a keychain may take, with the person unlocking it.
const patience = 2 * time.Minute

// Keychain keeps secrets under the name of one service. It may be used
// concurrently.
type Keychain struct {
	service string
	getenv  func(string) string
}

// New returns the keychain of this machine. It does no I/O. The environment
// tells how it is reached on some systems.
func New(service string, getenv func(string) string) *Keychain {
	return &Keychain{service: service, getenv: getenv}
}

// Get returns a secret.
func (k *Keychain) Get(ctx context.Context, name string) (string, error) {
	found := make(chan string, 1) // the call may outlive this one
	err := k.ask(ctx, func() error {
		secret, err := keyring.Get(k.service, name)
		found <- secret
		return err
	})
	if err != nil {
		return "", fmt.Errorf("read %q from the keychain: %w", name, err)
	}
	return <-found, nil
}

// Set puts a secret in, in the place of an older one.
func (k *Keychain) Set(ctx context.Context, name, secret string) error {
	if err := k.ask(ctx, func() error { return keyring.Set(k.service, name, secret) }); err != nil {
		return fmt.Errorf("put %q into the keychain: %w", name, err)
	}
	return nil
}

// Delete takes a secret out; one that is not there is no error.
func (k *Keychain) Delete(ctx context.Context, name string) error {
	err := k.ask(ctx, func() error { return keyring.Delete(k.service, name) })
	if err != nil && !errors.Is(err, ErrMissing) {
		return fmt.Errorf("take %q out of the keychain: %w", name, err)
	}
	return nil
}

// ask calls the keychain, which cannot be interrupted. Where it does not answer
// in time the caller goes on and the call ends when it ends: there is one more
// at most for each that a person gave up.
func (k *Keychain) ask(ctx context.Context, call func() error) error {
	if why := missing(k.getenv); why != "" {
		return fmt.Errorf("%w (%s)", ErrNone, why)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("the keychain does not answer"))
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- call() }()
	select {
	case err := <-done:
		return plain(err)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func plain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, keyring.ErrNotFound):
		return ErrMissing
	case errors.Is(err, keyring.ErrUnsupportedPlatform):
		return ErrNone
	case errors.Is(err, keyring.ErrSetDataTooBig):
		return errors.New("the secret is too long for it")
	}
	return fmt.Errorf("%w (%w)", ErrNone, err)
}
