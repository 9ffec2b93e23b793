package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hermes"
	"hermes/internal/session/jobs"
)

var done = &hermes.TurnDone{Turn: 1, Outcome: hermes.OutcomeDone, Text: "answer", Steps: 1}

// talk is a conversation of so many exchanges.
func talk(exchanges int) (list []hermes.Message) {
	for i := range exchanges {
		for _, m := range []hermes.Message{{Role: hermes.RoleUser, Parts: []hermes.Part{{Text: fmt.Sprint("q", i)}}}, {Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "a"}}}} {
			m.Turn = int64(i + 1)
			list = append(list, m)
		}
	}
	return list
}

// run runs a task, if it is one, and returns what it showed.
func run(t *testing.T, task *jobs.Task, s jobs.Snapshot) []string {
	t.Helper()
	if task == nil {
		return nil
	}
	var to session
	if task.Begin != nil {
		task.Begin()
	}
	if finish := task.Run(t.Context(), s); finish != nil {
		finish(&to)
	}
	return to.shown
}

// TestATitleIsSoughtOnce, after a turn that was answered.
func TestATitleIsSoughtOnce(t *testing.T) {
	t.Parallel()
	found, err := "", errors.New("down")
	j := jobs.Title(func(_ context.Context, model string, list []hermes.Message) (string, error) {
		return found, err
	}, quiet)
	for name, end := range map[string]*hermes.TurnDone{
		"opened": nil, "interrupted": {Outcome: hermes.OutcomeInterrupted, Text: "x"}, "no answer": {Outcome: hermes.OutcomeDone}, "over a cap": {Outcome: hermes.OutcomeBudget, Text: "x"},
	} {
		if j.Rest(jobs.Snapshot{}, end) != nil {
			t.Errorf("%s: a title was sought", name)
		}
	}
	if j.Rest(jobs.Snapshot{Titled: true}, done) != nil {
		t.Error("a title was sought for a session that has one")
	}
	if got := run(t, j.Rest(jobs.Snapshot{}, done), jobs.Snapshot{}); len(got) > 0 {
		t.Errorf("a failed search took %q", got)
	}
	if j.Rest(jobs.Snapshot{}, done) != nil {
		t.Error("it was sought twice")
	}
	found, err = "plans", nil
	j = jobs.Title(func(context.Context, string, []hermes.Message) (string, error) { return found, err }, quiet)
	if got := run(t, j.Rest(jobs.Snapshot{}, done), jobs.Snapshot{}); !slices.Equal(got, []string{"title plans"}) {
		t.Errorf("took %q", got)
	}
}

// TestAMemoryGetsWhatWasSaid in a turn, by the user, and the answer without what it told itself.
func TestAMemoryGetsWhatWasSaid(t *testing.T) {
	t.Parallel()
	var got []hermes.MemoryTurn
	at := time.Unix(9, 0)
	j := jobs.Memory(func(_ context.Context, m hermes.MemoryTurn) error { got = append(got, m); return nil }, func() time.Time { return at }, quiet)
	list := append(talk(2), hermes.Message{Role: hermes.RoleUser, Turn: 2, Synthetic: true, Parts: []hermes.Part{{Text: "go on"}}},
		hermes.Message{Role: hermes.RoleUser, Turn: 2, Parts: []hermes.Part{{Text: "and more"}, {Text: "hidden", Hidden: true}}})
	s := jobs.Snapshot{Ref: hermes.SessionRef{ID: "s1", Turn: 9}, Transcript: list}
	for name, end := range map[string]*hermes.TurnDone{
		"opened": nil, "failed": {Turn: 2, Outcome: hermes.OutcomeFailed, Text: "x"}, "no answer": {Turn: 2, Outcome: hermes.OutcomeDone}, "nothing said": {Turn: 3, Outcome: hermes.OutcomeDone, Text: "x"},
	} {
		if j.Rest(s, end) != nil {
			t.Errorf("%s: the memory got a turn", name)
		}
	}
	task := j.Rest(s, &hermes.TurnDone{Turn: 2, Outcome: hermes.OutcomeDone, Text: "answer"})
	if run(t, task, s); len(got) != 1 || got[0].Said != "q1\nand more" || got[0].Answer != "answer" || got[0].Session.Turn != 2 || got[0].At != at || !task.Late {
		t.Errorf("the memory got %+v", got)
	}
}

