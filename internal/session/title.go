package session

import (
	"errors"
	"strings"

	"hermes"
)

// maxTitleTries is how many numbers are tried for a title that is taken.
const maxTitleTries = 20

// TakeTitle sets the title that was found, unless the user set one meanwhile.
func (o owner) TakeTitle(title string) error {
	if o.record.Row.Title != "" {
		return nil
	}
	return numbered(title, o.setTitle)
}

// numbered takes a title. One that another session has gets a number.
func numbered(title string, take func(string) error) error {
	for range maxTitleTries {
		if err := take(title); !errors.Is(err, hermes.ErrTitleTaken) {
			return err
		}
		title = hermes.NextTitle(title)
	}
	return hermes.ErrTitleTaken
}

// setTitle renames the session. The store may change the form of the title. If
// another session has it, the error is ErrTitleTaken.
func (s *Session) setTitle(title string) error {
	if !s.record.Stored() {
		return s.firstTitle(title)
	}
	if err := s.cfg.Store.UpdateSession(s.ctx, s.id, hermes.SessionChange{Title: &title}); err != nil {
		return err
	}
	row, err := s.cfg.Store.FindSession(s.ctx, s.id)
	if err != nil {
		return err
	}
	s.record.Row.Title = row.Title
	s.publish(hermes.Titled{Title: row.Title})
	return nil
}

// firstTitle sets the title of a session that is not stored yet.
func (s *Session) firstTitle(title string) error {
	title, err := hermes.CleanTitle(title)
	if err != nil {
		return err
	}
	if row, err := s.cfg.Store.FindSession(s.ctx, title); err == nil && title != "" && strings.EqualFold(row.Title, title) {
		return hermes.ErrTitleTaken
	}
	s.record.Row.Title = title
	s.publish(hermes.Titled{Title: title})
	return nil
}
