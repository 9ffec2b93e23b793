package tui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/protocol"
)

func TestMessagesOfOthersSayWhoSentThem(t *testing.T) {
	t.Parallel()
	r := openRig(t, 80, 24)
	r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("look here"), From: other}).shows("› look here", "from terminal 4711")
	r.keys("mine<enter>").send(hermes.Queued{Messages: []hermes.QueuedMessage{{Text: "mine", From: me}, {Text: "theirs", From: other}}})
	r.shows("next: mine", "next: theirs · terminal 4711").hides("queued")
	r.send(hermes.TurnDone{Turn: 1}, hermes.TurnStarted{Turn: 2, Message: hermes.UserText("mine"), From: me}, hermes.TurnDone{Turn: 2})
	r.hides("from terminal 1")
}

func TestAnAnswerOfAnotherFrontendClosesTheQuestion(t *testing.T) {
	t.Parallel()
	r := openRig(t, 80, 24)
	r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")}, approval()).shows("d deny")
	r.send(hermes.AnswerTaken{ID: "q1", Answered: true, By: other, Decision: hermes.AllowOnce})
	r.hides("d deny").shows("answered by terminal 4711")
	r.send(approval()).wait(time.Second).keys("o<enter>").wantDo(submitDo{op: hermes.Reply{ID: "q1", Approval: hermes.ApprovalAnswer{Decision: hermes.AllowOnce}}})
	r.send(submittedMsg{op: hermes.Reply{ID: "q1"}, err: hermes.ErrAnswered{By: other}}).shows("already answered by terminal 4711")
	r.send(hermes.AnswerTaken{ID: "q1", Answered: true, By: other})
	if n := strings.Count(r.v.text(), "answered by"); n != 2 {
		t.Errorf("said %d times:\n%s", n, r.v.text())
	}
	r = openRig(t, 80, 24)
	r.send(approval(), hermes.AnswerTaken{ID: "q1", Answered: true, By: me}).hides("answered by")
}

func TestQuestionsOfAChildAreAnsweredThere(t *testing.T) {
	t.Parallel()
	r := openRig(t, 80, 30)
	child := func(e hermes.Event) eventMsg {
		return eventMsg{protocol.Envelope{Session: "c1", Parent: "x", Event: e}}
	}
	r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")}, child(hermes.TurnStarted{Message: hermes.UserText("fix the tests")}))
	r.send(child(hermes.CallStarted{Call: call("1", "terminal")}), child(hermes.Notice{Text: "of the child"})).hides("fix the tests", "of the child", "running 1 tool")
	r.send(child(approval())).shows("A child session asks: fix the tests", "Run this command?")
	r.send(hermes.AnswerTaken{ID: "q1"}).shows("d deny") // a question of the parent has the same id
	reply := hermes.Reply{ID: "q1", Approval: hermes.ApprovalAnswer{Decision: hermes.AllowOnce}}
	r.wait(time.Second).keys("o<enter>").wantDo(submitDo{op: reply, to: "c1"})
	r.send(child(approval()))
	deny := hermes.Reply{ID: "q1", Approval: hermes.ApprovalAnswer{Decision: hermes.Deny}}
	r.keys("<ctrl+c>").wantDo(submitDo{op: deny, to: "c1"}, submitDo{op: hermes.Stop{}})
	r.send(child(approval()), child(hermes.AnswerTaken{ID: "q1", Answered: true, By: other})).hides("d deny").shows("answered by terminal 4711")
	r.send(child(hermes.TurnDone{})).shows("stopping")
}

// TestTheSessionIsToldThatTheUserAnswers, now and then.
func TestTheSessionIsToldThatTheUserAnswers(t *testing.T) {
	t.Parallel()
	for name, asked := range map[string]hermes.Asked{
		"approval": approval(), "choice": {ID: "q1", Question: &hermes.Question{Text: "Which?", Choices: []string{"red", "green"}}}, "words": {ID: "q1", Question: &hermes.Question{Text: "Which?"}},
	} {
		r := openRig(t, 80, 30)
		r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")}, eventMsg{protocol.Envelope{Session: "c1", Parent: "x", Event: asked}})
		r.do = nil
		r.wait(time.Second).keys("<down>no<left>")
		touch := submitDo{hermes.Touch{ID: "q1"}, "c1"}
		if len(r.do) != 1 || r.do[0] != any(touch) {
			t.Errorf("%s: done %v", name, r.do)
		}
		if r.wait(touchTime).keys("x"); len(r.do) != 2 {
			t.Errorf("%s: later done %v", name, r.do)
		}
		r.send(submittedMsg{op: touch.op, err: hermes.ErrAnswered{By: other}}).hides("already answered")
	}
	r := openRig(t, 80, 30)
	r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")}).wait(time.Second).keys("th").send(approval()).keys("at")
	if len(r.do) > 0 {
		t.Errorf("a draft touches the question: %v", r.do)
	}
}

