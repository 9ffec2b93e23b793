package tui

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/protocol"
	"hermes/internal/protocol/remote"
)

// lostAnswer is a message of which the chat does not know whether the session has it, in epoch 1.
func lostAnswer(t *testing.T, text string) *rig {
	t.Helper()
	r := openRig(t, 80, 24)
	r.send(foundMsg{protocol.Snapshot{Epoch: 1}}).keys(text + "<enter>").wantDo(say(text))
	r.send(submittedMsg{op: say(text).op, at: 1, err: protocol.ErrConnection}, lostMsg{protocol.ErrConnection})
	return r.wantDo()
}

// TestAMessageIsSentAgainWithItsKey to the process that would know it.
func TestAMessageIsSentAgainWithItsKey(t *testing.T) {
	t.Parallel()
	r := lostAnswer(t, "water them")
	r.send(foundMsg{protocol.Snapshot{Epoch: 1, Continued: true}})
	if len(r.do) != 1 {
		t.Fatalf("to be done: %v", r.do)
	}
	if again := r.do[0].(submitDo).op.(hermes.Say); again.Key != "key 1" || again.Parts[0].Text != "water them" {
		t.Errorf("sent again: %+v", again)
	}
	r.send(submittedMsg{op: say("water them").op, at: 2}, hermes.TurnStarted{Turn: 1, Message: hermes.UserText("water them"), From: me})
	r.shows("› water them").hides("next: water them", "did not arrive")
	if !r.m.input.Empty() || len(r.m.conv.waiting) > 0 {
		t.Errorf("in the input %q, waiting %v", r.m.input.Value(), r.m.conv.texts())
	}
}

// TestAMessageIsLookedForInAnotherProcess: it began, waits there, or goes back to the input.
func TestAMessageIsLookedForInAnotherProcess(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		events []any
		input  string
		shown  string
	}{
		"it began":                   {[]any{hermes.TurnStarted{Turn: 1, Message: hermes.UserText("water them")}}, "", "› water them"},
		"it began, steered":          {[]any{hermes.Steered{Text: "water them"}}, "", "↳ water them"},
		"it waits":                   {[]any{hermes.Queued{Messages: []hermes.QueuedMessage{{Text: "water them"}}}}, "", "  water them"},
		"it went along with another": {[]any{hermes.TurnStarted{Turn: 1, Message: hermes.UserText("plant roses\nwater them\nand sing")}}, "", "plant roses"},
		"another frontend said it":   {[]any{hermes.TurnStarted{Turn: 1, Message: hermes.UserText("water them"), From: other}}, "water them", "Your message did not arrive."},
		"it waits for another":       {[]any{hermes.Queued{Messages: []hermes.QueuedMessage{{Text: "water them", From: other}}}}, "water them", "did not arrive"},
		"it did not arrive":          {nil, "water them", "Your message did not arrive. It is in the input again: press Enter to send."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := lostAnswer(t, "water them")
			r.send(tt.events...).send(foundMsg{protocol.Snapshot{Epoch: 2}}).wantDo().shows(tt.shown)
			if got := r.m.input.Value(); got != tt.input {
				t.Errorf("in the input: %q", got)
			}
			if strings.HasPrefix(name, "it began") && len(r.m.conv.waiting) > 0 {
				t.Errorf("still listed: %v", r.m.conv.texts())
			}
		})
	}
}

// TestALateAnswerCountsToo: the session was lost and found before the chat learned that the message
// had no answer.
func TestALateAnswerCountsToo(t *testing.T) {
	t.Parallel()
	for epoch, want := range map[int64][]any{1: {say("hi")}, 2: nil} {
		r := openRig(t, 80, 24)
		r.send(foundMsg{protocol.Snapshot{Epoch: 1}}).keys("hi<enter>").wants()
		r.send(lostMsg{protocol.ErrConnection}, foundMsg{protocol.Snapshot{Epoch: epoch}})
		r.send(submittedMsg{op: say("hi").op, at: 1, err: hermes.ErrClosed}).wantDo(want...)
		if back := r.m.input.Value() == "hi"; back != (want == nil) {
			t.Errorf("epoch %d: in the input: %q", epoch, r.m.input.Value())
		}
	}
}

// TestAnUnsureMessageIsNotSentTwice by a stop, and not lost when the session is gone.
func TestAnUnsureMessageIsNotSentTwice(t *testing.T) {
	t.Parallel()
	r := lostAnswer(t, "water them")
	r.send(hermes.Queued{}).keys("<ctrl+c>")
	if got := r.m.input.Value(); got != "" {
		t.Errorf("in the input after a stop: %q", got)
	}
	r.keys("typed").send(goneMsg{hermes.ErrClosed})
	if got := r.m.input.Value(); got != "water them\n\ntyped" {
		t.Errorf("in the input at the end: %q", got)
	}
}

