package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"hermes"
	"hermes/internal/session/turn"
)

// errNothingToBranch is for a session without messages.
var errNothingToBranch = errors.New("the session has no messages yet, so there is nothing to branch from")

// Branch stores a copy of a session, found by its id, a unique prefix or its
// title. The copy has the same prompt, tools and visible messages, so that the
// model's cache stays valid, and the old session as its parent. If title is
// empty, it gets the next number after the old title. A step that still runs
// in the old session is not copied.
func Branch(ctx context.Context, store hermes.Store, now time.Time, ref, title string) (hermes.Session, error) {
	return BranchAt(ctx, store, now, ref, title, 0)
}

// BranchAt is [Branch] with the messages before the one with the id before only; 0 copies all.
func BranchAt(ctx context.Context, store hermes.Store, now time.Time, ref, title string, before int64) (hermes.Session, error) {
	from, err := store.FindSession(ctx, ref)
	if err != nil {
		return from, err
	}
	list, err := store.Messages(ctx, from.ID, hermes.Range{})
	if err != nil {
		return from, err
	}
	if before != 0 {
		i := slices.IndexFunc(list, func(m hermes.Message) bool { return m.ID == before })
		if i < 0 {
			return from, fmt.Errorf("session %s has no message %d any more", from.ID, before)
		}
		list = list[:i]
	}
	if list = withoutOpenCalls(list); len(list) == 0 {
		return from, errNothingToBranch
	}
	if title, err = hermes.CleanTitle(title); err != nil {
		return from, err
	}
	row := copyOf(from, title, now)
	if err := create(ctx, store, &row, from.Title, list); err != nil {
		return row, err
	}
	return store.FindSession(ctx, row.ID)
}

// copyOf is the row of a copy of a session.
func copyOf(from hermes.Session, title string, now time.Time) hermes.Session {
	return hermes.Session{
		ID: NewID(now), Platform: from.Platform, User: from.User, Title: title, Parent: from.ID, Model: from.Model,
		Dir: from.Dir, Branch: from.Branch, System: from.System, Tools: from.Tools, Layers: from.Layers, Provenance: from.Provenance, Run: from.Run, Started: now,
	}
}

// create stores a copy of a session that had a title, with its messages.
func create(ctx context.Context, store hermes.Store, row *hermes.Session, title string, list []hermes.Message) error {
	if err := createTitled(ctx, store, row, title); err != nil {
		return err
	}
	if err := fill(ctx, store, row.ID, list); err != nil {
		_ = store.DeleteSession(context.WithoutCancel(ctx), row.ID) // the first error says what went wrong
		return fmt.Errorf("copy the conversation: %w", err)
	}
	return nil
}

// Moved stores a copy of a session that works in another folder of this machine. Its prompt is
// built again, because that names the folder. The session may have no messages yet.
func (m *Manager) Moved(ctx context.Context, from hermes.Session, dir string) (hermes.Session, error) {
	list, err := m.cfg.Store.Messages(ctx, from.ID, hermes.Range{})
	if err != nil && !errors.Is(err, hermes.ErrNotFound) {
		return from, err
	}
	row := copyOf(from, "", m.cfg.Now())
	row.Dir, row.Branch, row.System, row.Tools, row.Layers = dir, "", "", nil, nil
	row.Run = from.StoredRun()
	row.Run.Workspace.Dir = dir
	if list = withoutOpenCalls(list); len(list) == 0 {
		row.Parent = ""
	}
	if err := create(ctx, m.cfg.Store, &row, from.Title, list); err != nil {
		return row, err
	}
	return m.cfg.Store.FindSession(ctx, row.ID)
}

// BranchAt is [BranchAt] with the manager's store.
func (m *Manager) BranchAt(ctx context.Context, ref, title string, before int64) (hermes.Session, error) {
	return BranchAt(ctx, m.cfg.Store, m.cfg.Now(), ref, title, before)
}

// Branch is [Branch] with the manager's store.
func (m *Manager) Branch(ctx context.Context, ref, title string) (hermes.Session, error) {
	return Branch(ctx, m.cfg.Store, m.cfg.Now(), ref, title)
}

// withoutOpenCalls returns the transcript without a last step whose calls have
// no results yet.
func withoutOpenCalls(list []hermes.Message) []hermes.Message {
	for i := len(list) - 1; len(hermes.OpenCalls(list)) > 0 && i >= 0; i-- {
		list = list[:i]
	}
	return list
}

// createTitled stores the row. A title that the user chose must be free; a
// title made from another one gets the next free number.
func createTitled(ctx context.Context, store hermes.Store, row *hermes.Session, lineage string) error {
	create := func(title string) error {
		row.Title = title
		return store.CreateSession(ctx, *row)
	}
	if row.Title != "" {
		return create(row.Title)
	}
	err := numbered(hermes.NextTitle(lineage), create)
	if errors.Is(err, hermes.ErrTitleTaken) { // too many numbers: the title job finds a new title
		return create("")
	}
	return err
}

// fill appends the messages. The session stays open, so that retention keeps
// it until it was used.
func fill(ctx context.Context, store hermes.Store, id string, list []hermes.Message) error {
	l, err := store.Acquire(ctx, id, hermes.Owner{Name: "branch " + id}, turn.LeaseTime)
	if err != nil {
		return err
	}
	copied := make([]hermes.Message, len(list))
	for i, m := range list {
		m.ID = 0
		copied[i] = m
	}
	if _, err := store.Commit(ctx, l, hermes.Change{Append: copied}); err != nil {
		return err
	}
	return store.Release(ctx, l)
}

// Find returns a session by its id, a unique prefix of the id, or its title.
func (m *Manager) Find(ctx context.Context, ref string) (hermes.Session, error) {
	return m.cfg.Store.FindSession(ctx, ref)
}

// List returns stored sessions, last active first.
func (m *Manager) List(ctx context.Context, f hermes.SessionFilter) ([]hermes.Session, error) {
	return m.cfg.Store.ListSessions(ctx, f)
}

// Search finds messages of all sessions.
func (m *Manager) Search(ctx context.Context, q hermes.SearchQuery) ([]hermes.Hit, error) {
	return m.cfg.Store.Search(ctx, q)
}
