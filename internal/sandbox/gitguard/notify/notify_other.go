//go:build !linux

package notify

// Watcher watches nothing here.
type Watcher struct{}

// New returns ErrNone.
func New(string) (*Watcher, error) { return nil, ErrNone }

// Add returns ErrNone.
func (*Watcher) Add(string) (int, error) { return 0, ErrNone }

// Remove does nothing.
func (*Watcher) Remove(int) {}

// Read returns nothing.
func (*Watcher) Read() ([]Event, bool) { return nil, true }

// Close does nothing.
func (*Watcher) Close() {}
