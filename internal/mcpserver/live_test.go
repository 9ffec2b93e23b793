package mcpserver_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/mcpserver"
	"hermes/internal/protocol"
	"hermes/internal/protocol/protocoltest"
)

var user = hermes.From{Client: "one", Platform: "cli", Name: "terminal 1", Attends: true}

// TestEventsTellWhatHappens in a session of somebody else: its messages, an approval that it asks
// for, and what became of that.
func TestEventsTellWhatHappens(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, hermestest.CallTool("approve", "{}"), hermestest.Say("done, hunter2"))
	r.stored(hermes.Session{ID: "old", Platform: "cli"}, hermes.Message{Role: hermes.RoleUser, Parts: []hermes.Part{{Text: "long ago"}}, Time: time.Now().Add(-time.Hour)})
	info, err := r.world.Client.Open(t.Context(), user, hermes.RunSpec{})
	if err != nil {
		t.Fatal(err)
	}
	f := protocoltest.Attach(t, r.world.Client, info.ID, user, protocol.After{})
	if err := r.world.Client.Do(t.Context(), info.ID, user, hermes.Say{Parts: []hermes.Part{{Text: "remove it"}}}); err != nil {
		t.Fatal(err)
	}
	all := r.until("approval_requested", 0)
	asked := all.Events[len(all.Events)-1].Approval
	if asked.Subject != "rm -rf build" {
		t.Errorf("asked %+v", asked)
	}
	var open struct {
		Permissions []struct{ Subject string }
		Answerable  bool
	}
	if r.must("permissions_list_open", nil, &open); len(open.Permissions) != 1 || open.Answerable {
		t.Errorf("open are %+v", open)
	}
	answer := map[string]any{"conversation_id": info.ID, "permission_id": asked.ID, "decision": "once"}
	if err := r.call("permissions_respond", answer, nil); err == nil || !strings.Contains(err.Error(), "--allow-approvals") {
		t.Errorf("answered without the right to: %v", err)
	}
	if err := r.world.Client.Do(t.Context(), info.ID, user, hermes.Reply{ID: asked.ID, Approval: hermes.ApprovalAnswer{Decision: hermes.AllowOnce}}); err != nil {
		t.Fatal(err)
	}
	more := r.until("approval_resolved", all.Next)
	for _, e := range more.Events {
		if e.Type == "approval_resolved" && (e.Resolved.Decision != "once" || e.Resolved.By != "terminal 1") {
			t.Errorf("resolved %+v", e.Resolved)
		}
	}
	for range f.Events {
		var e events
		if r.must("events_poll", nil, &e); strings.Contains(fmt.Sprint(texts(e)), "done, [hidden]") {
			break
		}
	}
	var e events
	r.must("events_poll", nil, &e)
	if got := fmt.Sprint(texts(e)); got != "[user: remove it assistant:  assistant: done, [hidden]]" {
		t.Errorf("the messages are %s", got)
	}
	for i, x := range e.Events {
		if x.Cursor != int64(i+1) || x.Conversation != info.ID {
			t.Errorf("event %d is %+v", i, x)
		}
	}
}

