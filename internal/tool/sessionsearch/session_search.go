package sessionsearch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hermes"
	"hermes/internal/text"
)

// arguments are the arguments of a call. They select its mode.
type arguments struct {
	_ [0]func() // it is never compared, which saves the code for it

	Query   string `json:"query,omitempty"`
	Session string `json:"session_id,omitempty"`
	Around  int64  `json:"around_message_id,omitempty"`
	Window  int    `json:"window,omitempty" default:"10" min:"1" max:"50"`
	Limit   int    `json:"limit,omitempty" default:"3" min:"1" max:"20"`
	Sort    string `json:"sort,omitempty" enum:"relevance,newest,oldest"`
	Roles   string `json:"role_filter,omitempty" default:"user,assistant"`
	Detail  string `json:"detail,omitempty" enum:"adaptive,full"`
	// After and Before bound the time of messages, or in the list that of the last activity.
	After    string `json:"after,omitempty" doc:"2026-11-20, or 7d ago"`
	Before   string `json:"before,omitempty"`
	Platform string `json:"platform,omitempty" doc:"cli, telegram, …"`
}

// Bounds of what a call shows.
const (
	defaultLimit  = 3
	defaultWindow = 10
	around        = 5  // messages on each side of a hit
	bookend       = 3  // first and last messages of a session
	pageSize      = 40 // messages of a session that is read
	maxBrowse     = 15
)

func (t *Toolset) run(ctx context.Context, c *hermes.Call, in arguments) (hermes.Result, error) {
	store, err := t.store(ctx)
	if err != nil {
		return hermes.Result{}, err
	}
	s := search{Toolset: t, store: store, in: in, here: c.Host.Session().ID}
	if s.after, err = s.moment("after", in.After); err != nil {
		return hermes.Result{}, err
	}
	if s.before, err = s.moment("before", in.Before); err != nil {
		return hermes.Result{}, err
	}
	r, err := s.run(ctx)
	r.Provenance = s.provenance
	return r, err
}

func (s *search) run(ctx context.Context) (hermes.Result, error) {
	switch {
	case s.in.Session != "" && s.in.Around > 0:
		return s.scroll(ctx)
	case s.in.Session != "":
		return s.read(ctx)
	case strings.TrimSpace(s.in.Query) != "":
		return s.discover(ctx)
	}
	return s.browse(ctx)
}

// search is one call.
type search struct {
	*Toolset
	store         Store
	in            arguments
	here          string // the calling session
	after, before time.Time
	// provenance names the shown sessions that contain untrusted text, which
	// their messages may repeat.
	provenance string
}

// shows records that a session is shown.
func (s *search) shows(row hermes.Session) {
	if row.Tainted {
		s.provenance = hermes.AddProvenance(s.provenance, hermes.ProvenanceSource("session", row.ID))
	}
}

// found is a session with the message that matches the query.
type found struct {
	Session  string    `json:"session_id"`
	Title    string    `json:"title,omitempty"`
	When     string    `json:"when"`
	Platform string    `json:"source,omitempty"`
	Here     bool      `json:"this_session,omitempty"`
	Summary  string    `json:"summary,omitempty"`
	Snippet  string    `json:"snippet,omitempty"`
	Match    int64     `json:"match_message_id,omitempty"`
	Begins   []message `json:"bookend_start,omitempty"`
	Messages []message `json:"messages,omitempty"`
	Ends     []message `json:"bookend_end,omitempty"`
}

