package seccomp

import "errors"

// ErrUnsupported is why there is no filter: another system, another processor, or
// a kernel or a container that does not allow one.
var ErrUnsupported = errors.New("seccomp filters cannot be used")

// Filter says what a process may still call. The zero value is the strictest that
// can use TCP: pair it with Notify or NetOff, unless the process is in a network
// of its own.
type Filter struct {
	// Unix allows Unix sockets. Layer B sets it only where Landlock restricts them
	// (ABI 9), layer A always, because no foreign socket is in sight there.
	Unix bool
	// Datagram allows UDP. It is for a process in a network of its own: a filter
	// cannot see where a datagram goes.
	Datagram bool
	// Notify hands connect, bind and listen to the listener that Install returns, and
	// refuses ways round them (TCP fast open, source routes, binding to a device).
	Notify bool
	// Others hands what changes another process to the listener that Install returns.
	// Notify does so, too. Without both, and with NetOff, limits of others are refused.
	Others bool
	// NetOff refuses Internet sockets altogether. It takes precedence over Notify.
	NetOff bool
	// Nested allows new namespaces and the calls that a sandbox inside this one needs.
	// Landlock still refuses its mounts.
	Nested bool
	// NoAttributes refuses extended attributes of files, except those that can be read of
	// an open file.
	NoAttributes bool
	// NoTruncate refuses truncation without writing, which Landlock does not see below
	// ABI 3.
	NoTruncate bool
}
