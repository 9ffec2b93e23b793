package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes"
	"hermes/internal/agent"
	"hermes/internal/protocol"
	"hermes/internal/session/turn"
)

// besides are the child sessions that go on beside the turns of a session. The zero value is ready
// to use.
type besides struct {
	once sync.Once
	ctx  context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup
}

// Go does a work until the session ends, which ends its context and waits for it. The session's
// goroutine calls it, the calls of its turn, and such work.
func (b *besides) Go(work func(ctx context.Context)) {
	b.begin()
	b.wg.Go(func() { work(b.ctx) })
}

func (b *besides) begin() {
	b.once.Do(func() { b.ctx, b.stop = context.WithCancel(context.Background()) })
}

// end ends the work. It returns a channel that is closed when the work has ended.
func (b *besides) end() <-chan struct{} {
	b.begin()
	b.stop()
	ended := make(chan struct{})
	go func() { // ends with the work, which the session waits for
		defer close(ended)
		b.wg.Wait()
	}()
	return ended
}

// hasChildren reports whether a session has child sessions that run.
func (m *Manager) hasChildren(s *Session) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return s.children > 0
}

// waits reports whether a session has child sessions that run and have not been given up.
func (m *Manager) waits(s *Session) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return s.children > s.hanging
}

// hangs counts a child session that was given up and has not ended, until ended is called.
func (m *Manager) hangs(parent *Session) (ended func()) {
	add := func(n int) {
		m.mu.Lock()
		defer m.mu.Unlock()
		parent.hanging += n
	}
	add(1)
	return func() { add(-1) }
}

// goesOn reports whether neither a session nor the program ends.
func (m *Manager) goesOn(s *Session) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.closed && !s.ending()
}

// PauseChildren lets no new child session begin, until it is called with false. Those that run go on.
func (m *Manager) PauseChildren(pause bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.paused = pause
}

// ChildrenPaused reports whether no new child session begins.
func (m *Manager) ChildrenPaused() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.paused
}

// childOf finds the child session that a task of this key began.
func (m *Manager) childOf(ctx context.Context, parent, key string) (hermes.Session, bool, error) {
	list, err := m.childrenOf(ctx, parent, nil)
	for _, row := range list {
		if row.Run.Origin.Task.Key == key {
			return row, true, nil
		}
	}
	return hermes.Session{}, false, err
}

// childrenOf returns the complete rows of the child sessions of a session, oldest first; only those that
// a func wants by their short ones, if it is set. Rows that cannot be read are left out, and the error says which.
func (m *Manager) childrenOf(ctx context.Context, parent string, wants func(hermes.Session) bool) ([]hermes.Session, error) {
	list, err := m.cfg.Store.ListSessions(ctx, hermes.SessionFilter{Parent: parent, Platform: hermes.PlatformChild, Archived: true, Limit: -1})
	if err != nil {
		return nil, fmt.Errorf("find the child sessions: %w", err)
	}
	var rows []hermes.Session
	var failed []error
	for _, short := range slices.Backward(list) {
		if wants != nil && !wants(short) {
			continue
		}
		row, err := m.cfg.Store.FindSession(ctx, short.ID)
		if err != nil {
			failed = append(failed, fmt.Errorf("find the child session %s: %w", short.ID, err))
			continue
		}
		if row.Run.Origin.Parent == parent { // else it is a copy that a user made of the parent
			rows = append(rows, row)
		}
	}
	return rows, errors.Join(failed...)
}

