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
	"hermes/internal/session/jobs"
)

// Manager holds the live sessions of a process. Its methods may be called
// concurrently. Close ends them all.
type Manager struct {
	cfg     Config
	mu      sync.Mutex
	live    map[string]*liveSession
	closed  bool
	closing jobs.Closing
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
	// Attended says that the caller is a frontend whose user is there to answer
	// questions, as long as the session is live. Without such a frontend, every
	// approval is refused.
	Attended bool
	// Waiting, if set, is called with a sentence that says what Open waits for.
	// If several callers open the same session, only the one that starts it
	// gets the calls.
	Waiting func(string)
}

// Open returns the live session, or starts it if it is not live. If another
// process runs the session, the error wraps ErrLeased.
func (m *Manager) Open(ctx context.Context, o Open) (*Session, error) {
	if err := supported(o.Run.Rights.Mode); err != nil {
		return nil, err
	}
	if o.Attended {
		m.attended.Store(true)
	}
	row, transcript, err := m.load(ctx, o)
	if err != nil {
		return nil, err
	}
	p, ours, err := m.claim(row.ID)
	if err != nil {
		return nil, err
	}
	if !ours {
		select {
		case <-p.ready:
			return p.attend(ctx, o)
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	p.session, p.err = m.newSession(ctx, o, row, transcript)
	if p.err != nil {
		m.forget(row.ID, p)
	} else {
		go func() { // ends with the session, which Close waits for
			p.session.run()
			m.forget(row.ID, p)
		}()
	}
	close(p.ready)
	return p.session, p.err
}

// supported refuses the modes that are not built yet: a session that ran with fewer
// limits than its user chose would be worse than none.
func supported(mode hermes.RightsMode) error {
	switch mode {
	case "", hermes.ModeAsk, hermes.ModeYolo:
		return nil
	case hermes.ModePlan, hermes.ModeAcceptEdits:
		return fmt.Errorf("the mode %s is not supported yet; use ask or yolo", mode)
	}
	return fmt.Errorf("unknown mode %q; use ask or yolo", mode)
}

// liveSession is the entry of a session that is live or being started.
type liveSession struct {
	ready   chan struct{} // closed when session or err is set
	session *Session
	err     error
}

// attend returns the live session to another caller. If that is a frontend whose user can
// answer, the session is attended from now on.
func (p *liveSession) attend(ctx context.Context, o Open) (*Session, error) {
	if p.err != nil || !o.Attended {
		return p.session, p.err
	}
	err := p.session.send(ctx, envelope{read: func(s *Session) { s.attended = true }, reply: make(chan error, 1)})
	return p.session, err
}

// claim returns the entry of a session. If ours is true, it is new and the
// caller must fill it.
func (m *Manager) claim(id string) (p *liveSession, ours bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, false, ErrClosed
	}
	if p, ok := m.live[id]; ok {
		return p, false, nil
	}
	p = &liveSession{ready: make(chan struct{})}
	m.live[id] = p
	return p, true, nil
}

// load reads the row and the transcript of an old session, or makes the row
// of a new one.
func (m *Manager) load(ctx context.Context, o Open) (hermes.Session, []hermes.Message, error) {
	if o.Run.Session == "" {
		origin := o.Run.Origin
		return hermes.Session{
			ID: NewID(m.cfg.Now()), Platform: cmp.Or(origin.Label, origin.Platform), User: origin.User, Title: o.Title, Parent: origin.Parent,
			Dir: o.Run.Workspace.Dir, Model: o.Run.Model.Ref, Started: m.cfg.Now(), Provenance: origin.Provenance, Run: o.Run.Stored(),
		}, nil, nil
	}
	row, err := m.cfg.Store.FindSession(ctx, o.Run.Session)
	if err != nil {
		return row, nil, err
	}
	if err := unchanged(o.Run, row); err != nil {
		return row, nil, err
	}
	if most := m.cfg.MaxResume; most > 0 && row.Messages > most && !m.isLive(row.ID) {
		return row, nil, tooLong{row.ID, row.Messages, most}
	}
	transcript, err := m.cfg.Store.Messages(ctx, row.ID, hermes.Range{})
	return row, transcript, err
}

// Attended reports whether a user attends, or attended, a session of this manager.
func (m *Manager) Attended() bool { return m.attended.Load() }

// isLive reports whether a session is live: its messages are in memory anyway.
func (m *Manager) isLive(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.live[id] != nil
}

// tooLong is the error of a session that is too long to resume, worded for the user.
type tooLong struct {
	id         string
	has, limit int
}

func (e tooLong) Error() string {
	return fmt.Sprintf("session %s is too long to resume: it has %d messages, and sessions.max_resume_messages is %d; "+
		"start a new session, or raise the limit with `hermes config set sessions.max_resume_messages %d`", e.id, e.has, e.limit, 2*e.has)
}

// newSession returns the actor of a session; the caller starts it.
func (m *Manager) newSession(ctx context.Context, o Open, row hermes.Session, transcript []hermes.Message) (*Session, error) {
	s := &Session{
		cfg: &m.cfg, id: row.ID, manager: m,
		inbox: make(chan envelope), closing: make(chan struct{}), done: make(chan struct{}),
		row: row, stored: o.Run.Session != "", transcript: transcript,
		notify: o.Waiting, questions: map[string]*question{}, attended: o.Attended, effort: o.Run.Model.Effort,
	}
	s.runSpec = runOf(o.Run, row)
	s.jobs = jobs.NewRunner(owner{s}, s.post)
	s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if !s.stored {
		return s, nil
	}
	if err := s.resume(ctx, o); err != nil {
		_ = s.free() // the first error says what went wrong
		s.cancel()
		return nil, err
	}
	return s, nil
}

// resume makes a stored session ready to continue where it stopped.
func (s *Session) resume(ctx context.Context, o Open) error {
	if err := s.persist(); err != nil {
		return err
	}
	if err := s.adoptRun(); err != nil {
		return err
	}
	var err error
	if s.specs, err = decodeSpecs(s.row.Tools); err != nil {
		return err
	}
	if err := s.loadRuntime(); err != nil {
		return err
	}
	if err := s.restore(); err != nil {
		return err
	}
	if !s.row.Ended.IsZero() {
		if err := s.cfg.Store.UpdateSession(s.ctx, s.id, hermes.SessionChange{Reopen: true}); err != nil {
			return err
		}
	}
	s.last, s.counted = lastCount(s.transcript)
	if err := s.loadQueue(); err != nil {
		return err
	}
	if err := s.recover(ctx); err != nil {
		return err
	}
	s.jobs.Rest(nil)
	return nil
}

// loadRuntime builds the session's runtime, once.
func (s *Session) loadRuntime() error {
	if s.runtime != nil {
		return nil
	}
	runtime, err := s.cfg.NewRuntime(s.ctx, s.runSpec, s.wakeUp)
	if err != nil {
		return err
	}
	if err := runtime.Hooks.SessionStart(s.ctx, s.ref(s.lastTurn())); err != nil {
		if runtime.Close != nil {
			err = errors.Join(err, runtime.Close())
		}
		return err
	}
	s.runtime = runtime
	s.jobs.Add(runtime.Jobs...)
	s.environment = runtime.Environment
	return nil
}

// wakeUp sends the session a message from the program. It may be called from
// any goroutine and does not wait.
func (s *Session) wakeUp(text string) {
	go func() { // ends when the session has taken the message or is closed
		say := Say{Parts: []hermes.Part{{Text: text, Provenance: "a background process"}}, Busy: BusyQueue, Synthetic: true}
		if err := s.Submit(context.Background(), say); err != nil && !errors.Is(err, ErrClosed) {
			s.cfg.Log.Warn("send a message to the session", "session", s.id, "err", err)
		}
	}()
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
	var errs []error
	for _, p := range all {
		<-p.ready
		if p.session != nil {
			errs = append(errs, p.session.Close())
		}
	}
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
