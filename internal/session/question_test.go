package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/protocol"
	"hermes/internal/session"
)

// remover asks for approval and calls during with the answer before it ends.
func remover(during func(c *hermes.Call, answer hermes.ApprovalAnswer)) tool {
	return tool{hermes.Spec{Name: "rm", Schema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, c *hermes.Call) hermes.Result {
		answer, err := c.Host.Approve(ctx, hermes.ApprovalRequest{CallID: c.ID, Tool: "rm", Subject: "rm -rf x", Detail: "all of it", Risks: []hermes.Risk{{Key: "delete", Reason: "deletes"}}})
		if during != nil {
			during(c, answer)
		}
		return hermes.Result{Text: fmt.Sprintf("%v %v", answer.Decision, err)}
	}}
}

func question(t *testing.T, st hermes.Store, id string, asked hermes.Asked) hermes.StoredQuestion {
	t.Helper()
	q, err := st.FindQuestion(t.Context(), id, asked.ID)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// mustBeClosed checks that a question was closed without an answer, and that none is open.
func mustBeClosed(t *testing.T, st hermes.Store, id string, asked hermes.Asked) {
	t.Helper()
	if q := question(t, st, id, asked); q.Closed.IsZero() || q.Answered {
		t.Errorf("stored %+v", q)
	}
	if open, err := st.OpenQuestions(t.Context(), hermes.QuestionFilter{Session: id}); err != nil || len(open) > 0 {
		t.Errorf("open %+v, %v", open, err)
	}
}

var bob = hermes.From{Client: "c7", Platform: "cli", Name: "terminal 7", Attends: true}

// TestAQuestionIsStoredWithWhoAnswered: other processes see what waits, and the answer is stored
// when the call acts on it.
func TestAQuestionIsStoredWithWhoAnswered(t *testing.T) {
	t.Parallel()
	var h *fixture
	var asked hermes.Asked
	var acted hermes.StoredQuestion
	rm := remover(func(c *hermes.Call, _ hermes.ApprovalAnswer) {
		acted, _ = h.store.FindQuestion(context.Background(), c.Host.Session().ID, asked.ID)
	})
	h = newFixture(t, hermestest.NewScript(hermestest.CallTool("rm", `{}`), hermestest.Say("ok")), newToolTable(rm))
	s := h.open(t, session.Open{From: hermes.From{Attends: true}})
	e := listen(t, s)
	submit(t, s, say("go"))
	asked = until[hermes.Asked](e)
	open, err := h.store.OpenQuestions(t.Context(), hermes.QuestionFilter{})
	if want := []hermes.StoredQuestion{{Session: s.ID(), Asked: asked}}; err != nil || !cmp.Equal(want, open, cmpopts.EquateApproxTime(0)) {
		t.Errorf("open: %s, %v", cmp.Diff(want, open), err)
	}
	yes := hermes.Reply{ID: asked.ID, Approval: hermes.ApprovalAnswer{Decision: hermes.AllowOnce}}
	if err := s.Do(t.Context(), bob, yes); err != nil {
		t.Fatal(err)
	}
	until[hermes.TurnDone](e)
	if acted.Closed.IsZero() || !acted.Answered || acted.By != bob || !cmp.Equal(acted.Reply, yes) || acted.Asked.Approval.Detail != "" {
		t.Errorf("when the call acts the store has %+v", acted)
	}
	for _, op := range []hermes.Op{yes, hermes.Touch{ID: asked.ID}} {
		if err := s.Do(t.Context(), hermes.From{}, op); !errors.Is(err, hermes.ErrAnswered{By: bob}) {
			t.Errorf("a late %T: %v", op, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	later := h.later(t, hermestest.NewScript(), newToolTable(rm))
	s = later.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}, From: hermes.From{Attends: true}})
	if err := s.Do(t.Context(), hermes.From{}, yes); !errors.Is(err, hermes.ErrAnswered{By: bob}) {
		t.Errorf("late, in another process: %v", err)
	}
	if err := s.Do(t.Context(), hermes.From{}, hermes.Reply{ID: "9.9"}); err == nil || !strings.Contains(err.Error(), "no longer open") {
		t.Errorf("a question that was never asked: %v", err)
	}
}

// TestAQuestionThatCannotBeStoredIsNotAsked: nothing is shown before it is stored, and no answer
// counts before it is.
func TestAQuestionThatCannotBeStoredIsNotAsked(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		from int // the write that fails first
		tool tool
		yes  func(id string) hermes.Reply
		want string
	}{
		"the question": {1, remover(nil), nil, "tool: denied the question could not be stored, so it was not asked: the disk is full"},
		"an approval": {2, remover(nil), func(id string) hermes.Reply {
			return hermes.Reply{ID: id, Approval: hermes.ApprovalAnswer{Decision: hermes.AllowOnce}}
		}, "tool: denied <nil>"},
		"an answer": {2, asker(1), func(id string) hermes.Reply { return replies(id, "yes") }, "tool: not answered"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				st, writes := hermestest.NewStore(), 0
				st.Fail = func(method string) error {
					if method != "SaveQuestion" {
						return nil
					}
					if writes++; writes >= tt.from {
						return errors.New("the disk is full")
					}
					return nil
				}
				h := newFixture(t, hermestest.NewScript(hermestest.CallTool(tt.tool.spec.Name, `{}`), hermestest.Say("ok")), newToolTable(tt.tool),
					func(c *session.Config) {
						c.Store, c.Ask = st, session.AskTimes{Approval: time.Minute, Question: time.Minute}
					})
				s := h.open(t, session.Open{From: hermes.From{Attends: true}})
				e := attend(t, s)
				submit(t, s, say("go"))
				if tt.yes != nil {
					q := until[hermes.Asked](e)
					if err := s.Do(t.Context(), bob, tt.yes(q.ID)); err == nil || !strings.Contains(err.Error(), "does not count") {
						t.Errorf("err = %v", err)
					}
					steps, err := st.OpenSteps(t.Context(), s.ID())
					if p := steps[0].Pending; err != nil || !p.AwaitingApproval && (len(p.Answers) != 1 || p.Answers[0].Answer != nil) {
						t.Errorf("the journal has %+v, %v", p, err)
					}
					if q.Approval != nil { // a refusal counts anyway
						submit(t, s, hermes.Reply{ID: q.ID, Approval: hermes.ApprovalAnswer{Decision: hermes.Deny}})
					}
				}
				until[hermes.TurnDone](e)
				if got := stored(t, st, s.ID())[2]; got != tt.want {
					t.Error(got)
				}
				asked := func(e hermes.Event) bool { _, ok := e.(hermes.Asked); return ok }
				if slices.ContainsFunc(e.heard, asked) != (tt.yes != nil) {
					t.Error("what could not be stored was shown")
				}
				s.Close()
			})
		})
	}
}

