package storesuite

import (
	"testing"
	"time"

	"hermes"
)

// waitingCases is the contract of hermes.Waiting and of a change as a whole.
func waitingCases() []storeCase {
	return []storeCase{
		{"waiting messages keep their order", waitingOrder},
		{"a waiting message is taken once, with what it becomes", waitingTaken},
		{"dropped messages wait no more", waitingDropped},
		{"a stale lease changes no waiting message", waitingStale},
		{"a change is stored whole or not at all", wholeChange},
		{"a call ends with those that it invoked", invokedCallsEnd},
	}
}

// wait adds a waiting message.
func wait(t *testing.T, s hermes.Store, l hermes.Lease, text string, urgent bool) int64 {
	t.Helper()
	id, err := s.AddWaiting(t.Context(), l, hermes.WaitingMessage{Message: hermes.UserText(text), Urgent: urgent})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// waitingTexts returns the texts of the messages that wait.
func waitingTexts(t *testing.T, s hermes.Store, session string) []string {
	t.Helper()
	list, err := s.WaitingMessages(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	all := []string{}
	for _, w := range list {
		all = append(all, w.Message.Text())
	}
	return all
}

func waitingOrder(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a"}, 0)
	begin(t, s, hermes.Session{ID: "b"}, 1)
	l := lease(t, s, "a", "me")
	wait(t, s, lease(t, s, "b", "me"), "of another", false)
	m := hermes.Message{Role: hermes.RoleUser, Synthetic: true, Provenance: "read_file x", Parts: []hermes.Part{
		{Text: "look"}, {Text: "hidden", Hidden: true}, {Image: &hermes.Image{MediaType: "image/png", Data: []byte{0, 255}}}}}
	id, err := s.AddWaiting(t.Context(), l, hermes.WaitingMessage{ID: 999, Message: m})
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.WaitingMessages(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, []hermes.WaitingMessage{{ID: id, Message: m}})
	wait(t, s, l, "second", false)
	wait(t, s, l, "urgent", true)
	wait(t, s, l, "third", false)
	wait(t, s, l, "more urgent", true)
	same(t, waitingTexts(t, s, "a"), []string{"more urgent", "urgent", "look\nhidden", "second", "third"})
	same(t, len(transcript(t, s, "a", hermes.Range{Hidden: true})), 0)
	same(t, find(t, s, "a").Messages, 0)
}

func waitingTaken(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a"}, 0)
	begin(t, s, hermes.Session{ID: "b"}, 1)
	l := lease(t, s, "a", "me")
	first, second := wait(t, s, l, "first", false), wait(t, s, l, "second", false)
	of := wait(t, s, lease(t, s, "b", "me"), "of another", false)
	take := func(ids ...int64) error {
		_, err := s.Commit(t.Context(), l, hermes.Change{TakeWaiting: ids, Append: []hermes.Message{hermes.UserText("taken")}})
		return err
	}
	if err := take(first); err != nil {
		t.Fatal(err)
	}
	wantErr(t, take(first), hermes.ErrNotFound)
	wantErr(t, take(second, first), hermes.ErrNotFound)
	wantErr(t, take(second, second), hermes.ErrNotFound)
	wantErr(t, take(of), hermes.ErrNotFound)
	same(t, waitingTexts(t, s, "a"), []string{"second"})
	same(t, waitingTexts(t, s, "b"), []string{"of another"})
	same(t, texts(transcript(t, s, "a", hermes.Range{})), []string{"taken"})
	if again := wait(t, s, l, "later", false); again <= of {
		t.Errorf("the id %d was given again", again)
	}
}

func waitingDropped(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a"}, 0)
	l := lease(t, s, "a", "me")
	first, second := wait(t, s, l, "first", false), wait(t, s, l, "second", true)
	wait(t, s, l, "third", false)
	if err := s.DropWaiting(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	same(t, waitingTexts(t, s, "a"), []string{"second", "first", "third"})
	for range 2 { // the second time they do not wait
		if err := s.DropWaiting(t.Context(), l, second, first); err != nil {
			t.Fatal(err)
		}
	}
	same(t, waitingTexts(t, s, "a"), []string{"third"})
	if err := s.DeleteSession(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	begin(t, s, hermes.Session{ID: "a"}, 1)
	same(t, waitingTexts(t, s, "a"), []string{})
}

func waitingStale(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a"}, 0)
	old := lease(t, s, "a", "me")
	id := wait(t, s, old, "first", false)
	lease(t, s, "a", "me")
	_, err := s.AddWaiting(t.Context(), old, hermes.WaitingMessage{Message: hermes.UserText("late")})
	wantErr(t, err, hermes.ErrStaleLease)
	wantErr(t, s.DropWaiting(t.Context(), old, id), hermes.ErrStaleLease)
	_, err = s.Commit(t.Context(), old, hermes.Change{TakeWaiting: []int64{id}})
	wantErr(t, err, hermes.ErrStaleLease)
	same(t, waitingTexts(t, s, "a"), []string{"first"})
}

func wholeChange(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a", Usage: hermes.Usage{Input: 10}}, 0)
	l := lease(t, s, "a", "me")
	id := wait(t, s, l, "hi", false)
	if err := s.BeginCall(t.Context(), l, hermes.ToolCall{ID: "c"}); err != nil {
		t.Fatal(err)
	}
	state := func() []any {
		t.Helper()
		steps, err := s.OpenSteps(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		row := find(t, s, "a")
		return []any{waitingTexts(t, s, "a"), texts(transcript(t, s, "a", hermes.Range{})), len(steps), row.Usage, row.Messages}
	}
	before := state()
	c := hermes.Change{
		TakeWaiting: []int64{id, id + 1000}, Append: []hermes.Message{hermes.UserText("hi")}, EndCalls: []string{"c", "never begun"},
		Usage: hermes.Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, Reasoning: 5, Calls: 1},
	}
	_, err := s.Commit(t.Context(), l, c)
	wantErr(t, err, hermes.ErrNotFound)
	same(t, state(), before)
	stale := l
	stale.Fence--
	c.TakeWaiting = c.TakeWaiting[:1]
	_, err = s.Commit(t.Context(), stale, c)
	wantErr(t, err, hermes.ErrStaleLease)
	same(t, state(), before)
	if _, err := s.Commit(t.Context(), l, c); err != nil {
		t.Fatal(err)
	}
	same(t, state(), []any{[]string{}, []string{"hi"}, 0,
		hermes.Usage{Input: 11, Output: 2, CacheRead: 3, CacheWrite: 4, Reasoning: 5, Calls: 1}, 1})
	active := find(t, s, "a").Active
	if _, err := s.Commit(t.Context(), l, hermes.Change{}); err != nil {
		t.Fatal(err)
	}
	if now := find(t, s, "a").Active; active.IsZero() || now.Before(active) || now.Sub(active) > time.Hour {
		t.Errorf("a change without messages moved the activity from %v to %v", active, now)
	}
}

func invokedCallsEnd(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a"}, 0)
	l := lease(t, s, "a", "me")
	for _, id := range []string{"c", "c/1", "c/2/1", "c0", "c-1", "d", "d/1", "%", "e/1"} {
		if err := s.BeginCall(t.Context(), l, hermes.ToolCall{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	open := func() []string {
		t.Helper()
		list, err := s.OpenSteps(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		ids := []string{}
		for _, st := range list {
			ids = append(ids, st.Call.ID)
		}
		return ids
	}
	add(t, s, l, answerTo("c", "done"))
	same(t, open(), []string{"c0", "c-1", "d", "d/1", "%", "e/1"})
	if _, err := s.Commit(t.Context(), l, hermes.Change{EndCalls: []string{"%", "d/1"}}); err != nil {
		t.Fatal(err)
	}
	same(t, open(), []string{"c0", "c-1", "d", "e/1"})
}
