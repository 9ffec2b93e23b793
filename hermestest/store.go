package hermestest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes"
)

var _ hermes.Store = (*Store)(nil)

// Store is a [hermes.Store] in memory that keeps the whole contract. Its search
// compares words without an index.
type Store struct {
	// Now is the clock for leases and missing times; set it before use.
	Now func() time.Time
	// Fail, if set, is called before every write with the name of the method;
	// its error fails the write. Set it before use.
	Fail func(method string) error

	mu       sync.Mutex
	sessions []*storedSession // in the order of their creation
	lastID   int64
	closed   bool
}

type storedSession struct {
	row       hermes.Session
	messages  []storedMessage
	waiting   []hermes.WaitingMessage // in the order in which to answer them
	steps     []storedStep
	questions []hermes.StoredQuestion
	lease     hermes.Lease
	summary   hermes.Summary
}

type storedMessage struct {
	hermes.Message
	hidden    bool // no longer part of the transcript
	compacted bool // hidden, but still found
	position  int64
}

// shown reports whether a range includes the message.
func (m storedMessage) shown(r hermes.Range) bool {
	if r.Raw {
		return m.position == 0 && (!m.hidden || m.compacted)
	}
	return r.Hidden || !m.hidden
}

// at returns the message's position in the order.
func (m storedMessage) at() int64 { return cmp.Or(m.position, m.ID) }

type storedStep struct {
	hermes.Step
	after int64 // the newest message when the call began
}

// NewStore returns an empty store.
func NewStore() *Store { return &Store{Now: time.Now} }

// Close makes every later call fail.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

// view runs a func that only reads.
func (s *Store) view(ctx context.Context, run func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("the store is closed")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return run()
}

// change runs a func that writes. It must check everything before it changes
// anything.
func (s *Store) change(ctx context.Context, method string, run func() error) error {
	return s.view(ctx, func() error {
		if s.Fail != nil {
			if err := s.Fail(method); err != nil {
				return err
			}
		}
		return run()
	})
}

func (s *Store) byID(id string) (*storedSession, error) {
	for _, r := range s.sessions {
		if r.row.ID == id {
			return r, nil
		}
	}
	return nil, fmt.Errorf("session %q: %w", id, hermes.ErrNotFound)
}

func (s *Store) titleTaken(title string, by *storedSession) error {
	for _, r := range s.sessions {
		if title != "" && r != by && strings.EqualFold(r.row.Title, title) {
			return fmt.Errorf("%w: %q", hermes.ErrTitleTaken, title)
		}
	}
	return nil
}

// CreateSession stores a new row.
func (s *Store) CreateSession(ctx context.Context, row hermes.Session) error {
	return s.change(ctx, "CreateSession", func() error {
		if row.ID == "" || row.Started.IsZero() {
			return errors.New("create a session: it needs an id and the time it started")
		}
		title, err := hermes.CleanTitle(row.Title)
		if err != nil {
			return err
		}
		if _, err := s.byID(row.ID); err == nil {
			return fmt.Errorf("a session with the id %s exists already", row.ID)
		}
		if err := s.titleTaken(title, nil); err != nil {
			return err
		}
		if _, err := s.byID(row.Parent); err != nil {
			row.Parent = ""
		}
		row.Title, row.Messages, row.Calls, row.Asking = title, 0, 0, false
		s.sessions = append(s.sessions, &storedSession{row: row})
		return nil
	})
}

// FindSession finds a session by id, numbered title, title or prefix.
func (s *Store) FindSession(ctx context.Context, ref string) (row hermes.Session, err error) {
	err = s.view(ctx, func() error {
		r, err := s.find(ref)
		if err == nil {
			row = r.public()
		}
		return err
	})
	return row, err
}

// public returns the row with the fields that are computed from its messages.
func (r *storedSession) public() hermes.Session {
	row := r.row
	row.Tainted = row.Provenance != "" || slices.ContainsFunc(r.messages, func(m storedMessage) bool {
		return m.Provenance != "" && (!m.hidden || m.compacted)
	})
	row.Asking = r.asking()
	return row
}

func (s *Store) find(ref string) (*storedSession, error) {
	r, err := s.byID(ref)
	if err == nil || ref == "" {
		return r, err
	}
	newest := 0
	var prefixed []*storedSession
	for _, other := range s.sessions {
		title := strings.ToLower(other.row.Title)
		name, n := hermes.SplitTitle(title)
		if folded := strings.ToLower(ref); (name == folded || title == folded) && n > newest {
			r, newest = other, n
		}
		if strings.HasPrefix(other.row.ID, ref) {
			prefixed = append(prefixed, other)
		}
	}
	switch {
	case r != nil:
		return r, nil
	case len(prefixed) == 1:
		return prefixed[0], nil
	case len(prefixed) > 1:
		return nil, fmt.Errorf("session %q: %w", ref, hermes.ErrAmbiguous)
	}
	return nil, err
}

