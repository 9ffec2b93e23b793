package jobs_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"hermes"
	"hermes/internal/session/jobs"
)

var quiet = slog.New(slog.DiscardHandler)

// session is a session whose goroutine is whoever is in post.
type session struct {
	busy  chan struct{} // has room for one
	shown []string
	shot  jobs.Snapshot
}

func (s *session) Snapshot() jobs.Snapshot { return s.shot }
func (s *session) TakeTitle(title string) error {
	s.shown = append(s.shown, "title "+title)
	return nil
}
func (s *session) TakeCompaction(hermes.CompactResult) error {
	s.shown = append(s.shown, "compacted")
	return nil
}
func (s *session) Publish(e hermes.Event) {
	if n, ok := e.(hermes.Notice); ok {
		s.shown = append(s.shown, n.Text)
	}
}

func (s *session) post(ctx context.Context, f func()) {
	select {
	case s.busy <- struct{}{}:
		f()
		<-s.busy
	case <-ctx.Done():
	}
}

// did returns what was shown so far.
func (s *session) did(t *testing.T) (shown []string) {
	s.post(t.Context(), func() { shown = slices.Clone(s.shown) })
	return shown
}

// job has one task, which says when it begins and ends.
type job struct {
	task jobs.Task
	due  int // how often Rest returns the task
	cut  []bool
}

func (j *job) Rest(jobs.Snapshot, *hermes.TurnDone) *jobs.Task {
	if j.due--; j.due < 0 {
		return nil
	}
	return &j.task
}

func (j *job) End(_ jobs.Snapshot, cut bool) *jobs.Final {
	j.cut = append(j.cut, cut)
	return nil
}

// takes is work of so long, whose result says whether it was whole.
func takes(d time.Duration) func(context.Context, jobs.Snapshot) func(jobs.Session) {
	return func(ctx context.Context, _ jobs.Snapshot) func(jobs.Session) {
		said := "whole"
		select {
		case <-time.After(d):
		case <-ctx.Done():
			said = "cut"
		}
		return func(s jobs.Session) { s.Publish(hermes.Notice{Text: said}) }
	}
}

// running returns a runner of one job.
func running(t *testing.T, j jobs.Job) (*jobs.Runner, *session) {
	t.Helper()
	s := &session{busy: make(chan struct{}, 1)}
	r := jobs.NewRunner(s, s.post, quiet)
	r.Add(j)
	return r, s
}

func wantDid(t *testing.T, s *session, want ...string) {
	t.Helper()
	synctest.Wait()
	if got := s.did(t); !slices.Equal(got, want) {
		t.Errorf("done %q, want %q", got, want)
	}
}

// TestWorkBesideTurns: what waits for the session to rest is called off by a turn, what must be alone
// is cut off, and all else goes on.
func TestWorkBesideTurns(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		task jobs.Task
		at   time.Duration // of the turn
		want []string
	}{
		"waits":       {jobs.Task{Run: takes(0), After: time.Minute}, time.Second, nil},
		"has waited":  {jobs.Task{Run: takes(0), After: time.Minute}, 2 * time.Minute, []string{"whole"}},
		"runs":        {jobs.Task{Run: takes(time.Minute)}, time.Second, []string{"whole"}},
		"runs alone":  {jobs.Task{Run: takes(time.Minute), Alone: true}, time.Second, nil},
		"waits alone": {jobs.Task{Run: takes(0), Alone: true, After: time.Minute}, time.Second, nil},
		"ran alone":   {jobs.Task{Run: takes(time.Minute), Alone: true}, 2 * time.Minute, []string{"whole"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			r, s := running(t, &job{task: tt.task, due: 1})
			s.post(t.Context(), func() { r.Rest(nil) })
			time.Sleep(tt.at)
			synctest.Wait()
			s.post(t.Context(), r.Busy)
			time.Sleep(time.Hour)
			synctest.Wait()
			if got := s.did(t); !slices.Equal(got, tt.want) {
				t.Errorf("%s: done %q, want %q", name, got, tt.want)
			}
			r.Close(&jobs.Closing{})
		})
	}
}

// TestAChangeOfTheTranscriptLeavesOtherWork: an undo is no turn.
func TestAChangeOfTheTranscriptLeavesOtherWork(t *testing.T) {
	t.Parallel()
	for alone, want := range map[bool][]string{true: nil, false: {"whole"}} {
		synctest.Test(t, func(t *testing.T) {
			r, s := running(t, &job{task: jobs.Task{Run: takes(0), After: time.Minute, Alone: alone}, due: 1})
			s.post(t.Context(), func() { r.Rest(nil); r.Free() })
			time.Sleep(time.Hour)
			wantDid(t, s, want...)
			r.Close(&jobs.Closing{})
		})
	}
}