// TestAReplyGoesToTheSessionThatAsks, and what resumes another session keeps that one's tools.
func TestAReplyGoesToTheSessionThatAsks(t *testing.T) {
	t.Parallel()
	parent, child := newFake(nil), newFake(nil)
	client := &fakeClient{live: map[string]*fakeSession{"s": parent, "c1": child}, open: func(context.Context, hermes.RunSpec) (*fakeSession, error) { return parent, nil }}
	c := &chat{attached: attached{client: client, from: me, session: &link{id: "s"}}, background: &background{ctx: t.Context(), msgs: make(chan any), done: make(chan struct{})}}
	c.do(submitDo{hermes.Reply{ID: "q1"}, "c1"})
	<-c.msgs
	if len(child.did()) != 1 || len(parent.did()) != 0 {
		t.Errorf("the child got %v, the parent %v", child.did(), parent.did())
	}
	run := hermes.RunSpec{Tools: hermes.ToolChoice{Enabled: []string{"file"}}, Model: hermes.ModelChoice{Ref: "m"}}
	for _, w := range []want{{first: true}, {resume: "s"}} {
		c.session = c.open(t.Context(), Start{Run: run}, w).link
		c.session.detach()
	}
	if first, second := client.opened[0], client.opened[1]; first.Tools.Enabled == nil || second.Tools.Enabled != nil || second.Session != "s" || second.Model.Ref != "m" {
		t.Errorf("opened %+v", client.opened)
	}
}

func TestCommandsOfOthersAreOneLine(t *testing.T) {
	t.Parallel()
	r := openRig(t, 80, 24)
	r.send(hermes.CommandDone{Line: "/quit", From: other, Action: hermes.ActionQuit, Text: "Bye."}).shows("terminal 4711 ran /quit").hides("Bye.")
	r.send(hermes.CommandDone{Line: "/undo", From: other, Confirm: "Undo?"}).hides("Undo?", "y yes")
	r.wantDo()
}

func TestAFailedCommandSaysWhy(t *testing.T) {
	t.Parallel()
	r := openRig(t, 80, 24)
	r.keys("/review this<enter>").send(done(hermes.CommandDone{Line: "/review this", Failure: hermes.FailureOf(hermes.ErrInterrupted)}), ranMsg{line: "/review this"})
	r.shows("interrupted")
	if got := r.m.input.Value(); got != "/review this" {
		t.Errorf("the line of a stopped skill became %q", got)
	}
}

func TestALostSessionIsFoundAgain(t *testing.T) {
	t.Parallel()
	r := openRig(t, 80, 24)
	r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")}, hermes.TextDelta{Text: "first half"})
	r.send(lostMsg{protocol.ErrConnection}, lostMsg{protocol.ErrConnection})
	r.shows("The connection to the session was lost; attaching again…", "Attaching to the session again…", "waiting for the session")
	r.keys("a draft").shows("› a draft").keys("<enter>").shows("next: a draft")
	if do := r.wants(); do != nil {
		t.Errorf("to be done while the session is out of reach: %v", do)
	}
	r.send(hermes.TextDelta{Text: " and the rest"}, foundMsg{protocol.Snapshot{Continued: true}}).hides("Attaching to the session", "waiting for the session")
	r.wantDo(say("a draft")).send(submittedMsg{op: say("a draft").op}) // once it is back
	r.send(answer("first half and the rest"), hermes.TurnDone{Outcome: hermes.OutcomeDone, Text: "first half and the rest"})
	r.send(hermes.TurnStarted{Turn: 2, Message: hermes.UserText("a draft")}, hermes.TurnDone{Outcome: hermes.OutcomeDone})
	got := r.v.text()
	if strings.Count(got, "attaching again") != 1 || strings.Count(got, "first half and the rest") != 1 || strings.Count(got, "first half") != 1 {
		t.Errorf("the screen:\n%s", got)
	}
	r.send(lostMsg{hermes.ErrClosed}).shows("The session was closed; opening it again…")
	r.send(foundMsg{protocol.Snapshot{Cut: true}}).shows("The last turn was cut off. Use /continue to resume it.")
	r.wants()
	r.keys("<ctrl+c>/quit<enter>").wantDo(commandDo{"/quit"})
	r.send(lostMsg{hermes.ErrClosed}).keys("/quit<enter>").wantDo(quitDo{})
}

