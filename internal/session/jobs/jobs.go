// Package jobs runs what goes on beside and after the turns of a session: its title,
// what an external memory learns, a summary, the background review, and the
// compaction of an idle session.
//
// A [Job] says what is due when the session rests; a [Runner] runs it in the
// background, stops it where it would be in the way of a turn, and hands its result
// back to the session's goroutine. The jobs know no session: they get a [Snapshot]
// and change the session through the interface [Session]. What must outlive the
// session runs in a [Closing], for which the end of the program waits.
//
// Start here, then closing.go; each job has its own file.
package jobs

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"hermes"
)

// Snapshot is a session at rest. Its transcript must not be changed.
type Snapshot struct {
	// Read reads the whole transcript; nil if Transcript, the newest messages, is all of it.
	// A task gets a snapshot with the whole.
	Read       func(ctx context.Context) ([]hermes.Message, error)
	Ref        hermes.SessionRef // of the last turn
	Titled     bool
	Transcript []hermes.Message
	Usage      hermes.ContextUsage
	// Cut says that the last turn is not finished. Answered says that a turn was
	// answered, and none failed or met a cap since.
	Cut, Answered bool
}

// load makes sure that the snapshot has the whole transcript.
func (s *Snapshot) load(ctx context.Context) (err error) {
	if s.Read != nil {
		s.Transcript, err = s.Read(ctx)
	}
	return err
}

// Session is what the result of a job may change. Its methods are called in the
// session's goroutine.
type Session interface {
	Snapshot() Snapshot
	// TakeTitle sets a title, unless the user set one meanwhile.
	TakeTitle(title string) error
	// TakeCompaction stores a shortened transcript.
	TakeCompaction(r hermes.CompactResult) error
	Publish(e hermes.Event)
}

// Job is one kind of work of one session. Its methods are called in the session's
// goroutine and must be fast.
type Job interface {
	// Rest returns the work that is due, nil if none is. It is called when a turn
	// has ended, with its outcome, and with nil when a stored session was opened;
	// not while work of the job is running.
	Rest(s Snapshot, done *hermes.TurnDone) *Task
	// End returns the work that is left when the session ends, nil if none is. cut
	// says that running work of the job was canceled.
	End(s Snapshot, cut bool) *Final
}

// Task is work that a job wants done.
type Task struct {
	// Run does the work in the background and returns what to do with its result in
	// the session's goroutine; nil is nothing. Its context ends with the session.
	Run func(ctx context.Context, s Snapshot) (finish func(Session))
	// After is how long the session must rest before. A turn calls the work off.
	After time.Duration
	// Begin, if set, is called in the session's goroutine when the work begins.
	Begin func()
	// Alone marks work that must not run beside a turn or a change of the
	// transcript. It is stopped before.
	Alone bool
	// Late marks work that may run beside other work of its job, and for which the
	// session waits when it ends, for [Grace].
	Late bool
}

// Grace is how long the end of a session waits for its late tasks.
const Grace = 10 * time.Second

// Runner runs the jobs of one session. Its methods belong to the session's goroutine.
type Runner struct {
	session Session
	post    Post
	log     *slog.Logger
	slots   []*slot
	ctx     context.Context // ends with the session
	cancel  context.CancelFunc
	late    *group      // the late tasks since the last Halt
	before  []*group    // those that a Halt stopped, and which may not have ended yet
	halted  func() bool // nothing may begin; nil is never
}

// group is work that is stopped together.
type group struct {
	ctx  context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup
}

func newGroup(under context.Context) *group {
	g := &group{}
	g.ctx, g.stop = context.WithCancel(under)
	return g
}

// ended returns a channel that is closed when all work of the group has ended. None may be
// added afterwards.
func (g *group) ended() <-chan struct{} {
	ended := make(chan struct{})
	go func() { // ends with the work
		g.wg.Wait()
		close(ended)
	}()
	return ended
}

// Post runs a func in the session's goroutine. It waits until that was done, the
// context ends or the session has ended.
type Post func(ctx context.Context, f func())

// slot is a job with what it waits for or does.
type slot struct {
	job     Job
	waiting *Task
	timer   *time.Timer
	running *running
}

// running is a task that runs.
type running struct {
	task   *Task
	cancel context.CancelFunc
	done   chan struct{}
	whole  bool // it was not canceled; read after done
}

// NewRunner returns a runner without jobs.
func NewRunner(s Session, post Post, log *slog.Logger) *Runner {
	r := &Runner{session: s, post: post, log: log}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.late = newGroup(context.Background())
	return r
}

// HaltWhile makes the runner begin nothing while halted returns true. It is called before the
// first job is added; halted may be called concurrently.
func (r *Runner) HaltWhile(halted func() bool) { r.halted = halted }

func (r *Runner) mayBegin() bool { return r.halted == nil || !r.halted() }