// TestAMessageComesBackBehindAQuestion: the answer that is being typed is not touched.
func TestAMessageComesBackBehindAQuestion(t *testing.T) {
	t.Parallel()
	r := lostAnswer(t, "water them")
	r.send(approval()).wait(2 * settle).keys("no way")
	r.send(foundMsg{protocol.Snapshot{Epoch: 2}}).shows("no way").send(hermes.AnswerTaken{ID: "q1"})
	if got := r.m.input.Value(); got != "no way\n\nwater them" {
		t.Errorf("in the input after the question: %q", got)
	}
}

// TestAProcessThatDoesNotAnswerIsNoted once, and the user can leave.
func TestAProcessThatDoesNotAnswerIsNoted(t *testing.T) {
	t.Parallel()
	r := newRig(t, 100, 24, Display{})
	r.send(openedMsg{id: "x", foreign: true, resumed: true}, foundMsg{protocol.Snapshot{Epoch: 1}}).keys("hi<enter>").wantDo(say("hi"))
	if !r.m.moving() {
		t.Error("no tick comes")
	}
	const line = "The process of the session does not answer."
	r.send(tickMsg{}).hides(line).wait(answerTime).send(tickMsg{}, tickMsg{}).shows(line, "Ctrl+D detaches")
	if n := strings.Count(r.v.text(), line); n != 1 || r.m.moving() {
		t.Errorf("it is said %d times", n)
	}
	r.keys("<ctrl+d>").wantDo(quitDo{})
}

// TestOthersCannotWriteToTheTerminal: escape sequences in names, messages and commands are shown harmless.
func TestOthersCannotWriteToTheTerminal(t *testing.T) {
	t.Parallel()
	bad := "x\x1b]0;title\x07\x1b[2J\u202e\u009b31m" + strings.Repeat("日本語", 40)
	from := hermes.From{Client: "other", Name: bad}
	r := openRig(t, 60, 24)
	r.send(hermes.TurnStarted{Turn: 1, Message: hermes.UserText(bad), From: from}, hermes.CommandDone{Line: "/title " + bad, From: from})
	many := make([]hermes.QueuedMessage, 100)
	for i := range many {
		many[i] = hermes.QueuedMessage{Text: bad, From: from}
	}
	r.send(hermes.Queued{Messages: many}).shows("and 97 more")
	r.send(approval(), hermes.AnswerTaken{ID: "q1", Answered: true, By: from}, hermes.Titled{Title: bad})
	r.send(submittedMsg{op: hermes.Reply{ID: "q1"}, err: hermes.ErrAnswered{By: from}}, hermes.TurnDone{Outcome: hermes.OutcomeDone, Text: bad})
	if got := r.v.text(); strings.ContainsAny(got, "\x1b\x07\u202e\u009b") {
		t.Errorf("on the screen: %q", got)
	}
}

// cutting is a client of sessions over connections. It makes a new one after one was cut.
type cutting struct {
	protocol.Client // that serves
	t               *testing.T
	early, late     bool // cut the connection before, or after, the next message reaches the session

	mu   sync.Mutex
	now  *remote.Client
	conn net.Conn
}

// served is what a connection is served with.
type servedBy struct {
	protocol.Client
	c *cutting
}

func (s servedBy) Do(ctx context.Context, id string, from hermes.From, op hermes.Op) error {
	err := s.Client.Do(context.WithoutCancel(ctx), id, from, op)
	if _, ok := op.(hermes.Say); ok {
		s.c.cut(&s.c.late)
	}
	return err
}

// cut cuts the connection if it is to be cut.
func (c *cutting) cut(when *bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if *when {
		*when = false
		_ = c.conn.Close()
	}
}

func (c *cutting) remote() (*remote.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now != nil {
		select {
		case <-c.now.Done():
		default:
			return c.now, nil
		}
	}
	server, client := net.Pipe()
	over := make(chan struct{})
	go func() { // ends with the connection
		defer close(over)
		_ = remote.Serve(context.Background(), remote.NewStream(server), remote.Server{
			Client: servedBy{c.Client, c},
			Admit:  func(context.Context, remote.Hello) (hermes.From, error) { return hermes.From{Name: "peer"}, nil },
		})
	}()
	r, err := remote.Dial(c.t.Context(), remote.NewStream(client), remote.Hello{Client: me.Client})
	if err != nil {
		return nil, protocol.ErrConnection
	}
	c.t.Cleanup(func() { _ = r.Close(); <-over })
	c.now, c.conn = r, server
	return r, nil
}

func (c *cutting) Attach(ctx context.Context, id string, from hermes.From, after protocol.After) (protocol.Snapshot, <-chan protocol.Envelope, error) {
	r, err := c.remote()
	if err != nil {
		return protocol.Snapshot{}, nil, err
	}
	return r.Attach(ctx, id, from, after)
}

