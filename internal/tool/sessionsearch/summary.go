package sessionsearch

import (
	"context"
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
// sessions of which only the summary matches.
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
		if seen[root] {
			continue
		}
		seen[root] = true
		s.shows(row)
		list = append(list, found{Session: row.ID, Title: row.Title, When: s.when(row.Active), Platform: row.Platform, Here: row.ID == s.here, Summary: m.Text})
		if len(list) == limit {
			break
		}
	}
	return list, nil
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
