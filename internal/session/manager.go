package session

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"hermes"
	"hermes/internal/agent"
	"hermes/internal/session/jobs"
	"hermes/internal/session/turn"
)

// Manager holds the live sessions of a process. Its methods may be called
// concurrently. Close ends them all.
type Manager struct {
	cfg      Config
	mu       sync.Mutex
	live     map[string]*liveSession
	closed   bool
	closing  jobs.Closing
	children int  // running child sessions; guarded by mu
	paused   bool // no child session begins; guarded by mu
	// attended says that a user attended a session.
	attended atomic.Bool
}

// NewManager returns a manager without sessions. It does no I/O.
func NewManager(cfg Config) *Manager {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Manager{cfg: cfg, live: map[string]*liveSession{}}
}

// Open says which session to open. If Run names one, it is a stored one;
// otherwise it is a new one, which is stored with its first message.
type Open struct {
	Run hermes.RunSpec
	// Title is the title of a new session.
	Title string
	// From is the frontend that opens it. If its user can be asked, it has a moment to
	// attach: without an attached frontend whose user is there, every approval is refused.
	From hermes.From
	// Waiting, if set, is called with a sentence that says what Open waits for.
	// If several callers open the same session, only the one that starts it
	// gets the calls.
	Waiting func(string)
	// parent is that of a child session, whose steps come from the budget; done gets the
	// outcome of its turn. misfit says what is wrong with its answer, "" if nothing is; nil accepts all.
	parent *Session
	budget *agent.Budget
	done   chan<- hermes.TurnDone
	misfit func(answer string) string
}