// TestAQuestionIsClosedWithoutAnAnswer in every way in which it can be.
func TestAQuestionIsClosedWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(t *testing.T, s *session.Session, e *ear){
		"its time is over": func(t *testing.T, s *session.Session, e *ear) { time.Sleep(time.Minute); until[hermes.TurnDone](e) },
		"the turn is stopped": func(t *testing.T, s *session.Session, e *ear) {
			submit(t, s, hermes.Stop{})
			until[hermes.TurnDone](e)
		},
		"the session is closed": func(t *testing.T, s *session.Session, e *ear) { s.Close() },
	} {
		for _, ask := range []tool{remover(nil), asker(1)} {
			t.Run(name+" "+ask.spec.Name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					h := newFixture(t, hermestest.NewScript(hermestest.CallTool(ask.spec.Name, `{}`), hermestest.Say("ok")), newToolTable(ask),
						func(c *session.Config) { c.Ask = session.AskTimes{Approval: time.Minute, Question: time.Minute} })
					s := h.open(t, session.Open{From: hermes.From{Attends: true}})
					e := attend(t, s)
					submit(t, s, say("go"))
					asked := until[hermes.Asked](e)
					end(t, s, e)
					mustBeClosed(t, h.store, s.ID(), asked)
					if err := s.Do(t.Context(), hermes.From{}, replies(asked.ID, "late")); err == nil || errors.As(err, &hermes.ErrAnswered{}) {
						t.Errorf("a late reply: %v", err)
					}
					s.Close()
				})
			})
		}
	}
}

