package hermes

import "context"

// Key is a credential that was lent for one call. The zero value stands for a
// service that is asked without one.
type Key struct {
	Secret Secret
	// ID names the credential in its pool.
	ID string
	// Source says where it comes from: "manual", "env:NAME", "config",
	// "keychain:…", "login" (a lasting key that a login gave) or "oauth" (a token,
	// which some protocols send in another place than a key).
	Source string
	// Label is the person's name for it, which may be shown.
	Label string
	// Account is the person's id at the service, where a login told it.
	Account string
	// BaseURL is the address that the credential is for, where a login named
	// one.
	BaseURL string
}

// Keys lends the credentials of one service. All methods may be called
// concurrently; several processes may lend from the same pool.
type Keys interface {
	// Any reports whether there is a credential at all, resting or not.
	Any() bool
	// Next lends a credential for a session's next call; the session may be
	// empty. A session keeps its credential while that is usable, since the
	// service's cache goes with it. Next may refresh a login. Where nothing can
	// be lent the error is a *ModelError that says until when, and what to do.
	Next(ctx context.Context, session string) (Key, error)
	// Report says how a call with this credential ended; nil is success. The
	// flags and the class of the error decide how long the credential rests. It
	// reports whether asking again with what Next lends may help.
	Report(ctx context.Context, k Key, err *ModelError) (again bool)
	// Spare reports whether another credential could be lent now.
	Spare(k Key) bool
}