// TestAnApprovalBetweenTwoPollsIsTold: it was asked and answered while no client looked, before the
// first poll as well as between two, in a session of another process.
func TestAnApprovalBetweenTwoPollsIsTold(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, hermestest.CallTool("approve", "{}"), hermestest.Say("one"), hermestest.CallTool("approve", "{}"), hermestest.Say("two"))
	info, err := r.world.Client.Open(t.Context(), user, hermes.RunSpec{})
	if err != nil {
		t.Fatal(err)
	}
	f := protocoltest.Attach(t, r.world.Client, info.ID, user, protocol.After{})
	cursor := int64(0)
	for _, decision := range []hermes.Decision{hermes.AllowOnce, hermes.Deny} {
		if err := r.world.Client.Do(t.Context(), info.ID, user, hermes.Say{Parts: []hermes.Part{{Text: "remove it"}}}); err != nil {
			t.Fatal(err)
		}
		id := ""
		for e := range f.Events {
			if asked, ok := e.Event.(hermes.Asked); ok {
				id = asked.ID
				if err := r.world.Client.Do(t.Context(), info.ID, user, hermes.Reply{ID: id, Approval: hermes.ApprovalAnswer{Decision: decision}}); err != nil {
					t.Fatal(err)
				}
			}
			if _, ok := e.Event.(hermes.TurnDone); ok {
				break
			}
		}
		var e events
		r.must("events_poll", map[string]any{"after_cursor": cursor}, &e)
		var got []string
		for _, x := range e.Events {
			switch {
			case x.Approval != nil && x.Approval.ID == id && x.Conversation == info.ID:
				got = append(got, "asked "+x.Approval.Subject)
			case x.Resolved != nil:
				got = append(got, x.Resolved.Decision+" by "+x.Resolved.By)
			case x.Message == nil:
				t.Errorf("another event: %+v", x)
			}
		}
		if want := []string{"asked rm -rf build", string(decision) + " by terminal 1"}; !slices.Equal(got, want) {
			t.Errorf("the events tell %q, want %q", got, want)
		}
		cursor = e.Next
		if r.must("events_poll", map[string]any{"after_cursor": cursor}, &e); len(e.Events) > 0 {
			t.Errorf("told again: %+v", e.Events)
		}
	}
}

// TestManyApprovalsBetweenTwoPollsAreBounded: the newest are told, and that others are missing.
func TestManyApprovalsBetweenTwoPollsAreBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.stored(hermes.Session{ID: "busy", Platform: "cli"})
	l, err := r.world.Store.Acquire(t.Context(), "busy", hermes.Owner{Name: "another"}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for i := range hermes.NewestQuestions {
		at := time.Now()
		q := hermes.StoredQuestion{
			Session: "busy", Asked: hermes.Asked{ID: fmt.Sprint(i), At: at, Approval: &hermes.ApprovalRequest{Tool: "terminal", Subject: "ls"}},
			Closed: at, Answered: true, Reply: hermes.Reply{Approval: hermes.ApprovalAnswer{Decision: hermes.AllowOnce}}, By: user,
		}
		if err := r.world.Store.SaveQuestion(t.Context(), l, q); err != nil {
			t.Fatal(err)
		}
	}
	var e events
	r.must("events_poll", map[string]any{"limit": 200}, &e)
	if e.Lost == 0 || len(e.Events) != 200 || !e.More {
		t.Errorf("%d events, lost %d, more %v", len(e.Events), e.Lost, e.More)
	}
	told := 0
	for more, cursor := true, e.Next; more; {
		var e events
		r.must("events_poll", map[string]any{"after_cursor": cursor, "limit": 200}, &e)
		if told += len(e.Events); e.Lost > 0 || told > 2*hermes.NewestQuestions {
			t.Fatalf("%d more events, lost %d", told, e.Lost)
		}
		more, cursor = e.More, e.Next
	}
	if told != 800 {
		t.Errorf("%d more events, want those that are kept", told)
	}
}