// ListSessions returns rows, last active first.
func (s *Store) ListSessions(ctx context.Context, f hermes.SessionFilter) (list []hermes.Session, err error) {
	err = s.view(ctx, func() error {
		for _, r := range slices.Backward(s.sessions) {
			if listed(r.row, f) {
				row := r.public()
				row.System, row.Tools, row.Layers = "", nil, nil
				list = append(list, row)
			}
		}
		slices.SortStableFunc(list, func(a, b hermes.Session) int { return lastActive(b).Compare(lastActive(a)) })
		list = list[min(max(f.Offset, 0), len(list)):]
		if limit := cmp.Or(f.Limit, 20); limit > 0 {
			list = list[:min(limit, len(list))]
		}
		return nil
	})
	return list, err
}

func lastActive(r hermes.Session) time.Time {
	if r.Active.IsZero() {
		return r.Started
	}
	return r.Active
}

func listed(r hermes.Session, f hermes.SessionFilter) bool {
	switch {
	case f.Platform != "" && r.Platform != f.Platform,
		slices.Contains(f.Exclude, r.Platform),
		f.Dir != "" && r.Dir != f.Dir,
		!strings.Contains(strings.ToLower(r.Title), strings.ToLower(f.Title)),
		f.Parent != "" && r.Parent != f.Parent,
		!f.Before.IsZero() && !lastActive(r).Before(f.Before),
		!f.After.IsZero() && lastActive(r).Before(f.After),
		f.Ended != nil && *f.Ended == r.Ended.IsZero(),
		r.Archived && !f.Archived,
		f.NonEmpty && r.Messages == 0:
		return false
	}
	return true
}

// UpdateSession changes the fields that are set in c.
func (s *Store) UpdateSession(ctx context.Context, id string, c hermes.SessionChange) error {
	return s.change(ctx, "UpdateSession", func() error {
		r, err := s.byID(id)
		if err != nil {
			return err
		}
		row := r.row
		if c.Title != nil {
			if row.Title, err = hermes.CleanTitle(*c.Title); err != nil {
				return err
			}
			if err := s.titleTaken(row.Title, r); err != nil {
				return err
			}
		}
		row.Model, row.System, row.Dir = or(c.Model, row.Model), or(c.System, row.System), or(c.Dir, row.Dir)
		row.Tools, row.Layers, row.Provenance = or(c.Tools, row.Tools), or(c.Layers, row.Layers), or(c.Provenance, row.Provenance)
		row.Run = or(c.Run, row.Run)
		if task := &row.Run.Origin.Task; c.TaskEnded != "" {
			task.Ended, task.Failure = c.TaskEnded, c.TaskFailure
		}
		row.Archived, row.Pinned = or(c.Archived, row.Archived), or(c.Pinned, row.Pinned)
		if c.Reopen {
			row.Ended, row.EndReason = time.Time{}, ""
		}
		if c.End != "" && row.Ended.IsZero() {
			row.Ended, row.EndReason = s.Now(), c.End
		}
		r.row = row
		return nil
	})
}

func or[T any](p *T, otherwise T) T {
	if p != nil {
		return *p
	}
	return otherwise
}

// DeleteSession removes a session with its messages.
func (s *Store) DeleteSession(ctx context.Context, id string) error {
	return s.change(ctx, "DeleteSession", func() error {
		if _, err := s.byID(id); err != nil {
			return err
		}
		s.sessions = slices.DeleteFunc(s.sessions, func(r *storedSession) bool { return r.row.ID == id })
		for _, r := range s.sessions {
			if r.row.Parent == id {
				r.row.Parent = ""
			}
		}
		return nil
	})
}

// Stats counts the contents of the store; it has no file.
func (s *Store) Stats(ctx context.Context) (stats hermes.StoreStats, err error) {
	stats.ByPlatform = map[string]int{}
	err = s.view(ctx, func() error {
		for _, r := range s.sessions {
			stats.Sessions++
			stats.Messages += r.row.Messages
			stats.Calls += r.row.Calls
			stats.Usage = stats.Usage.Add(r.row.Usage)
			stats.ByPlatform[r.row.Platform]++
			if stats.Oldest.IsZero() || r.row.Started.Before(stats.Oldest) {
				stats.Oldest = r.row.Started
			}
			if lastActive(r.row).After(stats.Newest) {
				stats.Newest = lastActive(r.row)
			}
			stats.TextBytes += int64(len(r.row.System))
			for _, m := range r.messages {
				stats.TextBytes += int64(len(m.Text()))
			}
		}
		return nil
	})
	return stats, err
}
