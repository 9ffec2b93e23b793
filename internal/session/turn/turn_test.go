package turn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/hermestest"
)

// taking returns a turn and what Take does with one of its events: what is published, and what the loop hears.
func taking(t *testing.T, st hermes.Store) (*Turn, *Record, func(hermes.Event) (published bool, err error)) {
	t.Helper()
	r := NewRecord(st, hermes.Owner{Name: "here"}, time.Now, hermes.Session{ID: "s1"}, false)
	if err := r.Persist(t.Context()); err != nil {
		t.Fatal(err)
	}
	tu := New(t.Context(), 1, time.Now())
	return tu, r, func(e hermes.Event) (published bool, err error) {
		te := Event{event: e}
		switch e.(type) {
		case hermes.Appended, hermes.Compacted:
			te.ack = make(chan error, 1)
		}
		tu.Take(r, te, func(got hermes.Event) {
			published = true
			if a, ok := got.(hermes.Appended); ok && a.Message.ID == 0 {
				t.Error("a message was published without its id")
			}
		})
		if te.ack != nil {
			err = <-te.ack
		}
		return published, err
	}
}

func answered(text string) hermes.Appended {
	return hermes.Appended{Message: hermes.Message{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: text}}}}
}

// wait stores a message that waits and returns its id.
func wait(t *testing.T, r *Record, text string) int64 {
	t.Helper()
	id, err := r.store.AddWaiting(t.Context(), r.Lease(), hermes.WaitingMessage{Message: hermes.UserText(text)})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func waits(t *testing.T, r *Record) int {
	t.Helper()
	list, err := r.store.WaitingMessages(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// TestANoteWaitsUntilItIsStored below a result: before that it is neither lost nor sent twice.
func TestANoteWaitsUntilItIsStored(t *testing.T) {
	t.Parallel()
	tu, r, take := taking(t, hermestest.NewStore())
	for _, text := range []string{"use tabs", "and be quick"} {
		tu.Note.Add(Queued{IDs: []int64{wait(t, r, text)}, Message: hermes.UserText(text)})
	}
	if got := tu.Note.take(); got != "use tabs\nand be quick" {
		t.Errorf("the loop got %q", got)
	}
	if got := tu.Note.take(); got != "" {
		t.Errorf("the loop got %q again", got)
	}
	late := wait(t, r, "late")
	tu.Note.Add(Queued{IDs: []int64{late}, Message: hermes.UserText("late")})
	if _, err := take(answered("no result yet")); err != nil || waits(t, r) != 3 {
		t.Errorf("%d messages wait, %v", waits(t, r), err)
	}
	if published, _ := take(hermes.Steered{Text: "use tabs"}); !published {
		t.Error("the user does not hear of it")
	}
	if _, err := take(answered("with the notes")); err != nil || waits(t, r) != 1 {
		t.Errorf("%d messages wait, %v", waits(t, r), err)
	}
	if rest := tu.Note.Rest(); !slices.Equal(rest.IDs, []int64{late}) || rest.Message.Text() != "late" {
		t.Errorf("the rest is %+v", rest)
	}
	if rest := tu.Note.Rest(); len(rest.IDs) > 0 {
		t.Errorf("the rest comes again: %+v", rest)
	}
}

// TestANoteThatWasNotStoredIsLeft for the next turn.
func TestANoteThatWasNotStoredIsLeft(t *testing.T) {
	t.Parallel()
	tu, r, take := taking(t, hermestest.NewStore())
	id := wait(t, r, "use tabs")
	tu.Note.Add(Queued{IDs: []int64{id}, Message: hermes.UserText("use tabs")})
	_ = tu.Note.take()
	if _, err := take(hermes.Steered{}); err != nil {
		t.Fatal(err)
	}
	r.Lose() // nothing can be stored any more
	if published, err := take(answered("with the note")); err == nil || published {
		t.Errorf("published %v, %v", published, err)
	}
	if rest := tu.Note.Rest(); !slices.Equal(rest.IDs, []int64{id}) {
		t.Errorf("the rest is %+v", rest)
	}
}

// TestUsageIsStoredOnce: with the message that it was for, the rest at the end.
func TestUsageIsStoredOnce(t *testing.T) {
	t.Parallel()
	st := hermestest.NewStore()
	tu, r, take := taking(t, st)
	total := hermes.Usage{Input: 10, Output: 2, Reasoning: 3, CacheRead: 4, CacheWrite: 5, Calls: 1}
	for range 2 {
		step := total
		if tu.used.Calls > 0 {
			step = total.Add(total)
		}
		if _, err := take(hermes.UsageUpdated{Step: total, Turn: step}); err != nil {
			t.Fatal(err)
		}
		if _, err := take(answered("one")); err != nil {
			t.Fatal(err)
		}
	}
	if r.Last != total || r.Counted != 2 {
		t.Errorf("the last usage is %+v for %d messages", r.Last, r.Counted)
	}
	all := total.Add(total).Add(total)
	if got := tu.Unstored(all); got != total {
		t.Errorf("not stored: %+v", got)
	}
	if row, err := st.FindSession(t.Context(), "s1"); err != nil || row.Usage != total.Add(total) {
		t.Errorf("stored %+v, %v", row.Usage, err)
	}
}

// TestAParkedCallHasNoResult: the loop ends there, and no user sees a result.
func TestAParkedCallHasNoResult(t *testing.T) {
	t.Parallel()
	tu, r, take := taking(t, hermestest.NewStore())
	tu.calls = NewCalls(Lent{Record: r}, hermes.SessionRef{})
	tu.calls.Asking("1")
	for id, parked := range map[string]bool{"1": true, "2": false} {
		if published, _ := take(hermes.CallDone{Call: hermes.ToolCall{ID: id}}); published == parked {
			t.Errorf("the end of call %s: published %v", id, published)
		}
		m := hermes.ToolMessage(hermes.ToolCall{ID: id, Name: "clarify"}, hermes.Result{Text: "interrupted"})
		if published, err := take(hermes.Appended{Message: m}); published == parked || errors.Is(err, ErrParked) != parked {
			t.Errorf("the result of call %s: published %v, %v", id, published, err)
		}
	}
	if len(r.Messages()) != 1 {
		t.Errorf("stored %+v", r.Messages())
	}
}

// TestTheOutcomeComesLast: the session publishes it when the turn is over.
func TestTheOutcomeComesLast(t *testing.T) {
	t.Parallel()
	tu, r, take := taking(t, hermestest.NewStore())
	if done, err := tu.Done(tu.Began.Add(time.Second)); done.Outcome != hermes.OutcomeInterrupted || done.Duration != time.Second || err != nil {
		t.Errorf("without an outcome: %+v, %v", done, err)
	}
	if published, _ := take(hermes.TurnDone{Outcome: hermes.OutcomeDone, Text: "it"}); published {
		t.Error("the outcome was published")
	}
	if !tu.Take(r, Event{ended: true, err: errors.New("late")}, nil) {
		t.Error("the turn is not over")
	}
	if done, err := tu.Done(time.Now()); done.Text != "it" || err != nil {
		t.Errorf("done %+v, %v", done, err)
	}
}

// engine is a context engine that is a func.
type engine func(ctx context.Context, list []hermes.Message) (hermes.CompactResult, error)

func (engine) Name() string { return "test" }
func (e engine) Fit(ctx context.Context, list []hermes.Message, _ hermes.ContextUsage) (hermes.CompactResult, error) {
	return e(ctx, list)
}

// TestACompressionSaysHowItEnded in each of its ways.
func TestACompressionSaysHowItEnded(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	for name, tt := range map[string]struct {
		fit  engine
		want hermes.TurnDone
	}{
		"nothing to do": {func(context.Context, []hermes.Message) (hermes.CompactResult, error) {
			return hermes.CompactResult{}, nil
		},
			hermes.TurnDone{Outcome: hermes.OutcomeDone, Text: "The conversation is too short to compress."}},
		"failed": {func(context.Context, []hermes.Message) (hermes.CompactResult, error) {
			return hermes.CompactResult{}, down
		},
			hermes.TurnDone{Outcome: hermes.OutcomeFailed, Failure: hermes.FailureOf(down)}},
		"not stored": {func(_ context.Context, list []hermes.Message) (hermes.CompactResult, error) {
			return hermes.CompactResult{Messages: list, From: []hermes.MessageOrigin{}, Note: "short"}, nil
		}, hermes.TurnDone{Outcome: hermes.OutcomeFailed, Failure: hermes.FailureOf(fmt.Errorf("session s1: %w", hermes.ErrStaleLease))}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tu, r, _ := taking(t, hermestest.NewStore())
			r.Lose()
			tu.Compress(tt.fit, nil, hermes.ContextUsage{}, time.Now)
			for !tu.Take(r, <-tu.Events(), func(hermes.Event) {}) {
			}
			done, err := tu.Done(time.Now())
			if err != nil || done.Outcome != tt.want.Outcome || !cmp.Equal(done.Failure, tt.want.Failure) || tt.want.Text != "" && done.Text != tt.want.Text {
				t.Errorf("done %+v, %v", done, err)
			}
		})
	}
}
