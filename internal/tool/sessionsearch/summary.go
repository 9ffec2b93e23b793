package sessionsearch

import (
	"context"
	"slices"
	"strings"

	"hermes"
)

// about returns the summaries of sessions, if the store keeps them.
func (s *search) about(ctx context.Context, sessions ...string) (map[string]hermes.Summary, error) {
	kept, ok := s.store.(hermes.Summaries)
	if !ok {
		return nil, nil
	}
	return kept.Summaries(ctx, sessions...)
}

// summarized adds the summaries of the found sessions, and fills the list with
// sessions of which only the summary matches. The lineage of the calling session stays
// last.
func (s *search) summarized(ctx context.Context, list []found, seen map[string]bool, limit int) ([]found, error) {
	kept, ok := s.store.(hermes.Summaries)
	if !ok {
		return list, nil
	}
	var sessions []string
	for _, f := range list {
		sessions = append(sessions, f.Session)
	}
	about, err := kept.Summaries(ctx, sessions...)
	if err != nil {
		return nil, err
	}
	for i := range list {
		list[i].Summary = about[list[i].Session].Text
	}
	if len(list) == limit {
		return list, nil
	}
	asking := s.lineageOf(ctx, s.here)
	last := slices.IndexFunc(list, func(f found) bool { return s.lineageOf(ctx, f.Session) == asking })
	if last < 0 {
		last = len(list)
	}
	more, err := kept.FindSummaries(ctx, bareWords(s.in.Query), 2*limit)
	if err != nil {
		return nil, err
	}
	for _, m := range more {
		row, err := s.store.FindSession(ctx, m.Session)
		if err != nil {
			continue // removed since
		}
		root := s.root(ctx, row)
		if seen[root] || root == asking || !s.covers(row) {
			continue
		}
		seen[root] = true
		s.shows(row)
		list = slices.Insert(list, last, found{Session: row.ID, Title: row.Title, When: s.when(row.Active), Platform: row.Platform, Summary: m.Text})
		last++
		if len(list) == limit {
			break
		}
	}
	return list, nil
}

// covers reports whether a session is of the platform and period that the call asks for.
// A session is in the period if it was active after its beginning and began before its end.
func (s *search) covers(row hermes.Session) bool {
	return (s.in.Platform == "" || row.Platform == s.in.Platform) && !slices.Contains(s.hidden("tool"), row.Platform) &&
		(s.after.IsZero() || !row.Active.Before(s.after)) && (s.before.IsZero() || row.Started.Before(s.before))
}

// lineageOf returns the root of a session by its id; the id itself if there is no such
// session.
func (s *search) lineageOf(ctx context.Context, id string) string {
	row, err := s.store.FindSession(ctx, id)
	if err != nil {
		return id
	}
	return s.root(ctx, row)
}

func ids(rows []hermes.Session) []string {
	var out []string
	for _, r := range rows {
		out = append(out, r.ID)
	}
	return out
}

// bareWords removes the punctuation and operators of a query.
func bareWords(query string) string {
	var words []string
	for w := range strings.FieldsSeq(query) {
		switch w = strings.Trim(w, `"'*()^`); w {
		case "", "AND", "OR", "NOT", "NEAR":
		default:
			words = append(words, w)
		}
	}
	return strings.Join(words, " ")
}