// TestAJobHasOneTask at a time; a new one takes the place of one that waits.
func TestAJobHasOneTask(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := 0
		j := &job{task: jobs.Task{Run: takes(time.Hour), After: time.Minute, Begin: func() { begun++ }}, due: 9}
		r, s := running(t, j)
		for range 3 {
			s.post(t.Context(), func() { r.Rest(nil) })
			time.Sleep(40 * time.Second)
		}
		s.post(t.Context(), func() {
			if begun != 0 {
				t.Error("a session that did not rest was disturbed")
			}
		})
		time.Sleep(30 * time.Second)
		synctest.Wait()
		s.post(t.Context(), func() { r.Rest(nil) })
		if begun != 1 || j.due != 6 {
			t.Errorf("begun %d times, asked %d times", begun, 9-j.due)
		}
		time.Sleep(2 * time.Hour)
		wantDid(t, s, "whole")
		s.post(t.Context(), func() { r.Rest(nil) })
		if j.due != 5 {
			t.Error("the job was not asked when its task had ended")
		}
		r.Close(&jobs.Closing{})
	})
}

// TestATaskGetsTheWholeConversation, and none if it cannot be read.
func TestATaskGetsTheWholeConversation(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{"": nil, "broken": errors.New("broken")} {
		synctest.Test(t, func(t *testing.T) {
			var got []int
			run := func(_ context.Context, s jobs.Snapshot) func(jobs.Session) {
				got = append(got, len(s.Transcript))
				return nil
			}
			j := &job{task: jobs.Task{Run: run}, due: 2}
			r, s := running(t, j)
			s.shot = jobs.Snapshot{Transcript: make([]hermes.Message, 200), Read: func(context.Context) ([]hermes.Message, error) { return make([]hermes.Message, 500), err }}
			for range 2 { // a task that could not begin is no task that runs
				s.post(t.Context(), func() { r.Rest(nil) })
				synctest.Wait()
			}
			if want := []int{500, 500}; err == nil && !slices.Equal(got, want) || err != nil && len(got) > 0 {
				t.Errorf("%s: got %v", name, got)
			}
			if j.due != 0 {
				t.Errorf("%s: the job was asked %d times", name, 2-j.due)
			}
			r.Close(&jobs.Closing{})
		})
	}
}

// TestTheEndOfASession stops all work but what is late, for which it waits.
func TestTheEndOfASession(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		task jobs.Task
		took time.Duration
		cut  bool
		want []string
	}{
		"waits":   {jobs.Task{Run: takes(0), After: time.Minute}, 0, false, nil},
		"runs":    {jobs.Task{Run: takes(time.Minute)}, 0, true, nil},
		"is late": {jobs.Task{Late: true, Run: takes(3 * time.Second)}, 3 * time.Second, false, nil},
		"hangs":   {jobs.Task{Late: true, Run: takes(time.Hour)}, jobs.Grace, false, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			j := &job{task: tt.task, due: 1}
			r, s := running(t, j)
			s.post(t.Context(), func() { r.Rest(nil) })
			synctest.Wait()
			start := time.Now()
			s.post(t.Context(), func() { r.Close(&jobs.Closing{}) })
			if took := time.Since(start); took != tt.took {
				t.Errorf("%s: the end took %v, want %v", name, took, tt.took)
			}
			if want := []bool{tt.cut}; !slices.Equal(j.cut, want) {
				t.Errorf("%s: cut %v, want %v", name, j.cut, want)
			}
			time.Sleep(2 * time.Hour)
			if got := s.did(t); !slices.Equal(got, tt.want) {
				t.Errorf("%s: done after the end: %q", name, got)
			}
		})
	}
}