// TestApprovalsBeforeManyQuestionsAreMissed, which is said: questions that are no approvals count, too.
func TestApprovalsBeforeManyQuestionsAreMissed(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.stored(hermes.Session{ID: "busy", Platform: "cli"})
	l, err := r.world.Store.Acquire(t.Context(), "busy", hermes.Owner{Name: "another"}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for i := range hermes.NewestQuestions + 10 {
		at := time.Now()
		q := hermes.StoredQuestion{Session: "busy", Asked: hermes.Asked{ID: fmt.Sprint(i), At: at, Question: &hermes.Question{Text: "Which?"}}, Closed: at}
		if i < 20 {
			q.Asked.Question, q.Asked.Approval = nil, &hermes.ApprovalRequest{Tool: "terminal", Subject: "ls"}
		}
		if err := r.world.Store.SaveQuestion(t.Context(), l, q); err != nil {
			t.Fatal(err)
		}
	}
	var e, again events
	r.must("events_poll", map[string]any{"limit": 200}, &e)
	if e.Lost == 0 || len(e.Events) != 20 {
		t.Errorf("%d events, lost %d, want those of 10 approvals, and that others are missing", len(e.Events), e.Lost)
	}
	open := hermes.StoredQuestion{Session: "busy", Asked: hermes.Asked{ID: "last", At: time.Now(), Approval: &hermes.ApprovalRequest{Tool: "terminal", Subject: "ls"}}}
	if err := r.world.Store.SaveQuestion(t.Context(), l, open); err != nil {
		t.Fatal(err)
	}
	r.must("events_poll", map[string]any{"after_cursor": e.Next, "limit": 200}, &again)
	if again.Lost > 0 || len(again.Events) != 1 {
		t.Errorf("then %d events, lost %d", len(again.Events), again.Lost)
	}
}

// texts are the messages of events.
func texts(e events) (list []string) {
	for _, e := range e.Events {
		if e.Message != nil {
			list = append(list, e.Message.Role+": "+e.Message.Text)
		}
	}
	return list
}

// TestASentMessageIsAnswered in a conversation that no process runs: the server opens it, says
// that the text is untrusted, and closes it when it was idle.
func TestASentMessageIsAnswered(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *mcpserver.Config) { c.Idle = 50 * time.Millisecond }, hermestest.Say("It is green."))
	r.stored(hermes.Session{ID: "s1", Platform: "cli", Title: "Build"}, hermes.UserText("hi"), hermes.Message{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "hello"}}})
	var sent struct {
		Conversation string `json:"conversation_id"`
		State, Where string
		Note         string
		Cursor       int64
	}
	r.must("messages_send", map[string]any{"conversation_id": "Build", "message": "how is the build?"}, &sent)
	if sent.Where != "this server" || sent.Conversation != "s1" || sent.State != "started" || sent.Note == "" {
		t.Errorf("sent %+v", sent)
	}
	e := r.until("message", sent.Cursor)
	if got := fmt.Sprint(texts(e)); got != "[user: how is the build? assistant: It is green.]" {
		t.Errorf("the events are %s", got)
	}
	if m := e.Events[0].Message; !m.Untrusted || m.Provenance != "MCP client tester" {
		t.Errorf("the message is %+v", m)
	}
	for late := time.Now().Add(time.Minute); r.world.Client.Here(t.Context(), "s1"); time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatal("the session stays open")
		}
	}
}

// meddling is a client of which some operations are stopped or fail.
type meddling struct {
	protocol.Client
	leaving func()       // called before a session is left
	left    func()       // called when it was left
	said    func()       // called when a message was taken
	attach  func() error // called before each attachment
}

func (m meddling) Do(ctx context.Context, id string, from hermes.From, op hermes.Op) error {
	if _, ok := op.(hermes.Leave); ok && m.leaving != nil {
		m.leaving()
	}
	err := m.Client.Do(ctx, id, from, op)
	if _, ok := op.(hermes.Leave); ok && m.left != nil {
		m.left()
	}
	if _, ok := op.(hermes.Say); ok && err == nil && m.said != nil {
		m.said()
	}
	return err
}

func (m meddling) Attach(ctx context.Context, id string, from hermes.From, after protocol.After) (protocol.Snapshot, <-chan protocol.Envelope, error) {
	if m.attach != nil {
		if err := m.attach(); err != nil {
			return protocol.Snapshot{}, nil, err
		}
	}
	return m.Client.Attach(ctx, id, from, after)
}

// TestAMessageIsNotLostWhileTheSessionIsLeft: it waits, and is answered in a session that is opened again.
func TestAMessageIsNotLostWhileTheSessionIsLeft(t *testing.T) {
	t.Parallel()
	leaving, left, said, answer, times := make(chan struct{}), make(chan struct{}, 8), make(chan struct{}, 8), make(chan struct{}), atomic.Int64{}
	r := newRig(t, func(c *mcpserver.Config) {
		c.Idle = 20 * time.Millisecond
		c.Client = meddling{Client: c.Client, said: func() { said <- struct{}{} }, left: func() { left <- struct{}{} }, leaving: func() {
			if times.Add(1) > 1 {
				return
			}
			close(leaving)
			select {
			case <-said: // the second message was taken by the session that is left
			case <-time.After(300 * time.Millisecond):
			}
		}}
	}, hermestest.Say("One."), hermestest.Step{Wait: answer, Text: "Two."})
	r.stored(hermes.Session{ID: "s1", Platform: "cli"}, hermes.UserText("hi"), hermes.Message{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "hello"}}})
	var sent struct{ Cursor int64 }
	r.must("messages_send", map[string]any{"conversation_id": "s1", "message": "first"}, &sent)
	<-said
	<-leaving
	r.must("messages_send", map[string]any{"conversation_id": "s1", "message": "second"}, &sent)
	<-left
	close(answer)
	if e := r.until("message", sent.Cursor); !slices.Contains(texts(e), "assistant: Two.") {
		t.Errorf("the events are %v", texts(e))
	}
}

