// Package local is the protocol's client over the sessions of this process. It adds to what
// sessions do for themselves: slash commands, references in messages, and pages of stored
// history.
//
// Start at Client.
package local

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/command"
	"hermes/internal/protocol"
	"hermes/internal/session"
)

// Config is what a client works with.
type Config struct {
	// Sessions returns the manager of the live sessions, and Store the database. Both are
	// called when they are first needed.
	Sessions func(context.Context) (*session.Manager, error)
	Store    func(context.Context) (hermes.Store, error)
	// Made, if set, returns the manager if it has been made, else nil, so that only Open makes
	// it: what asks about sessions of other processes needs no model, for example.
	Made func() *session.Manager
	// Commands returns what the program lends to a slash command; nil lends nothing. The client
	// sets its Session and Where.
	Commands func() (command.Call, error)
	// Expand returns the parts that a message of the user gets for what it points at with
	// @file, @url and the like. note is called with what takes time. Nil adds none.
	Expand func(ctx context.Context, text string, in Place, note func(string)) ([]hermes.Part, error)
	// Check, if set, refuses a run before it is opened.
	Check func(ctx context.Context, run hermes.RunSpec) error
	// Waiting, if set, is called with a sentence that says what Open waits for.
	Waiting func(string)
	// Attached, if set, is called when a frontend has attached to a session. What it returns, if
	// anything, is shown as a warning. It must be fast.
	Attached func(ctx context.Context, session string) string
}

// Place is where a message of the user was written: a session, and where it works.
type Place struct {
	Session   string
	Workspace hermes.Workspace
}

// Client is a [protocol.Client] for the sessions of this process.
type Client struct{ cfg Config }

var _ protocol.Client = (*Client)(nil)

// New returns a client.
func New(cfg Config) *Client { return &Client{cfg: cfg} }

// Open makes a session live.
func (c *Client) Open(ctx context.Context, from hermes.From, run hermes.RunSpec) (protocol.SessionInfo, error) {
	m, err := c.cfg.Sessions(ctx)
	if err != nil {
		return protocol.SessionInfo{}, err
	}
	if c.cfg.Check != nil {
		if err := c.cfg.Check(ctx, run); err != nil {
			return protocol.SessionInfo{}, err
		}
	}
	run.Origin.Platform = cmp.Or(run.Origin.Platform, from.Platform)
	s, err := m.Open(ctx, session.Open{Run: run, From: from, Waiting: c.cfg.Waiting})
	if err != nil {
		return protocol.SessionInfo{}, err
	}
	return s.Info(ctx)
}

// Attach returns the state of a live session and its events from there on.
func (c *Client) Attach(ctx context.Context, id string, from hermes.From, after protocol.After) (protocol.Snapshot, <-chan protocol.Envelope, error) {
	s, err := c.live(ctx, id)
	if err != nil {
		return protocol.Snapshot{}, nil, err
	}
	snapshot, events, err := s.Attach(ctx, from, after)
	if err == nil && c.cfg.Attached != nil {
		if text := c.cfg.Attached(ctx, id); text != "" {
			s.Publish(hermes.Notice{Level: hermes.NoticeWarning, Text: text})
		}
	}
	return snapshot, events, err
}

// Do sends an operation. A message of the user gets what it points at.
func (c *Client) Do(ctx context.Context, id string, from hermes.From, op hermes.Op) error {
	err := c.do(ctx, id, from, op)
	if r, ok := op.(hermes.Reply); ok && errors.Is(err, hermes.ErrClosed) {
		return c.late(ctx, id, r, err)
	}
	return err
}

func (c *Client) do(ctx context.Context, id string, from hermes.From, op hermes.Op) error {
	s, err := c.live(ctx, id)
	if err != nil {
		return err
	}
	say, ok := op.(hermes.Say)
	if ok && !say.Synthetic && c.cfg.Expand != nil && where(from) == command.Terminal && len(say.Parts) > 0 && strings.Contains(say.Parts[0].Text, "@") {
		note := func(text string) { s.Publish(hermes.Notice{Level: hermes.NoticeWaiting, Text: text}) }
		more, err := c.cfg.Expand(ctx, say.Parts[0].Text, Place{s.ID(), s.Workspace()}, note)
		if err != nil {
			return err
		}
		say.Parts = slices.Concat(say.Parts, more)
		op = say
	}
	return s.Do(ctx, from, op)
}

// late is the error of a reply to a session that is not live, such as a child that has ended.
func (c *Client) late(ctx context.Context, id string, r hermes.Reply, closed error) error {
	store, err := c.cfg.Store(ctx)
	if err != nil {
		return closed
	}
	if q, err := store.FindQuestion(ctx, id, r.ID); err == nil && q.Answered {
		return hermes.ErrAnswered{By: q.By}
	}
	return closed
}

// Command runs a slash command and publishes its outcome.
func (c *Client) Command(ctx context.Context, id string, from hermes.From, line string) error {
	s, err := c.live(ctx, id)
	if err != nil {
		return err
	}
	var call command.Call
	if c.cfg.Commands != nil {
		if call, err = c.cfg.Commands(); err != nil {
			return err
		}
	}
	call.Session, call.Where = caller{s, from}, where(from)
	r, err := command.Run(ctx, line, call)
	if err == nil && len(r.Message) > 0 {
		err = s.Do(ctx, from, hermes.Say{Parts: r.Message})
	}
	done := hermes.CommandDone{Line: line, From: from, Text: r.Text, Action: r.Action, Arg: r.Arg, Failure: hermes.FailureOf(err)}
	if r.Confirm != "" {
		done.Confirm, done.ConfirmLine = r.Confirm, cmp.Or(r.ConfirmLine, line+" "+command.Agreed)
	}
	s.Publish(done)
	return nil
}

