package upkeep

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"hermes"
	"hermes/internal/atomicfile"
)

// tidyTime is how long the chores may delay the end of the program.
const tidyTime = 2 * time.Second

// Chore is one thing to clean up when the program ends.
type Chore struct {
	Name string // what it does, for the log
	Do   func(ctx context.Context) error
}

// ErrNotDue, alone or joined with another error, is returned by a chore to omit those after
// it: they are done together with it, another time.
var ErrNotDue = errors.New("not due yet")

// Tidy does chores in their order and logs their errors. ctx of all ends after two seconds.
func Tidy(log *slog.Logger, chores []Chore) {
	ctx, cancel := context.WithTimeout(context.Background(), tidyTime)
	defer cancel()
	for _, c := range chores {
		err := c.Do(ctx)
		if err != nil && err != ErrNotDue {
			log.Warn(c.Name, "err", err)
		}
		if errors.Is(err, ErrNotDue) {
			return
		}
	}
}

// sweptDepth is how deep below the home temporary files are searched for; no file that is
// replaced is deeper.
const sweptDepth = 4

// Sweep removes the temporary files that killed processes left in a home.
func Sweep(top string) {
	_ = filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return nil // unreadable folders are skipped, not fatal
		}
		rest, err := filepath.Rel(top, path)
		if err != nil || strings.Count(rest, string(filepath.Separator)) >= sweptDepth || rest == "checkpoints" {
			return fs.SkipDir
		}
		_, _ = atomicfile.Sweep(path) // the next pass tries again
		return nil
	})
}

// Sessions is the part of the store that says when the home was used.
type Sessions interface {
	ListSessions(ctx context.Context, f hermes.SessionFilter) ([]hermes.Session, error)
}

// never is how long a home without sessions was unused.
const never time.Duration = 1 << 62

// Unused returns how long ago the last message of any session was. Without sessions, and if
// the clock was set back, it is very long; 0 means that it is unknown.
func Unused(ctx context.Context, store Sessions, now time.Time) time.Duration {
	list, err := store.ListSessions(ctx, hermes.SessionFilter{Limit: 1})
	if err != nil {
		return 0
	}
	if len(list) == 0 {
		return never
	}
	last := list[0].Active
	if list[0].Started.After(last) {
		last = list[0].Started
	}
	if last.After(now) {
		return never
	}
	return now.Sub(last)
}
