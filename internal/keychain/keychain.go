// Package keychain keeps secrets in the keychain of the operating system: the
// Secret Service on Linux, the Keychain on macOS, the Credential Manager on
// Windows.
//
// Many machines have none, most of all servers. Then calls fail with ErrNone and
// a reason; they never hang or start a helper process. Callers store a reference,
// whose meaning this package must not know. Start reading at Keychain.
package keychain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zalando/go-keyring"
)

// ErrNone means that this machine has no usable keychain.
var ErrNone = errors.New("this machine has no usable keychain")

// ErrMissing means that the keychain has no secret with this name.
var ErrMissing = errors.New("no such secret in the keychain")

// patience is how long a keychain may take, including the user unlocking it.
const patience = 2 * time.Minute

// Keychain keeps secrets under the name of one service. It may be used
// concurrently.
type Keychain struct {
	service string
	getenv  func(string) string
}

// New returns the keychain of this machine. It does no I/O. On some systems the
// environment says how to reach it.
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

// Set stores a secret and replaces an older one.
func (k *Keychain) Set(ctx context.Context, name, secret string) error {
	if err := k.ask(ctx, func() error { return keyring.Set(k.service, name, secret) }); err != nil {
		return fmt.Errorf("write %q to the keychain: %w", name, err)
	}
	return nil
}

// Delete removes a secret; a missing one is not an error.
func (k *Keychain) Delete(ctx context.Context, name string) error {
	err := k.ask(ctx, func() error { return keyring.Delete(k.service, name) })
	if err != nil && !errors.Is(err, ErrMissing) {
		return fmt.Errorf("delete %q from the keychain: %w", name, err)
	}
	return nil
}

// ask calls the keychain, which cannot be interrupted. If it does not answer in
// time, the caller goes on and the call stays open until it ends by itself.
func (k *Keychain) ask(ctx context.Context, call func() error) error {
	if why := missing(k.getenv); why != "" {
		return fmt.Errorf("%w (%s)", ErrNone, why)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("the keychain does not respond"))
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
		return errors.New("the secret is too long for the keychain")
	}
	return fmt.Errorf("%w (%w)", ErrNone, err)
}