// goOn goes on with a child session that an earlier process began. One that has ended has its report.
func (l lender) goOn(ctx context.Context, row hermes.Session, t hermes.Task, fits fits) (*running, error) {
	m, origin := l.session.manager, row.Run.Origin.Task
	list, err := m.cfg.Store.Messages(ctx, row.ID, hermes.Range{Raw: true})
	if err != nil {
		return nil, fmt.Errorf("read the child session %s: %w", row.ID, err)
	}
	c := &running{by: l, fits: fits, pauses: t.Background, over: make(chan hermes.TurnDone, 1), release: func() {}, told: make(chan bool, 1)}
	if t.Background || origin.Background { // where no user attends, its call goes on without the background
		how, err := l.delivered(ctx, row.ID)
		if err != nil {
			return nil, err
		}
		if how != "" {
			c.ended = &hermes.Report{Session: row.ID, Status: how}
			if how != hermes.ChildRunning && !isMark(row.EndReason) { // its last step was not taken
				if c.ended.Worktree, err = l.endTree(ctx, row); err != nil {
					return nil, err
				}
				if w := c.ended.Worktree; w.Kept {
					l.session.publish(hermes.Notice{Level: hermes.NoticeInfo, Text: w.Note})
				}
			}
			return c, nil
		}
	}
	how := howEnded(row)
	if how == "" && answered(list) {
		how = hermes.ChildCompleted
	}
	if how != "" {
		r := m.described(ctx, row, list, l.tools, how)
		r.Failure = origin.Failure
		m.cfg.Children.finish(&r, fits)
		r.Worktree, err = l.endTree(ctx, row)
		c.ended = &r
		return c, err
	}
	run := hermes.RunSpec{Session: row.ID, Model: l.run.Model, Rights: l.run.Rights}
	if run.Model.Ref = row.Model; strings.Contains(row.Model, ":") { // it names its service
		run.Model.Provider = ""
	}
	run.Rights.Mode = ""
	run.Budget.Money = origin.Cost
	left := 0
	if origin.Steps > 0 {
		left = max(origin.Steps-steps(list), 1)
	}
	run.Budget.Steps = fewest(left, l.budget.Left())
	if c.release, err = m.admit(l.session); err != nil {
		return nil, err
	}
	c.tree = m.treeOf(row, l.run.Workspace.Dir)
	var op hermes.Op = hermes.Continue{}
	if len(list) == 0 {
		op = hermes.Say{Parts: taskParts(t)}
	}
	return c, c.begin(ctx, run, op, true)
}

// answered reports whether a transcript ends with a whole answer.
func answered(list []hermes.Message) bool {
	n := len(list)
	return n > 0 && list[n-1].Role == hermes.RoleAssistant && len(list[n-1].Calls) == 0 && !agent.Interrupted(list[n-1])
}

// endTree ends the worktree that a child session of an earlier process has for itself, unless it has none or a user
// works in it. An error means that the context ended before the worktree was removed: the child pauses.
func (l lender) endTree(ctx context.Context, row hermes.Session) (w hermes.Worktree, err error) {
	tree := l.session.manager.treeOf(row, l.run.Workspace.Dir)
	switch {
	case tree == nil:
		return w, nil
	case l.session.manager.isLive(row.ID):
		return hermes.Worktree{Path: tree.Dir(), Kept: true, Later: true, Note: fmt.Sprintf("The worktree %s is kept: a session works in it. It is looked at again when this session is opened again.", tree.Dir())}, nil
	}
	ctx, done := clearing(ctx)
	defer done()
	if w = tree.End(ctx); w.Kept {
		err = context.Cause(ctx)
	}
	return w, err
}

// delivered returns how a child session in the background is, if it needs nothing more: it runs, or its parent has
// its result.
func (l lender) delivered(ctx context.Context, child string) (how hermes.ChildStatus, err error) {
	if s, err := l.session.manager.Get(ctx, child); err == nil && s.parent == l.session {
		return hermes.ChildRunning, nil
	}
	err = l.session.call(ctx, func() error {
		how, _, err = l.session.resultOf(child)
		return err
	})
	return how, err
}

// resumeTurn removes the mark of the interruption from a child session that goes on, and the part of an answer
// above it: it paused because a program ended, and its turn goes on.
func (s *Session) resumeTurn() error {
	list := s.record.Messages()
	n := len(list)
	if s.parent == nil || n == 0 {
		return nil
	}
	if last := list[n-1]; last.Role == hermes.RoleAssistant && len(last.Calls) == 0 && agent.Interrupted(last) {
		return s.record.Rewind(s.ctx, list[n-1].ID)
	}
	return nil
}

// resultHead begins the message with the result of a child session in the background. Stored
// transcripts have it, so it must not change.
const resultHead = "[Result of the background task "

// isResult reports whether a message has the result of a child session in the background.
func isResult(m hermes.Message) bool {
	return m.Synthetic && strings.HasPrefix(m.Text(), resultHead)
}

