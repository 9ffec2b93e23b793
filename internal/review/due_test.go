package review_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/review"
	"hermes/internal/store"
)

// queue is a store.Reviews in memory.
type queue struct {
	reviewed map[string]int64
	pending  map[string]int64
	taken    map[string]bool
}

func newQueue() *queue {
	return &queue{reviewed: map[string]int64{}, pending: map[string]int64{}, taken: map[string]bool{}}
}

func (b *queue) Reviewed(_ context.Context, s string) (int64, error) { return b.reviewed[s], nil }
func (b *queue) MarkReviewed(_ context.Context, s string, turn int64) error {
	if b.reviewed[s] = turn; b.pending[s] <= turn {
		delete(b.pending, s)
	}
	return nil
}
func (b *queue) AddPendingReview(_ context.Context, s string, turn int64, _ time.Time) error {
	b.pending[s], b.taken[s] = turn, true
	return nil
}
func (b *queue) ReleaseReview(_ context.Context, s string) error { b.taken[s] = false; return nil }
func (b *queue) HasPendingReview(ctx context.Context, except string, now time.Time) (bool, error) {
	for s := range b.pending {
		if s != except && !b.taken[s] {
			return true, nil
		}
	}
	return false, nil
}
func (b *queue) ClaimReview(_ context.Context, except string, _ time.Time) (string, int64, error) {
	for s, turn := range b.pending {
		if s != except && !b.taken[s] {
			b.taken[s] = true
			return s, turn, nil
		}
	}
	return "", 0, nil
}

// configured returns a runner with a pace, a queue and a model.
func configured(m hermes.Model, b *queue, p review.Pace, change ...func(*review.Config)) *review.Runner {
	c := review.Config{
		Model: func(string) hermes.Model { return m }, Pace: p, Notices: review.On,
		NewRuntime: func(context.Context, review.Conversation) (review.Runtime, error) {
			return review.Runtime{Tools: &reviewTools{}}, nil
		},
		Queue: func(context.Context) (store.Reviews, error) { return b, nil },
		Load: func(_ context.Context, id string) (review.Conversation, error) {
			return review.Conversation{Session: hermes.SessionRef{ID: id, Turn: 3}, Transcript: work(3, "o")}, nil
		},
	}
	for _, f := range change {
		f(&c)
	}
	return review.New(c)
}

// chat is a conversation of so many turns, each with calls as in work.
func chat(turns int64, calls string) review.Conversation {
	t := review.Conversation{Session: ref(turns)}
	for n := int64(1); n <= turns; n++ {
		t.Transcript = append(t.Transcript, work(n, calls)...)
	}
	return t
}

func TestWhenAReviewIsDue(t *testing.T) {
	t.Parallel()
	both := review.Pace{Turns: 10, Steps: 10}
	noticed := chat(10, "")
	noticed.Transcript[0].Synthetic = true // the program began that turn
	compacted := chat(12, "")
	compacted.Transcript = compacted.Transcript[16:]
	for name, c := range map[string]struct {
		pace review.Pace
		talk review.Conversation
		last int64 // the turn of the last review
		want bool
	}{
		"a new talk":                        {both, chat(3, ""), 0, false},
		"ten turns":                         {both, chat(10, ""), 0, true},
		"nine turns":                        {both, chat(9, ""), 0, false},
		"a turn of the program":             {both, noticed, 0, false},
		"turns that compaction hid":         {both, compacted, 0, true},
		"ten turns since":                   {both, chat(30, ""), 20, true},
		"nine turns since":                  {both, chat(29, ""), 20, false},
		"ten steps":                         {both, chat(5, "oo"), 0, true},
		"nine steps":                        {both, chat(3, "ooo"), 0, false},
		"ten steps soon after":              {review.Pace{Turns: 50, Steps: 10}, chat(9, "oo"), 2, false},
		"ten steps later":                   {review.Pace{Turns: 50, Steps: 10}, chat(12, "oo"), 2, true},
		"steps before the last one":         {review.Pace{Turns: 50, Steps: 10}, chat(20, "o"), 11, false},
		"a hard turn":                       {both, chat(1, "ffo"), 0, true},
		"a hard turn soon after":            {review.Pace{Turns: 50, Steps: 10}, chat(5, "ffo"), 1, false},
		"turns switched off":                {review.Pace{Steps: 10}, chat(40, ""), 0, false},
		"steps switched off":                {review.Pace{Turns: 10}, chat(9, "oooooooo"), 0, false},
		"steps switched off, but ten turns": {review.Pace{Turns: 10}, chat(10, "o"), 0, true},
		"all switched off":                  {review.Pace{}, chat(40, "ffo"), 0, false},
		"after turns were taken back":       {both, chat(3, ""), 20, false},
	} {
		b := newQueue()
		b.reviewed["s"] = c.last
		if got := configured(nil, b, c.pace).Due(t.Context(), c.talk); got != c.want {
			t.Errorf("%s: due %v, want %v", name, got, c.want)
		}
	}
}

