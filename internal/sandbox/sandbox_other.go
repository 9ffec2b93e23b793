//go:build !linux || !(amd64 || arm64)

package sandbox

import (
	"context"
	"errors"
	"net"

	"hermes/internal/proc"
)

// Bare says that there are no keepers without walls either.
const Bare = false

// errOther is why there is no keeper.
var errOther = errors.New("there are no walls for this system")

// Start fails.
func Start(context.Context, Config) (*Keeper, error) { return nil, errOther }

// Main returns.
func Main() {}

// Expect returns None.
func Expect() Layer { return None }

// Keeper is never made here.
type Keeper struct{}

// Layer is None.
func (*Keeper) Layer() Layer { return None }

// Lacks is nil.
func (*Keeper) Lacks() []string { return nil }

// Listener is nil.
func (*Keeper) Listener() net.Listener { return nil }

// Gone is nil.
func (*Keeper) Gone() <-chan struct{} { return nil }

// Holds is false.
func (*Keeper) Holds(int) bool { return false }

// Empty is true.
func (*Keeper) Empty() bool { return true }

// Lost is nil.
func (*Keeper) Lost() []string { return nil }

// ReadOnly is nil.
func (*Keeper) ReadOnly() map[string]bool { return nil }

// Launch fails.
func (*Keeper) Launch(proc.Spec) (proc.Child, error) { return nil, errOther }

// Freeze fails.
func (*Keeper) Freeze() (thaw func(), err error) { return nil, errOther }

// Dial fails.
func (*Keeper) Dial(int) (net.Conn, error) { return nil, errOther }

// Ports fails.
func (*Keeper) Ports() ([]int, error) { return nil, errOther }

// Close does nothing.
func (*Keeper) Close() error { return nil }