// TestWhoTakesASessionOverClosesItsQuestions: what a process that died had asked does not wait
// any more; the question that its call still needs is asked again, under another id.
func TestWhoTakesASessionOverClosesItsQuestions(t *testing.T) {
	t.Parallel()
	st, l := crashed(t, toolCall("1", "clarify"))
	text := hermes.Question{Text: "question 1"}
	begun(t, st, l, toolCall("1", "clarify"), hermes.PendingCall{Answers: []hermes.AskedQuestion{{Question: text}}})
	old := hermes.Asked{ID: "1.1", At: time.Now(), Question: &text}
	if err := st.SaveQuestion(t.Context(), l, hermes.StoredQuestion{Asked: old}); err != nil {
		t.Fatal(err)
	}
	h := newFixture(t, hermestest.NewScript(hermestest.Say("went on")), newToolTable(asker(1)), func(c *session.Config) { c.Store = st })
	s := h.open(t, session.Open{Run: hermes.RunSpec{Session: "s1"}, From: hermes.From{Attends: true}})
	mustBeClosed(t, st, "s1", old)
	e := listen(t, s)
	submit(t, s, hermes.Continue{})
	asked := until[hermes.Asked](e)
	if asked.ID == old.ID {
		t.Error("two questions have one id")
	}
	submit(t, s, replies(asked.ID, "yes"))
	until[hermes.TurnDone](e)
}

// TestASecretAnswerIsNeverStored, nor in an envelope.
func TestASecretAnswerIsNeverStored(t *testing.T) {
	t.Parallel()
	got := ""
	sudo := tool{hermes.Spec{Name: "sudo", Schema: json.RawMessage(`{"type":"object"}`), Effect: hermes.EffectAsk}, func(ctx context.Context, c *hermes.Call) hermes.Result {
		a, _ := c.Host.Ask(ctx, hermes.Question{CallID: c.ID, Text: "password", Secret: true})
		got = strings.Join(a.Texts, "")
		return hermes.Result{Text: "done"}
	}}
	h := newFixture(t, hermestest.NewScript(hermestest.CallTool("sudo", `{}`), hermestest.Say("ok")), newToolTable(sudo))
	s := h.open(t, session.Open{From: hermes.From{Attends: true}})
	e := listen(t, s)
	submit(t, s, say("go"))
	asked := until[hermes.Asked](e)
	if err := s.Do(t.Context(), bob, replies(asked.ID, "hunter2")); err != nil {
		t.Fatal(err)
	}
	until[hermes.TurnDone](e)
	q := question(t, h.store, s.ID(), asked)
	if got != "hunter2" || !q.Answered || q.By != bob {
		t.Errorf("the tool got %q, stored is %+v", got, q)
	}
	everything, err := json.Marshal([]any{q, e.heard, stored(t, h.store, s.ID())})
	if err != nil || strings.Contains(string(everything), "hunter2") {
		t.Errorf("%s, %v", everything, err)
	}
}