func TestASessionThatIsGoneCanBeLeft(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string][]any{
		"/quit<enter>":     {quitDo{}},
		"/new plan<enter>": {openDo{want{title: "plan"}}},
		"/resume x<enter>": {openDo{want{resume: "x"}}},
	} {
		r := openRig(t, 80, 24)
		r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")}, approval(), goneMsg{errors.New("the database is damaged")})
		r.shows("the database is damaged", "Use /new to start another").hides("d deny", "Ctrl+C to stop")
		r.wait(time.Second).keys(keys).wantDo(want...)
	}
}

// joined is a chat that watches a real session, without its loop.
type joined struct {
	*chat
	r *rig
}

// join starts a chat.
func join(t *testing.T, c protocol.Client, from hermes.From, s Start) joined {
	t.Helper()
	r := newRig(t, 80, 30, Display{})
	r.m.self = from.Client
	ch := &chat{model: r.m, attached: attached{client: c, from: from}, o: Options{Start: s}}
	ch.adopt(ch.open(t.Context(), s, want{first: true}))
	t.Cleanup(ch.session.detach)
	return joined{ch, r}
}

// shows reads what happens until the screen shows a text.
func (j joined) shows(want string) {
	j.r.t.Helper()
	for j.r.draw(); !strings.Contains(j.r.v.text(), want); j.r.draw() {
		select {
		case u := <-j.updates():
			j.follow(u)
		case <-time.After(time.Minute):
			j.r.t.Fatalf("no %q on the screen:\n%s", want, j.r.v.text())
		}
	}
}

// say sends a message.
func (j joined) say(text string) {
	j.r.t.Helper()
	if err := j.client.Do(j.r.t.Context(), j.session.id, j.from, hermes.Say{Parts: []hermes.Part{{Text: text}}}); err != nil {
		j.r.t.Fatal(err)
	}
}

// TestAClosedSessionIsOpenedAgain and goes on.
func TestAClosedSessionIsOpenedAgain(t *testing.T) {
	t.Parallel()
	c, m := mustReal(t, hermestest.Say("hello one"), hermestest.Say("hello two"))
	j := join(t, c, me, Start{})
	j.say("first")
	j.shows("hello one")
	s, err := m.Get(t.Context(), j.session.id)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	j.shows("The session was closed; opening it again…")
	for j.model.conv.lost {
		j.follow(<-j.updates())
	}
	j.say("second")
	j.shows("hello two")
	for _, once := range []string{"first", "hello one", "second", "hello two"} {
		if n := strings.Count(j.r.v.text(), once); n != 1 {
			t.Errorf("%q appears %d times:\n%s", once, n, j.r.v.text())
		}
	}
}

// TestTwoChatsOnOneSession: both see everything, in order, and who sent it.
func TestTwoChatsOnOneSession(t *testing.T) {
	t.Parallel()
	c, _ := mustReal(t, hermestest.Say("hello one"), hermestest.Say("hello two"))
	one := join(t, c, me, Start{})
	two := join(t, c, other, Start{Attach: one.session.id})
	if !two.session.foreign || two.model.conv.id != one.session.id {
		t.Fatalf("attached to %+v", two.session)
	}
	one.say("from the first")
	one.shows("hello one")
	two.shows("from terminal 1\n\nhello one")
	two.say("from the second")
	two.shows("hello two")
	one.shows("› from the second\n  from terminal 4711\n\nhello two")
	if err := c.Command(t.Context(), one.session.id, me, "/title The bug"); err != nil {
		t.Fatal(err)
	}
	two.shows("terminal 1 ran /title The bug")
	if two.model.conv.title != "The bug" {
		t.Errorf("the title is %q", two.model.conv.title)
	}
	one.drop()
	one.attached.wait()
	two.say("a third") // the session goes on for the other one
}

