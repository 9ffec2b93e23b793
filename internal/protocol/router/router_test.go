package router_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/protocol"
	"hermes/internal/protocol/router"
)

// world is a home with its processes, by address. "" is this process.
type world struct {
	t     *testing.T
	store *hermestest.Store

	mu        sync.Mutex
	processes map[string]*process
	dialed    []string // addresses
}

// process runs sessions.
type process struct {
	name   string
	runs   []string // ids of live sessions
	refuse error    // what connecting fails with
	hangs  bool     // it does not answer Sessions
	silent bool     // it does not answer a connection
	calls  []string
	links  []*link
}

func newWorld(t *testing.T, here ...string) (*world, *router.Client) {
	w := &world{t: t, store: hermestest.NewStore(), processes: map[string]*process{"": {name: "me:1:0", runs: here}}}
	c := router.New(router.Config{
		Local: &link{w: w, p: w.processes[""], done: make(chan struct{})},
		Store: func(context.Context) (router.Store, error) { return w.store, nil },
		Own:   func() string { return "me:1:0" },
		Dial: func(ctx context.Context, to hermes.Owner, from hermes.From) (router.Remote, error) {
			address := to.Address
			w.mu.Lock()
			w.dialed = append(w.dialed, address)
			p := w.processes[address]
			w.mu.Unlock()
			if p != nil && p.silent {
				<-ctx.Done()
				return nil, context.Cause(ctx)
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			switch {
			case p == nil:
				return nil, fmt.Errorf("%w: nothing listens", protocol.ErrConnection)
			case p.refuse != nil:
				return nil, p.refuse
			}
			l := &link{w: w, p: p, done: make(chan struct{})}
			p.links = append(p.links, l)
			return l, nil
		},
	})
	t.Cleanup(func() { _ = c.Close() })
	return w, c
}

// runs makes a process that runs sessions and holds their leases.
func (w *world) runs(address string, ids ...string) *process {
	p := &process{name: fmt.Sprintf("host:4711:%s", address), runs: ids}
	for _, id := range ids {
		_ = w.store.CreateSession(w.t.Context(), hermes.Session{ID: id, Platform: "cli", Title: "title of " + id, Started: time.Unix(1, 0)}) // it may be there
		w.lease(p.name, address, id)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.processes[address] = p
	return p
}

func (w *world) lease(owner, address, id string) hermes.Lease {
	w.t.Helper()
	l, err := w.store.Acquire(w.t.Context(), id, hermes.Owner{Name: owner, Address: address}, time.Hour)
	if err != nil {
		w.t.Fatal(err)
	}
	return l
}

// ends ends a process as SIGKILL does; its leases expire.
func (w *world) ends(address string) {
	w.mu.Lock()
	p := w.processes[address]
	delete(w.processes, address)
	links := p.links
	w.mu.Unlock()
	for _, l := range links {
		_ = l.Close()
	}
	for _, id := range p.runs {
		l := w.lease(p.name, address, id)
		if err := w.store.Release(w.t.Context(), l); err != nil {
			w.t.Fatal(err)
		}
	}
}

// link is a client of a process.
type link struct {
	w     *world
	p     *process
	close sync.Once
	done  chan struct{}
}

func (l *link) Done() <-chan struct{} { return l.done }
func (l *link) Close() error          { l.close.Do(func() { close(l.done) }); return nil }

func (l *link) Here(_ context.Context, id string) bool {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	return slices.Contains(l.p.runs, id)
}

// call notes a call of a session.
func (l *link) call(what, id string) error {
	select {
	case <-l.done:
		return protocol.ErrConnection
	default:
	}
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	if id != "" && !slices.Contains(l.p.runs, id) {
		return hermes.ErrClosed
	}
	l.p.calls = append(l.p.calls, strings.TrimSpace(what+" "+id))
	return nil
}

func (l *link) Open(_ context.Context, _ hermes.From, run hermes.RunSpec) (protocol.SessionInfo, error) {
	return protocol.SessionInfo{ID: run.Session}, l.call("open", "")
}

func (l *link) Attach(_ context.Context, id string, _ hermes.From, _ protocol.After) (protocol.Snapshot, <-chan protocol.Envelope, error) {
	return protocol.Snapshot{}, nil, l.call("attach", id)
}

func (l *link) Do(_ context.Context, id string, _ hermes.From, _ hermes.Op) error {
	return l.call("do", id)
}

func (l *link) Command(_ context.Context, id string, _ hermes.From, _ string) error {
	return l.call("command", id)
}

func (l *link) History(_ context.Context, id string, _ hermes.Range) ([]hermes.Message, error) {
	if l.p.name == "me:1:0" {
		return nil, hermes.ErrNotFound
	}
	return nil, l.call("history", id)
}

func (l *link) Sessions(ctx context.Context, f protocol.Filter) ([]protocol.SessionInfo, error) {
	if l.p.hangs {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	var list []protocol.SessionInfo
	if f.Live {
		for _, id := range l.p.runs {
			list = append(list, protocol.SessionInfo{ID: id, Running: &protocol.Running{Owner: l.p.name, Here: true, State: protocol.StateWorking, Questions: 2}})
		}
		return list, nil
	}
	rows, err := l.w.store.ListSessions(ctx, hermes.SessionFilter{})
	for _, row := range rows {
		list = append(list, protocol.SessionInfo{ID: row.ID})
	}
	return list, err
}

var me = hermes.From{Client: "terminal 1", Platform: "cli"}

// everything calls all methods that name a session.
func everything(t *testing.T, c *router.Client, id string) {
	t.Helper()
	_, _, err := c.Attach(t.Context(), id, me, protocol.After{})
	_, historyErr := c.History(t.Context(), id, hermes.Range{})
	if err := errors.Join(err, historyErr, c.Do(t.Context(), id, me, hermes.Stop{}), c.Command(t.Context(), id, me, "/help")); err != nil {
		t.Error(id, err)
	}
}

func TestCallsGoToTheProcessOfTheSession(t *testing.T) {
	t.Parallel()
	w, c := newWorld(t, "mine")
	a, b := w.runs("A", "a1", "a2"), w.runs("B", "b1")
	for _, id := range []string{"a1", "b1", "a2"} {
		everything(t, c, id)
	}
	if err := c.Do(t.Context(), "mine", me, hermes.Stop{}); err != nil {
		t.Error(err)
	}
	all := func(id string) []string {
		return []string{"attach " + id, "history " + id, "do " + id, "command " + id}
	}
	for _, tt := range []struct {
		p    *process
		want []string
	}{{a, append(all("a1"), all("a2")...)}, {b, all("b1")}, {w.processes[""], []string{"do mine"}}} {
		if d := cmp.Diff(tt.want, tt.p.calls); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.p.name, d)
		}
	}
	slices.Sort(w.dialed)
	if d := cmp.Diff([]string{"A", "A", "B", "B"}, w.dialed); d != "" { // history has no frontend
		t.Errorf("connections (-want +got):\n%s", d)
	}
}

// TestNextOwnerIsFound when the one before has ended, has closed the session, or has given it away.
func TestNextOwnerIsFound(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*world){
		"it was killed": func(w *world) { w.ends("A"); w.runs("B", "s") },
		"it closed the session": func(w *world) {
			a := w.processes["A"]
			l := w.lease(a.name, "A", "s")
			a.runs = nil
			if err := w.store.Release(t.Context(), l); err != nil {
				t.Error(err)
			}
			w.runs("B", "s")
		},
	} {
		w, c := newWorld(t)
		w.runs("A", "s")
		everything(t, c, "s")
		change(w)
		everything(t, c, "s")
		if got := w.processes["B"].calls; len(got) != 4 {
			t.Errorf("%s: the next owner got %v", name, got)
		}
	}
}

