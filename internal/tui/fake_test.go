package tui

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"hermes"
	"hermes/internal/command"
	"hermes/internal/protocol"
	"hermes/internal/session"
)

// me is the frontend of the tests, and other another one.
var (
	me    = hermes.From{Client: "me", Platform: "cli", Name: "terminal 1", Attends: true}
	other = hermes.From{Client: "other", Platform: "cli", Name: "terminal 4711", Attends: true}
)

// fakeSession answers each message with what its script says.
type fakeSession struct {
	id         string
	script     func(f *fakeSession, text string)
	prepares   func()           // if set, the turn of each message is prepared until a stop
	transcript []hermes.Message // from before
	turn       *protocol.Turn   // that runs already
	dir        string           // where it works
	rolled     []int64          // the messages from which on Rollback removed some

	mu      sync.Mutex
	ops     []hermes.Op
	subs    []chan protocol.Envelope
	seq     int64
	closed  bool
	wait    sync.WaitGroup
	replies chan hermes.Reply
	stopped chan struct{}
}

func newFake(script func(f *fakeSession, text string)) *fakeSession {
	return &fakeSession{script: script, replies: make(chan hermes.Reply, 8), stopped: make(chan struct{}, 8)}
}

func (f *fakeSession) ID() string { return cmp.Or(f.id, "20260102_030405_fake") }

func (f *fakeSession) Rollback(ctx context.Context, from int64, _ []int64, files func(context.Context) error) error {
	f.rolled = append(f.rolled, from)
	return files(ctx)
}

func (f *fakeSession) Undone(context.Context, []int64) ([]hermes.Message, error) { return nil, nil }

func (f *fakeSession) SayWith(context.Context, string, hermes.Model) error {
	return errors.New("no other model")
}

func (f *fakeSession) State(context.Context) (session.State, error) {
	return session.State{Row: hermes.Session{ID: f.ID(), Model: "maker/model-1", Dir: f.dir}, Window: 1000, Transcript: f.transcript}, nil
}