// TestASessionThatCannotBeFollowedIsClosed: it was opened, and then the server could not attach to it.
func TestASessionThatCannotBeFollowedIsClosed(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *mcpserver.Config) {
		c.Client = meddling{Client: c.Client, attach: func() error { return errors.New("no attachment") }}
	})
	r.stored(hermes.Session{ID: "s1", Platform: "cli"}, hermes.UserText("hi"), hermes.Message{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "hello"}}})
	if err := r.call("messages_send", map[string]any{"conversation_id": "s1", "message": "hi"}, nil); err == nil || !strings.Contains(err.Error(), "no attachment") {
		t.Errorf("sent: %v", err)
	}
	for late := time.Now().Add(time.Minute); r.world.Client.Here(t.Context(), "s1"); time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatal("the session stays open")
		}
	}
}

// TestApprovalsOfSentMessages: without the option nobody attends, so that what is risky is refused
// at once; with it a client answers, but never what only the user may allow.
func TestApprovalsOfSentMessages(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		allow    bool
		decision string
		want     string
	}{
		"without": {false, "", "absent"},
		"allowed": {true, "once", "once"},
		"denied":  {true, "deny", "denied"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(c *mcpserver.Config) { c.AllowApprovals = tt.allow }, hermestest.CallTool("approve", "{}"), hermestest.Say("done"))
			r.stored(hermes.Session{ID: "s1", Platform: "cli"}, hermes.UserText("hi"), hermes.Message{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "hello"}}})
			var sent struct{ Cursor int64 }
			r.must("messages_send", map[string]any{"conversation_id": "s1", "message": "remove it"}, &sent)
			if tt.decision != "" {
				all := r.until("approval_requested", sent.Cursor)
				args := map[string]any{"conversation_id": "s1", "permission_id": all.Events[len(all.Events)-1].Approval.ID, "decision": "always"}
				if err := r.call("permissions_respond", args, nil); err == nil {
					t.Error("a client may allow always")
				}
				args["decision"] = tt.decision
				r.must("permissions_respond", args, new(struct{}))
				if err := r.call("permissions_respond", args, nil); err == nil {
					t.Error("an approval can be answered twice")
				}
			}
			for {
				all := r.until("message", sent.Cursor)
				if last := all.Events[len(all.Events)-1]; last.Message != nil && last.Message.Text == "done" {
					break
				}
				sent.Cursor = all.Next
			}
			var got messages
			r.must("messages_read", map[string]any{"conversation_id": "s1", "include_tools": true}, &got)
			if m := got.Messages[len(got.Messages)-2]; m.Text != tt.want {
				t.Errorf("the call came back with %q, want %q", m.Text, tt.want)
			}
		})
	}
}