func TestEndedSessionsAreReviewed(t *testing.T) {
	t.Parallel()
	pace := review.Pace{Turns: 10, Steps: 10, Flush: 6}
	for name, c := range map[string]struct {
		pace  review.Pace
		turns int64
		last  int64
		cut   bool
		want  bool
		calls string // of each turn
	}{
		"a longer talk":         {pace: pace, turns: 6, want: true},
		"a short talk":          {pace: pace, turns: 5},
		"little since the last": {pace: pace, turns: 20, last: 15},
		"enough since the last": {pace: pace, turns: 20, last: 14, want: true},
		"a review that was due": {pace: pace, turns: 1, cut: true, calls: "ffo", want: true},
		"another's was cut off": {pace: pace, turns: 1, cut: true},
		"always":                {pace: review.Pace{Turns: 10}, turns: 1, want: true},
		"always, but not twice": {pace: review.Pace{Turns: 10}, turns: 4, last: 4},
		"reviews are all off":   {pace: review.Pace{Flush: 6}, turns: 50, cut: true},
	} {
		b := newQueue()
		b.reviewed["s"] = c.last
		m := hermestest.NewScript(hermestest.Say("nothing to keep"))
		if err := configured(m, b, c.pace).Save(t.Context(), chat(c.turns, c.calls), c.cut); err != nil {
			t.Fatal(err)
		}
		if got := m.Left() == 0; got != c.want || len(b.pending) != 0 || c.want && b.reviewed["s"] != c.turns {
			t.Errorf("%s: reviewed %v, want %v; reviewed up to %d, pending %v", name, got, c.want, b.reviewed["s"], b.pending)
		}
	}
}

func TestUnfinishedReviewsAreDoneLater(t *testing.T) {
	t.Parallel()
	b := newQueue()
	pace := review.Pace{Turns: 10, Steps: 10, Flush: 6}
	ctx, leave := context.WithCancel(t.Context())
	m := hermestest.NewScript(hermestest.Step{Check: func(*hermes.Request) error { leave(); return ctx.Err() }})
	if err := configured(m, b, pace).Save(ctx, chat(8, ""), false); err == nil {
		t.Errorf("got %v", err)
	}
	if b.pending["s"] != 8 || b.taken["s"] || b.reviewed["s"] != 0 {
		t.Fatalf("pending %v, claimed %v", b.pending, b.taken)
	}
	m = hermestest.NewScript(calling("memory", `{"action":"add","target":"memory","content":"x"}`), hermestest.Say("kept"))
	next := configured(m, b, pace) // the next start
	now := review.Conversation{Session: hermes.SessionRef{ID: "new", Turn: 1}, Transcript: work(1, "")}
	if !next.Due(t.Context(), now) {
		t.Fatal("the pending review is not due")
	}
	said, err := next.Review(t.Context(), now, false)
	if err != nil || !strings.Contains(said, "of an earlier session changed: memory") {
		t.Errorf("%q, %v", said, err)
	}
	if len(b.pending) != 0 || b.reviewed["s"] != 8 || next.Due(t.Context(), now) {
		t.Errorf("pending %v, reviewed %v", b.pending, b.reviewed)
	}
}

func TestWithoutTimeAReviewIsOnlyQueued(t *testing.T) {
	t.Parallel()
	b := newQueue()
	ctx, leave := context.WithCancel(t.Context())
	leave()
	m := hermestest.NewScript()
	if err := configured(m, b, review.Pace{Turns: 10, Flush: 6}).Save(ctx, chat(8, ""), false); err == nil {
		t.Error("no error")
	}
	if b.pending["s"] != 8 || b.taken["s"] || len(m.Requests()) != 0 {
		t.Errorf("pending %v, claimed %v, %d requests", b.pending, b.taken, len(m.Requests()))
	}
}

