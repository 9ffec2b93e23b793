package storesuite

import (
	"context"
	"testing"
	"time"

	"hermes"
)

func leaseCases() []storeCase {
	return []storeCase{
		{"one owner at a time", oneOwner},
		{"an expired lease is taken over", expiredLease},
		{"the same owner takes over", sameOwner},
		{"a stale lease writes nothing", staleLease},
		{"renewing", renewing},
		{"releasing", releasing},
		{"a session never leased takes the zero lease", zeroLease},
		{"a lease says where its owner listens", leaseAddress},
		{"the owner who was replaced is named", replacedOwner},
	}
}

func contextOf(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithCancel(t.Context())
}

func oneOwner(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a"}, 0)
	begin(t, s, hermes.Session{ID: "b"}, 1)
	l := lease(t, s, "a", "me")
	if l.Session != "a" || l.Owner != "me" || l.Fence <= 0 || l.Expires.IsZero() {
		t.Errorf("the lease is %+v", l)
	}
	_, err := s.Acquire(t.Context(), "a", hermes.Owner{Name: "you"}, time.Hour)
	wantErr(t, err, hermes.ErrLeased)
	lease(t, s, "b", "you")
	add(t, s, l, hermes.UserText("mine"))
}

func expiredLease(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a"}, 0)
	old, err := s.Acquire(t.Context(), "a", hermes.Owner{Name: "me"}, -time.Second)
	if err != nil {
		t.Fatal(err)
	}
	add(t, s, old, hermes.UserText("late, but no other owner came"))
	l := lease(t, s, "a", "you")
	if l.Fence <= old.Fence {
		t.Errorf("the fence went from %d to %d", old.Fence, l.Fence)
	}
	_, err = s.Commit(t.Context(), old, hermes.Change{Append: []hermes.Message{hermes.UserText("stale")}})
	wantErr(t, err, hermes.ErrStaleLease)
}

func sameOwner(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a"}, 0)
	first, second := lease(t, s, "a", "me"), lease(t, s, "a", "me")
	if second.Fence <= first.Fence {
		t.Errorf("the fence went from %d to %d", first.Fence, second.Fence)
	}
	_, err := s.Commit(t.Context(), first, hermes.Change{Append: []hermes.Message{hermes.UserText("x")}})
	wantErr(t, err, hermes.ErrStaleLease)
}

func staleLease(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a"}, 0)
	old := lease(t, s, "a", "me")
	ids := add(t, s, old, hermes.UserText("kept"))
	call := hermes.ToolCall{ID: "c", Name: "n", Arguments: "{}"}
	if err := s.BeginCall(t.Context(), old, call); err != nil {
		t.Fatal(err)
	}
	l := lease(t, s, "a", "me")
	_, err := s.Commit(t.Context(), old, hermes.Change{Append: []hermes.Message{hermes.UserText("x"), hermes.UserText("y")}})
	wantErr(t, err, hermes.ErrStaleLease)
	wantErr(t, s.Rewind(t.Context(), old, ids[0]), hermes.ErrStaleLease)
	wantErr(t, s.BeginCall(t.Context(), old, hermes.ToolCall{ID: "d"}), hermes.ErrStaleLease)
	wantErr(t, s.EndCall(t.Context(), old, "c", hermes.Message{Role: hermes.RoleTool}), hermes.ErrStaleLease)
	_, err = s.Renew(t.Context(), old, time.Hour)
	wantErr(t, err, hermes.ErrStaleLease)

	same(t, texts(transcript(t, s, "a", hermes.Range{})), []string{"kept"})
	steps, err := s.OpenSteps(t.Context(), "a")
	if err != nil || len(steps) != 1 || steps[0].Result != nil {
		t.Errorf("the journal is %+v, %v", steps, err)
	}
	if err := s.Release(t.Context(), old); err != nil {
		t.Errorf("releasing a stale lease: %v", err)
	}
	_, err = s.Acquire(t.Context(), "a", hermes.Owner{Name: "you"}, time.Hour)
	wantErr(t, err, hermes.ErrLeased) // the newer one is still valid
	add(t, s, l, hermes.UserText("mine"))
}