func (f *fakeSession) Submit(_ context.Context, op hermes.Op) error {
	if _, ok := op.(hermes.Say); ok && f.prepares != nil {
		f.prepares()
		<-f.stopped
		return hermes.ErrInterrupted
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ops = append(f.ops, op)
	switch op := op.(type) {
	case hermes.Say:
		f.wait.Go(func() { f.script(f, op.Parts[0].Text) })
	case hermes.Reply:
		f.replies <- op
	case hermes.Stop:
		f.stopped <- struct{}{}
	}
	return nil
}

func (f *fakeSession) attach(ctx context.Context) (protocol.Snapshot, <-chan protocol.Envelope) {
	f.mu.Lock()
	defer f.mu.Unlock()
	events, out := make(chan protocol.Envelope, 100_000), make(chan protocol.Envelope)
	f.subs = append(f.subs, events)
	go func() { // ends with ctx
		defer close(out)
		for {
			select {
			case e := <-events:
				select {
				case out <- e:
				case <-ctx.Done():
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return protocol.Snapshot{
		Epoch: 1, Seq: f.seq, State: protocol.StateIdle, Turn: f.turn, Last: int64(len(f.transcript)),
		Session:    protocol.SessionInfo{ID: f.ID(), Model: "maker/model-1", Messages: len(f.transcript)},
		Configured: hermes.Configured{Model: "maker/model-1", Window: 1000},
	}, out
}

func (f *fakeSession) emit(events ...hermes.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range events {
		f.seq++
		for _, s := range f.subs {
			s <- protocol.Envelope{Session: f.ID(), Epoch: 1, Seq: f.seq, Event: e}
		}
	}
}

// leave ends the session: it has one frontend.
func (f *fakeSession) leave() {
	f.wait.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
}

func (f *fakeSession) did() []hermes.Op {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]hermes.Op(nil), f.ops...)
}

// reply begins a turn, streams a text and ends the turn.
func (f *fakeSession) reply(said, text string) {
	f.emit(hermes.TurnStarted{Turn: 1, Message: hermes.UserText(said)}, hermes.StepStarted{Step: 1, Model: "maker/model-1"})
	for i := 0; i < len(text); i += 5 {
		f.emit(hermes.TextDelta{Text: text[i:min(i+5, len(text))]})
	}
	f.emit(answer(text), hermes.TurnDone{Turn: 1, Outcome: hermes.OutcomeDone, Text: text, Steps: 1, Duration: time.Second})
}

// fakeClient is a client over fake sessions.
type fakeClient struct {
	protocol.Client
	open     func(ctx context.Context, run hermes.RunSpec) (*fakeSession, error)
	commands command.Call

	mu     sync.Mutex
	live   map[string]*fakeSession
	opened []hermes.RunSpec
}

// clientOf is a client that opens one session.
func clientOf(f *fakeSession) *fakeClient {
	return &fakeClient{live: map[string]*fakeSession{"s": f}, open: func(context.Context, hermes.RunSpec) (*fakeSession, error) { return f, nil }}
}

func (c *fakeClient) find(id string) (*fakeSession, error) {
	c.mu.Lock()
	f := c.live[id]
	c.mu.Unlock()
	if f == nil {
		return nil, hermes.ErrClosed
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, hermes.ErrClosed
	}
	return f, nil
}

func (c *fakeClient) Open(ctx context.Context, _ hermes.From, run hermes.RunSpec) (protocol.SessionInfo, error) {
	f, err := c.open(ctx, run)
	if err != nil {
		return protocol.SessionInfo{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.live == nil {
		c.live = map[string]*fakeSession{}
	}
	c.live[f.ID()] = f
	c.opened = append(c.opened, run)
	return protocol.SessionInfo{ID: f.ID()}, nil
}

func (c *fakeClient) Attach(ctx context.Context, id string, _ hermes.From, _ protocol.After) (protocol.Snapshot, <-chan protocol.Envelope, error) {
	f, err := c.find(id)
	if err != nil || ctx.Err() != nil {
		return protocol.Snapshot{}, nil, cmp.Or(err, context.Cause(ctx))
	}
	s, events := f.attach(ctx)
	return s, events, nil
}

func (c *fakeClient) Do(ctx context.Context, id string, _ hermes.From, op hermes.Op) error {
	f, err := c.find(id)
	if err != nil {
		return err
	}
	if _, ok := op.(hermes.Leave); ok {
		f.leave()
		return nil
	}
	return f.Submit(ctx, op)
}

func (c *fakeClient) History(_ context.Context, id string, r hermes.Range) ([]hermes.Message, error) {
	f, err := c.find(id)
	if err != nil {
		return nil, err
	}
	var list []hermes.Message
	for i, m := range f.transcript {
		m.ID = int64(i + 1)
		list = append(list, m)
	}
	list = slices.DeleteFunc(list, func(m hermes.Message) bool { return m.ID <= r.After || r.Before != 0 && m.ID >= r.Before })
	if r.Last > 0 {
		list = list[max(len(list)-r.Last, 0):]
	}
	return list, nil
}

// Command runs a command as the client of this process does.
func (c *fakeClient) Command(ctx context.Context, id string, from hermes.From, line string) error {
	f, err := c.find(id)
	if err != nil {
		return err
	}
	call := c.commands
	call.Session, call.Where = f, command.Terminal
	r, err := command.Run(ctx, line, call)
	done := hermes.CommandDone{Line: line, From: from, Text: r.Text, Action: r.Action, Arg: r.Arg, Failure: hermes.FailureOf(err)}
	if r.Confirm != "" {
		done.Confirm, done.ConfirmLine = r.Confirm, cmp.Or(r.ConfirmLine, line+" "+command.Agreed)
	}
	f.emit(done)
	return nil
}
