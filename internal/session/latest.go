package session

import (
	"context"

	"hermes"
)

// notLatest are the platforms whose sessions the program started itself:
// "latest" never means them. One-shots count, because the user started them.
var notLatest = []string{"subagent", "tool", "cron", "kanban"}

// Latest returns the session that "latest" means in every command: the last
// active one of a folder, else the last active one of all. It skips sessions
// that are archived, have no messages, or were started by the program itself.
// If there is none, the error wraps hermes.ErrNotFound.
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

// noneYet is the error of Latest, worded for the user.
type noneYet struct{}

func (noneYet) Error() string { return "no sessions yet; start one with `hermes`" }
func (noneYet) Unwrap() error { return hermes.ErrNotFound }
