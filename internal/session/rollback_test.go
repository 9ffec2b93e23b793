package session_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/session"
)

// userMessage returns the id of the n-th message of the user, from 0.
func userMessage(t *testing.T, s *session.Session, n int) int64 {
	t.Helper()
	st, err := s.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range st.Transcript {
		if m.Role == hermes.RoleUser {
			if n--; n < 0 {
				return m.ID
			}
		}
	}
	t.Fatal("there are not so many messages")
	return 0
}

// TestRollbackHoldsMessagesUntilItIsDone: none of them gets into what is undone.
func TestRollbackHoldsMessagesUntilItIsDone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t, hermestest.NewScript(hermestest.Say("one"), hermestest.Say("two"), hermestest.Say("three")), newToolTable())
		s := h.open(t, session.Open{})
		e := listen(t, s)
		for _, text := range []string{"first", "second"} {
			submit(t, s, say(text))
			until[hermes.TurnDone](e)
		}
		from := userMessage(t, s, 1)
		said := make(chan error, 1)
		err := s.Rollback(t.Context(), from, nil, func(context.Context) error {
			go func() { said <- s.Do(context.Background(), hermes.From{}, say("third")) }()
			synctest.Wait()
			select {
			case err := <-said:
				t.Errorf("a turn began meanwhile: %v", err)
			default:
			}
			if err := s.Do(context.Background(), hermes.From{}, hermes.SetTitle{Title: "x"}); err != nil {
				t.Error(err) // what begins no turn does not wait
			}
			if err := s.Rollback(t.Context(), from, nil, nil); err == nil || !strings.Contains(err.Error(), "a turn is running") {
				t.Errorf("a second one: %v", err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := <-said; err != nil {
			t.Fatal(err)
		}
		until[hermes.TurnDone](e)
		if diff := cmp.Diff([]string{"user: first", "assistant: one", "user: third", "assistant: three"}, stored(t, h.store, s.ID())); diff != "" {
			t.Errorf("the transcript (-want +got):\n%s", diff)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestRollbackDoesBothOrSaysSo: files are not touched if messages cannot go, and messages stay if
// the files could not be restored.
func TestRollbackDoesBothOrSaysSo(t *testing.T) {
	t.Parallel()
	store := hermestest.NewStore()
	wait, entered, leave := gate("wait")
	script := hermestest.NewScript(hermestest.Say("one"), hermestest.CallTool("wait", `{}`), hermestest.Say("two"))
	h := newFixture(t, script, newToolTable(wait), func(c *session.Config) { c.Store = store })
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, say("first"))
	until[hermes.TurnDone](e)
	from := userMessage(t, s, 0)
	calls := 0
	files := func(err error) func(context.Context) error {
		return func(context.Context) error {
			calls++
			return err
		}
	}
	submit(t, s, say("second"))
	<-entered
	if err := s.Rollback(t.Context(), from, nil, files(nil)); err == nil || !strings.Contains(err.Error(), "a turn is running; stop it first with /stop") {
		t.Errorf("while a turn runs: %v", err)
	}
	close(leave)
	until[hermes.TurnDone](e)
	if err := s.Rollback(t.Context(), from+1000, nil, files(nil)); err == nil || !strings.Contains(err.Error(), "not in the conversation") {
		t.Errorf("a message that is not there: %v", err)
	}
	if calls != 0 {
		t.Errorf("files were restored %d times", calls)
	}
	before := stored(t, store, s.ID())
	refused := errors.New("the disk is full")
	if err := s.Rollback(t.Context(), from, nil, files(refused)); !errors.Is(err, refused) || errors.Is(err, session.ErrNotUndone) {
		t.Errorf("files that cannot be restored: %v", err)
	}
	store.Fail = func(method string) error {
		if method == "Rewind" {
			return refused
		}
		return nil
	}
	if err := s.Rollback(t.Context(), from, nil, files(nil)); !errors.Is(err, session.ErrNotUndone) {
		t.Errorf("messages that cannot be undone: %v", err)
	}
	if diff := cmp.Diff(before, stored(t, store, s.ID())); diff != "" {
		t.Errorf("messages went (-want +got):\n%s", diff)
	}
	store.Fail = nil
	if err := s.Rollback(t.Context(), from, nil, files(nil)); err != nil {
		t.Error(err)
	}
	until[hermes.Rewound](e)
	if got := stored(t, store, s.ID()); len(got) != 0 || calls != 3 {
		t.Errorf("left %q after %d restores", got, calls)
	}
}

// TestAPanicInARollbackLeavesTheSessionUsable: no message goes, and the next turn begins.
func TestAPanicInARollbackLeavesTheSessionUsable(t *testing.T) {
	t.Parallel()
	h := newFixture(t, hermestest.NewScript(hermestest.Say("one"), hermestest.Say("two")), newToolTable())
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, say("first"))
	until[hermes.TurnDone](e)
	from := userMessage(t, s, 0)
	func() {
		defer func() {
			if p := recover(); p != "a bug" {
				t.Errorf("the panic is %v", p)
			}
		}()
		_ = s.Rollback(t.Context(), from, nil, func(context.Context) error { panic("a bug") })
	}()
	submit(t, s, say("second"))
	until[hermes.TurnDone](e)
	if diff := cmp.Diff([]string{"user: first", "assistant: one", "user: second", "assistant: two"}, stored(t, h.store, s.ID())); diff != "" {
		t.Errorf("the transcript (-want +got):\n%s", diff)
	}
}

// TestBranchAtAMessageLeavesOutWhatFollows and the message itself.
func TestBranchAtAMessageLeavesOutWhatFollows(t *testing.T) {
	t.Parallel()
	h := newFixture(t, hermestest.NewScript(hermestest.Say("one"), hermestest.Say("two")), newToolTable())
	s := h.open(t, session.Open{})
	e := listen(t, s)
	for _, text := range []string{"first", "second"} {
		submit(t, s, say(text))
		until[hermes.TurnDone](e)
	}
	row, err := h.BranchAt(t.Context(), s.ID(), "", userMessage(t, s, 1))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"user: first", "assistant: one"}, stored(t, h.store, row.ID)); diff != "" || row.Parent != s.ID() {
		t.Errorf("of %q (-want +got):\n%s", row.Parent, diff)
	}
	if _, err := h.BranchAt(t.Context(), s.ID(), "", 999); err == nil {
		t.Error("a branch at a message that is not there")
	}
}

// TestRollbackBringsMessagesBack in the order in which they were, in place of others, or none of
// them if one cannot come.
func TestRollbackBringsMessagesBack(t *testing.T) {
	t.Parallel()
	h := newFixture(t, hermestest.NewScript(hermestest.Say("one"), hermestest.Say("two"), hermestest.Say("three")), newToolTable())
	s := h.open(t, session.Open{})
	e := listen(t, s)
	for _, text := range []string{"first", "second"} {
		submit(t, s, say(text))
		until[hermes.TurnDone](e)
	}
	files := func(context.Context) error { return nil }
	gone := userMessage(t, s, 1)
	before := stored(t, h.store, s.ID())
	if err := s.Rollback(t.Context(), gone, nil, files); err != nil {
		t.Fatal(err)
	}
	until[hermes.Rewound](e)
	submit(t, s, say("third"))
	until[hermes.TurnDone](e)
	later := userMessage(t, s, 1)
	back := []int64{gone, gone + 1}
	list, err := s.Undone(t.Context(), back)
	if err != nil || len(list) != 2 || list[0].Visible() != "second" {
		t.Errorf("undone are %v, %v", list, err)
	}
	if _, err := s.Undone(t.Context(), []int64{gone, later + 1000}); !errors.Is(err, hermes.ErrNotFound) {
		t.Errorf("an undone message that is not stored: %v", err)
	}
	if err := s.Rollback(t.Context(), later, []int64{gone, later + 1000}, files); !errors.Is(err, session.ErrNotUndone) {
		t.Errorf("one that cannot come back: %v", err)
	}
	if got := userMessage(t, s, 1); got != later {
		t.Errorf("messages went")
	}
	if err := s.Rollback(t.Context(), later, back, files); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(hermes.Rewound{ID: later, Back: back}, until[hermes.Rewound](e)); diff != "" {
		t.Errorf("the event (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, stored(t, h.store, s.ID())); diff != "" {
		t.Errorf("the transcript (-want +got):\n%s", diff)
	}
	if list, err := s.Undone(t.Context(), back); !errors.Is(err, hermes.ErrNotFound) {
		t.Errorf("they are back, and undone: %v, %v", list, err)
	}
	st, err := s.State(t.Context())
	if err != nil || len(st.Transcript) != 4 || st.Transcript[2].ID != gone {
		t.Errorf("in memory are %v, %v", st.Transcript, err)
	}
}

// TestWhatACompressionReplacedIsNotUndone, so that a rollback that cannot bring it back does not begin.
func TestWhatACompressionReplacedIsNotUndone(t *testing.T) {
	t.Parallel()
	h := newFixture(t, hermestest.NewScript(hermestest.Say("one"), hermestest.Say("two")), newToolTable())
	s := h.open(t, session.Open{})
	e := listen(t, s)
	for _, text := range []string{"first", "second"} {
		submit(t, s, say(text))
		until[hermes.TurnDone](e)
	}
	gone := userMessage(t, s, 1)
	leases, err := h.store.Leases(t.Context())
	if err != nil || len(leases) != 1 {
		t.Fatal(leases, err)
	}
	if _, err := h.store.Compact(t.Context(), leases[0], hermes.Compaction{Hide: []int64{gone, gone + 1}}); err != nil {
		t.Fatal(err)
	}
	if list, err := s.Undone(t.Context(), []int64{gone, gone + 1}); !errors.Is(err, hermes.ErrNotFound) {
		t.Errorf("got %v, %v", list, err)
	}
}