// TestOnlyTheUserAllows what a risk says only the user may allow, and what is not shown whole.
func TestOnlyTheUserAllows(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *mcpserver.Config) { c.AllowApprovals = true })
	r.stored(hermes.Session{ID: "s1", Platform: "cli"}, hermes.UserText("hi"))
	l, err := r.world.Store.Acquire(t.Context(), "s1", hermes.Owner{Name: "another"}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for id, a := range map[string]hermes.ApprovalRequest{
		"1": {Tool: "memory", Subject: "x", Risks: []hermes.Risk{{Key: "k", Reason: "why", NoRemember: true}}},
		"2": {Tool: "terminal", Subject: "x", Risks: []hermes.Risk{{Key: "k", Reason: "why", Once: true}}},
		"3": {Tool: "terminal", Subject: strings.Repeat("x", 10_001)},
		"4": {Tool: "write_file", Subject: "x", Detail: strings.Repeat("x", 10_001)},
	} {
		if err := r.world.Store.SaveQuestion(t.Context(), l, hermes.StoredQuestion{Session: "s1", Asked: hermes.Asked{ID: id, At: time.Now(), Approval: &a}}); err != nil {
			t.Fatal(err)
		}
		err := r.call("permissions_respond", map[string]any{"conversation_id": "s1", "permission_id": id, "decision": "once"}, nil)
		if err == nil || !strings.Contains(err.Error(), "hermes attach") {
			t.Errorf("%s: %v", id, err)
		}
	}
	if err := r.world.Store.Release(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	var open struct{ Permissions []any }
	if r.must("permissions_list_open", nil, &open); len(open.Permissions) != 0 {
		t.Errorf("what an ended process asked is open: %+v", open)
	}
}

// TestQuestionsDoNotHang: a client cannot answer a question, so that the agent goes on without.
func TestQuestionsDoNotHang(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *mcpserver.Config) { c.AllowApprovals = true }, hermestest.CallTool("ask", "{}"), hermestest.Say("blue, then"))
	r.stored(hermes.Session{ID: "s1", Platform: "cli"}, hermes.UserText("hi"), hermes.Message{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "hello"}}})
	var sent struct{ Cursor int64 }
	r.must("messages_send", map[string]any{"conversation_id": "s1", "message": "paint it"}, &sent)
	for {
		all := r.until("message", sent.Cursor)
		if last := all.Events[len(all.Events)-1]; last.Message.Text == "blue, then" {
			return
		}
		sent.Cursor = all.Next
	}
}

// TestWhatIsNotSent says why, and what to do.
func TestWhatIsNotSent(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.stored(hermes.Session{ID: "s1", Platform: "cli"}, hermes.UserText("hi"))
	r.stored(hermes.Session{ID: "t1", Platform: "telegram"}, hermes.UserText("hi"))
	r.stored(hermes.Session{ID: "c1", Platform: hermes.PlatformChild, Parent: "s1"}, hermes.UserText("hi"))
	wide, err := r.world.Client.Open(t.Context(), user, hermes.RunSpec{Rights: hermes.Rights{Mode: hermes.ModeYolo}})
	if err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string]map[string]any{
		"sent by the gateway":             {"target": "telegram:1", "message": "x"},
		"held on telegram":                {"conversation_id": "t1", "message": "x"},
		"belongs to a sub-agent":          {"conversation_id": "c1", "message": "x"},
		"conversation_id is missing":      {"message": "x"},
		"the message is empty":            {"conversation_id": "s1", "message": " "},
		"at most 64":                      {"conversation_id": "s1", "message": strings.Repeat("x", 64<<10+1)},
		"is in the mode yolo":             {"conversation_id": wide.ID, "message": "x"},
		`there is no conversation "nope"`: {"conversation_id": "nope", "message": "x"},
	} {
		if err := r.call("messages_send", args, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	var c struct {
		Channels []string
		Note     string
	}
	if r.must("channels_list", nil, &c); len(c.Channels) != 0 || !strings.Contains(c.Note, "no gateway") {
		t.Errorf("the channels are %+v", c)
	}
}

// TestSessionsEndWithTheServer, also when their turn runs.
func TestSessionsEndWithTheServer(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *mcpserver.Config) { c.AllowApprovals = true }, hermestest.CallTool("approve", "{}"))
	r.stored(hermes.Session{ID: "s1", Platform: "cli"}, hermes.UserText("hi"), hermes.Message{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "hello"}}})
	var sent struct{ Cursor int64 }
	r.must("messages_send", map[string]any{"conversation_id": "s1", "message": "remove it"}, &sent)
	r.until("approval_requested", sent.Cursor)
	if err := r.server.Close(); err != nil {
		t.Fatal(err)
	}
	for late := time.Now().Add(time.Minute); r.world.Client.Here(t.Context(), "s1"); time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatal("the session stays open")
		}
	}
	if err := r.call("messages_send", map[string]any{"conversation_id": "s1", "message": "again"}, nil); err == nil || errors.Is(err, hermes.ErrClosed) {
		t.Errorf("sent after the end: %v", err)
	}
}

