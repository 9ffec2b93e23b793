package sqlite

import (
	"slices"

	"hermes/internal/fulltext"
	"hermes/internal/order"
)

// count returns the number of messages with a term, at most rankedMost+1.
func (f *finder) count(t fulltext.Term) (int, error) {
	var n int
	err := f.conn.QueryRowContext(f.ctx,
		`SELECT count(*) FROM (SELECT rowid FROM words WHERE words MATCH ? LIMIT ?)`, t.FTS5(), rankedMost+1).Scan(&n)
	return n, err
}

// shortPrefix is the length in bytes from which a prefix is rare enough to count.
const shortPrefix = 4

// rare chooses terms to rank by, rarest first, as long as no more messages contain
// them than can be ranked.
func (f *finder) rare(list []fulltext.Term) ([]fulltext.Term, error) {
	type counted struct {
		fulltext.Term
		n int
	}
	var counts []counted
	words, _ := fulltext.ByIndex(list)
	for _, t := range words {
		if t.Prefix && len(t.Words[len(t.Words)-1]) < shortPrefix {
			continue // the index reads all words of a prefix before the first hit: once is enough
		}
		n, err := f.count(t)
		if err != nil {
			return nil, err
		}
		counts = append(counts, counted{t, n})
	}
	order.By(counts, func(a, b counted) int { return a.n - b.n })
	var rare []fulltext.Term
	sum := 0
	for _, c := range counts {
		if sum += c.n; sum > rankedMost {
			break
		}
		if c.n > 0 {
			rare = append(rare, c.Term)
		}
	}
	return rare, nil
}

// rarer keeps the groups of single terms that are not too frequent; all of them if
// every term is.
func (f *finder) rarer(q fulltext.Query) fulltext.Query {
	rare, err := f.rare(q.Terms())
	if err != nil || len(rare) == 0 {
		return q
	}
	var kept fulltext.Query
	for _, g := range q.Groups {
		t := g.Must[0]
		if t.Run != "" || slices.ContainsFunc(rare, func(r fulltext.Term) bool { return r.FTS5() == t.FTS5() }) {
			kept.Groups = append(kept.Groups, g)
		}
	}
	return kept
}

// rank orders candidates, given newest first, by how well they match the terms and by
// age. Those with none of the terms come last.
func (f *finder) rank(candidates []int64, by []fulltext.Term) ([]int64, error) {
	if len(candidates) == 0 {
		return nil, nil
	}
	rows, err := f.conn.QueryContext(f.ctx, `SELECT rowid, bm25(words) FROM words WHERE words MATCH ?`, fulltext.Join(by, "OR"))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	scores := make(map[int64]float64, len(candidates))
	newest := float64(candidates[0])
	for rows.Next() {
		var id int64
		var score float64
		if err := rows.Scan(&id, &score); err != nil {
			return nil, err
		}
		scores[id] = score * (1 + float64(id)/newest/4) // lower is better
	}
	slices.SortStableFunc(candidates, func(a, b int64) int {
		switch d := scores[a] - scores[b]; {
		case d < 0:
			return -1
		case d > 0:
			return 1
		}
		return 0
	})
	return candidates, rows.Err()
}
