package audit

import (
	"cmp"
	"context"
	"errors"
	"time"

	"hermes/internal/order"
)

// Approved counts how often the user decided in one way about calls that look the same.
type Approved struct {
	Tool     string
	Risk     string // its key
	Subject  string // as in rows: without secrets and cut
	Decision string // once, session, always, denied
	Count    int
	Last     time.Time
}

// Approvals counts the user's own answers to questions since a time, the most frequent first.
// What a model, a setting or a timeout decided does not count, nor do rows that are not as they
// were written. A call with several risks counts for each.
func (l *Log) Approvals(ctx context.Context, since time.Time) ([]Approved, error) {
	type same struct{ tool, risk, subject, decision string }
	counted := map[same]Approved{}
	for r, err := range l.Rows(ctx, Filter{Kinds: []Kind{KindAnswer}, Since: since}) {
		if _, damaged := errors.AsType[*LineError](err); damaged {
			continue
		}
		if err != nil {
			return nil, err
		}
		if r.By != "user" {
			continue
		}
		for _, risk := range r.Risks {
			k := same{r.Tool, risk, r.Subject, r.Decision}
			counted[k] = Approved{r.Tool, risk, r.Subject, r.Decision, counted[k].Count + 1, r.Time}
		}
	}
	var all []Approved
	for _, a := range counted {
		all = append(all, a)
	}
	order.By(all, func(a, b Approved) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Risk, b.Risk), cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Decision, b.Decision))
	})
	return all, nil
}