// TestASlowMemoryMissesTurns: sixteen may wait for it, in order.
func TestASlowMemoryMissesTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var got []int64
		j := jobs.Memory(func(_ context.Context, m hermes.MemoryTurn) error {
			time.Sleep(time.Second)
			got = append(got, m.Session.Turn)
			return nil
		}, time.Now, quiet)
		s := jobs.Snapshot{Transcript: talk(20)}
		r, owner := running(t, j)
		owner.shot = s
		for i := range 20 {
			s.Transcript = talk(i + 1)
			owner.shot = s
			r.Rest(&hermes.TurnDone{Turn: int64(i + 1), Outcome: hermes.OutcomeDone, Text: "x"})
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(got) != 16 || !slices.IsSorted(got) || got[15] != 16 {
			t.Errorf("the memory got %v", got)
		}
		if j.Rest(s, &hermes.TurnDone{Turn: 20, Outcome: hermes.OutcomeDone, Text: "x"}) == nil {
			t.Error("it gets no more turns although it has done all")
		}
		r.Close(&jobs.Closing{})
	})
}

// reviewer says what it was asked.
type reviewer struct {
	due   bool
	err   error
	asked []string
	saved []bool
}

func (r *reviewer) Due(context.Context, jobs.Conversation) bool { return r.due }
func (r *reviewer) Review(_ context.Context, c jobs.Conversation, asked bool) (string, error) {
	r.asked = append(r.asked, fmt.Sprint(asked, " ", c.Focus))
	return "kept it", r.err
}
func (r *reviewer) Save(_ context.Context, _ jobs.Conversation, cut bool) error {
	r.saved = append(r.saved, cut)
	return nil
}

// TestAReviewWaitsForQuiet, but not for ever.
func TestAReviewWaitsForQuiet(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	r := &reviewer{}
	j := jobs.Review(r, jobs.Defer{Quiet: time.Minute, MaxAge: time.Hour}, func() time.Time { return now }, quiet)
	attended := jobs.Snapshot{Ref: hermes.SessionRef{Attended: true}, Answered: true}
	if j.Rest(attended, done) != nil {
		t.Error("a review began that was not due")
	}
	r.due = true
	for name, rest := range map[string]func() *jobs.Task{
		"opened":     func() *jobs.Task { return j.Rest(attended, nil) },
		"unattended": func() *jobs.Task { return j.Rest(jobs.Snapshot{}, done) },
		"failed":     func() *jobs.Task { return j.Rest(attended, &hermes.TurnDone{Outcome: hermes.OutcomeFailed, Steps: 1}) },
		"no steps":   func() *jobs.Task { return j.Rest(attended, &hermes.TurnDone{Outcome: hermes.OutcomeDone}) },
	} {
		if rest() != nil {
			t.Errorf("%s: a review began", name)
		}
	}
	if task := j.Rest(attended, done); task == nil || task.After != time.Minute {
		t.Fatalf("the review is %+v", task)
	}
	r.due = false // it stays due until it begins
	now = now.Add(time.Hour - time.Second)
	if task := j.Rest(attended, done); task == nil || task.After != time.Minute {
		t.Errorf("the review is %+v", task)
	}
	if f := j.End(attended, false); f == nil || f.Run(t.Context(), nil) != nil || !slices.Equal(r.saved, []bool{true}) {
		t.Errorf("at the end: %+v, saved %v", f, r.saved)
	}
	now = now.Add(time.Second)
	task := j.Rest(attended, done)
	if task == nil || task.After != 0 {
		t.Fatalf("the review is %+v", task)
	}
	if got := run(t, task, attended); !slices.Equal(got, []string{"kept it"}) || !slices.Equal(r.asked, []string{"false "}) {
		t.Errorf("showed %q, asked %q", got, r.asked)
	}
	if j.Rest(attended, done) != nil {
		t.Error("a second review began")
	}
	if f := j.End(attended, false); f == nil || f.Run(t.Context(), nil) != nil || !slices.Equal(r.saved, []bool{true, false}) {
		t.Errorf("at the end: saved %v", r.saved)
	}
	for _, s := range []jobs.Snapshot{{Answered: true}, {Ref: attended.Ref}} {
		if j.End(s, true) != nil {
			t.Errorf("%+v is reviewed at its end", s)
		}
	}
}