func (c *cutting) Do(ctx context.Context, id string, from hermes.From, op hermes.Op) error {
	r, err := c.remote()
	if err != nil {
		return err
	}
	if _, ok := op.(hermes.Say); ok {
		c.cut(&c.early)
	}
	return r.Do(ctx, id, from, op)
}

// TestAMessageOverACutConnectionArrivesOnce, whether it reached the session before the cut or not.
func TestAMessageOverACutConnectionArrivesOnce(t *testing.T) {
	t.Parallel()
	for name, early := range map[string]bool{"before the session has it": true, "before its answer": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			direct, m := mustReal(t, hermestest.Say("hello one"), hermestest.Say("hello two"), hermestest.Say("hello three"))
			c := &cutting{Client: direct, t: t, early: early, late: !early}
			j := join(t, c, me, Start{})
			j.background = newBackground(t.Context())
			defer func() { close(j.done); j.background.wait() }()
			for i, text := range []string{"first", "second"} {
				j.r.keys(text + "<enter>")
				j.doAll(j.r.take())
				j.until("hello " + []string{"one", "two"}[i])
			}
			j.r.draw()
			for _, once := range []string{"› first", "hello one", "› second", "hello two"} {
				if n := strings.Count(j.r.v.text(), once); n != 1 {
					t.Errorf("%q appears %d times:\n%s", once, n, j.r.v.text())
				}
			}
			s, err := m.Get(t.Context(), j.session.id)
			if err != nil {
				t.Fatal(err)
			}
			list, err := c.History(t.Context(), s.ID(), hermes.Range{Raw: true})
			var said []string
			for _, x := range list {
				said = append(said, x.Visible())
			}
			if want := []string{"first", "hello one", "second", "hello two"}; err != nil || !slices.Equal(said, want) {
				t.Errorf("stored %q, %v", said, err)
			}
			if c.early || c.late || j.model.conv.attachments < 2 {
				t.Error("the connection was not cut")
			}
		})
	}
}

// take returns the actions as they are.
func (r *rig) take() []any {
	do := r.do
	r.do = nil
	return do
}

// until runs the chat until the screen shows a text and no message waits.
func (j joined) until(want string) {
	j.r.t.Helper()
	for {
		j.r.draw()
		if strings.Contains(j.r.v.text(), want) && len(j.model.conv.waiting) == 0 && !j.model.turn.busy {
			return
		}
		select {
		case u := <-j.updates():
			j.follow(u)
		case msg := <-j.msgs:
			j.take(msg)
		case <-j.r.t.Context().Done():
			j.r.t.Fatalf("no %q on the screen:\n%s", want, j.r.v.text())
		}
	}
}

// TestALineOverACutConnectionArrivesOnce in a terminal without escape sequences, and so does what is
// asked without a chat.
func TestALineOverACutConnectionArrivesOnce(t *testing.T) {
	t.Parallel()
	for name, early := range map[string]bool{"before the session has it": true, "before its answer": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			direct, _ := mustReal(t, hermestest.Say("hello one"), hermestest.Say("hello two"))
			c := &cutting{Client: direct, t: t, early: early, late: !early}
			in, typed, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			shown, out, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := typed.WriteString("first\nsecond\n"); err != nil {
				t.Fatal(err)
			}
			_ = typed.Close()
			id, err := Run(t.Context(), Options{In: in, Out: out, Client: c, From: me})
			_ = out.Close()
			text, readErr := io.ReadAll(shown)
			if err != nil || readErr != nil || strings.Count(string(text), "hello one") != 1 || strings.Count(string(text), "hello two") != 1 {
				t.Errorf("%v, %v: %s", err, readErr, text)
			}
			if c.early || c.late {
				t.Error("the connection was not cut")
			}
			list, err := c.History(t.Context(), id, hermes.Range{Raw: true})
			if err != nil || len(list) != 4 {
				t.Errorf("stored %+v, %v", list, err)
			}
		})
	}
}

// TestAskOverACutConnection asks once.
func TestAskOverACutConnection(t *testing.T) {
	t.Parallel()
	for _, early := range []bool{true, false} {
		direct, _ := mustReal(t, hermestest.Say("hello one"), hermestest.Say("hello two"))
		info, err := direct.Open(t.Context(), me, hermes.RunSpec{})
		if err != nil {
			t.Fatal(err)
		}
		c := &cutting{Client: direct, t: t, early: early, late: !early}
		var out bytes.Buffer
		done, err := Ask(t.Context(), c, info.ID, me, []hermes.Part{{Text: "first"}}, NewPrinter(&out, io.Discard, Display{Plain: true}, 80, time.Now))
		if err != nil || done.Text != "hello one" || c.early || c.late {
			t.Errorf("early %v: %+v, %v, printed %q", early, done, err, out.String())
		}
		list, err := direct.History(t.Context(), info.ID, hermes.Range{Raw: true})
		if err != nil || len(list) != 2 {
			t.Errorf("early %v: stored %+v, %v", early, list, err)
		}
	}
}
