package jobs

import (
	"context"
	"log/slog"
	"time"

	"hermes"
)

const (
	// saveTime limits the final review of one session.
	saveTime = 10 * time.Minute
	// savePause is how long a final review waits before it starts. If the program
	// ends with the session, there is no time to run it.
	savePause = 2 * time.Second
)

// Conversation is what a review reads.
type Conversation struct {
	Session    hermes.SessionRef
	Model      string // the conversation's model
	Transcript []hermes.Message
	Focus      string // what to look for first; "" for anything
}

// Reviewer looks for what is worth keeping of a conversation. Its methods may be called
// concurrently for several sessions.
type Reviewer interface {
	// Due reports whether a review is due after a turn. It must be fast.
	Due(ctx context.Context, c Conversation) bool
	// Review looks for what is worth keeping and returns a text for the user, or "". asked
	// says that the user wants it.
	Review(ctx context.Context, c Conversation, asked bool) (string, error)
	// Save reviews what was not reviewed yet of a session that has ended. cut says that
	// a review was due or running. If the program ends with the session, its context has
	// already ended: Save can then only queue the review.
	Save(ctx context.Context, c Conversation, cut bool) error
}

// Defer delays a review until the user pauses, so that it does not compete with the
// conversation. The zero value begins it at once.
type Defer struct {
	// Quiet is how long no turn must have run.
	Quiet time.Duration
	// MaxAge is how long a due review waits at most: after that it begins after the next
	// turn. 0 means no limit.
	MaxAge time.Duration
}

// Review returns the job that reviews an attended session: when a review is due, when the
// user asks, and after its end.
func Review(r Reviewer, wait Defer, now func() time.Time, log *slog.Logger) Job {
	return &review{reviewer: r, wait: wait, now: now, log: log}
}

type review struct {
	reviewer Reviewer
	wait     Defer
	now      func() time.Time
	log      *slog.Logger
	due      time.Time // since when a review is due; zero if none is
}

func (s Snapshot) conversation(focus string) Conversation {
	return Conversation{Session: s.Ref, Model: s.Ref.Model, Transcript: s.Transcript, Focus: focus}
}

func (j *review) Rest(s Snapshot, done *hermes.TurnDone) *Task {
	if done == nil || !s.Ref.Attended || done.Outcome != hermes.OutcomeDone || done.Steps == 0 {
		return nil
	}
	if j.due.IsZero() && !j.reviewer.Due(context.Background(), s.conversation("")) {
		return nil
	}
	now := j.now()
	if j.due.IsZero() {
		j.due = now
	}
	t := j.task("", false)
	if j.wait.MaxAge <= 0 || now.Sub(j.due) < j.wait.MaxAge {
		t.After = j.wait.Quiet
	}
	return t
}

// asked is the review that the user asked for.
func (j *review) asked(focus string) *Task { return j.task(focus, true) }

func (j *review) task(focus string, asked bool) *Task {
	return &Task{Begin: func() { j.due = time.Time{} }, Run: func(ctx context.Context, s Snapshot) func(Session) {
		said, err := j.reviewer.Review(ctx, s.conversation(focus), asked)
		n := hermes.Notice{Level: hermes.NoticeInfo, Text: said}
		if err != nil {
			j.log.Info("review", "session", s.Ref.ID, "err", err)
			if n.Text = ""; asked {
				n = hermes.Notice{Level: hermes.NoticeWarning, Text: err.Error()}
			}
		}
		if n.Text == "" {
			return nil
		}
		return func(to Session) { to.Publish(n) }
	}}
}

func (j *review) End(s Snapshot, cut bool) *Final {
	if !s.Answered || !s.Ref.Attended {
		return nil
	}
	cut = cut || !j.due.IsZero()
	return &Final{What: "review a session that has ended", Limit: saveTime, After: savePause, Run: func(ctx context.Context, transcript []hermes.Message) error {
		s.Transcript = transcript
		return j.reviewer.Save(ctx, s.conversation(""), cut)
	}}
}
