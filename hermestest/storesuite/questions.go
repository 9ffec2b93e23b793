package storesuite

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hermes"
)

// questionCases is the contract of hermes.Questions.
func questionCases() []storeCase {
	return []storeCase{
		{"open questions of all sessions are found, oldest first", questionsOpen},
		{"the first answer is kept with who gave it", questionAnswered},
		{"a question without an answer stays closed", questionUnanswered},
		{"questions of an earlier process are closed", questionsClosed},
		{"an answer that is secret is not stored", questionSecret},
		{"a closed approval does not keep its detail", questionDetail},
		{"a stale lease changes no question", questionStale},
		{"of closed questions the newest are added", questionsNewest},
		{"questions are deleted with their session", questionsDeleted},
	}
}

// approval returns an open approval of a session, asked so many minutes into the day.
func approval(session, id string, minutes int) hermes.StoredQuestion {
	return hermes.StoredQuestion{Session: session, Asked: hermes.Asked{
		ID: id, At: day.Add(time.Duration(minutes) * time.Minute),
		Approval: &hermes.ApprovalRequest{CallID: "c", Tool: "terminal", Subject: "make", Risks: []hermes.Risk{{Key: "k", Reason: "why"}}},
	}}
}

// saveQuestions stores questions with a lease.
func saveQuestions(t *testing.T, s hermes.Store, l hermes.Lease, list ...hermes.StoredQuestion) {
	t.Helper()
	for _, q := range list {
		if err := s.SaveQuestion(t.Context(), l, q); err != nil {
			t.Fatal(err)
		}
	}
}

