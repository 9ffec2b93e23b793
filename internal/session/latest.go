package session

import (
	"context"

	"hermes"
)

// notLatest are the sources whose sessions other work began: nobody means them
// by "latest". One-shots count, since the person began them.
var notLatest = []string{"subagent", "tool", "cron", "kanban"}

// Latest is the session that "latest" stands for, on every command: the last
// active one of a folder, else the last active one of all. Archived ones, those
// in which nothing was said and those that other work began are left out.
// Where none is left the error wraps hermes.ErrNotFound.
func Latest(ctx context.Context, s hermes.Sessions, dir string) (hermes.Session, error) {
	for _, where := range []string{dir, ""} {
		list, err := s.ListSessions(ctx, hermes.SessionFilter{Dir: where, NonEmpty: true, Exclude: notLatest, Limit: 1})
		if err != nil {
			return hermes.Session{}, err
		}
		if len(list) > 0 {
			return s.FindSession(ctx, list[0].ID)
		}
	}
	return hermes.Session{}, noneYet{}
}

// noneYet is for the person.
type noneYet struct{}

func (noneYet) Error() string { return "there is no session yet; `hermes` begins one" }
func (noneYet) Unwrap() error { return hermes.ErrNotFound }
