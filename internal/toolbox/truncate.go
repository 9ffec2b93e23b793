package toolbox

import (
	"cmp"
	"context"
	"fmt"
	"unicode/utf8"

	"hermes"
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

// truncate keeps a large result out of the context. A result over its tool's
// limit is stored whole, and the model gets its head, its size and its path.
// Results of read_file are never stored, since read_file would read them.
func (b *Toolbox) truncate(next runner) runner {
	return func(ctx context.Context, c *call) hermes.Result {
		r := next(ctx, c)
		if limit := cmp.Or(c.spec.ResultLimit, b.limits.Result); storable(c.spec) && len(r.Text) > limit {
			r.Text = b.store(ctx, c.Call, r.Text, limit)
		}
		return r
	}
}

func storable(s hermes.Spec) bool { return s.ResultLimit >= 0 && s.Name != "read_file" }

func (b *Toolbox) store(ctx context.Context, c *hermes.Call, text string, limit int) string {
	err := errNoSpill
	if b.spill != nil {
		var path string
		if path, err = b.spill.Keep(context.WithoutCancel(ctx), c, text); err == nil {
			return fmt.Sprintf("%s\n\n[The result has %d bytes, too many to show; these were the first %d. The whole result is in %s: read the parts you need with read_file (offset and limit), or search it with search_files.]",
				cut(text, b.limits.Head), len(text), len(cut(text, b.limits.Head)), path)
		}
		b.log.Warn("store a large result", "tool", c.Name, "call", c.ID, "err", err)
	}
	head := cut(text, min(limit, b.limits.Result))
	return fmt.Sprintf("%s\n\n[Cut: the result has %d bytes; these are the first %d. The rest could not be stored (%v). Ask for less at a time.]",
		head, len(text), len(head), err)
}

// cut returns at most the first n bytes, without splitting a character.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