// TestAReviewThatIsAskedFor says what went wrong; one that comes by itself does not disturb.
func TestAReviewThatIsAskedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rev := &reviewer{due: true, err: errors.New("no model")}
		r, s := running(t, jobs.Review(rev, jobs.Defer{}, time.Now, quiet))
		s.shot.Ref.Attended = true
		s.post(t.Context(), func() { r.Rest(done) })
		wantDid(t, s)
		s.post(t.Context(), func() {
			if err := r.Review("names"); err != nil {
				t.Error(err)
			}
			if err := r.Review("names"); err == nil || !strings.Contains(err.Error(), "already running") {
				t.Errorf("the second: %v", err)
			}
		})
		wantDid(t, s, "no model")
		if want := []string{"false ", "true names"}; !slices.Equal(rev.asked, want) {
			t.Errorf("asked %q, want %q", rev.asked, want)
		}
		r.Close(&jobs.Closing{})
		none, _ := running(t, final{})
		if err := none.Review(""); !errors.Is(err, jobs.ErrNoReview) {
			t.Errorf("without a review: %v", err)
		}
	})
}

// TestWhichSessionsAreSummarized: long ones that went well, with a user.
func TestWhichSessionsAreSummarized(t *testing.T) {
	t.Parallel()
	var got []int
	j := jobs.Summary(func(_ context.Context, _ string, list []hermes.Message) error {
		got = append(got, len(list))
		return nil
	})
	good := jobs.Snapshot{Ref: hermes.SessionRef{Attended: true}, Answered: true, Transcript: talk(3)}
	short, failed, unattended := good, good, good
	short.Transcript, failed.Answered, unattended.Ref.Attended = talk(3)[1:], false, false
	for _, s := range []jobs.Snapshot{short, failed, unattended} {
		if j.End(s, false) != nil {
			t.Errorf("%+v is summarized", s)
		}
	}
	f := j.End(good, false)
	for _, list := range [][]hermes.Message{talk(3), talk(2)} { // what was said is known only when it is read
		if err := f.Run(t.Context(), list); err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(got, []int{6}) {
		t.Errorf("summarized %v", got)
	}
}

// fitting is a context engine that returns what it has.
type fitting struct {
	r     hermes.CompactResult
	err   error
	usage []hermes.ContextUsage
}

func (*fitting) Name() string { return "test" }
func (f *fitting) Fit(_ context.Context, _ []hermes.Message, u hermes.ContextUsage) (hermes.CompactResult, error) {
	f.usage = append(f.usage, u)
	return f.r, f.err
}

// TestAnIdleCompaction is for sessions whose last turn is finished, and says nothing if there is nothing to do.
func TestAnIdleCompaction(t *testing.T) {
	t.Parallel()
	e := &fitting{}
	j := jobs.Compaction(e, nil, time.Minute, quiet)
	task := j.Rest(jobs.Snapshot{}, nil)
	if task == nil || task.After != time.Minute || !task.Alone {
		t.Fatalf("the task is %+v", task)
	}
	s := jobs.Snapshot{Transcript: talk(2), Usage: hermes.ContextUsage{Used: 5}}
	cut := s
	cut.Cut = true
	for _, s := range []jobs.Snapshot{{}, cut} {
		if run(t, task, s); len(e.usage) > 0 {
			t.Errorf("%+v was compacted", s)
		}
	}
	if got := run(t, task, s); len(got) > 0 || len(e.usage) != 1 || !e.usage[0].Idle || e.usage[0].Used != 5 {
		t.Errorf("showed %q, asked %+v", got, e.usage)
	}
	e.err = errors.New("down")
	if got := run(t, task, s); len(got) > 0 {
		t.Errorf("a failure showed %q", got)
	}
	e.r, e.err = hermes.CompactResult{From: []hermes.MessageOrigin{{Index: 0, Same: true}}}, nil
	if got := run(t, task, s); !slices.Equal(got, []string{"compacted"}) {
		t.Errorf("showed %q", got)
	}
}
