package mcpserver

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"hermes"
	"hermes/internal/lru"
	"hermes/internal/order"
)

// The kinds of events.
const (
	eventMessage   = "message"
	eventRequested = "approval_requested"
	eventResolved  = "approval_resolved"
)

// event is something that happened since the server started.
type event struct {
	Cursor       int64     `json:"cursor"`
	Type         string    `json:"type" jsonschema:"message, approval_requested or approval_resolved"`
	Conversation string    `json:"conversation_id"`
	Time         time.Time `json:"time,omitzero"`
	Message      *message  `json:"message,omitempty"`
	Approval     *approval `json:"approval,omitempty"`
	Resolved     *resolved `json:"resolved,omitempty"`
}

// resolved says what became of an approval.
type resolved struct {
	ID       string `json:"permission_id"`
	Decision string `json:"decision" jsonschema:"once, session, always, denied, or closed without an answer"`
	By       string `json:"by,omitempty"`
}

// The limits of the feed.
const (
	maxEvents  = 1_000     // kept
	maxKept    = 2_000_000 // bytes of their texts
	maxScanned = 200       // messages of a session that are read at once
	maxKnown   = 4_096     // sessions whose last message is remembered
)

// overlap is how far a scan looks back beyond the newest message that the last one saw: what is
// stored last need not be the newest.
const overlap = 10 * time.Second

// feed is the queue of events. It is filled by looking at the database when a client asks, so
// that it costs nothing while none does. Its methods may be called concurrently.
type feed struct {
	s *Server

	mu     sync.Mutex
	events []event
	size   int
	cursor int64 // of the newest event
	start  time.Time
	seen   time.Time                      // of the newest message
	last   *lru.Map[string, int64]        // the newest message of a session
	asked  map[permission]struct{}        // the open approvals
	closed time.Time                      // of the approval that was closed last
	looked time.Time                      // when questions were read last
	told   *lru.Map[permission, struct{}] // what became of it is an event
}

// permission names an approval.
type permission struct{ session, id string }

func newFeed(s *Server) *feed {
	now := s.cfg.Now()
	return &feed{s: s, start: now, seen: now, last: lru.New[string, int64](maxKnown), asked: map[permission]struct{}{}, closed: now, looked: now, told: lru.New[permission, struct{}](maxKnown)}
}

// batch is what a client gets of the feed.
type batch struct {
	Events []event `json:"events"`
	Next   int64   `json:"next_cursor" jsonschema:"pass it as after_cursor the next time"`
	// Lost is how many events after the cursor are gone.
	Lost int64 `json:"lost,omitempty" jsonschema:"so many events were dropped before these: read the conversations again"`
	// Restarted says that the cursor is of an earlier server.
	Restarted bool `json:"restarted,omitempty" jsonschema:"the cursor was of an earlier server: these are all events of this one"`
	More      bool `json:"more,omitempty" jsonschema:"there are more now"`
}

// after looks at the database and returns the events after a cursor.
func (f *feed) after(ctx context.Context, cursor int64, limit int) (batch, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.scan(ctx); err != nil {
		return batch{}, err
	}
	b := batch{Events: []event{}, Next: f.cursor}
	if cursor = max(cursor, 0); cursor > f.cursor {
		cursor, b.Restarted = 0, true
	}
	first := f.cursor - int64(len(f.events)) // the cursor before the oldest one that is kept
	b.Lost = max(first-cursor, 0)
	rest := f.events[max(cursor-first, 0):]
	if len(rest) > limit {
		rest, b.More = rest[:limit], true
	}
	size := 0
	for _, e := range rest {
		if size += sizeOf(e); size > maxPage && len(b.Events) > 0 {
			b.More = true
			break
		}
		b.Events = append(b.Events, e)
	}
	if n := len(b.Events); n > 0 {
		b.Next = b.Events[n-1].Cursor
	}
	return b, nil
}

func (f *feed) add(e event) {
	f.cursor++
	e.Cursor = f.cursor
	f.events, f.size = append(f.events, e), f.size+sizeOf(e)
	drop := 0
	for len(f.events)-drop > maxEvents || f.size > maxKept && drop < len(f.events)-1 {
		f.size -= sizeOf(f.events[drop])
		drop++
	}
	if drop > 0 {
		f.events = slices.Clone(f.events[drop:])
	}
}

// sizeOf is about how many bytes of text an event has.
func sizeOf(e event) (n int) {
	if m := e.Message; m != nil {
		n += len(m.Text)
		for _, c := range m.Calls {
			n += len(c.Arguments)
		}
	}
	if a := e.Approval; a != nil {
		n += len(a.Subject) + len(a.Detail)
	}
	return n
}

