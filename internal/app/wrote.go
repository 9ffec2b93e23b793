package app

import (
	"context"
	"os"
	"time"

	"hermes/internal/tool/file"
	"hermes/internal/written"
)

// wrote lists the files that a command line would run or obey in a folder and that came
// with the session; see [written.Session.List].
func (a *App) wrote(files *file.Toolset) func(session, line, dir string) []string {
	return func(session, line, dir string) []string {
		home, _ := os.UserHomeDir() // without one, ~ is not followed
		s := written.Session{Home: home, Own: files.Wrote(session), Began: a.began(session)}
		return s.List(line, dir)
	}
}

// began is when a session began; the zero time if that is not known.
func (a *App) began(session string) time.Time {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	db, err := a.Database(ctx)
	if err != nil {
		return time.Time{}
	}
	row, err := db.FindSession(ctx, session)
	if err != nil {
		return time.Time{}
	}
	return row.Started
}