// TestAQuestionIsEscalated: what no user has begun to answer is marked in the store, and its
// time starts again, as it does when the user acts.
func TestAQuestionIsEscalated(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		after   time.Duration   // of escalation
		touches []time.Duration // since the question
		want    time.Duration   // when it is escalated; 0 is never
		over    time.Duration   // when its time is over
	}{
		"not touched":        {2 * time.Minute, nil, 2 * time.Minute, 7 * time.Minute},
		"touched":            {2 * time.Minute, []time.Duration{90 * time.Second}, 210 * time.Second, 510 * time.Second},
		"touched afterwards": {2 * time.Minute, []time.Duration{3 * time.Minute, 4 * time.Minute}, 2 * time.Minute, 9 * time.Minute},
		"never":              {0, nil, 0, 5 * time.Minute},
		"too late":           {5 * time.Minute, []time.Duration{time.Minute}, 0, 6 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newFixture(t, hermestest.NewScript(hermestest.CallTool("rm", `{}`), hermestest.Say("ok")), newToolTable(remover(nil)),
					func(c *session.Config) { c.Ask = session.AskTimes{Approval: 5 * time.Minute, Escalate: tt.after} })
				s := h.open(t, session.Open{From: hermes.From{Attends: true}})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				_, events, err := s.Attach(ctx, hermes.From{Attends: true}, protocol.After{})
				if err != nil {
					t.Fatal(err)
				}
				submit(t, s, say("go"))
				var view protocol.View
				var asked, escalated, over time.Time
				var id string
				for e := range events {
					view.Apply(e)
					var shown protocol.Snapshot
					view.Fill(&shown)
					switch d := e.Event.(type) {
					case hermes.Asked:
						asked, id = e.Time, d.ID
						go func() {
							for _, at := range tt.touches {
								time.Sleep(time.Until(asked.Add(at)))
								submit(t, s, hermes.Touch{ID: id})
							}
						}()
					case hermes.Escalated:
						escalated = e.Time
						open, err := h.store.OpenQuestions(ctx, hermes.QuestionFilter{Escalated: true})
						if err != nil || len(open) != 1 || !open[0].Escalated.Equal(e.Time) || d.ID != id || !shown.Questions[0].Escalated.Equal(e.Time) {
							t.Errorf("stored %+v, %v; shown %+v", open, err, shown.Questions)
						}
					case hermes.AnswerTaken:
						over = e.Time
					}
					if _, done := e.Event.(hermes.TurnDone); done {
						break
					}
				}
				if tt.want == 0 && !escalated.IsZero() || tt.want != 0 && escalated.Sub(asked) != tt.want {
					t.Errorf("escalated after %v", escalated.Sub(asked))
				}
				if over.Sub(asked) != tt.over {
					t.Errorf("its time was over after %v", over.Sub(asked))
				}
				s.Close()
			})
		})
	}
}

// TestAQuestionStaysOpenWithoutFrontends: who was there may come back before its time is over.
func TestAQuestionStaysOpenWithoutFrontends(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t, hermestest.NewScript(hermestest.CallTool("rm", `{}`), hermestest.Say("ok")), newToolTable(remover(nil)),
			func(c *session.Config) { c.Ask.Approval = time.Hour })
		s := h.open(t, session.Open{})
		events, detach := attach(s, 0, bob)
		submit(t, s, say("go"))
		asked := until[hermes.Asked](&ear{t: t, events: events})
		detach()
		time.Sleep(30 * time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		shown, _, err := s.Attach(ctx, bob, protocol.After{})
		if err != nil || len(shown.Questions) != 1 || shown.Questions[0].Asked.ID != asked.ID || shown.State != protocol.StateAsking {
			t.Fatalf("the snapshot has %+v, %v", shown.Questions, err)
		}
		e := attend(t, s)
		submit(t, s, hermes.Reply{ID: asked.ID, Approval: hermes.ApprovalAnswer{Decision: hermes.AllowOnce}})
		until[hermes.TurnDone](e)
		if got := stored(t, h.store, s.ID())[2]; got != "tool: once <nil>" {
			t.Error(got)
		}
		s.Close()
	})
}