// TestAttachOpensOnlyWhatIsNotLive, and what it opened it ends.
func TestAttachOpensOnlyWhatIsNotLive(t *testing.T) {
	t.Parallel()
	f := newFake(nil)
	f.transcript = []hermes.Message{hermes.UserText("old"), {Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "older answer"}}}}
	c := clientOf(f)
	a := &attached{client: c, from: me}
	got := a.open(t.Context(), Start{Attach: "s"}, want{first: true})
	if got.opened.err != nil || !got.link.foreign || len(c.opened) > 0 || len(got.opened.last) != 2 || !got.opened.resumed {
		t.Errorf("attached %+v, opened %v", got.opened, c.opened)
	}
	a.take(got.link)
	a.drop()
	a.wait()
	if f.closed {
		t.Error("detaching ended a session of another process")
	}
	tools := hermes.ToolChoice{Enabled: []string{"file"}}
	got = a.open(t.Context(), Start{Attach: "not live", Run: hermes.RunSpec{Tools: tools}}, want{first: true})
	if got.opened.err != nil || got.link.foreign || len(c.opened) != 1 || c.opened[0].Session != "not live" || c.opened[0].Tools.Enabled != nil {
		t.Errorf("opened %+v, %+v", got.opened, c.opened)
	}
	a.take(got.link)
	a.drop()
	a.wait()
	if !f.closed {
		t.Error("the session that the chat opened goes on")
	}
}

// TestAttachingShowsTheRunningTurnFromItsBeginning, once, and goes on where it is.
func TestAttachingShowsTheRunningTurnFromItsBeginning(t *testing.T) {
	t.Parallel()
	f := newFake(nil)
	step := hermes.Message{ID: 4, Turn: 2, Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "I look."}}, Calls: []hermes.ToolCall{call("a", "terminal")}}
	f.transcript = []hermes.Message{
		stored(1, 1, hermes.RoleUser, "old"), stored(2, 1, hermes.RoleAssistant, "older answer"), stored(3, 2, hermes.RoleUser, "the question"), step,
		{Turn: 2, Role: hermes.RoleTool, CallID: "a"},
	}
	f.turn = &protocol.Turn{Number: 2, Said: f.transcript[2], From: other, Text: "It is", Began: at(0)}
	c := clientOf(f)
	r := newRig(t, 80, 30, Display{})
	ch := &chat{model: r.m, attached: attached{client: c, from: me}}
	ch.adopt(ch.open(t.Context(), Start{Attach: "s"}, want{first: true}))
	t.Cleanup(ch.session.detach)
	j := joined{ch, r}
	f.emit(hermes.TextDelta{Text: " done."})
	j.shows("It is done.")
	if got, want := strings.Split(r.v.text(), "\n\n"), []string{"› old", "older answer", "› the question\n  from terminal 4711", "I look.", "┊ terminal  0 ms"}; !slices.Equal(got[1:6], want) {
		t.Errorf("the screen: %q", got)
	}
	if !r.m.turn.busy || !r.m.turn.began.Equal(at(0)) {
		t.Errorf("the turn is %+v", r.m.turn)
	}
}

// TestTheEndOfALongConversationIsFound behind many results of tools.
func TestTheEndOfALongConversationIsFound(t *testing.T) {
	t.Parallel()
	f := newFake(nil)
	f.transcript = []hermes.Message{hermes.UserText("old"), {Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "older"}}}, hermes.UserText("question")}
	for range 3 * lastPage {
		f.transcript = append(f.transcript, hermes.Message{Role: hermes.RoleTool, Parts: []hermes.Part{{Text: "x"}}})
	}
	said, err := lastSaid(t.Context(), clientOf(f), "s", int64(len(f.transcript)))
	var texts []string
	for _, m := range said {
		texts = append(texts, m.Text())
	}
	if err != nil || !slices.Equal(texts, []string{"older", "question"}) {
		t.Errorf("got %q, %v", texts, err)
	}
}