// TestThatASessionWaitsIsToldOnceEachTime, if a user attends it, and not when it was only opened. Its end does not wait
// for who is told.
func TestThatASessionWaitsIsToldOnceEachTime(t *testing.T) {
	t.Parallel()
	user, child := hermes.SessionRef{ID: "s", Attended: true}, hermes.SessionRef{ID: "s", Attended: true, Depth: 1}
	for name, tt := range map[string]struct {
		ref  hermes.SessionRef
		done *hermes.TurnDone
		want int
	}{
		"a turn":         {user, &hermes.TurnDone{}, 1},
		"only opened":    {user, nil, 0},
		"without a user": {hermes.SessionRef{ID: "s"}, &hermes.TurnDone{}, 0},
		"a child":        {child, &hermes.TurnDone{}, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			told := 0
			r, s := running(t, jobs.Idle(time.Minute, func(ctx context.Context, ref hermes.SessionRef) {
				if told++; told == 3*tt.want { // one that hangs, when the session ends
					<-ctx.Done()
				}
			}))
			s.shot.Ref = tt.ref
			rest := func() { s.post(t.Context(), func() { r.Rest(tt.done) }) }
			rest()
			time.Sleep(59 * time.Second)
			s.post(t.Context(), r.Busy) // the next turn begins in time
			time.Sleep(time.Hour)
			synctest.Wait()
			if told != 0 {
				t.Errorf("%s: told %d times before the time", name, told)
			}
			for i := range 3 {
				rest()
				time.Sleep(time.Hour)
				synctest.Wait()
				if told != tt.want*(i+1) {
					t.Errorf("%s: told %d times after %d turns", name, told, i+1)
				}
				s.post(t.Context(), r.Busy)
			}
			start := time.Now()
			s.post(t.Context(), func() { r.Close(&jobs.Closing{}) })
			if took := time.Since(start); took != 0 {
				t.Errorf("%s: the end took %v", name, took)
			}
		})
	}
}

// final is a job that has work when its session has ended.
type final struct{ f jobs.Final }

func (final) Rest(jobs.Snapshot, *hermes.TurnDone) *jobs.Task { return nil }
func (j final) End(jobs.Snapshot, bool) *jobs.Final           { return &j.f }

// TestTheEndOfTheProgram waits a little for what is left; what can be done another time hears at once that there is no time.
func TestTheEndOfTheProgram(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		after, limit, until time.Duration // until the end of the program
		began, ended        time.Duration
	}{
		"has time":             {0, time.Minute, time.Hour, 0, time.Minute},
		"is cut off":           {0, time.Hour, time.Second, 0, 5 * time.Second},
		"pauses":               {2 * time.Second, time.Minute, time.Hour, 2 * time.Second, 62 * time.Second},
		"ends in its pause":    {2 * time.Second, time.Minute, time.Second, time.Second, time.Second},
		"ends after its pause": {2 * time.Second, time.Hour, 10 * time.Second, 2 * time.Second, 11 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			var began, ended time.Duration
			var got int
			r, s := running(t, final{jobs.Final{After: tt.after, Limit: tt.limit, Run: func(ctx context.Context, list []hermes.Message) error {
				began, got = time.Since(start), len(list)
				<-ctx.Done()
				ended = time.Since(start)
				return ctx.Err()
			}}})
			s.shot.Read = func(context.Context) ([]hermes.Message, error) { return make([]hermes.Message, 500), nil }
			var c jobs.Closing
			r.Close(&c)
			if took := time.Since(start); took > 0 {
				t.Errorf("%s: the session waited %v", name, took)
			}
			time.Sleep(tt.until)
			c.Wait()
			if began != tt.began || ended != tt.ended || got != 500 {
				t.Errorf("%s: began after %v, ended after %v, want %v and %v; %d messages", name, began, ended, tt.began, tt.ended, got)
			}
		})
	}
}

// TestAHaltWaitsForAllWork, also for what heeds the end of its context late, and what was left when a session ended.
func TestAHaltWaitsForAllWork(t *testing.T) {
	t.Parallel()
	const takesToStop = 3 * time.Second
	slow := func(ctx context.Context) {
		<-ctx.Done()
		time.Sleep(takesToStop)
	}
	late := &job{due: 1, task: jobs.Task{Late: true, Run: func(ctx context.Context, _ jobs.Snapshot) func(jobs.Session) { slow(ctx); return nil }}}
	left := final{jobs.Final{Limit: time.Hour, Run: func(ctx context.Context, _ []hermes.Message) error { slow(ctx); return nil }}}
	for name, halt := range map[string]func(t *testing.T) (<-chan struct{}, func()){
		"late work": func(t *testing.T) (<-chan struct{}, func()) {
			r, s := running(t, late)
			s.post(t.Context(), func() { r.Rest(nil) })
			synctest.Wait()
			_, ended := r.Halt()
			return ended, func() { r.Close(&jobs.Closing{}) }
		},
		"work that was left": func(t *testing.T) (<-chan struct{}, func()) {
			r, _ := running(t, left)
			var c jobs.Closing
			r.Close(&c)
			synctest.Wait()
			return c.Halt(), c.Wait
		},
		"nothing": func(*testing.T) (<-chan struct{}, func()) {
			var c jobs.Closing
			return c.Halt(), func() {}
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			ended, end := halt(t)
			<-ended
			want := takesToStop
			if name == "nothing" {
				want = 0
			}
			if took := time.Since(start); took != want {
				t.Errorf("%s: ended after %v, want %v", name, took, want)
			}
			end()
		})
	}
}
