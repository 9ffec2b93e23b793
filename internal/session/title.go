package session

import (
	"context"
	"errors"
	"slices"

	"hermes"
)

// titleJob is the background search for a title. Its goroutine sends the title
// to the actor's inbox and ends with the session.
type titleJob struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// titledOp is the title that was found.
type titledOp struct{ title string }

func (titledOp) op() {}

// findTitle starts the search for a title after the first exchange of a
// session that has none. It does so only once.
func (s *Session) findTitle(done hermes.TurnDone) {
	answered := done.Text != "" && done.Outcome == hermes.OutcomeDone // after a limit, make no more calls
	if s.runtime.Title == nil || s.titleJob != nil || s.row.Title != "" || !answered {
		return
	}
	ctx, cancel := context.WithCancel(s.ctx)
	t := &titleJob{cancel: cancel, done: make(chan struct{})}
	s.titleJob = t
	find, model, transcript := s.runtime.Title, s.row.Model, slices.Clip(s.transcript)
	go func() { // ends when the actor has the title, or with stopTitle
		defer close(t.done)
		defer cancel()
		title, err := find(ctx, model, transcript)
		if err != nil {
			s.cfg.Log.Info("find a title", "session", s.id, "err", err)
		}
		if title != "" {
			_ = s.Submit(ctx, titledOp{title}) // a session that ends gets no title
		}
	}()
}

// stopTitle cancels the search and waits until it ends. The actor calls it
// when it no longer reads the inbox.
func (s *Session) stopTitle() {
	if s.titleJob == nil {
		return
	}
	s.titleJob.cancel()
	<-s.titleJob.done
}

// maxTitleTries is how many numbers are tried for a title that is taken.
const maxTitleTries = 20

// takeTitle sets the title that was found, unless the user set one meanwhile.
// A title that another session has gets a number.
func (s *Session) takeTitle(title string) error {
	for range maxTitleTries {
		if s.row.Title != "" {
			return nil
		}
		err := s.setTitle(title)
		if !errors.Is(err, hermes.ErrTitleTaken) {
			return err
		}
		title = hermes.NextTitle(title)
	}
	return hermes.ErrTitleTaken
}

// setTitle renames the session. The store may change the form of the title. If
// another session has it, the error is ErrTitleTaken.
func (s *Session) setTitle(title string) error {
	if !s.stored {
		return errors.New("the session has no messages yet; give it a title after the first one")
	}
	if err := s.cfg.Store.UpdateSession(s.ctx, s.row.ID, hermes.SessionChange{Title: &title}); err != nil {
		return err
	}
	row, err := s.cfg.Store.FindSession(s.ctx, s.row.ID)
	if err != nil {
		return err
	}
	s.row.Title = row.Title
	s.publish(hermes.Titled{Title: row.Title})
	return nil
}
