package toolbox

import (
	"context"
	"sync"

	"hermes"
)

// spent counts the bytes of results that a turn has put into the context.
type spent struct {
	mu    sync.Mutex
	bytes int
}

func (s *spent) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes = 0
}

// FinishBatch keeps the results of a turn within their total limit. While the
// results of a batch do not fit into what is left of it, the largest is stored
// outside the context. Results too small to save anything stay. Last it adds the
// reminders.
func (b *Toolbox) FinishBatch(ctx context.Context, calls []*hermes.Call, results []*hermes.Result) {
	b.spent.mu.Lock()
	defer b.spent.mu.Unlock()
	sum := 0
	for _, r := range results {
		sum += len(r.Text)
	}
	tried := make([]bool, len(results))
	for b.spent.bytes+sum > b.limits.Turn {
		i := b.largest(calls, results, tried)
		if i < 0 {
			break
		}
		tried[i] = true
		before := len(results[i].Text)
		results[i].Text = b.store(ctx, calls[i], results[i].Text, b.limits.Head)
		sum += len(results[i].Text) - before
	}
	b.spent.bytes += sum
	b.addReminders(ctx, calls, results)
}

// addReminders adds lines below results. They come last, so that they are not
// stored with a large result, and are not part of what the guardrail compares.
func (b *Toolbox) addReminders(ctx context.Context, calls []*hermes.Call, results []*hermes.Result) {
	if b.remind == nil || ctx.Err() != nil {
		return
	}
	for i, r := range results {
		if line := b.remind(calls[i], *r); line != "" {
			line = "\n\n" + b.clean(line)
			r.Text += line
			b.spent.bytes += len(line)
		}
	}
}

// largest returns the index of the largest result that may be stored, or -1.
func (b *Toolbox) largest(calls []*hermes.Call, results []*hermes.Result, tried []bool) int {
	at := -1
	for i, r := range results {
		m, _ := b.set.member(calls[i].Name)
		if tried[i] || len(r.Text) <= 2*b.limits.Head || !storable(m.spec) {
			continue
		}
		if at < 0 || len(r.Text) > len(results[at].Text) {
			at = i
		}
	}
	return at
}