// TestANewSessionGetsItsTitle, or says why not, and opens anyway.
func TestANewSessionGetsItsTitle(t *testing.T) {
	t.Parallel()
	f := newFake(nil)
	a := &attached{client: clientOf(f), from: me}
	got := a.open(t.Context(), Start{Run: hermes.RunSpec{Session: ""}}, want{title: "plan"})
	if got.opened.err != nil || got.opened.resumed || !slices.Contains(f.did(), hermes.Op(hermes.SetTitle{Title: "plan"})) {
		t.Errorf("opened %+v, did %v", got.opened, f.did())
	}
	r := newRig(t, 80, 24, Display{})
	r.send(openedMsg{id: "x", untitled: hermes.ErrTitleTaken}).shows("another session has this title").wantDo()
}

// TestOthersLineByLine: what another frontend does appears between the lines.
func TestOthersLineByLine(t *testing.T) {
	t.Parallel()
	f := newFake(func(f *fakeSession, text string) {
		f.emit(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("their words"), From: other}, hermes.TextDelta{Text: "For them."},
			answer("For them."), hermes.CommandDone{Line: "/title x", From: other}, hermes.TurnDone{Turn: 1, Outcome: hermes.OutcomeDone, Text: "For them."})
		f.emit(hermes.Asked{ID: "q", Approval: &hermes.ApprovalRequest{Tool: "terminal", Subject: "make"}})
		f.emit(hermes.AnswerTaken{ID: "q", Answered: true, By: other})
	})
	c := clientOf(f)
	p := &plainChat{o: Options{Display: Display{Plain: true}, Now: time.Now}, lines: make(chan string), attached: attached{client: c, from: me}}
	var out strings.Builder
	p.out = writer{w: &out}
	got := p.open(context.Background(), Start{}, want{})
	p.attached.take(got.link)
	p.printer = &rawPrinter{out: writer{w: &out}, notes: writer{w: &out}, renderer: newRenderer(p.o.Display, 80, time.Now)}
	p.printer.renderer.self = me.Client
	p.seen = catchup{emit: p.happened}
	if err := p.turn(t.Context(), hermes.Say{Parts: []hermes.Part{{Text: "go"}}}); err != nil {
		t.Fatal(err)
	}
	f.wait.Wait()
	for !strings.Contains(out.String(), "answered by") {
		if err := p.follow(<-p.updates(), true); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"terminal 4711: their words\n", "For them.\n", "terminal 4711 ran /title x\n", "A question waits for an answer", "answered by terminal 4711\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
	if len(p.asks) > 0 {
		t.Error("the question is still open")
	}
}

// TestWhatIsTypedAtAQuestionStays when another frontend answers it, and is not sent by an Enter that was
// meant for the question. A secret is shown nowhere.
func TestWhatIsTypedAtAQuestionStays(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		asked         hermes.Asked
		before, typed string
		want          string
	}{
		"a reason":              {approval(), "", "not that one", "not that one"},
		"a reason over a draft": {approval(), "a draft", "not that one", "not that one\n\na draft"},
		"a choice":              {approval(), "a draft", "o", "a draft"},
		"an answer":             {hermes.Asked{ID: "q1", Question: &hermes.Question{Text: "Which port?"}}, "", "808", "808"},
		"a secret":              {hermes.Asked{ID: "q1", Question: &hermes.Question{Text: "Password?", Secret: true}}, "", "hunter2", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := openRig(t, 80, 24)
			r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText("go")}).keys(tt.before)
			tt.asked.ID = "q1"
			r.send(tt.asked).wait(2 * settle).keys(tt.typed).wants()
			r.send(hermes.AnswerTaken{ID: "q1", Answered: true, By: other}).shows("answered by terminal 4711")
			if got := r.m.input.Value(); got != tt.want {
				t.Errorf("in the input: %q", got)
			}
			if tt.want == tt.before || tt.want == "" {
				return
			}
			r.wait(time.Hour).keys("0<enter>").wantDo().shows("Press Enter again")
			if r.wait(time.Hour).keys("<enter>"); len(r.wants()) != 1 {
				t.Error("a second Enter did not send it")
			}
		})
	}
}