func TestAReviewThatWasBegunIsSaved(t *testing.T) {
	t.Parallel()
	b := newQueue()
	ctx, leave := context.WithCancel(t.Context())
	m := hermestest.NewScript(hermestest.Step{Check: func(*hermes.Request) error { leave(); return ctx.Err() }}, hermestest.Say("nothing to keep"))
	r := configured(m, b, review.Pace{Turns: 10, Flush: 6})
	if _, err := r.Review(ctx, chat(2, ""), true); err == nil { // it was asked for, and cut off
		t.Error("an interrupted review succeeded")
	}
	if err := r.Save(t.Context(), chat(2, ""), true); err != nil || m.Left() != 0 || b.reviewed["s"] != 2 {
		t.Errorf("%v, %d steps left, reviewed %v", err, m.Left(), b.reviewed)
	}
}

func TestAProcessDoesOnlyAFewPendingReviews(t *testing.T) {
	t.Parallel()
	b := newQueue()
	for n := range 9 {
		b.pending[fmt.Sprint(n)] = 3
	}
	r := configured(hermestest.NewScript(hermestest.Say("nothing")).Forever(), b, review.Pace{Turns: 10})
	now := review.Conversation{Session: hermes.SessionRef{ID: "new", Turn: 1}, Transcript: work(1, "")}
	for range 9 {
		if _, err := r.Review(t.Context(), now, false); err != nil {
			t.Fatal(err)
		}
	}
	if len(b.pending) != 6 {
		t.Errorf("%d are still pending, want 6", len(b.pending))
	}
}

func TestNotices(t *testing.T) {
	t.Parallel()
	trials := func() []hermes.SkillTrial {
		return []hermes.SkillTrial{
			{Name: "make-build", Verdict: hermes.SkillWon, Why: "3 steps instead of 6", Tokens: 1000},
			{Name: "other", Verdict: hermes.SkillLost, Why: "9 steps instead of 4", Tokens: 1000},
		}
	}
	for level, want := range map[string][]string{
		"off":     nil,
		"on":      {"changed: memory, skill make-build [won its replay: 3 steps instead of 6]; not kept: skill other [lost its replay: 9 steps instead of 4]", "tokens"},
		"verbose": {"changed: memory, skill make-build", "\n\n- memory: + builds with make\n- skill make-build: create make-build"},
	} {
		m := hermestest.NewScript(calling("memory", `{"action":"add","target":"memory","content":"builds with make"}`),
			calling("skill_manage", `{"action":"create","name":"make-build"}`), hermestest.Say("kept")).Forever()
		r := configured(m, newQueue(), review.Pace{Turns: 1}, func(c *review.Config) {
			c.Notices = review.ParseNotices(level)
			c.NewRuntime = func(context.Context, review.Conversation) (review.Runtime, error) {
				return review.Runtime{Tools: &reviewTools{}, Trials: trials}, nil
			}
		})
		said, err := r.Review(t.Context(), chat(1, ""), false)
		if err != nil || (said == "") != (want == nil) {
			t.Errorf("%s: %q, %v", level, said, err)
		}
		for _, w := range want {
			if !strings.Contains(said, w) {
				t.Errorf("%s: %q does not say %q", level, said, w)
			}
		}
		if level == "on" && strings.Contains(said, "\n") {
			t.Errorf("%q is more than a line", said)
		}
		if said, err = r.Review(t.Context(), chat(1, ""), true); err != nil || said == "" {
			t.Errorf("%s: a requested review reports %q, %v", level, said, err)
		}
	}
}

func TestInputFitsTheWindow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ set, window, want int }{
		{0, 200_000, 12_000}, {0, 8_000, 6_000}, {0, 0, 12_000}, {50_000, 200_000, 50_000},
		{500_000, 200_000, 150_000}, {5_000_000, 2_000_000, 600_000}, {500_000, 0, 120_000},
	} {
		if got := review.Input(c.set, c.window); got != c.want {
			t.Errorf("%d of a window of %d: %d, want %d", c.set, c.window, got, c.want)
		}
	}
}