func renewing(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a"}, 0)
	l := lease(t, s, "a", "me")
	longer, err := s.Renew(t.Context(), l, 3*time.Hour)
	if err != nil || longer.Fence != l.Fence || !longer.Expires.After(l.Expires.Add(time.Hour)) {
		t.Errorf("%+v was renewed as %+v, %v", l, longer, err)
	}
	add(t, s, l, hermes.UserText("the fence is the same"))
	gone, err := s.Renew(t.Context(), longer, -time.Second)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Renew(t.Context(), gone, time.Hour)
	wantErr(t, err, hermes.ErrStaleLease)
}

func releasing(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a"}, 0)
	l := lease(t, s, "a", "me")
	for range 2 {
		if err := s.Release(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.Renew(t.Context(), l, time.Hour)
	wantErr(t, err, hermes.ErrStaleLease)
	if next := lease(t, s, "a", "you"); next.Fence <= l.Fence {
		t.Errorf("the fence went from %d to %d", l.Fence, next.Fence)
	}
}

func zeroLease(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a"}, 0)
	zero := hermes.Lease{Session: "a"}
	add(t, s, zero, hermes.UserText("imported"))
	lease(t, s, "a", "me")
	_, err := s.Commit(t.Context(), zero, hermes.Change{Append: []hermes.Message{hermes.UserText("x")}})
	wantErr(t, err, hermes.ErrStaleLease)
}

// owner returns an owner that listens.
func owner(name string) hermes.Owner {
	return hermes.Owner{Name: name, Address: "/run/" + name + ".sock"}
}

func leaseAddress(t *testing.T, s hermes.Store) {
	for i, id := range []string{"c", "a", "b", "expired", "released", "never"} {
		begin(t, s, hermes.Session{ID: id}, i)
	}
	acquire := func(session string, o hermes.Owner, ttl time.Duration) hermes.Lease {
		t.Helper()
		l, err := s.Acquire(t.Context(), session, o, ttl)
		if err != nil {
			t.Fatal(err)
		}
		same(t, hermes.Owner{Name: l.Owner, Address: l.Address}, o)
		return l
	}
	a, silent := acquire("a", owner("me"), time.Hour), acquire("b", hermes.Owner{Name: "silent"}, time.Hour)
	acquire("c", hermes.Owner{Name: "me", Address: "elsewhere"}, time.Hour)
	c := acquire("c", owner("me"), time.Hour) // it listens somewhere else now
	acquire("expired", owner("me"), -time.Second)
	if err := s.Release(t.Context(), acquire("released", owner("me"), time.Hour)); err != nil {
		t.Fatal(err)
	}
	a, err := s.Renew(t.Context(), a, 2*time.Hour)
	if err != nil || a.Address != "/run/me.sock" {
		t.Errorf("renewed as %+v, %v", a, err)
	}
	list, err := s.Leases(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []hermes.Lease{a, silent, c}
	for i := range want {
		want[i].Expires = want[i].Expires.Round(0).UTC()
	}
	for i := range list {
		list[i].Expires = list[i].Expires.Round(0).UTC()
	}
	same(t, list, want)
	if err := s.DeleteSession(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	if list, err = s.Leases(t.Context()); err != nil || len(list) != 2 {
		t.Errorf("a deleted session has a lease: %+v, %v", list, err)
	}
}

func replacedOwner(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a"}, 0)
	acquire := func(name string, ttl time.Duration, want hermes.Owner) hermes.Lease {
		t.Helper()
		l, err := s.Acquire(t.Context(), "a", owner(name), ttl)
		if err != nil {
			t.Fatal(err)
		}
		same(t, l.Replaced, want)
		return l
	}
	acquire("first", -time.Second, hermes.Owner{})
	acquire("first", -time.Second, hermes.Owner{})
	second := acquire("second", time.Hour, owner("first"))
	second, err := s.Renew(t.Context(), second, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	same(t, second.Replaced, hermes.Owner{})
	if err := s.Release(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	acquire("third", time.Hour, hermes.Owner{}) // the second has let it go
}
