package turn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"hermes"
)

// LeaseTime is how long a lease is valid. It is to be renewed after a third of that.
const LeaseTime = 60 * time.Second

// keepIdle is how many messages a session without a turn keeps in memory.
const keepIdle = 200

// Record is what is stored of a session: its row, its lease and its transcript.
// Whatever changes it is stored before it counts. It belongs to the session's
// goroutine.
type Record struct {
	Row hermes.Session
	// Last is the usage of the last answered request, and Counted how many messages
	// of the transcript it covers.
	Last    hermes.Usage
	Counted int

	store  hermes.Store
	owner  hermes.Owner // of the lease
	now    func() time.Time
	stored bool
	lease  *atomic.Pointer[hermes.Lease] // one without a fence is none; the calls of a turn read it

	messages []hermes.Message
	skipped  int    // older messages that only the store has
	from     string // their provenance
}

// NewRecord returns the record of a session without its messages. stored says that the
// store has its row; see [Record.Read].
func NewRecord(store hermes.Store, owner hermes.Owner, now func() time.Time, row hermes.Session, stored bool) *Record {
	return &Record{Row: row, store: store, owner: owner, now: now, stored: stored, lease: &atomic.Pointer[hermes.Lease]{}}
}

// Read reads the row and the whole transcript of a stored session.
func (r *Record) Read(ctx context.Context) (err error) {
	if r.Row, err = r.store.FindSession(ctx, r.Row.ID); err != nil {
		return err
	}
	r.messages, err = r.Reader()(ctx)
	r.Last, r.Counted = lastCount(r.messages)
	return err
}

// Stored reports whether the session has a row.
func (r *Record) Stored() bool { return r.stored }

// Lease returns the lease; without one its fence is 0.
func (r *Record) Lease() hermes.Lease { return held(r.lease) }

func held(l *atomic.Pointer[hermes.Lease]) hermes.Lease {
	if l := l.Load(); l != nil {
		return *l
	}
	return hermes.Lease{}
}

// Persist makes sure that the session has a row and that this process has its lease. A
// new session gets its row with its first message, so that one that was only opened is
// not stored.
func (r *Record) Persist(ctx context.Context) error {
	if !r.stored {
		r.Row.Started = r.now()
		if err := r.store.CreateSession(ctx, r.Row); err != nil {
			return err
		}
		r.stored = true
	}
	if r.Lease().Fence > 0 {
		return nil
	}
	l, err := r.store.Acquire(ctx, r.Row.ID, r.owner, LeaseTime)
	if errors.Is(err, hermes.ErrLeased) {
		return leased{r.Row.ID, err}
	}
	if err == nil {
		r.lease.Store(&l)
	}
	return err
}

// leased is the error of a session that another process runs, worded for the
// user. The cause names that process and the time.
type leased struct {
	id    string
	cause error
}

func (e leased) Error() string {
	return fmt.Sprintf("session %s is open in another Hermes process; close it there, or start a new session", e.id)
}

func (e leased) Unwrap() error { return e.cause }

// Renew renews the lease, if there is one. A lease that has expired, for example while
// the machine slept, is taken again if no other process had it meanwhile; otherwise the
// error is hermes.ErrStaleLease.
func (r *Record) Renew(ctx context.Context) error {
	old := r.Lease()
	if old.Fence == 0 {
		return nil
	}
	l, err := r.store.Renew(ctx, old, LeaseTime)
	if errors.Is(err, hermes.ErrStaleLease) {
		l, err = r.store.Acquire(ctx, r.Row.ID, r.owner, LeaseTime)
		if err == nil && l.Fence != old.Fence+1 { // another process had it: our state is out of date
			_ = r.store.Release(ctx, l) // it expires anyway
			err = hermes.ErrStaleLease
		}
		if err != nil {
			return fmt.Errorf("%w: %w", hermes.ErrStaleLease, err)
		}
	}
	if err == nil {
		r.lease.Store(&l)
	}
	return err
}