// TestSessionWithoutAnOwnerIsClosed, so that a frontend opens it here.
func TestSessionWithoutAnOwnerIsClosed(t *testing.T) {
	t.Parallel()
	w, c := newWorld(t)
	w.runs("A", "s")
	everything(t, c, "s")
	w.ends("A")
	if _, _, err := c.Attach(t.Context(), "s", me, protocol.After{}); !errors.Is(err, hermes.ErrClosed) {
		t.Errorf("attach: %v", err)
	}
	if _, err := c.Open(t.Context(), me, hermes.RunSpec{Session: "s"}); err != nil {
		t.Errorf("open: %v", err)
	}
}

func TestOwnersThatCannotBeReached(t *testing.T) {
	t.Parallel()
	no := errors.New("only the user may do this")
	for name, tt := range map[string]struct {
		change func(*world)
		want   error
	}{
		"nothing listens":      {func(w *world) { delete(w.processes, "A") }, protocol.ErrConnection},
		"it refuses":           {func(w *world) { w.processes["A"].refuse = no }, no},
		"it does not listen":   {func(w *world) { w.lease("host:4711:A", "", "s") }, hermes.ErrLeased},
		"it is this process's": {func(w *world) { w.ends("A"); w.lease("me:1:0", "here", "s") }, hermes.ErrClosed},
	} {
		w, c := newWorld(t)
		w.runs("A", "s")
		tt.change(w)
		if err := c.Do(t.Context(), "s", me, hermes.Stop{}); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
}

// TestOpenSaysWhereASessionRuns, by each way to name it.
func TestOpenSaysWhereASessionRuns(t *testing.T) {
	t.Parallel()
	w, c := newWorld(t)
	w.runs("A", "s1")
	for _, ref := range []string{"s1", "title of s1"} {
		_, err := c.Open(t.Context(), me, hermes.RunSpec{Session: ref})
		e, ok := errors.AsType[*router.Elsewhere](err)
		if !ok || !errors.Is(err, hermes.ErrLeased) || e.Session != "s1" || e.Where != "terminal 4711 on host" || !strings.Contains(err.Error(), "`hermes attach s1`") {
			t.Errorf("%s: %v", ref, err)
		}
	}
	w.lease("host:4711:A", "", "s1")
	if _, err := c.Open(t.Context(), me, hermes.RunSpec{Session: "s1"}); err == nil || strings.Contains(err.Error(), "attach") {
		t.Errorf("one that does not listen: %v", err)
	}
	if calls := w.processes[""].calls; len(calls) > 0 {
		t.Errorf("this process was asked to %v", calls)
	}
}

// TestListSaysWhatRunsWhere, also if a process is slow or gone.
func TestListSaysWhatRunsWhere(t *testing.T) {
	t.Parallel()
	w, c := newWorld(t, "mine")
	w.runs("A", "a")
	w.runs("B", "b").hangs = true
	w.runs("C", "c")
	delete(w.processes, "C")
	if err := w.store.CreateSession(t.Context(), hermes.Session{ID: "old", Started: time.Unix(1, 0)}); err != nil {
		t.Fatal(err)
	}
	for _, live := range []bool{false, true} {
		list, err := c.Sessions(t.Context(), protocol.Filter{Live: live})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]protocol.Running{}
		for _, s := range list {
			if s.Running != nil {
				got[s.ID] = *s.Running
			}
		}
		want := map[string]protocol.Running{
			"a": {Owner: "host:4711:A", Address: "A", State: protocol.StateWorking, Questions: 2},
			"b": {Owner: "host:4711:B", Address: "B"},
			"c": {Owner: "host:4711:C", Address: "C"},
		}
		if live {
			want["mine"] = protocol.Running{Owner: "me:1:0", Here: true, State: protocol.StateWorking, Questions: 2}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("live %v (-want +got):\n%s", live, d)
		}
		if has := slices.ContainsFunc(list, func(s protocol.SessionInfo) bool { return s.ID == "old" }); has == live {
			t.Errorf("live %v: the list has a session that does not run: %v", live, has)
		}
	}
}