func openQuestions(t *testing.T, s hermes.Store, f hermes.QuestionFilter) []hermes.StoredQuestion {
	t.Helper()
	list, err := s.OpenQuestions(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func findQuestion(t *testing.T, s hermes.Store, session, id string) hermes.StoredQuestion {
	t.Helper()
	q, err := s.FindQuestion(t.Context(), session, id)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func questionsOpen(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a"}, 0)
	begin(t, s, hermes.Session{ID: "b"}, 1)
	a, b := lease(t, s, "a", "me"), lease(t, s, "b", "you")
	first, second, third := approval("a", "1.1", 1), approval("b", "1.1", 2), approval("a", "1.2", 3)
	second.Asked.Approval, second.Asked.Question = nil, &hermes.Question{Text: "Which?", Choices: []string{"x", "y"}, Number: 1, Of: 2}
	third.Escalated = day.Add(time.Hour)
	saveQuestions(t, s, a, third, first)
	saveQuestions(t, s, b, second)
	same(t, openQuestions(t, s, hermes.QuestionFilter{}), []hermes.StoredQuestion{first, second, third})
	same(t, openQuestions(t, s, hermes.QuestionFilter{Session: "b"}), []hermes.StoredQuestion{second})
	same(t, openQuestions(t, s, hermes.QuestionFilter{Session: "b", Escalated: true}), []hermes.StoredQuestion(nil))
	same(t, openQuestions(t, s, hermes.QuestionFilter{Session: "none"}), []hermes.StoredQuestion(nil))
	second.Escalated = day.Add(2 * time.Hour)
	saveQuestions(t, s, b, second)
	same(t, openQuestions(t, s, hermes.QuestionFilter{Escalated: true}), []hermes.StoredQuestion{second, third})
}

func questionAnswered(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a"}, 0)
	l := lease(t, s, "a", "me")
	q := approval("a", "1.1", 1)
	q.Escalated = day.Add(2 * time.Minute)
	saveQuestions(t, s, l, q)
	q.Closed, q.Answered = day.Add(3*time.Minute), true
	q.Reply = hermes.Reply{ID: "1.1", Approval: hermes.ApprovalAnswer{Decision: hermes.AllowSession, Scope: hermes.ScopeCall}}
	q.By = hermes.From{Client: "7", Platform: "telegram", User: "ann", Name: "Ann", Attends: true}
	saveQuestions(t, s, l, q)
	same(t, openQuestions(t, s, hermes.QuestionFilter{}), []hermes.StoredQuestion(nil))
	late := q
	late.By, late.Reply.Approval.Decision = hermes.From{Name: "terminal 7"}, hermes.Deny
	for _, again := range []hermes.StoredQuestion{late, approval("a", "1.1", 1)} {
		wantErr(t, s.SaveQuestion(t.Context(), l, again), hermes.ErrAnswered{By: q.By})
	}
	same(t, findQuestion(t, s, "a", "1.1"), q)
	open := approval("a", "1.2", 2)
	saveQuestions(t, s, l, open)
	same(t, openQuestions(t, s, hermes.QuestionFilter{ClosedSince: q.Closed}), []hermes.StoredQuestion{q, open})
	same(t, openQuestions(t, s, hermes.QuestionFilter{ClosedSince: q.Closed, Session: "b"}), []hermes.StoredQuestion(nil))
	same(t, openQuestions(t, s, hermes.QuestionFilter{ClosedSince: q.Closed.Add(time.Nanosecond)}), []hermes.StoredQuestion{open})
}

func questionsNewest(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a"}, 0)
	l := lease(t, s, "a", "me")
	open := approval("a", "open", 0)
	saveQuestions(t, s, l, open)
	var list []hermes.StoredQuestion
	for i := range hermes.NewestQuestions + 1 {
		q := approval("a", fmt.Sprint(i), 1+i)
		q.Closed = day.Add(time.Hour)
		list = append(list, q)
	}
	saveQuestions(t, s, l, list...)
	same(t, openQuestions(t, s, hermes.QuestionFilter{ClosedSince: day}), append([]hermes.StoredQuestion{open}, list[1:]...))
	same(t, openQuestions(t, s, hermes.QuestionFilter{}), []hermes.StoredQuestion{open})
}

func questionUnanswered(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a"}, 0)
	l := lease(t, s, "a", "me")
	q := approval("a", "1.1", 1)
	q.Closed = day.Add(3 * time.Minute)
	saveQuestions(t, s, l, q)
	wantErr(t, s.SaveQuestion(t.Context(), l, approval("a", "1.1", 1)), hermes.ErrNotFound)
	same(t, openQuestions(t, s, hermes.QuestionFilter{}), []hermes.StoredQuestion(nil))
	same(t, findQuestion(t, s, "a", "1.1"), q)
	_, err := s.FindQuestion(t.Context(), "a", "1.2")
	wantErr(t, err, hermes.ErrNotFound)
}

func questionsClosed(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a"}, 0)
	begin(t, s, hermes.Session{ID: "b"}, 1)
	l := lease(t, s, "a", "me")
	answered, other := approval("a", "1.1", 1), approval("b", "1.1", 2)
	answered.Closed, answered.Answered, answered.By = day.Add(time.Minute), true, hermes.From{Name: "Ann"}
	saveQuestions(t, s, l, answered, approval("a", "1.2", 3), approval("a", "1.3", 4))
	saveQuestions(t, s, lease(t, s, "b", "me"), other)
	if err := s.CloseQuestions(t.Context(), lease(t, s, "a", "me")); err != nil {
		t.Fatal(err)
	}
	same(t, openQuestions(t, s, hermes.QuestionFilter{}), []hermes.StoredQuestion{other})
	same(t, findQuestion(t, s, "a", "1.1"), answered)
	if q := findQuestion(t, s, "a", "1.3"); q.Closed.IsZero() || q.Answered {
		t.Errorf("a question of the process before is %+v", q)
	}
}

func questionSecret(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a"}, 0)
	q := hermes.StoredQuestion{Session: "a", Asked: hermes.Asked{ID: "1.1", At: day, Question: &hermes.Question{Text: "Password?", Secret: true}},
		Closed: day, Answered: true, Reply: hermes.Reply{ID: "1.1", Answer: hermes.Answer{Texts: []string{"hunter2"}}}, By: hermes.From{Name: "Ann"}}
	saveQuestions(t, s, lease(t, s, "a", "me"), q)
	q.Reply.Answer = hermes.Answer{}
	same(t, findQuestion(t, s, "a", "1.1"), q)
}

func questionDetail(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a"}, 0)
	l := lease(t, s, "a", "me")
	answered, dropped := approval("a", "1.1", 1), approval("a", "1.2", 2)
	answered.Asked.Approval.Detail, dropped.Asked.Approval.Detail = strings.Repeat("text ", 1000), "short"
	saveQuestions(t, s, l, answered, dropped)
	same(t, openQuestions(t, s, hermes.QuestionFilter{}), []hermes.StoredQuestion{answered, dropped})
	answered.Closed, answered.Answered = day.Add(time.Hour), true
	saveQuestions(t, s, l, answered)
	if err := s.CloseQuestions(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	for _, q := range []hermes.StoredQuestion{findQuestion(t, s, "a", "1.1"), findQuestion(t, s, "a", "1.2")} {
		if a := q.Asked.Approval; a.Detail != "" || a.Subject != "make" {
			t.Errorf("a closed question shows %+v", a)
		}
	}
	if answered.Asked.Approval.Detail == "" {
		t.Error("the caller's own question was changed")
	}
}

func questionStale(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a"}, 0)
	old := lease(t, s, "a", "me")
	q := approval("a", "1.1", 1)
	saveQuestions(t, s, old, q)
	lease(t, s, "a", "me")
	wantErr(t, s.SaveQuestion(t.Context(), old, approval("a", "1.2", 2)), hermes.ErrStaleLease)
	closed := q
	closed.Closed = day
	wantErr(t, s.SaveQuestion(t.Context(), old, closed), hermes.ErrStaleLease)
	wantErr(t, s.CloseQuestions(t.Context(), old), hermes.ErrStaleLease)
	same(t, openQuestions(t, s, hermes.QuestionFilter{}), []hermes.StoredQuestion{q})
}

func questionsDeleted(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a"}, 0)
	saveQuestions(t, s, lease(t, s, "a", "me"), approval("a", "1.1", 1))
	if err := s.DeleteSession(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	begin(t, s, hermes.Session{ID: "a"}, 1)
	same(t, openQuestions(t, s, hermes.QuestionFilter{}), []hermes.StoredQuestion(nil))
}