// resultMessage is the message with the result of a child session in the background.
func (c Children) resultMessage(r hermes.Report) hermes.Message {
	said := r.Text()
	if r.Result != nil {
		said, _ = c.clipped(string(r.Result))
	}
	text := "]\n" + said
	if r.Misfit != "" && r.Status != hermes.ChildFailed {
		text += "\n[" + r.Misfit + "]"
	}
	if len(r.Files) > 0 {
		text += "\n[Files changed: " + strings.Join(r.Files, ", ")
		if r.MoreFiles > 0 {
			text += fmt.Sprintf(", and %d more", r.MoreFiles)
		}
		text += "]"
	}
	if r.MayBeMore {
		text += "\n[Commands that it ran may have changed more.]"
	}
	if r.Worktree.Note != "" {
		text += "\n[" + r.Worktree.Note + "]"
	}
	text = resultHead + r.Session + ": " + string(r.Status) + c.redacted(text)
	return hermes.Message{Role: hermes.RoleUser, Synthetic: true, Parts: []hermes.Part{{Text: text}}, Provenance: hermes.AddProvenance(r.Provenance, unread)}
}

// deliver waits for the end of a child in the background, and gives its result to its parent: between
// turns, in a turn of its own. It is stored before the child is marked as done with, so that neither a crash nor a
// stop loses it, also while the parent is closed.
func (c *running) deliver(ctx context.Context, parent hermes.SessionRef) {
	r, how := hermes.Report{}, hermes.ChildStatus("")
	switch {
	case c.ended != nil && c.ended.Status == hermes.ChildRunning:
		return
	case c.ended != nil:
		r, how = *c.ended, c.ended.Status
	default:
		var err error
		if r, how, err = c.outcome(ctx); err != nil {
			return // it goes on when its parent is opened again
		}
	}
	up, taken := c.by.session, false
	err := up.call(context.WithoutCancel(ctx), func() (err error) { // the parent waits for it
		taken, err = up.takeResult(r)
		return err
	})
	if taken {
		c.by.hooks.ChildEnd(ctx, parent, r)
	}
	if c.hung { // it is marked when it ends
		c.told <- err == nil
	}
	switch {
	case err == nil && c.hung:
	case err == nil:
		up.manager.done(ctx, r.Session, how, r.Worktree)
	case !errors.Is(err, hermes.ErrStaleLease):
		up.cfg.Log.Error("store the result of a child session; it comes when the session is opened again", "session", up.id, "child", r.Session, "err", err)
	}
}

// takeResult stores the result of a child session in the background, unless it is stored already, and begins a
// turn with it unless one runs.
func (s *Session) takeResult(r hermes.Report) (taken bool, err error) {
	if _, has, err := s.resultOf(r.Session); has || err != nil {
		return false, err
	}
	q, err := s.storeWaiting(s.cfg.Children.resultMessage(r), hermes.From{}, false)
	if err != nil {
		return false, err
	}
	s.queue = append(s.queue, q)
	s.publishQueue()
	if s.turn == nil && !s.waiting() {
		s.next()
	}
	return true, nil
}

// resultOf returns how a child session in the background ended, if its result waits or came, also if it was undone.
func (s *Session) resultOf(child string) (how hermes.ChildStatus, has bool, err error) {
	list, err := s.cfg.Store.Messages(s.ctx, s.id, hermes.Range{Hidden: true})
	how, has = s.resultIn(list, child)
	return how, has, err
}

// resultIn is resultOf among the messages of the session.
func (s *Session) resultIn(list []hermes.Message, child string) (how hermes.ChildStatus, has bool) {
	is := func(m hermes.Message) bool {
		head, _, found := strings.Cut(m.Text(), "]\n")
		text, ours := strings.CutPrefix(head, resultHead+child+": ")
		if !m.Synthetic || !found || !ours {
			return false
		}
		how = hermes.ChildStatus(text)
		return true
	}
	has = slices.ContainsFunc(s.queue, func(q turn.Queued) bool { return is(q.Message) }) || slices.ContainsFunc(list, is)
	return how, has
}

