package turn

import (
	"context"
	"slices"

	"hermes"
)

// Compact stores the result of a context engine and only then makes it the
// transcript.
func (r *Record) Compact(ctx context.Context, f hermes.CompactResult) error {
	kept := map[int]bool{}
	var c hermes.Compaction
	for i, o := range f.From {
		if o.Same {
			kept[o.Index] = true
			continue
		}
		m := f.Messages[i]
		m.ID, m.Usage = 0, nil // the usage was that of another text
		if m.Time.IsZero() {
			m.Time = r.now()
		}
		c.Insert = append(c.Insert, hermes.Insertion{At: r.messages[o.Index].ID, Message: m})
	}
	var hidden []hermes.Message
	for i, m := range r.messages {
		if !kept[i] {
			c.Hide, hidden = append(c.Hide, m.ID), append(hidden, m)
		}
	}
	inheritProvenance(c.Insert, hidden)
	ids, err := r.store.Compact(context.WithoutCancel(ctx), r.Lease(), c)
	if err != nil {
		return err
	}
	r.takeOver(f, c.Insert, ids)
	return nil
}

// takeOver makes the shortened transcript the session's transcript.
func (r *Record) takeOver(f hermes.CompactResult, inserted []hermes.Insertion, ids []int64) {
	messages := make([]hermes.Message, len(f.Messages))
	for i, o := range f.From {
		if o.Same {
			messages[i] = r.messages[o.Index]
			continue
		}
		messages[i] = inserted[0].Message
		messages[i].ID = ids[0]
		inserted, ids = inserted[1:], ids[1:]
	}
	r.messages = messages
	r.Last, r.Counted = hermes.Usage{}, 0
}

// inheritProvenance gives messages of a context engine the provenance of the
// messages they replace, whatever the engine set.
func inheritProvenance(inserted []hermes.Insertion, hidden []hermes.Message) {
	from := hermes.TranscriptProvenance(hidden)
	for i := range inserted {
		inserted[i].Message.Provenance = hermes.AddProvenance(inserted[i].Message.Provenance, from)
	}
}

// restoreFrom is how many original messages a shortened session is restored
// from.
const restoreFrom = 2000

// Restore passes the stored transcript to parts that keep state. Messages that
// a compression hid count too.
func (r *Record) Restore(ctx context.Context, restore func([]hermes.Message)) error {
	if shortened(r.messages) {
		all, err := r.store.Messages(ctx, r.Row.ID, hermes.Range{Raw: true, Last: restoreFrom})
		if err != nil {
			return err
		}
		restore(all)
	}
	restore(r.messages)
	return nil
}

// shortened reports whether a message comes before an older one, as a summary
// does.
func shortened(transcript []hermes.Message) bool {
	for i := range len(transcript) - 1 {
		if transcript[i].ID > transcript[i+1].ID {
			return true
		}
	}
	return false
}

// lastCount returns the newest usage that a provider reported for the current
// transcript, and how many messages it covers. A usage from before the
// transcript was shortened is ignored.
func lastCount(transcript []hermes.Message) (hermes.Usage, int) {
	for i, m := range slices.Backward(transcript) {
		if m.Usage == nil {
			continue
		}
		if slices.ContainsFunc(transcript[:i], func(e hermes.Message) bool { return e.ID > m.ID }) {
			break
		}
		return *m.Usage, i + 1
	}
	return hermes.Usage{}, 0
}
