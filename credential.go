package hermes

import (
	"context"
	"log/slog"
)

// Key is a credential for one call. The zero value means that the service
// needs none.
type Key struct {
	Secret Secret
	// ID names the credential in its pool.
	ID string
	// Source says where it comes from: "manual", "env:NAME", "config",
	// "keychain:…", "login" (a permanent key from a login) or "oauth" (a token;
	// some protocols send a token in another header than a key).
	Source string
	// Label is the user's name for it. It may be shown.
	Label string
	// Account is the user's id at the service, if a login reported one.
	Account string
	// BaseURL is the address that the credential is for, if a login named one.
	BaseURL string
}

// Keys is the pool of credentials of one service. All methods may be called
// concurrently; several processes may use the same pool.
type Keys interface {
	// Any reports whether the pool has a credential, usable now or not.
	Any() bool
	// Next returns the credential for a session's next call; the session may be
	// empty. A session keeps its credential while it is usable, because the
	// service's cache depends on it. Next may refresh a login. If no credential
	// is usable, the error is a *ModelError that says until when and what to do.
	Next(ctx context.Context, session string) (Key, error)
	// Report records how a call with this credential ended; nil is success. The
	// flags and class of the error decide how long the credential is not used.
	// It returns true if another try with the next credential may succeed.
	Report(ctx context.Context, k Key, err *ModelError) (again bool)
	// Spare reports whether a credential other than k is usable now.
	Spare(k Key) bool
}

// Secret is a text that must not be shown. It prints, logs and marshals as
// "***". Only Reveal returns its value, so that every use is easy to find.
type Secret string

// Reveal returns the secret itself.
func (s Secret) Reveal() string { return string(s) }

// String hides the value.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "***"
}

// GoString hides the value from %#v.
func (s Secret) GoString() string { return s.String() }

// MarshalText hides the value in JSON, YAML and other encodings.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue hides the value in logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