// moment parses a bound of the period.
func (s *search) moment(name, written string) (time.Time, error) {
	ago := strings.TrimSuffix(strings.TrimSpace(written), " ago")
	t, err := text.Moment(ago, s.now())
	if err != nil {
		return t, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}

// hidden are the platforms of sessions that belong to other sessions. They are shown if
// the call names them.
func (s *search) hidden(platforms ...string) []string {
	return slices.DeleteFunc(platforms, func(p string) bool { return p == s.in.Platform })
}

func (s *search) discover(ctx context.Context) (hermes.Result, error) {
	limit := bounded(s.in.Limit, defaultLimit, 20)
	q := hermes.SearchQuery{
		Text: s.in.Query, Roles: roles(s.in.Roles), Limit: limit, Context: around, Exclude: s.hidden("tool"), After: s.after, Before: s.before,
		Oldest: s.in.Sort == "oldest", Newest: s.in.Sort == "newest", Lineages: true, Asking: s.here,
	}
	if s.in.Platform != "" {
		q.Platforms = []string{s.in.Platform}
	}
	hits, err := s.store.Search(ctx, q)
	if err != nil {
		return hermes.Result{}, err
	}
	var list []found
	seen := map[string]bool{}
	for _, h := range hits {
		seen[s.root(ctx, h.Session)] = true
		f, err := s.show(ctx, h, len(list) == 0 || s.in.Detail == "full")
		if err != nil {
			return hermes.Result{}, err
		}
		list = append(list, f)
	}
	if list, err = s.summarized(ctx, list, seen, limit); err != nil {
		return hermes.Result{}, err
	}
	if len(list) == 0 {
		return hermes.JSONResult(map[string]any{"results": []found{}, "hint": s.nothing()})
	}
	return hermes.JSONResult(map[string]any{"results": list, "hint": "read on with session_id and around_message_id"})
}

// nothing says what to try if there are no matches.
func (s *search) nothing() string {
	hint := "no matches; try fewer or other words, or the beginning of a word with *"
	if s.in.Platform != "" || s.in.After != "" || s.in.Before != "" {
		hint += "; or a longer period or all platforms"
	}
	return hint
}

// show formats a hit. With whole it adds the messages around it and the session's first and last ones.
func (s *search) show(ctx context.Context, h hermes.Hit, whole bool) (found, error) {
	s.shows(h.Session)
	f := found{
		Session: h.Session.ID, Title: h.Session.Title, When: s.when(h.Message.Time), Platform: h.Session.Platform,
		Here: h.Session.ID == s.here, Snippet: h.Snippet, Match: h.Message.ID,
	}
	if !whole {
		return f, nil
	}
	size := shortText
	if s.in.Detail == "full" {
		size = longText
	}
	f.Messages = render(slices.Concat(h.Before, []hermes.Message{h.Message}, h.After), size)
	first, err := s.store.Messages(ctx, h.Session.ID, hermes.Range{First: bookend, Raw: true})
	if err != nil {
		return f, err
	}
	last, err := s.store.Messages(ctx, h.Session.ID, hermes.Range{Last: bookend, Raw: true})
	if err != nil {
		return f, err
	}
	f.Begins, f.Ends = render(without(first, f.Messages), shortText), render(without(last, f.Messages), shortText)
	return f, nil
}

// without drops the messages that are already shown.
func without(list []hermes.Message, shown []message) []hermes.Message {
	return slices.DeleteFunc(list, func(m hermes.Message) bool {
		return slices.ContainsFunc(shown, func(x message) bool { return x.ID == m.ID })
	})
}

// maxLineage bounds the walk from a session to its ancestors.
const maxLineage = 16

// root returns the session with which a lineage of branches and continuations began.
func (s *search) root(ctx context.Context, row hermes.Session) string {
	for range maxLineage {
		if row.Parent == "" {
			break
		}
		parent, err := s.store.FindSession(ctx, row.Parent)
		if err != nil {
			break
		}
		row = parent
	}
	return row.ID
}

// scroll shows the messages around a message.
func (s *search) scroll(ctx context.Context) (hermes.Result, error) {
	row, err := s.find(ctx)
	if err != nil {
		return hermes.Result{}, err
	}
	n := bounded(s.in.Window, defaultWindow, 50)
	before, err := s.store.Messages(ctx, row.ID, hermes.Range{Before: s.in.Around, Last: n, Raw: true})
	if err != nil {
		return hermes.Result{}, err
	}
	after, err := s.store.Messages(ctx, row.ID, hermes.Range{After: s.in.Around - 1, First: n + 1, Raw: true})
	if err != nil {
		return hermes.Result{}, err
	}
	list := slices.Concat(before, after)
	if len(list) == 0 {
		return hermes.Result{}, fmt.Errorf("session %s has no message %d; read the session without around_message_id", row.ID, s.in.Around)
	}
	return s.page(row, list, longText)
}

// read shows a session from its beginning.
func (s *search) read(ctx context.Context) (hermes.Result, error) {
	row, err := s.find(ctx)
	if err != nil {
		return hermes.Result{}, err
	}
	list, err := s.store.Messages(ctx, row.ID, hermes.Range{First: pageSize, Raw: true})
	if err != nil {
		return hermes.Result{}, err
	}
	return s.page(row, list, shortText)
}

func (s *search) find(ctx context.Context) (hermes.Session, error) {
	row, err := s.store.FindSession(ctx, s.in.Session)
	if errors.Is(err, hermes.ErrNotFound) {
		return row, fmt.Errorf("there is no session %q; call without arguments to see the latest ones", s.in.Session)
	}
	return row, err
}

// page formats messages of one session, and says where to read on.
func (s *search) page(row hermes.Session, list []hermes.Message, size int) (hermes.Result, error) {
	s.shows(row)
	out := map[string]any{
		"session_id": row.ID, "title": row.Title, "when": s.when(row.Started), "source": row.Platform,
		"total_messages": row.Messages, "messages": render(list, size),
	}
	if n := len(list); n > 0 {
		out["next_around_message_id"] = list[n-1].ID
	}
	return hermes.JSONResult(out)
}

// listed is a session in the list.
type listed struct {
	Session  string `json:"session_id"`
	Title    string `json:"title,omitempty"`
	When     string `json:"when"`
	Platform string `json:"source,omitempty"`
	Messages int    `json:"messages"`
	Summary  string `json:"summary,omitempty"`
	Begins   string `json:"begins,omitempty"`
}

func (s *search) browse(ctx context.Context) (hermes.Result, error) {
	rows, err := s.store.ListSessions(ctx, hermes.SessionFilter{
		NonEmpty: true, Exclude: s.hidden("tool", "subagent"), Platform: s.in.Platform, After: s.after, Before: s.before, Limit: maxBrowse,
	})
	if err != nil {
		return hermes.Result{}, err
	}
	out := []listed{}
	about, err := s.about(ctx, ids(rows)...)
	if err != nil {
		return hermes.Result{}, err
	}
	for _, r := range rows {
		if r.ID == s.here {
			continue
		}
		s.shows(r)
		l := listed{Session: r.ID, Title: r.Title, When: s.when(r.Active), Platform: r.Platform, Messages: r.Messages}
		if l.Summary = about[r.ID].Text; l.Summary != "" {
			out = append(out, l)
			continue
		}
		if first, err := s.store.Messages(ctx, r.ID, hermes.Range{First: 1, Raw: true}); err == nil && len(first) > 0 {
			l.Begins = text.Line(first[0].Visible(), 120)
		}
		out = append(out, l)
	}
	return hermes.JSONResult(map[string]any{"sessions": out})
}

func roles(list string) []hermes.Role {
	if strings.TrimSpace(list) == "" {
		list = "user,assistant"
	}
	var out []hermes.Role
	for r := range strings.SplitSeq(list, ",") {
		switch r := hermes.Role(strings.ToLower(strings.TrimSpace(r))); r {
		case hermes.RoleUser, hermes.RoleAssistant, hermes.RoleTool:
			out = append(out, r)
		}
	}
	return out
}

func bounded(n, fallback, most int) int {
	if n <= 0 {
		return fallback
	}
	return min(n, most)
}
