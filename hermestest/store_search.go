package hermestest

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"

	"hermes"
)

// Search searches every message, newest first if it is not to be the oldest.
func (s *Store) Search(ctx context.Context, q hermes.SearchQuery) (hits []hermes.Hit, err error) {
	terms := searchTerms(q.Text)
	if len(terms) == 0 {
		return nil, s.view(ctx, func() error { return nil })
	}
	err = s.view(ctx, func() error {
		if q.Session != "" {
			if _, err := s.byID(q.Session); err != nil {
				return err
			}
		}
		for _, r := range s.sessions {
			if !sessionWanted(r.row, q) {
				continue
			}
			hits = append(hits, r.search(q, terms)...)
		}
		slices.SortStableFunc(hits, func(a, b hermes.Hit) int {
			if q.Oldest {
				a, b = b, a
			}
			return cmp.Compare(b.Message.ID, a.Message.ID)
		})
		if q.Lineages {
			hits = s.eachLineageOnce(hits, q.Asking)
		}
		hits = hits[:min(len(hits), cmp.Or(max(q.Limit, 0), 20))]
		return nil
	})
	return hits, err
}

// eachLineageOnce keeps the first hit of each lineage and puts that of the asking
// session last.
func (s *Store) eachLineageOnce(hits []hermes.Hit, asking string) []hermes.Hit {
	var kept, last []hermes.Hit
	seen := map[string]bool{}
	for _, h := range hits {
		root := s.root(h.Session.ID)
		switch {
		case seen[root]:
			continue
		case asking != "" && root == s.root(asking):
			last = append(last, h)
		default:
			kept = append(kept, h)
		}
		seen[root] = true
	}
	return append(kept, last...)
}

func (s *Store) root(id string) string {
	for range s.sessions {
		r, err := s.byID(id)
		if err != nil || r.row.Parent == "" {
			break
		}
		id = r.row.Parent
	}
	return id
}

func sessionWanted(r hermes.Session, q hermes.SearchQuery) bool {
	return (q.Session == "" || r.ID == q.Session) &&
		(len(q.Platforms) == 0 || slices.Contains(q.Platforms, r.Platform)) && !slices.Contains(q.Exclude, r.Platform)
}

func (r *storedSession) search(q hermes.SearchQuery, terms []searchTerm) []hermes.Hit {
	shown := make([]hermes.Message, 0, len(r.messages))
	for _, m := range r.messages {
		if (!m.hidden || m.compacted) && m.position == 0 {
			shown = append(shown, m.Message)
		}
	}
	row := r.public()
	row.System, row.Tools, row.Layers = "", nil, nil
	var hits []hermes.Hit
	for i, m := range shown {
		if len(q.Roles) > 0 && !slices.Contains(q.Roles, m.Role) ||
			!q.After.IsZero() && m.Time.Before(q.After) || !q.Before.IsZero() && !m.Time.Before(q.Before) {
			continue
		}
		snippet, ok := fits(m, terms)
		if !ok {
			continue
		}
		hits = append(hits, hermes.Hit{Session: row, Message: m, Snippet: snippet,
			Before: slices.Clone(shown[max(0, i-q.Context):i]),
			After:  slices.Clone(shown[i+1 : min(len(shown), i+1+q.Context)])})
	}
	return hits
}

// searchTerm is a word or phrase: letters and digits with single blanks.
type searchTerm struct {
	text   string
	prefix bool
	run    bool // a script without spaces between words: match anywhere
}

// searchTerms parses words, phrases and stars; operators count as words.
func searchTerms(text string) []searchTerm {
	var list []searchTerm
	add := func(text string) {
		t := searchTerm{text: normal(text), prefix: strings.HasSuffix(text, "*")}
		t.run = strings.ContainsFunc(t.text, func(r rune) bool { return r >= 0x0e00 })
		if t.text != "" {
			list = append(list, t)
		}
	}
	for i, piece := range strings.Split(text, `"`) {
		if i%2 == 1 && strings.Count(text, `"`) > i {
			add(piece)
			continue
		}
		for _, word := range strings.Fields(piece) {
			add(word)
		}
	}
	return list
}

// normal returns a text as lower-case words with single blanks between them.
func normal(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsNumber(r)
	}), " ")
}

func fits(m hermes.Message, terms []searchTerm) (snippet string, ok bool) {
	text := m.Visible() + " " + m.ToolName
	for _, c := range m.Calls {
		text += " " + c.Name + " " + c.Arguments
	}
	flat := " " + normal(text) + " "
	for _, t := range terms {
		needle := " " + t.text
		if !t.prefix {
			needle += " "
		}
		if t.run {
			needle = t.text
		}
		if !strings.Contains(flat, needle) {
			return "", false
		}
	}
	first := terms[0].text
	before, after, _ := strings.Cut(strings.TrimSpace(flat), first)
	return before + ">>>" + first + "<<<" + after, true
}

var _ hermes.Summaries = (*Store)(nil)

// SaveSummary stores the summary of a session.
func (s *Store) SaveSummary(ctx context.Context, m hermes.Summary) error {
	return s.change(ctx, "SaveSummary", func() error {
		r, err := s.byID(m.Session)
		if err != nil {
			return err
		}
		r.summary = m
		return nil
	})
}

// Summaries returns the summaries of sessions.
func (s *Store) Summaries(ctx context.Context, sessions ...string) (map[string]hermes.Summary, error) {
	out := map[string]hermes.Summary{}
	return out, s.view(ctx, func() error {
		for _, r := range s.sessions {
			if r.summary.Text != "" && slices.Contains(sessions, r.row.ID) {
				out[r.row.ID] = r.summary
			}
		}
		return nil
	})
}

// FindSummaries finds summaries by their words.
func (s *Store) FindSummaries(ctx context.Context, text string, limit int) (list []hermes.Summary, err error) {
	if limit <= 0 {
		limit = 20
	}
	words := strings.Fields(strings.ToLower(text))
	err = s.view(ctx, func() error {
		for _, r := range slices.Backward(s.sessions) {
			lower := strings.ToLower(r.summary.Text)
			if len(words) > 0 && lower != "" && !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(lower, w) }) {
				list = append(list, r.summary)
			}
		}
		slices.SortStableFunc(list, func(a, b hermes.Summary) int { return b.At.Compare(a.At) })
		list = list[:min(limit, len(list))]
		return nil
	})
	return list, err
}