// TestConnectionsEndWithTheClient.
func TestConnectionsEndWithTheClient(t *testing.T) {
	t.Parallel()
	w, c := newWorld(t)
	a := w.runs("A", "s")
	everything(t, c, "s")
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	for _, l := range a.links {
		select {
		case <-l.done:
		default:
			t.Error("a connection is still open")
		}
	}
}

// TestAProcessThatHangsHoldsNobodyUp: all that waits for it ends with its context, the list of
// sessions after its 300 ms, and other processes answer meanwhile.
func TestAProcessThatHangsHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, c := newWorld(t, "mine")
		w.runs("A", "a").silent = true
		w.runs("B", "b")
		took := func(what string, within time.Duration, f func(context.Context) error) {
			t.Helper()
			begun := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if err := f(ctx); time.Since(begun) > within {
				t.Errorf("%s took %v, %v", what, time.Since(begun), err)
			}
		}
		var waiting sync.WaitGroup
		for _, from := range []hermes.From{me, {}} { // history has no frontend, as the list has none
			waiting.Go(func() { _ = c.Do(t.Context(), "a", from, hermes.Stop{}) })
		}
		synctest.Wait()
		took("the list", 300*time.Millisecond, func(ctx context.Context) error {
			_, err := c.Sessions(ctx, protocol.Filter{})
			return err
		})
		took("attach", time.Second, func(ctx context.Context) error {
			_, _, err := c.Attach(ctx, "a", me, protocol.After{})
			return err
		})
		took("history", time.Second, func(ctx context.Context) error {
			_, err := c.History(ctx, "a", hermes.Range{})
			return err
		})
		took("other sessions", 0, func(ctx context.Context) error {
			return errors.Join(c.Do(ctx, "b", me, hermes.Stop{}), c.Do(ctx, "mine", me, hermes.Stop{}))
		})
		took("close", 0, func(context.Context) error { return c.Close() })
		waiting.Wait()
	})
}