// Open returns the live session, or starts it if it is not live. If another
// process runs the session, the error wraps ErrLeased.
func (m *Manager) Open(ctx context.Context, o Open) (*Session, error) {
	if err := o.Run.Rights.Mode.Check(); err != nil {
		return nil, err
	}
	if o.From.Attends {
		m.attended.Store(true)
	}
	row, err := m.rowOf(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := m.cfg.halted(); err != nil && !m.isLive(row.ID) {
		return nil, err
	}
	for {
		p, ours, err := m.claim(row.ID)
		if err != nil {
			return nil, err
		}
		if ours {
			return m.start(ctx, o, row, p)
		}
		if s, err := p.join(ctx, o); !errors.Is(err, hermes.ErrClosed) {
			return s, err
		}
	}
}

// start starts the session of an entry.
func (m *Manager) start(ctx context.Context, o Open, row hermes.Session, p *liveSession) (*Session, error) {
	defer close(p.ready)
	s, err := m.newSession(ctx, o, row)
	if err != nil {
		m.forget(row.ID, p)
		if p.err = err; ctx.Err() != nil {
			p.err = hermes.ErrClosed // whoever waits may still want it
		}
		return nil, err
	}
	p.session = s
	go func() { // ends with the session, which Close waits for
		defer close(s.done)
		s.live()
		m.forget(row.ID, p)
	}()
	return s, nil
}

// liveSession is the entry of a session that is live or being started.
type liveSession struct {
	ready   chan struct{} // closed when session or err is set
	session *Session
	err     error
}

// join returns the live session to another caller. A session that wants it as its child is refused. If the
// session is ending, join waits for that and returns hermes.ErrClosed.
func (p *liveSession) join(ctx context.Context, o Open) (*Session, error) {
	select {
	case <-p.ready:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if p.err != nil {
		return nil, p.err
	}
	err := p.session.call(ctx, func() error {
		if p.session.ending() {
			return hermes.ErrClosed
		}
		if o.parent != nil { // a child belongs to the session that started it in this process
			return fmt.Errorf("session %s is open in a frontend of its own already; close it there, then continue", p.session.id)
		}
		if asked, has := o.Run.Rights.Mode, p.session.Mode(); asked != "" && has.Narrower(asked) != has {
			return fmt.Errorf("session %s is open already, in the mode %s, which allows more than %s; first change it there with /mode %s", p.session.id, has, asked, asked)
		}
		p.session.feed.expect(o.From)
		return nil
	})
	if errors.Is(err, hermes.ErrClosed) {
		select {
		case <-p.session.done:
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	if err != nil {
		return nil, err
	}
	return p.session, nil
}

// claim returns the entry of a session. If ours is true, it is new and the
// caller must fill it.
func (m *Manager) claim(id string) (p *liveSession, ours bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, false, hermes.ErrClosed
	}
	if p, ok := m.live[id]; ok {
		return p, false, nil
	}
	p = &liveSession{ready: make(chan struct{})}
	m.live[id] = p
	return p, true, nil
}

// rowOf finds the row of an old session, or makes the one of a new session.
func (m *Manager) rowOf(ctx context.Context, o Open) (hermes.Session, error) {
	if o.Run.Session == "" {
		origin, stored := o.Run.Origin, o.Run.Stored()
		if o.parent == nil && m.cfg.Workspace != nil {
			var err error
			if stored.Workspace, err = m.cfg.Workspace(o.Run); err != nil {
				return hermes.Session{}, err
			}
		}
		stored.Plan = o.Run.Rights.Mode == hermes.ModePlan
		return hermes.Session{
			ID: NewID(m.cfg.Now()), Platform: cmp.Or(origin.Label, origin.Platform), User: origin.User, Title: o.Title, Parent: origin.Parent,
			Dir: o.Run.Workspace.Dir, Model: o.Run.Model.Ref, Started: m.cfg.Now(), Provenance: origin.Provenance, Run: stored,
		}, nil
	}
	row, err := m.cfg.Store.FindSession(ctx, o.Run.Session)
	if err != nil {
		return row, err
	}
	if err := unchanged(o.Run, row); err != nil {
		return row, err
	}
	if most := m.cfg.MaxResume; most > 0 && row.Messages > most && !m.isLive(row.ID) {
		return row, fmt.Errorf("session %s is too long to resume: it has %d messages, and sessions.max_resume_messages is %d; "+
			"start a new session, or raise the limit with `hermes config set sessions.max_resume_messages %d`", row.ID, row.Messages, most, 2*row.Messages)
	}
	return row, nil
}

// Attended reports whether a user attends, or attended, a session of this manager.
func (m *Manager) Attended() bool { return m.attended.Load() }

// isLive reports whether a session is live: its messages are in memory anyway.
func (m *Manager) isLive(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.live[id] != nil
}

// newSession returns the actor of a session; the caller starts it.
func (m *Manager) newSession(ctx context.Context, o Open, row hermes.Session) (*Session, error) {
	s := &Session{
		cfg: &m.cfg, id: row.ID, workspace: runOf(o.Run, row).Workspace, manager: m, kin: kin{parent: o.parent, budget: o.budget, over: o.done, misfit: o.misfit},
		feed: newFeed(row.ID, m.cfg.Now, o.parent), inbox: make(chan request), closing: make(chan struct{}), done: make(chan struct{}),
	}
	s.mode.Store(m.beginMode(o.Run, row, o.parent != nil))
	s.mode.shown = s.Mode()
	s.feed.opens = o.From.Client
	s.feed.expect(o.From)
	s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	s.actor = actor{
		record: turn.NewRecord(m.cfg.Store, m.cfg.Owner, m.cfg.Now, row, o.Run.Session != ""),
		run:    runOf(o.Run, row), notify: o.Waiting, model: choice{effort: o.Run.Model.Effort},
		questions: questions{open: map[string]*question{}}, jobs: jobs.NewRunner(owner{s}, s.post, m.cfg.Log),
	}
	s.jobs.HaltWhile(func() bool { return m.cfg.halted() != nil })
	if !s.record.Stored() {
		return s, nil
	}
	wanted := context.AfterFunc(ctx, s.cancel) // Ctrl+C ends it
	err := s.resume()
	if !wanted() {
		err = cmp.Or(err, context.Cause(ctx))
	}
	if err != nil {
		_ = s.free() // the first error says what went wrong
		s.cancel()
		return nil, err
	}
	return s, nil
}

// resume makes a stored session ready to continue where it stopped. It runs in the goroutine of
// whoever opens the session.
func (s *Session) resume() error {
	if err := s.record.Persist(s.ctx); err != nil {
		return err
	}
	s.feed.renumber(s.record.Lease().Fence)
	if err := s.record.CloseQuestions(s.ctx); err != nil {
		return err
	}
	if err := s.record.Read(s.ctx); err != nil { // with the lease: no one adds to it any more
		return err
	}
	if err := s.adoptRun(); err != nil {
		return err
	}
	var err error
	if s.specs, err = turn.DecodeSpecs(s.record.Row.Tools); err != nil {
		return err
	}
	p := s.prepare(nil)
	if err := p.makeRuntime(s.ctx); err != nil {
		return err
	}
	if err := s.adopt(p); err != nil {
		return err
	}
	if s.runtime.Follower != nil {
		if err := s.record.Restore(s.ctx, s.runtime.Follower.Restore); err != nil {
			return err
		}
	}
	if !s.record.Row.Ended.IsZero() {
		if err := s.record.Update(s.ctx, hermes.SessionChange{Reopen: true}); err != nil {
			return err
		}
	}
	if err := s.loadQueue(); err != nil {
		return err
	}
	if err := s.resumeTurn(); err != nil {
		return err
	}
	if err := s.recover(); err != nil {
		return err
	}
	s.loadChildren()
	s.jobs.Rest(nil)
	return nil
}

// rerunTime limits a call that runs again when a session is resumed.
const rerunTime = 10 * time.Second

// recover adds results for the calls that an earlier process left open. A question to the user
// stays open, with the calls after it, until the user continues or says something else.
func (s *Session) recover() error {
	err := s.record.CloseCalls(s.ctx, s.runtime.Tools, true, func(c hermes.ToolCall, begun bool) hermes.Message {
		ctx, cancel := context.WithTimeout(s.ctx, rerunTime)
		defer cancel()
		if s.notify != nil {
			s.notify(fmt.Sprintf("%s was cut off and runs again; this may take up to %v", c.Name, rerunTime))
		}
		var journaled []string
		if begun {
			journaled = append(journaled, c.ID)
		}
		calls := turn.NewCalls(s.lent(s.budget.Child(s.steps())), s.ref(s.record.LastTurn()), journaled...)
		return hermes.ToolMessage(c, agent.RunCall(ctx, s.runtime.Tools, calls.Host, c))
	}, nil)
	s.cut = s.record.Unanswered() || s.waiting()
	return err
}

// Wake sends a live session a message from the program, for example when a background process
// has ended. It does not wait. A session that is not live gets nothing.
func (m *Manager) Wake(session, text string) {
	m.mu.Lock()
	p := m.live[session]
	m.mu.Unlock()
	if p == nil {
		return
	}
	go func() { // ends when the session has taken the message or is closed
		if <-p.ready; p.err != nil {
			return
		}
		say := hermes.Say{Parts: []hermes.Part{{Text: text, Provenance: "a background process"}}, Busy: hermes.BusyQueue, Synthetic: true}
		if err := p.session.Do(context.Background(), hermes.From{}, say); err != nil && !errors.Is(err, hermes.ErrClosed) && !errors.Is(err, hermes.ErrInterrupted) {
			m.cfg.Log.Warn("send a message to the session", "session", session, "err", err)
		}
	}()
}

// Get returns a session that is live, or hermes.ErrClosed.
func (m *Manager) Get(ctx context.Context, id string) (*Session, error) {
	m.mu.Lock()
	p := m.live[id]
	m.mu.Unlock()
	if p == nil {
		return nil, hermes.ErrClosed
	}
	select {
	case <-p.ready:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if p.err != nil {
		return nil, hermes.ErrClosed
	}
	return p.session, nil
}

// Live returns the sessions that are live.
func (m *Manager) Live() []*Session {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []*Session
	for _, p := range m.live {
		select {
		case <-p.ready:
			if p.session != nil {
				list = append(list, p.session)
			}
		default:
		}
	}
	return list
}

func (m *Manager) forget(id string, p *liveSession) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.live[id] == p {
		delete(m.live, id)
	}
}

// Close ends all sessions and their background jobs and waits for them. The
// manager opens no sessions afterwards.
func (m *Manager) Close() error {
	m.mu.Lock()
	m.closed = true
	all := slices.Collect(maps.Values(m.live))
	m.mu.Unlock()
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, p := range all {
		wg.Go(func() {
			if <-p.ready; p.session != nil {
				errs[i] = p.session.Close()
			}
		})
	}
	wg.Wait()
	m.closing.Wait()
	return errors.Join(errs...)
}

// NewID returns a new session id: the start time in seconds and a random
// suffix.
func NewID(now time.Time) string {
	var tail [3]byte
	_, _ = rand.Read(tail[:]) // never fails, by its contract
	return fmt.Sprintf("%s_%s", now.Format("20060102_150405"), hex.EncodeToString(tail[:]))
}