// Halt stops all work of this process.
func (c *Client) Halt(ctx context.Context) (protocol.Halted, error) {
	m, err := c.manager(ctx)
	if m == nil || err != nil {
		return protocol.Halted{}, err
	}
	return m.Halt(ctx)
}

// caller is a session as the command of a frontend sees it.
type caller struct {
	*session.Session
	from hermes.From
}

// Submit sends an operation of the frontend.
func (c caller) Submit(ctx context.Context, op hermes.Op) error { return c.Do(ctx, c.from, op) }

// SayWith sends a message of the frontend that m answers.
func (c caller) SayWith(ctx context.Context, text string, m hermes.Model) error {
	return c.Session.SayWith(ctx, c.from, hermes.Say{Parts: []hermes.Part{{Text: text}}}, m)
}

// where says which commands a frontend has. Unknown platforms have those of messengers, which
// are fewer.
func where(from hermes.From) command.Where {
	switch from.Platform {
	case "cli", "oneshot", "demo", "web", "acp":
		return command.Terminal
	}
	return command.Messenger
}

// Here reports whether a session is live in this process.
func (c *Client) Here(ctx context.Context, id string) bool {
	_, err := c.live(ctx, id)
	return err == nil
}

// live returns a session that is live here.
func (c *Client) live(ctx context.Context, id string) (*session.Session, error) {
	m, err := c.manager(ctx)
	if err != nil {
		return nil, err
	}
	if m == nil {
		return nil, hermes.ErrClosed
	}
	return m.Get(ctx, id)
}

// manager returns the manager; nil if there are no live sessions yet.
func (c *Client) manager(ctx context.Context) (*session.Manager, error) {
	if c.cfg.Made != nil {
		return c.cfg.Made(), nil
	}
	return c.cfg.Sessions(ctx)
}

// Sessions lists stored sessions, and those that are live here.
func (c *Client) Sessions(ctx context.Context, f protocol.Filter) ([]protocol.SessionInfo, error) {
	m, err := c.manager(ctx)
	if err != nil {
		return nil, err
	}
	if f.Live {
		return liveOnes(ctx, m, f)
	}
	store, err := c.cfg.Store(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := rowsOf(ctx, store, f)
	if err != nil {
		return nil, err
	}
	list := make([]protocol.SessionInfo, len(rows))
	for i, row := range rows {
		list[i] = protocol.InfoOf(row)
		if m == nil {
			continue
		}
		if s, err := m.Get(ctx, row.ID); err == nil {
			list[i].Running = new(s.Running())
		}
	}
	return list, nil
}

func rowsOf(ctx context.Context, store hermes.Store, f protocol.Filter) ([]hermes.Session, error) {
	if f.ID != "" {
		row, err := store.FindSession(ctx, f.ID)
		if err != nil {
			return nil, err
		}
		return []hermes.Session{row}, nil
	}
	return store.ListSessions(ctx, hermes.SessionFilter{
		Platform: f.Platform, Exclude: f.Exclude, Dir: f.Dir, Parent: f.Parent, Archived: f.Archived, Limit: f.Limit, Offset: f.Offset,
	})
}

// liveOnes lists the sessions that are live here, last active first.
func liveOnes(ctx context.Context, m *session.Manager, f protocol.Filter) ([]protocol.SessionInfo, error) {
	if m == nil {
		return nil, nil
	}
	var list []protocol.SessionInfo
	for _, s := range m.Live() {
		info, err := s.Info(ctx)
		switch {
		case errors.Is(err, hermes.ErrClosed):
			continue // just now
		case err != nil:
			return nil, err
		}
		list = append(list, info)
	}
	return f.Of(list), nil
}

// History returns a page of the stored transcript.
func (c *Client) History(ctx context.Context, id string, r hermes.Range) ([]hermes.Message, error) {
	store, err := c.cfg.Store(ctx)
	if err != nil {
		return nil, err
	}
	r.First, r.Last = min(max(r.First, 0), protocol.MaxPage), min(max(r.Last, 0), protocol.MaxPage)
	if r.First == 0 && r.Last == 0 {
		r.First = protocol.MaxPage
	}
	list, err := store.Messages(ctx, id, r)
	if err != nil {
		if _, liveErr := c.live(ctx, id); liveErr == nil && errors.Is(err, hermes.ErrNotFound) {
			return nil, nil // it has no message yet
		}
		return nil, err
	}
	return page(list, r.Last > 0), nil
}

// page cuts a list to about the size of a page: at its end, or at its beginning if the newest
// messages were asked for.
func page(list []hermes.Message, newest bool) []hermes.Message {
	size := 0
	if newest {
		for i := len(list) - 1; i >= 0; i-- {
			if size += protocol.Size(list[i]); size > protocol.MaxPageBytes && i < len(list)-1 {
				return list[i+1:]
			}
		}
		return list
	}
	for i, m := range list {
		if size += protocol.Size(m); size > protocol.MaxPageBytes && i > 0 {
			return list[:i]
		}
	}
	return list
}
