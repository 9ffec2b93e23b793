package sessions

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"hermes"
	"hermes/internal/session"
	"hermes/internal/text"
	"hermes/internal/usage"
)

// hiddenPlatforms are left out of lists by default: users do not return to these
// sessions.
func hiddenPlatforms() []string { return []string{"oneshot", "kanban", "tool", "subagent"} }

// resolve finds the session that ref means: an id, the unique beginning of one, a
// title, or "latest" (see session.Latest).
func (b base) resolve(ctx context.Context, s hermes.Sessions, ref string) (hermes.Session, error) {
	if ref == "latest" {
		here, err := b.abs(".")
		if err != nil {
			return hermes.Session{}, err
		}
		return session.Latest(ctx, s, here)
	}
	if strings.TrimSpace(ref) == "" {
		return hermes.Session{}, usage.Errorf("no session given; use an id, a title, or latest")
	}
	row, err := s.FindSession(ctx, ref)
	switch {
	case errors.Is(err, hermes.ErrNotFound):
		return row, b.unknown(ctx, s, ref)
	case errors.Is(err, hermes.ErrAmbiguous):
		return row, fmt.Errorf("%q matches several sessions (%w); use more of the id", ref, err)
	}
	return row, err
}

// unknown reports that there is no such session and suggests similar ones.
func (b base) unknown(ctx context.Context, s hermes.Sessions, ref string) error {
	rows, err := s.ListSessions(ctx, hermes.SessionFilter{Archived: true, Limit: 500})
	if err != nil {
		return err
	}
	var near []string
	for _, r := range rows {
		if len(near) < 3 && similar(ref, r) {
			near = append(near, strings.TrimSpace(r.ID+" "+b.Shown(r.Title)))
		}
	}
	if len(near) == 0 {
		return notFound(fmt.Sprintf("there is no session %q; list them with `hermes sessions list`", ref))
	}
	return notFound(fmt.Sprintf("there is no session %q. Did you mean:\n  %s", ref, strings.Join(near, "\n  ")))
}

// notFound is an error text for the user that wraps hermes.ErrNotFound.
type notFound string

func (e notFound) Error() string { return string(e) }
func (e notFound) Unwrap() error { return hermes.ErrNotFound }

// similar reports whether a row may have been meant by a reference.
func similar(ref string, r hermes.Session) bool {
	const day = len("20261120")
	ref, title := strings.ToLower(ref), strings.ToLower(r.Title)
	if len(ref) > day && strings.HasPrefix(r.ID, ref[:min(len(ref)-1, len(ref)*3/4)]) {
		return true
	}
	if text.Edits(ref, strings.ToLower(r.ID)) <= 2 {
		return true
	}
	return title != "" && (strings.Contains(title, ref) || text.Edits(ref, title) <= max(2, len(title)/5))
}
