package app

import (
	"context"
	"strings"
	"time"

	"hermes"
)

// The bounds of the names that are offered for a word.
const (
	namesTime = 2 * time.Second
	mostNames = 200
)

// Places knows the files of the sessions that do not work on this machine, for a frontend whose new
// sessions run as a RunSpec says.
func (a *App) Places(begin hermes.RunSpec) *PlaceNames { return &PlaceNames{a, begin} }

// PlaceNames lists names of files where sessions work. Its methods may be called concurrently.
type PlaceNames struct {
	app   *App
	begin hermes.RunSpec
}

// Elsewhere reports whether a session does not work on this machine, also if that cannot be found out; ""
// is a new one.
func (p *PlaceNames) Elsewhere(session string) bool {
	if session != "" && p.app.places.Has(session) {
		return true
	}
	run := p.begin
	if session != "" || run.Session != "" {
		db, err := p.app.Database(context.Background())
		if err != nil {
			return true // so that no names of this machine are offered
		}
		if session == "" {
			session = run.Session
		}
		if row, err := db.FindSession(context.Background(), session); err == nil {
			return row.Run.Workspace.Elsewhere() // also if another process runs it
		}
	}
	w, err := p.app.workspace(run)
	return err != nil || w.Elsewhere()
}

// Names lists the names that a word, with or without the @ of a reference, may become where a session
// works. It starts no place: what is not running, or runs in another process, has no names.
func (p *PlaceNames) Names(ctx context.Context, session, word string) []string {
	env := p.app.places.Open(session)
	if env == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, namesTime)
	defer cancel()
	return env.Names(ctx, strings.TrimPrefix(word, "@"), mostNames)
}
