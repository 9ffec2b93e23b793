package turn_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/session/turn"
)

// failing is a store that stores nothing while it is full.
type failing struct {
	hermes.Store
	full bool
}

var errFull = errors.New("the disk is full")

func (f *failing) Commit(ctx context.Context, l hermes.Lease, c hermes.Change) (hermes.Committed, error) {
	if f.full {
		return hermes.Committed{}, errFull
	}
	return f.Store.Commit(ctx, l, c)
}

func (f *failing) Compact(ctx context.Context, l hermes.Lease, c hermes.Compaction) ([]int64, error) {
	if f.full {
		return nil, errFull
	}
	return f.Store.Compact(ctx, l, c)
}

func (f *failing) Rewind(ctx context.Context, l hermes.Lease, id int64, back ...int64) error {
	if f.full {
		return errFull
	}
	return f.Store.Rewind(ctx, l, id, back...)
}

// recorded returns the record of a new session with so many exchanges.
func recorded(t *testing.T, st hermes.Store, exchanges int) *turn.Record {
	t.Helper()
	r := turn.NewRecord(st, hermes.Owner{Name: "here"}, time.Now, hermes.Session{ID: "s1", Platform: "test"}, false)
	if err := r.Persist(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range exchanges {
		for _, m := range []hermes.Message{
			{Role: hermes.RoleUser, Parts: []hermes.Part{{Text: fmt.Sprint("question ", i)}}},
			{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: fmt.Sprint("answer ", i)}}, Usage: &hermes.Usage{Input: int64(i + 1), Calls: 1}},
		} {
			if m.Turn = int64(i + 1); i == 0 {
				m.Provenance = "a page"
			}
			if err := r.Append(t.Context(), &m, hermes.Change{Usage: hermes.Usage{Input: 1}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return r
}

// again returns the record of the same session in another process, without its lease.
func again(t *testing.T, st hermes.Store) *turn.Record {
	t.Helper()
	r := turn.NewRecord(st, hermes.Owner{Name: "there"}, time.Now, hermes.Session{ID: "s1"}, true)
	if err := r.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

func texts(list []hermes.Message) []string {
	var all []string
	for _, m := range list {
		all = append(all, m.Text())
	}
	return all
}

// without is the result of a context engine that puts a summary in the place of the first messages.
func without(list []hermes.Message, n int) hermes.CompactResult {
	f := hermes.CompactResult{Messages: []hermes.Message{hermes.UserText("summary")}, From: []hermes.MessageOrigin{{Index: 0}}}
	for i := n; i < len(list); i++ {
		f.Messages, f.From = append(f.Messages, list[i]), append(f.From, hermes.MessageOrigin{Index: i, Same: true})
	}
	return f
}

// TestNothingCountsThatIsNotStored fails each way to change a transcript.
func TestNothingCountsThatIsNotStored(t *testing.T) {
	t.Parallel()
	st := &failing{Store: hermestest.NewStore()}
	r := recorded(t, st, 2)
	before, usage := texts(r.Messages()), r.Row.Usage
	st.full = true
	m := hermes.UserText("more")
	for name, err := range map[string]error{
		"append":  r.Append(t.Context(), &m, hermes.Change{Usage: hermes.Usage{Input: 7}}),
		"compact": r.Compact(t.Context(), without(r.Messages(), 2)),
		"rewind":  r.Rewind(t.Context(), r.Messages()[2].ID),
	} {
		if !errors.Is(err, errFull) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := texts(r.Messages()); !slices.Equal(got, before) || r.Row.Usage != usage || r.Last.Input != 0 && r.Last.Input != 2 {
		t.Errorf("it has %q and used %+v", got, r.Row.Usage)
	}
}

// TestATrimmedRecordForgetsNothing keeps 200 messages, and what it knew of the others.
func TestATrimmedRecordForgetsNothing(t *testing.T) {
	t.Parallel()
	st := hermestest.NewStore()
	r := recorded(t, st, 150)
	r.Trim()
	if n := len(r.Messages()); n != 200 || r.Whole() || r.Messages()[0].Text() != "question 50" {
		t.Errorf("it keeps %d messages, whole %v", n, r.Whole())
	}
	if r.Provenance() != "a page" || r.LastTurn() != 150 || r.Unanswered() || r.Empty() {
		t.Errorf("from %q, turn %d, unanswered %v, empty %v", r.Provenance(), r.LastTurn(), r.Unanswered(), r.Empty())
	}
	if err := r.Fill(again(t, st).Messages()[:299]); err == nil {
		t.Error("it took another transcript for its own")
	}
	if err := r.Rewind(t.Context(), r.Messages()[198].ID); err != nil || len(r.Messages()) != 298 || !r.Whole() {
		t.Errorf("after the undo it has %d messages, %v", len(r.Messages()), err)
	}
	if r.Last.Input != 149 || r.Counted != 298 {
		t.Errorf("the last usage is %+v for %d messages", r.Last, r.Counted)
	}
	if r.Trim(); len(r.Messages()) != 200 || r.Messages()[199].Text() != "answer 148" {
		t.Errorf("it keeps %d messages", len(r.Messages()))
	}
}

// TestTheUsageIsOfTheTranscript: what a provider counted before a compaction says nothing after it,
// in this process and the next.
func TestTheUsageIsOfTheTranscript(t *testing.T) {
	t.Parallel()
	st := hermestest.NewStore()
	recorded(t, st, 3)
	r := again(t, st)
	if r.Last.Input != 3 || r.Counted != 6 || r.Row.Usage.Input != 6 {
		t.Errorf("read %+v for %d messages, the row has %+v", r.Last, r.Counted, r.Row.Usage)
	}
	r = recordedAgain(t, st)
	if err := r.Compact(t.Context(), without(r.Messages(), 2)); err != nil {
		t.Fatal(err)
	}
	want := []string{"summary", "question 1", "answer 1", "question 2", "answer 2"}
	for name, r := range map[string]*turn.Record{"here": r, "there": again(t, st)} {
		if got := texts(r.Messages()); !slices.Equal(got, want) {
			t.Errorf("%s: %q", name, got)
		}
		if r.Last.Input != 0 || r.Counted != 0 {
			t.Errorf("%s: the usage is %+v for %d messages", name, r.Last, r.Counted)
		}
		if got := r.Messages()[0]; got.Provenance != "a page" || got.ID == 0 {
			t.Errorf("%s: the summary is %+v", name, got)
		}
	}
}

// recordedAgain is again with the lease, which the earlier record gave back.
func recordedAgain(t *testing.T, st hermes.Store) *turn.Record {
	t.Helper()
	r := again(t, st)
	if err := r.Persist(t.Context()); !errors.Is(err, hermes.ErrLeased) || !strings.Contains(err.Error(), "another Hermes process") {
		t.Errorf("two processes have the session: %v", err)
	}
	l := turn.NewRecord(st, hermes.Owner{Name: "here"}, time.Now, hermes.Session{ID: "s1"}, true)
	if err := l.Persist(t.Context()); err != nil { // the same owner may
		t.Fatal(err)
	}
	if err := l.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if row, err := st.FindSession(t.Context(), "s1"); err != nil || row.Ended.IsZero() || row.EndReason != "closed" {
		t.Errorf("the released session is %+v, %v", row, err)
	}
	if err := r.Persist(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestAMessageWithoutAnAnswerGetsOne, so that user and assistant take turns.
func TestAMessageWithoutAnAnswerGetsOne(t *testing.T) {
	t.Parallel()
	r := recorded(t, hermestest.NewStore(), 1)
	for range 2 { // the second time there is nothing to do
		if err := r.CloseUnanswered(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.Messages()) != 2 {
		t.Errorf("an answered message got %q", texts(r.Messages()))
	}
	m := hermes.UserText("more")
	m.Turn = 2
	if err := r.Append(t.Context(), &m, hermes.Change{}); err != nil || !r.Unanswered() {
		t.Fatal(err)
	}
	if err := r.CloseUnanswered(t.Context()); err != nil {
		t.Fatal(err)
	}
	if last := r.Messages()[len(r.Messages())-1]; last.Role != hermes.RoleAssistant || last.Turn != 2 || !last.Synthetic || r.Unanswered() {
		t.Errorf("the last message is %+v", last)
	}
}

// TestALostLeaseIsNotRenewed, nor is anything stored with it.
func TestALostLeaseIsNotRenewed(t *testing.T) {
	t.Parallel()
	st := hermestest.NewStore()
	r := recorded(t, st, 1)
	r.Lose()
	if err := r.Renew(t.Context()); err != nil || r.Lease().Fence != 0 {
		t.Errorf("lease %+v, %v", r.Lease(), err)
	}
	m := hermes.UserText("more")
	if err := r.Append(t.Context(), &m, hermes.Change{}); !errors.Is(err, hermes.ErrStaleLease) {
		t.Errorf("stored without a lease: %v", err)
	}
	if err := r.Release(t.Context()); err != nil {
		t.Error(err)
	}
	if row, err := st.FindSession(t.Context(), "s1"); err != nil || !row.Ended.IsZero() {
		t.Errorf("it ended the session of another process: %+v, %v", row, err)
	}
}
