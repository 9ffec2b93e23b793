package sessions

import (
	"context"
	"errors"
	"slices"
	"time"

	"hermes"
	"hermes/internal/text"
)

// maxList is the number of sessions in a list.
const maxList = 20

// listed is a session in the list.
type listed struct {
	Session  string `json:"session"`
	Title    string `json:"title,omitempty"`
	Platform string `json:"platform,omitempty"`
	State    string `json:"state"`
	Active   string `json:"last_active"`
}

func (t *Toolset) list() hermes.Tool {
	return hermes.NewTool(hermes.Spec{
		Name: "sessions_list", Description: "List the user's other sessions that sessions_send reaches.",
		Mode: hermes.ModeParallel, Effect: hermes.EffectNone,
		Trusted: true, // each result reports its own provenance
	}, t.runList)
}

func (t *Toolset) runList(ctx context.Context, c *hermes.Call, _ struct{}) (hermes.Result, error) {
	peers, err := t.cfg.Peers(ctx)
	if err != nil {
		return hermes.Result{}, err
	}
	me, err := t.sender(ctx, peers, c.Host.Session())
	if err != nil {
		return hermes.Result{}, err
	}
	all, err := peers.List(ctx, me.run.Origin.User, maxList, func(to hermes.Session) bool { return me.mayReach(to) == nil })
	if err != nil {
		return hermes.Result{}, err
	}
	out, provenance := []listed{}, ""
	for _, p := range all {
		if p.Row.Tainted { // its title may repeat what it read
			provenance = hermes.AddProvenance(provenance, hermes.ProvenanceSource("session", p.Row.ID))
		}
		out = append(out, listed{p.Row.ID, text.Line(p.Row.Title, hermes.MaxTitle), p.Row.Platform, p.State, p.Row.Active.Format(time.RFC3339)})
	}
	r, err := hermes.JSONResult(map[string]any{"sessions": out})
	r.Provenance = provenance
	return r, err
}

// sender is a session that lists or asks others.
type sender struct {
	row hermes.Session
	run hermes.StoredRun
}

// sender returns the calling session. A child and a session of a group reach no other.
func (t *Toolset) sender(ctx context.Context, peers Peers, ref hermes.SessionRef) (sender, error) {
	switch {
	case ref.Depth > 0:
		return sender{}, errors.New("a child session reaches no other sessions; put what you need into your report")
	case !private(ref.Chat):
		return sender{}, errors.New("a session of a group reaches no other sessions: they may hold what is not for the group")
	}
	p, err := peers.Find(ctx, ref.ID)
	if err != nil {
		return sender{}, err
	}
	return sender{p.Row, p.Row.StoredRun()}, nil
}

// private reports whether a kind of chat has one user.
func private(chat string) bool { return slices.Contains([]string{"", "private", "dm"}, chat) }

// belonging are the platforms of sessions that belong to others or to no conversation.
var belonging = []string{hermes.PlatformChild, "tool", "batch", "eval"}

// mayReach returns why a session is not one that this one reaches, worded for a model.
func (s sender) mayReach(to hermes.Session) error {
	run := to.StoredRun()
	o := run.Origin
	switch {
	case to.ID == s.row.ID:
		return errors.New("this is the session itself")
	case o.User != s.run.Origin.User || o.User != "" && o.Platform != s.run.Origin.Platform:
		return hermes.ErrNotFound // what it holds is not for this user, not even that it is there
	case !private(o.Chat):
		return hermes.ErrNotFound
	case o.Depth > 0 || slices.Contains(belonging, o.Platform) || slices.Contains(belonging, to.Platform):
		return errors.New("it is not a conversation of the user; choose one from sessions_list")
	case to.Archived:
		return errors.New("it is archived; the user brings it back with `hermes sessions unarchive`")
	}
	return nil
}
