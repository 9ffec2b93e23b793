package toolbox

import (
	"cmp"
	"context"
	"fmt"

	"hermes"
	"hermes/internal/text"
)

// Limits bound what tools put into the context. A zero number means the default
// given beside it.
type Limits struct {
	Result  int // 100,000: bytes of one result, unless its tool has its own limit
	Turn    int // 200,000: bytes of all results of a turn
	Head    int // 4,000: bytes shown of a result that was stored elsewhere
	Preview int // 80: characters of a call's main argument
}

func (l Limits) orDefaults() Limits {
	return Limits{
		Result: cmp.Or(l.Result, 100_000), Turn: cmp.Or(l.Turn, 200_000),
		Head: cmp.Or(l.Head, 4_000), Preview: cmp.Or(l.Preview, 80),
	}
}

// Spill stores large results outside the context.
type Spill interface {
	// Keep stores the whole text of a call's result and returns the path under
	// which read_file finds it. The ids come from a model: they must not lead
	// out of the store.
	Keep(ctx context.Context, c *hermes.Call, text string) (path string, err error)
}

// invokedShare is how many times larger a result may be that goes to a script and not into the context.
const invokedShare = 50

// truncate keeps a large result out of the context. A result over its tool's
// limit is stored whole, and the model gets its head, its size and its path.
// Results of read_file are never stored, since read_file would read them.
func (b *Toolbox) truncate(next runner) runner {
	return func(ctx context.Context, c *call) hermes.Result {
		r := next(ctx, c)
		limit := cmp.Or(c.Spec.ResultLimit, b.o.Limits.Result)
		if c.Invoked() {
			limit *= invokedShare
		}
		if storable(c.Spec) && len(r.Text) > limit {
			r.Text = b.store(ctx, c.Call, r.Text, limit)
		}
		return r
	}
}

func storable(s hermes.Spec) bool { return s.ResultLimit >= 0 && s.Name != "read_file" }

func (b *Toolbox) store(ctx context.Context, c *hermes.Call, result string, limit int) string {
	err := errNoSpill
	if b.o.Spill != nil {
		var path string
		if path, err = b.o.Spill.Keep(context.WithoutCancel(ctx), c, result); err == nil {
			return fmt.Sprintf("%s\n\n[The result has %d bytes, too many to show; these were the first %d. The whole result is in %s: read the parts you need with read_file (offset and limit), or search it with search_files.]",
				text.Prefix(result, b.o.Limits.Head), len(result), len(text.Prefix(result, b.o.Limits.Head)), path)
		}
		b.o.Log.Warn("store a large result", "tool", c.Name, "call", c.ID, "err", err)
	}
	head := text.Prefix(result, min(limit, b.o.Limits.Result))
	return fmt.Sprintf("%s\n\n[Cut: the result has %d bytes; these are the first %d. The rest could not be stored (%v). Ask for less at a time.]",
		head, len(result), len(head), err)
}

// FinishBatch keeps the results of a turn within their total limit. While the
// results of a batch do not fit into what is left of it, the largest is stored
// outside the context. Results too small to save anything stay. Last it adds the
// reminders.
func (b *Toolbox) FinishBatch(ctx context.Context, calls []*hermes.Call, results []*hermes.Result) {
	b.mu.Lock()
	defer b.mu.Unlock()
	sum := 0
	for _, r := range results {
		sum += len(r.Text)
	}
	tried := make([]bool, len(results))
	for b.spent+sum > b.o.Limits.Turn {
		i := b.largest(calls, results, tried)
		if i < 0 {
			break
		}
		tried[i] = true
		before := len(results[i].Text)
		results[i].Text = b.store(ctx, calls[i], results[i].Text, b.o.Limits.Head)
		sum += len(results[i].Text) - before
	}
	b.spent += sum
	b.addReminders(ctx, calls, results)
}

// addReminders adds lines below results. They come last, so that they are not
// stored with a large result, and are not part of what the guardrail compares.
func (b *Toolbox) addReminders(ctx context.Context, calls []*hermes.Call, results []*hermes.Result) {
	if b.o.Remind == nil || ctx.Err() != nil {
		return
	}
	for i, r := range results {
		if line := b.o.Remind(calls[i], *r); line != "" {
			line = "\n\n" + b.o.Redact(line)
			r.Text += line
			b.spent += len(line)
		}
	}
}

// largest returns the index of the largest result that may be stored, or -1.
func (b *Toolbox) largest(calls []*hermes.Call, results []*hermes.Result, tried []bool) int {
	at := -1
	for i, r := range results {
		m, _ := b.set().Find(calls[i].Name)
		if tried[i] || len(r.Text) <= 2*b.o.Limits.Head || !storable(m.Spec) {
			continue
		}
		if at < 0 || len(r.Text) > len(results[at].Text) {
			at = i
		}
	}
	return at
}