// loadChildren finds the child sessions that an earlier process did not mark as done with: those in the background that
// go on, and those of which only the worktree is left. Those of a call that is open belong to it. What cannot be read is
// logged, and left for the next start: it keeps no one from the conversation.
func (s *Session) loadChildren() {
	if s.parent != nil {
		return
	}
	rows, err := s.manager.childrenOf(s.ctx, s.id, func(short hermes.Session) bool { return !isMark(short.EndReason) })
	if err != nil {
		s.cfg.Log.Warn("find the child sessions that go on", "session", s.id, "err", err)
	}
	open := hermes.OpenCalls(s.record.Messages())
	rows = slices.DeleteFunc(rows, func(row hermes.Session) bool {
		return slices.ContainsFunc(open, func(c hermes.ToolCall) bool { return s.startedBy(c, row.Run.Origin.Task) })
	})
	if len(rows) == 0 {
		return
	}
	calls, err := s.cfg.Store.Messages(s.ctx, s.id, hermes.Range{Raw: true}) // a compaction removes calls
	var all []hermes.Message
	if err == nil {
		all, err = s.cfg.Store.Messages(s.ctx, s.id, hermes.Range{Hidden: true})
	}
	if err != nil {
		s.cfg.Log.Warn("find the calls of the child sessions that go on", "session", s.id, "err", err)
		return
	}
	for _, row := range rows {
		if s.continues(row, calls, all) {
			s.left = append(s.left, row)
		} else {
			s.dropped = append(s.dropped, row)
		}
	}
}

// continues reports whether a child session that an earlier process left goes on: it is one in the background that has
// begun and has not reported, and its call was not undone. all are the messages of its parent, calls those of them that
// were not undone.
func (s *Session) continues(row hermes.Session, calls, all []hermes.Message) bool {
	task := row.Run.Origin.Task
	if !task.Background || task.Ended == dropped {
		return false
	}
	if _, reported := s.resultIn(all, row.ID); reported && task.Ended != "" {
		return false
	}
	list, err := s.cfg.Store.Messages(s.ctx, row.ID, hermes.Range{First: 1, Raw: true})
	if err == nil && len(list) == 0 {
		return false
	}
	return task.Key == "" || slices.ContainsFunc(calls, func(m hermes.Message) bool {
		return slices.ContainsFunc(m.Calls, func(c hermes.ToolCall) bool { return strings.HasPrefix(task.Key, keyIn(m.Turn, c.ID+"/")) })
	})
}

// startedBy reports whether a task is one of an open call.
func (s *Session) startedBy(c hermes.ToolCall, task hermes.TaskOrigin) bool {
	return strings.HasPrefix(task.Key, keyIn(s.record.LastTurn(), c.ID+"/"))
}

// undone returns the child sessions that calls began which a crash cut off: a rewind removes
// the calls, so that nothing goes on with them.
func (s *Session) undone() (rows []hermes.Session) {
	calls := hermes.OpenCalls(s.record.Messages())
	if len(calls) == 0 || !s.record.Stored() {
		return nil
	}
	rows, err := s.manager.childrenOf(s.ctx, s.id, func(short hermes.Session) bool { return !isMark(short.EndReason) })
	if err != nil {
		s.cfg.Log.Warn("find the children of calls that are undone", "session", s.id, "err", err)
	}
	return slices.DeleteFunc(rows, func(row hermes.Session) bool {
		return !slices.ContainsFunc(calls, func(c hermes.ToolCall) bool { return s.startedBy(c, row.Run.Origin.Task) })
	})
}

// goOnBeside goes on with those that go on. The others are cleared once a frontend can tell what is kept.
func (s *Session) goOnBeside() {
	if len(s.left) > 0 {
		l := lender{s, s.run, s.runtime.Tools, s.runtime.Hooks, s.budget.Child(s.steps())}
		ref := s.ref(s.record.LastTurn())
		for _, row := range s.left {
			s.beside.Go(func(ctx context.Context) { l.goOnWith(ctx, ref, row) })
		}
		s.left = nil
	}
	if s.feed.frontends() > 0 {
		s.dropChildren(s.dropped)
		s.dropped = nil
	}
}