// scan adds what was stored since the last scan. After an error, what was found before it is kept.
func (f *feed) scan(ctx context.Context) error {
	var found []event
	err := f.messages(ctx, &found)
	if err == nil {
		err = f.approvals(ctx, &found)
	}
	order.By(found, func(a, b event) int { return a.Time.Compare(b.Time) })
	for _, e := range found {
		f.add(e)
	}
	return err
}

// messages finds new messages of the user and of the agent.
func (f *feed) messages(ctx context.Context, found *[]event) error {
	from := f.seen.Add(-overlap)
	rows, err := f.s.cfg.Store.ListSessions(ctx, hermes.SessionFilter{After: from, Exclude: []string{hermes.PlatformChild}, Archived: true, Limit: -1})
	if err != nil {
		return err
	}
	newest := f.seen
	for _, row := range rows {
		last, known := f.last.Get(row.ID)
		list, whole, err := f.unseen(ctx, row.ID, last, from)
		if err != nil {
			return err
		}
		if !whole {
			f.drop()
		}
		for _, m := range list {
			last = max(last, m.ID)
			old := m.Time.Before(f.start) || !known && m.Time.Before(from)
			if old || m.Role == hermes.RoleTool {
				continue
			}
			shown := f.s.message(m, 0, maxEvent)
			*found = append(*found, event{Type: eventMessage, Conversation: row.ID, Time: m.Time, Message: &shown})
		}
		f.last.Put(row.ID, last)
		if row.Active.After(newest) {
			newest = row.Active
		}
	}
	f.seen = newest
	return nil
}

// unseen returns the messages of a session after one, and no more than needed of those before a
// time. whole is false if there are more than the queue holds.
func (f *feed) unseen(ctx context.Context, session string, after int64, from time.Time) (list []hermes.Message, whole bool, err error) {
	r := hermes.Range{After: after, Last: maxScanned}
	for len(list) < maxEvents {
		page, err := f.s.cfg.Store.Messages(ctx, session, r)
		if err != nil {
			return nil, false, err
		}
		list = slices.Concat(page, list)
		if len(page) < maxScanned || page[0].Time.Before(from) {
			return list, true, nil
		}
		r.Before = page[0].ID
	}
	return list, false, nil
}

// drop says that events are missing from here on.
func (f *feed) drop() {
	f.cursor++
	f.events, f.size = nil, 0
}

// approvals finds approvals that were asked or closed, also those that were both since the last
// look.
func (f *feed) approvals(ctx context.Context, found *[]event) error {
	from := f.closed.Add(-overlap)
	if from.Before(f.start) {
		from = f.start
	}
	now := f.s.cfg.Now()
	list, err := f.s.cfg.Store.OpenQuestions(ctx, hermes.QuestionFilter{ClosedSince: from})
	if err != nil {
		return err
	}
	news := f.news(list) // of all kinds, as the store counts them
	if list, err = f.s.approvals(ctx, list); err != nil {
		return err
	}
	f.looked = now
	if news >= hermes.NewestQuestions {
		f.drop() // there may be more of them
	}
	open := map[permission]struct{}{}
	for _, q := range list {
		key := permission{q.Session, q.Asked.ID}
		if q.Closed.IsZero() {
			open[key] = struct{}{}
		} else if _, told := f.told.Get(key); told {
			continue
		}
		if _, known := f.asked[key]; !known {
			shown := f.s.approval(q, maxEvent)
			*found = append(*found, event{Type: eventRequested, Conversation: q.Session, Time: q.Asked.At, Approval: &shown})
		}
		if !q.Closed.IsZero() {
			f.resolve(key, q, found)
		}
	}
	for key := range f.asked {
		if _, still := open[key]; still {
			continue
		}
		q, err := f.s.cfg.Store.FindQuestion(ctx, key.session, key.id)
		if err != nil {
			q = hermes.StoredQuestion{}
		}
		f.resolve(key, q, found)
	}
	f.asked = open
	return nil
}

// news counts the questions that were asked since the last look.
func (f *feed) news(list []hermes.StoredQuestion) (n int) {
	for _, q := range list {
		key := permission{q.Session, q.Asked.ID}
		_, known := f.asked[key]
		_, told := f.told.Get(key)
		if !known && !told && !q.Asked.At.Before(f.looked.Add(-overlap)) {
			n++
		}
	}
	return n
}

// resolve says what became of an approval. That of a process that has ended may not be closed.
func (f *feed) resolve(key permission, q hermes.StoredQuestion, found *[]event) {
	end := resolved{ID: key.id, Decision: "closed"}
	if q.Answered {
		end.Decision, end.By = string(q.Reply.Approval.Decision), f.s.cfg.Mask.Text(q.By.String())
	}
	if q.Closed.After(f.closed) {
		f.closed = q.Closed
	}
	*found = append(*found, event{Type: eventResolved, Conversation: key.session, Time: cmp.Or(q.Closed, f.s.cfg.Now()), Resolved: &end})
	f.told.Put(key, struct{}{})
	delete(f.asked, key)
}