// Halt stops all work at once. What is not late has ended when it returns, what is late when the
// channel is closed. What it stopped is not done another time.
func (r *Runner) Halt() (stopped int, ended <-chan struct{}) {
	for _, sl := range r.slots {
		sl.callOff()
		if sl.running != nil {
			stopped++
			sl.stop()
		}
	}
	r.late.stop()
	r.before = append(r.before, r.late)
	ended = r.late.ended()
	r.late = newGroup(context.Background())
	return stopped, ended
}

// Add adds jobs.
func (r *Runner) Add(list ...Job) {
	for _, j := range list {
		r.slots = append(r.slots, &slot{job: j})
	}
}

// Rest asks every job what is due now.
func (r *Runner) Rest(done *hermes.TurnDone) {
	if len(r.slots) == 0 || !r.mayBegin() {
		return
	}
	s := r.session.Snapshot()
	for _, sl := range r.slots {
		if sl.running != nil {
			continue
		}
		if t := sl.job.Rest(s, done); t != nil {
			r.plan(sl, t)
		}
	}
}

// plan begins a task now or when the session has rested long enough.
func (r *Runner) plan(sl *slot, t *Task) {
	if t.After <= 0 {
		r.begin(sl, t)
		return
	}
	sl.callOff()
	sl.waiting = t
	sl.timer = time.AfterFunc(t.After, func() {
		r.post(r.ctx, func() {
			if sl.waiting == t { // it was not called off meanwhile
				r.begin(sl, t)
			}
		})
	})
}

func (sl *slot) callOff() {
	if sl.timer != nil {
		sl.timer.Stop()
	}
	sl.waiting, sl.timer = nil, nil
}

func (r *Runner) begin(sl *slot, t *Task) {
	sl.callOff()
	if !r.mayBegin() {
		return
	}
	if t.Begin != nil {
		t.Begin()
	}
	s := r.session.Snapshot()
	if t.Late {
		r.Go(func(ctx context.Context) { t.Run(ctx, s) })
		return
	}
	log := r.log
	ctx, cancel := context.WithCancel(r.ctx)
	now := &running{task: t, cancel: cancel, done: make(chan struct{})}
	sl.running = now
	go func() { // ends when the session has the result, or with stop
		defer close(now.done)
		defer cancel()
		var finish func(Session)
		if err := s.load(ctx); err != nil {
			log.Warn("read the conversation", "session", s.Ref.ID, "err", err)
		} else {
			finish = t.Run(ctx, s)
		}
		now.whole = ctx.Err() == nil
		r.post(ctx, func() {
			if sl.running = nil; finish != nil {
				finish(r.session)
			}
		})
	}()
}

// stop cancels the running work of a job and waits for it. It returns whether the work
// was cut off.
func (sl *slot) stop() (cut bool) {
	now := sl.running
	if now == nil {
		return false
	}
	now.cancel()
	<-now.done
	sl.running = nil
	return !now.whole
}

// Busy calls off what waits for the session to rest, and stops what must not run beside
// a turn. It is called before a turn.
func (r *Runner) Busy() {
	for _, sl := range r.slots {
		sl.callOff()
	}
	r.Free()
}

// Free stops what must not run beside a change of the transcript.
func (r *Runner) Free() {
	for _, sl := range r.slots {
		if sl.waiting != nil && sl.waiting.Alone {
			sl.callOff()
		}
		if sl.running != nil && sl.running.task.Alone {
			sl.stop()
		}
	}
}

// Go runs a func in the background. The end of the session waits for it, for [Grace]; then
// its context ends.
func (r *Runner) Go(f func(ctx context.Context)) {
	late := r.late
	late.wg.Go(func() { f(late.ctx) })
}

// Close stops all work and hands what is left to the program.
func (r *Runner) Close(c *Closing) {
	r.cancel()
	cut := make([]bool, len(r.slots))
	for i, sl := range r.slots {
		sl.callOff()
		cut[i] = sl.stop()
	}
	tooLong := time.AfterFunc(Grace, r.late.stop)
	for _, g := range append(r.before, r.late) {
		g.wg.Wait()
	}
	tooLong.Stop()
	r.late.stop()
	if len(r.slots) == 0 || !r.mayBegin() {
		return
	}
	s := r.session.Snapshot()
	for i, sl := range r.slots {
		if f := sl.job.End(s, cut[i]); f != nil {
			c.run(f, s, r.log)
		}
	}
}

// ErrNoReview means that a session has no background review.
var ErrNoReview = errors.New("this session has no background review")

// Review begins a review because the user asked for it; focus is what to look for first,
// "" for anything.
func (r *Runner) Review(focus string) error {
	for _, sl := range r.slots {
		j, ok := sl.job.(*review)
		switch {
		case !ok:
			continue
		case sl.running != nil:
			return errors.New("a review is already running; its result appears when it ends")
		}
		r.begin(sl, j.asked(focus))
		return nil
	}
	return ErrNoReview
}