// goOnWith goes on with one child session in the background.
func (l lender) goOnWith(ctx context.Context, ref hermes.SessionRef, row hermes.Session) {
	task := row.Run.Origin.Task
	list, err := l.session.cfg.Store.Messages(ctx, row.ID, hermes.Range{First: 1, Raw: true})
	if err == nil && len(list) == 0 {
		return // it never began: its call says so
	}
	fits, err := readFits(json.RawMessage(task.Schema))
	var c *running
	if err == nil {
		c, err = l.goOn(ctx, row, hermes.Task{Background: true}, fits)
	}
	if err != nil {
		if ctx.Err() == nil {
			l.session.cfg.Log.Warn("go on with a child session in the background", "session", l.session.id, "child", row.ID, "err", err)
			l.session.publish(hermes.Notice{Level: hermes.NoticeWarning, Text: fmt.Sprintf("The background task %s could not go on: %v. It is tried again when this session is opened again.", row.ID, err)})
		}
		return
	}
	c.deliver(ctx, ref)
}

// leftChildren is the result of a delegation that a crash cut off, and that the user does not continue: what
// is known of its children.
func (s *Session) leftChildren(call hermes.ToolCall) hermes.Result {
	type child struct {
		Session  string `json:"session"`
		Status   string `json:"status"`
		Summary  string `json:"summary,omitempty"`
		Worktree string `json:"worktree,omitempty"`
	}
	out := struct {
		Error    string  `json:"error"`
		Children []child `json:"children,omitempty"`
	}{Error: "the process stopped while this ran, and the user said something else instead of continuing it; what its child sessions had done is below, those in the background go on if they can, and the rest was not done"}
	provenance := ""
	var ended []hermes.Session
	rows, err := s.manager.childrenOf(s.ctx, s.id, nil)
	if err != nil {
		s.cfg.Log.Warn("find the children of a call", "session", s.id, "call", call.ID, "err", err)
		provenance = unread
	}
	for _, row := range rows {
		if !s.startedBy(call, row.Run.Origin.Task) {
			continue
		}
		list, err := s.cfg.Store.Messages(s.ctx, row.ID, hermes.Range{Raw: true})
		if err != nil {
			provenance = hermes.AddProvenance(provenance, unread)
		}
		status, summary, tree := cmp.Or(howEnded(row), "cut off"), lastText(list), ""
		if status == hermes.ChildFailed {
			summary = hermes.Report{Status: status, Summary: summary, Failure: row.Run.Origin.Task.Failure}.Text()
		}
		done := isMark(row.EndReason)
		if row.Run.Origin.Task.Background && len(list) > 0 && !done { // its result is a message of its own
			status, summary = "goes on if it can", ""
			s.left = append(s.left, row)
		} else if !done { // nothing goes on with it
			ended = append(ended, row)
			if t := s.manager.treeOf(row, s.run.Workspace.Dir); t != nil {
				tree = t.Dir() + ", if something in it would be lost; else it is removed"
			}
		}
		summary, _ = s.cfg.Children.clipped(summary)
		out.Children = append(out.Children, child{row.ID, string(status), summary, tree})
		provenance = hermes.AddProvenance(provenance, hermes.AddProvenance(row.Provenance, hermes.TranscriptProvenance(list)))
	}
	s.dropChildren(ended)
	s.goOnBeside()
	text, err := json.Marshal(out)
	if err != nil { // texts always have a JSON form
		text = []byte(out.Error)
	}
	return hermes.Result{Text: string(text), Failed: true, Provenance: provenance}
}

// Children returns the child sessions that run below a live session, and the time.
func (m *Manager) Children(ctx context.Context, session string) ([]protocol.Child, time.Time, error) {
	s, err := m.Get(ctx, session)
	if err != nil {
		return nil, time.Time{}, err
	}
	var st protocol.Snapshot
	s.feed.fill(&st)
	return st.Children, m.cfg.Now(), nil
}

// Send sends an operation to a live session.
func (m *Manager) Send(ctx context.Context, session string, op hermes.Op) error {
	s, err := m.Get(ctx, session)
	if err != nil {
		return err
	}
	return s.Do(ctx, hermes.From{}, op)
}