// TestTheQueueIsBounded: what does not fit is counted, and a cursor of an earlier server is known as
// such.
func TestTheQueueIsBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	var e events
	r.must("events_poll", nil, &e)
	r.stored(hermes.Session{ID: "s1", Platform: "cli"}, hermes.UserText("first"))
	if r.must("events_poll", map[string]any{"after_cursor": e.Next}, &e); len(e.Events) != 1 || e.Lost != 0 {
		t.Fatalf("the first: %+v", e)
	}
	var many []hermes.Message
	for i := range 600 {
		many = append(many, hermes.UserText(fmt.Sprint(i)))
	}
	r.append("s1", many...)
	var some events
	if r.must("events_poll", map[string]any{"after_cursor": e.Next, "limit": 200}, &some); len(some.Events) != 200 || !some.More || some.Lost != 0 || some.Events[0].Message.Text != "0" {
		t.Errorf("the next: %d events, lost %d", len(some.Events), some.Lost)
	}
	r.append("s1", many...)
	if r.must("events_poll", map[string]any{"after_cursor": e.Next, "limit": 200}, &some); some.Lost != 200 || len(some.Events) != 200 || some.Events[0].Message.Text != "200" {
		t.Errorf("after too many: %d events, lost %d", len(some.Events), some.Lost)
	}
	if r.must("events_poll", map[string]any{"after_cursor": 1_000_000}, &some); !some.Restarted || len(some.Events) == 0 {
		t.Errorf("after another server: %+v", some)
	}
	r.append("s1", append(many, many...)...)
	if r.must("events_poll", map[string]any{"after_cursor": 1201}, &some); some.Lost == 0 {
		t.Errorf("more at once than there is room: lost %d", some.Lost)
	}
}

// TestAWaitEnds at its time without events.
func TestAWaitEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	var e events
	if r.must("events_wait", map[string]any{"timeout_ms": 20}, &e); len(e.Events) != 0 || e.Next != 0 {
		t.Errorf("waited for %+v", e)
	}
}

// TestAWaitHoldsNothingUp: others are answered meanwhile, and it ends when its client cancels it or
// goes away, also over HTTP.
func TestAWaitHoldsNothingUp(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	addr := r.endpoint(mcpserver.HTTP{})
	over, err := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "1"}, nil).Connect(t.Context(),
		&mcp.StreamableClientTransport{Endpoint: "http://" + addr + "/mcp", HTTPClient: &http.Client{Transport: withToken{}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer over.Close()
	for range 2 * 32 { // twice as many as may wait at once
		for _, c := range []*mcp.ClientSession{r.client, over} {
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { // ends with ctx
				_, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "events_wait", Arguments: map[string]any{"timeout_ms": 55_000}})
				done <- err
			}()
			r.must("channels_list", nil, new(struct{}))
			cancel()
			if err := <-done; err == nil {
				t.Fatal("a wait that was cancelled returned")
			}
		}
	}
	for late := time.Now().Add(time.Minute); ; { // all places are free again
		err := r.call("events_wait", map[string]any{"timeout_ms": 1}, new(events))
		if err == nil {
			break
		}
		if time.Now().After(late) {
			t.Fatal(err)
		}
	}
	for name, ends := range map[string]func(in io.Closer, cancel func()){
		"it goes away":    func(in io.Closer, _ func()) { in.Close() },
		"the server ends": func(_ io.Closer, cancel func()) { cancel() },
	} {
		r := newRig(t, nil)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		in, client := io.Pipe()
		answers, out := io.Pipe()
		done := make(chan error, 1)
		go func() { done <- r.server.Run(ctx, in, out) }() // ends with the pipe
		read := bufio.NewScanner(answers)
		for _, line := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"events_wait","arguments":{"timeout_ms":55000}}}`,
			`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"channels_list","arguments":{}}}`,
		} {
			if _, err := io.WriteString(client, line+"\n"); err != nil {
				t.Fatal(err)
			}
		}
		for read.Scan() && !strings.Contains(read.Text(), `"id":3`) {
		}
		go func() { _, _ = io.Copy(io.Discard, answers) }() // ends with the server
		ends(client, cancel)
		select {
		case <-done:
		case <-time.After(30 * time.Second):
			t.Errorf("a wait holds the end up when %s", name)
		}
	}
}