// Lose forgets the lease: another process has it.
func (r *Record) Lose() { r.lease.Store(&hermes.Lease{Session: r.Row.ID}) }

// Release marks the session as ended, so that retention counts its age, and ends the
// lease. A resume opens it again.
func (r *Record) Release(ctx context.Context) error {
	l := r.Lease()
	if l.Fence == 0 {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	return errors.Join(r.store.UpdateSession(ctx, r.Row.ID, hermes.SessionChange{End: "closed"}), r.store.Release(ctx, l))
}

// Update changes the row of a session that is stored. Otherwise its first message
// stores it.
func (r *Record) Update(ctx context.Context, c hermes.SessionChange) error {
	if !r.stored {
		return nil
	}
	return r.store.UpdateSession(ctx, r.Row.ID, c)
}

// Append stores a message and only then makes it part of the transcript. The message
// gets its id and time. The rest of the change is stored with it.
func (r *Record) Append(ctx context.Context, m *hermes.Message, c hermes.Change) error {
	if m.Time.IsZero() {
		m.Time = r.now()
	}
	c.Append = []hermes.Message{*m}
	done, err := r.store.Commit(context.WithoutCancel(ctx), r.Lease(), c)
	if err != nil {
		return err
	}
	m.ID = done.IDs[0]
	r.messages = append(r.messages, *m)
	r.Row.Usage = r.Row.Usage.Add(c.Usage)
	return nil
}

// AddUsage adds to the usage of the session.
func (r *Record) AddUsage(ctx context.Context, u hermes.Usage) error {
	if u == (hermes.Usage{}) {
		return nil
	}
	r.Row.Usage = r.Row.Usage.Add(u)
	_, err := r.store.Commit(context.WithoutCancel(ctx), r.Lease(), hermes.Change{Usage: u})
	return err
}

// LastSaid returns the last message of the user; ok is false if there is none.
func (r *Record) LastSaid(ctx context.Context) (m hermes.Message, ok bool, err error) {
	if err := r.Load(ctx); err != nil {
		return m, false, err
	}
	for _, m := range slices.Backward(r.messages) {
		if m.Role == hermes.RoleUser && !m.Synthetic {
			return m, true, nil
		}
	}
	return m, false, nil
}

// Rewind removes a message of the transcript and everything after it.
func (r *Record) Rewind(ctx context.Context, id int64) error {
	if err := r.Load(ctx); err != nil {
		return err
	}
	if err := r.store.Rewind(ctx, r.Lease(), id); err != nil {
		return err
	}
	i := slices.IndexFunc(r.messages, func(m hermes.Message) bool { return m.ID == id })
	r.messages = slices.Clip(r.messages[:i])
	r.Last, r.Counted = lastCount(r.messages)
	return nil
}

// Replace undoes a message and everything after it, 0 none, and makes undone messages part of
// the transcript again; see [hermes.Transcript].
func (r *Record) Replace(ctx context.Context, from int64, back []int64) error {
	if err := r.store.Rewind(ctx, r.Lease(), from, back...); err != nil {
		return err
	}
	list, err := r.Reader()(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	r.messages, r.skipped, r.from = list, 0, ""
	r.Last, r.Counted = lastCount(list)
	return nil
}

// CloseUnanswered appends an answer to a last user message that has none.
func (r *Record) CloseUnanswered(ctx context.Context) error {
	n := len(r.messages)
	if n == 0 || r.messages[n-1].Role != hermes.RoleUser {
		return nil
	}
	m := hermes.Message{Role: hermes.RoleAssistant, Turn: r.messages[n-1].Turn, Parts: []hermes.Part{{Text: unanswered}}, Synthetic: true}
	return r.Append(ctx, &m, hermes.Change{})
}

// unanswered is stored where a turn ended without an answer, so that user and
// assistant messages alternate.
const unanswered = "[No answer came to this message: the turn was cut off.]"

// Messages returns the transcript, or the newest part of it; see [Record.Load]. It must
// not be changed.
func (r *Record) Messages() []hermes.Message { return slices.Clip(r.messages) }

// Whole reports whether the whole transcript is in memory.
func (r *Record) Whole() bool { return r.skipped == 0 }

// Count returns how many messages the transcript has.
func (r *Record) Count() int { return r.skipped + len(r.messages) }

// LastTime returns when the newest message was stored; zero if there is none.
func (r *Record) LastTime() time.Time {
	if len(r.messages) == 0 {
		return time.Time{}
	}
	return r.messages[len(r.messages)-1].Time
}

// LastID returns the id of the newest message, 0 if there is none.
func (r *Record) LastID() int64 {
	if len(r.messages) == 0 {
		return 0
	}
	return r.messages[len(r.messages)-1].ID
}

// Empty reports whether the session has no messages.
func (r *Record) Empty() bool { return len(r.messages) == 0 }

// Reader returns a func that reads the whole transcript as it is stored. Any goroutine
// may call it.
func (r *Record) Reader() func(ctx context.Context) ([]hermes.Message, error) {
	store, id := r.store, r.Row.ID
	return func(ctx context.Context) ([]hermes.Message, error) { return store.Messages(ctx, id, hermes.Range{}) }
}

// Load makes sure that the whole transcript is in memory.
func (r *Record) Load(ctx context.Context) error {
	if r.Whole() {
		return nil
	}
	list, err := r.Reader()(ctx)
	if err != nil {
		return err
	}
	return r.Fill(list)
}

// Fill takes a transcript that Reader has read.
func (r *Record) Fill(list []hermes.Message) error {
	if r.Whole() {
		return nil
	}
	if n, m := len(list), len(r.messages); n == 0 || m == 0 || list[n-1].ID != r.messages[m-1].ID {
		return errors.New("the stored conversation has changed; open it again")
	}
	r.messages, r.skipped, r.from = list, 0, ""
	return nil
}

// Trim keeps the newest messages in memory, the others in the store. A turn loads them
// again.
func (r *Record) Trim() {
	old := len(r.messages) - keepIdle
	if old <= 0 {
		return
	}
	for _, m := range r.messages[:old] {
		r.from = hermes.AddProvenance(r.from, m.Provenance)
	}
	r.skipped += old
	r.messages = slices.Clone(r.messages[old:])
}

// LastTurn returns the number of the newest turn.
func (r *Record) LastTurn() int64 {
	if len(r.messages) == 0 {
		return r.Row.Turns
	}
	return max(r.Row.Turns, r.messages[len(r.messages)-1].Turn)
}

// Provenance returns the sources of untrusted text in the session's context: those it
// began with and those of its messages.
func (r *Record) Provenance() string {
	all := r.from
	for i := range r.messages {
		if from := r.messages[i].Provenance; from != "" {
			all = hermes.AddProvenance(all, from)
		}
	}
	return hermes.AddProvenance(r.Row.Provenance, all)
}

// Unanswered reports whether the transcript ends without an answer.
func (r *Record) Unanswered() bool {
	n := len(r.messages)
	return n > 0 && r.messages[n-1].Role != hermes.RoleAssistant
}

// Waiting reports whether the transcript ends with calls that have no result.
func (r *Record) Waiting() bool { return len(hermes.OpenCalls(r.messages)) > 0 }

// SavePending stores what a begun call waits for.
func (r *Record) SavePending(ctx context.Context, call string, p hermes.PendingCall) error {
	return r.store.SavePending(context.WithoutCancel(ctx), r.Lease(), call, p)
}

// SaveQuestion stores a question, its answer, or that it is closed.
func (r *Record) SaveQuestion(ctx context.Context, q hermes.StoredQuestion) error {
	q.Session = r.Row.ID
	return r.store.SaveQuestion(context.WithoutCancel(ctx), r.Lease(), q)
}

// CloseQuestions closes the open questions of the session without an answer, also those of the
// process that had it before.
func (r *Record) CloseQuestions(ctx context.Context) error {
	if r.Lease().Fence == 0 {
		return nil // another process has it, and has closed them
	}
	return r.store.CloseQuestions(context.WithoutCancel(ctx), r.Lease())
}
