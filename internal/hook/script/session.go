package script

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes"
)

// Session is the hooks of one session. Its functions may be called concurrently; Close ends what
// they run.
type Session struct {
	config  Config
	runners []*runner
	file    *transcript
	used    map[point]bool // where there are hooks

	mu      sync.Mutex
	pending []hermes.Part   // from the start of the session, for the first message that is stored
	with    int64           // the turn with which they were shown; 0: not shown yet
	told    map[string]bool // what the user was told
	notices []string        // what no call could show
}

// NewSession returns the hooks of a session, nil if nothing is configured that could run in it.
func NewSession(c Config, sets ...Set) *Session {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	s := &Session{config: c, used: map[point]bool{}, told: map[string]bool{}}
	s.file = &transcript{config: &s.config, busy: make(chan struct{}, 1)}
	for _, set := range sets {
		if len(set.Entries) == 0 {
			continue
		}
		s.runners = append(s.runners, &runner{set: set, config: &s.config, sums: &sums{}, file: s.file})
		for _, h := range set.Entries {
			s.used[h.event.at] = true
		}
	}
	for _, e := range events {
		if c.Outbound.Wants(e.name) {
			s.used[e.at] = true
		}
	}
	if c.Session.Child {
		for _, at := range []point{sessionStart, sessionEnd, turnStart, turnEnd} {
			delete(s.used, at)
		}
	}
	if delete(s.used, nowhere); len(s.used) == 0 {
		return nil
	}
	return s
}

// Close ends what runs. It returns when that is gone.
func (s *Session) Close() error {
	if s == nil {
		return nil
	}
	var errs []error
	for _, r := range s.runners {
		errs = append(errs, r.close())
	}
	return errors.Join(append(errs, s.file.close())...)
}

// most bounds a whole point: each hook has its own time.
const most = time.Hour

// Hook returns the functions for the points at which there are hooks. The others are nil, so that they cost
// nothing.
func (s *Session) Hook() hermes.Hook {
	h := hermes.Hook{Name: "script hooks", Timeout: most}
	h.Guard = slices.ContainsFunc(s.runners, func(r *runner) bool {
		return slices.ContainsFunc(r.set.Entries, func(e Entry) bool { return e.FailClosed })
	})
	if s.used[sessionStart] {
		h.SessionStart = s.sessionStart
	}
	if s.used[sessionEnd] {
		h.SessionEnd = func(ctx context.Context, ref hermes.SessionRef) {
			s.each(ctx, sessionEnd, Occasion{Session: ref, About: "other", Extra: map[string]any{"reason": "other"}})
		}
	}
	if s.used[turnStart] || s.used[sessionStart] {
		h.TurnStart = s.turnStart
	}
	if s.used[turnEnd] {
		h.TurnEnd = s.turnEnd
	}
	if s.used[beforeModel] {
		h.BeforeModel = func(ctx context.Context, ref hermes.SessionRef, r hermes.Request) error {
			s.each(ctx, beforeModel, Occasion{Session: ref, Extra: map[string]any{"messages": len(r.Messages), "tools": len(r.Tools)}})
			return nil
		}
	}
	if s.used[afterModel] {
		h.AfterModel = s.afterModel
	}
	if s.used[beforeTool] {
		h.BeforeTool = s.beforeTool
	}
	if s.used[beforeAsk] {
		h.BeforeAsk = s.beforeAsk
	}
	if s.used[afterTool] {
		h.AfterTool = s.afterTool
	}
	if s.used[beforeCompaction] {
		h.BeforeCompaction = func(ctx context.Context, ref hermes.SessionRef, leaving []hermes.Message) {
			s.each(ctx, beforeCompaction, Occasion{Session: ref, About: "auto", Extra: map[string]any{"trigger": "auto", "custom_instructions": "", "messages": len(leaving)}})
		}
	}
	if s.used[compacted] {
		h.Compacted = func(ctx context.Context, ref hermes.SessionRef) {
			s.each(ctx, compacted, Occasion{Session: ref, About: "auto", Extra: map[string]any{"trigger": "auto"}})
		}
	}
	if s.used[childStart] {
		h.ChildStart = s.childStart
	}
	if s.used[childEnd] {
		h.ChildEnd = func(ctx context.Context, parent hermes.SessionRef, r hermes.Report) {
			s.each(ctx, childEnd, Occasion{Session: parent, Extra: map[string]any{"child": r.Session, "summary": r.Text(), "status": r.Status, "stop_hook_active": false}})
		}
	}
	if s.used[questionOpen] {
		h.Asked = func(ctx context.Context, ref hermes.SessionRef, a hermes.Asked) {
			for _, o := range questionOccasions(ref, a) {
				s.each(ctx, questionOpen, o.Occasion, o.skip)
			}
		}
	}
	if s.used[questionClosed] {
		h.Answered = func(ctx context.Context, ref hermes.SessionRef, a hermes.Asked, d hermes.Decision) {
			if a.Approval != nil {
				o := approvalOccasion(ref, a)
				o.Extra["decision"], o.Extra["allowed"] = d, d.Allowed()
				s.each(ctx, questionClosed, o)
			}
		}
	}
	return h
}

// WantsIdle reports whether a hook is told that the session waits for the user.
func (s *Session) WantsIdle() bool {
	return s.config.Outbound.Wants("Notification") || slices.ContainsFunc(s.runners, func(r *runner) bool {
		return slices.ContainsFunc(r.set.Entries, func(h Entry) bool { return h.event.name == "Notification" && h.Matches(idlePrompt) })
	})
}

// Idle tells hooks that the session waits for the user. It returns when they have ended.
func (s *Session) Idle(ctx context.Context, ref hermes.SessionRef) {
	s.each(ctx, questionOpen, idleNotice(ref), func(e event) bool { return !e.claude })
}

// done is what one hook said about an occasion.
type done struct {
	Ran
	event event
	view  asked
	// source names the hook as a source of untrusted text; "" if it is the user's own. provenance is that of what it
	// said: also the user's own hook is named there if a model has judged text of others for it.
	source, provenance string
	project            bool
}

// each runs the hooks of a point, one after another, and returns what they said. Where hooks can refuse, the first
// that does is the last that runs.
func (s *Session) each(ctx context.Context, at point, o Occasion, skip ...func(event) bool) []done {
	s.announce(at, o, skip...)
	var all []done
	for _, r := range s.runners {
		if r.set.Trusted != nil && !r.set.Trusted() {
			continue // a stranger may not even refuse: the question about trust says that there are hooks
		}
		for _, h := range r.set.Entries {
			if h.event.at != at || len(skip) > 0 && skip[0](h.event) {
				continue
			}
			for _, view := range o.views(h.event) {
				if ctx.Err() != nil { // what it is about is over
					return all
				}
				if !o.concerns(r, h, view) {
					continue
				}
				d := s.show(ctx, r, h, o, view)
				all = append(all, d)
				if refuses := at == turnStart || at == childStart; refuses && d.Verdict.Blocks {
					return all
				}
				if at == beforeAsk && judge(d, o.Call) != nil {
					return all
				}
			}
		}
	}
	return all
}

// announce tells webhooks of a point.
func (s *Session) announce(at point, o Occasion, skip ...func(event) bool) {
	for _, e := range events {
		if e.at == at && s.config.Outbound.Wants(e.name) && (len(skip) == 0 || !skip[0](e)) {
			o.Event = e.name
			s.config.Outbound.Tell(o)
		}
	}
}

// concerns reports whether a hook is about one view of an occasion.
func (o Occasion) concerns(r *runner, h Entry, view asked) bool {
	name := o.About
	if o.Call != nil {
		name = view.tool
	}
	if h.event.name == "transform_terminal_output" && name != "terminal" {
		return false
	}
	if h.event.about == "" {
		return true
	}
	return h.Matches(name) && h.only.holds(view, folders{work: cmp.Or(o.Session.Dir, r.dir()), project: r.dir(), home: r.config.Home, elsewhere: r.config.Session.Elsewhere})
}

// show runs a hook on one view of an occasion.
func (s *Session) show(ctx context.Context, r *runner, h Entry, o Occasion, view asked) done {
	o.Event = h.Event
	d := done{Ran: r.run(ctx, h, o, view), event: h.event, view: view, project: r.set.Project != ""}
	d.source = s.source(r, h)
	d.provenance = hermes.AddProvenance(d.source, o.heard(h))
	s.report(ctx, r, d, o)
	return d
}

// source names a hook as a source of text; "" for one of the user, which counts as their own.
func (s *Session) source(r *runner, h Entry) string {
	if r.set.Project == "" && !h.Untrusted {
		return ""
	}
	from := hermes.ProvenanceSource("hook", h.short())
	return hermes.MarkChosen(from, func(string) bool { return r.set.Chosen && !h.Untrusted })
}

// heard names a hook as a source of untrusted text if a model has judged text of others for it: its reason may repeat that.
func (o Occasion) heard(h Entry) string {
	from := o.Session.Provenance
	if o.Result != nil {
		from = hermes.AddProvenance(from, o.Result.Provenance)
	}
	if h.Prompt.Text == "" || from == "" {
		return ""
	}
	return hermes.MarkChosen(hermes.ProvenanceSource("hook", h.short()), func(string) bool { return hermes.OutsideProvenance(from) == "" })
}

// report tells the user what a hook has to say, and once that one does not run.
func (s *Session) report(_ context.Context, r *runner, d done, o Occasion) {
	v := d.Verdict
	if v.Message != "" {
		s.tell(o, v.Message)
	}
	if v.Failed == nil {
		return
	}
	s.config.Log.Warn("hook failed", "event", d.Entry.Event, "hook", d.Entry.short(), "err", v.Failed)
	s.once(o, fmt.Sprintf("The hook %q of %s failed: %v.", d.Entry.short(), d.Entry.Event, v.Failed))
}

// once tells the user something once in a session.
func (s *Session) once(o Occasion, text string) {
	s.mu.Lock()
	was := s.told[text]
	s.told[text] = true
	s.mu.Unlock()
	if !was {
		s.tell(o, text)
	}
}

func (s *Session) tell(o Occasion, text string) {
	if o.Call != nil && o.Call.Host != nil {
		if n, ok := o.Call.Host.(hermes.Notifier); ok {
			n.Notify(hermes.Notice{Level: hermes.NoticeWarning, Text: text})
			return
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.notices) < maxNotices {
		s.notices = append(s.notices, text)
	}
}

// maxNotices bounds what waits to be shown.
const maxNotices = 20

// Notices returns what the user should be told that no call could show, once.
func (s *Session) Notices() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.notices
	s.notices = nil
	return list
}

// changed returns the arguments of a call with what a hook changed.
func (o Occasion) changed(d done) (json.RawMessage, error) {
	if d.view.fixed != "" {
		return nil, fmt.Errorf("a hook cannot change %s", d.view.fixed)
	}
	updated := map[string]any{}
	for key, value := range d.Verdict.Arguments {
		if !reflect.DeepEqual(d.view.input[key], value) {
			updated[key] = value
		}
	}
	var args map[string]any
	if err := json.Unmarshal(o.Call.Arguments, &args); err != nil {
		return nil, err
	}
	if d.event.claude {
		updated = fromClaude(o.Call.Name, args, updated)
	}
	if len(updated) == 0 {
		return o.Call.Arguments, nil
	}
	maps.Copy(args, updated)
	return json.Marshal(args)
}

// added are the texts for the model among what hooks said, as hidden parts.
func added(all []done) (parts []hermes.Part) {
	for _, d := range all {
		if text := d.Verdict.Context; text != "" {
			parts = append(parts, hermes.Part{Text: "[From a hook of " + d.Entry.Event + ": " + text + "]", Hidden: true, Provenance: d.provenance})
		}
	}
	return parts
}

func (s *Session) sessionStart(ctx context.Context, ref hermes.SessionRef) error {
	source := "startup"
	if ref.Turn > 0 {
		source = "resume"
	}
	all := s.each(ctx, sessionStart, Occasion{Session: ref, About: source, Extra: map[string]any{"source": source}})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = append(s.pending, added(all)...)
	return nil
}

func (s *Session) turnStart(ctx context.Context, ref hermes.SessionRef, m hermes.Message) ([]hermes.Part, error) {
	s.mu.Lock()
	if s.with != 0 && s.with != ref.Turn { // a message that was refused has not begun its turn: the next one has its number
		s.pending = nil
	}
	parts := slices.Clone(s.pending)
	s.with = ref.Turn
	s.mu.Unlock()
	if !s.used[turnStart] || m.Synthetic {
		return parts, nil
	}
	said := m.Visible()
	all := s.each(ctx, turnStart, Occasion{Session: ref, Extra: map[string]any{"prompt": said, "user_message": said, "is_first_turn": ref.Turn == 1}})
	for _, d := range all {
		switch v := d.Verdict; {
		case v.Blocks:
			return nil, fmt.Errorf("a hook refused this message: %s", v.Reason)
		case v.Ends != "":
			return nil, fmt.Errorf("a hook stopped this message: %s", v.Ends)
		}
	}
	return append(parts, added(all)...), nil
}

func (s *Session) turnEnd(ctx context.Context, ref hermes.SessionRef, outcome hermes.Outcome, turn []hermes.Message) string {
	said, answer, again := "", "", false
	for _, m := range turn {
		switch {
		case m.Role == hermes.RoleUser && !m.Synthetic:
			said, again = m.Visible(), false
		case m.Role == hermes.RoleAssistant:
			answer = m.Text()
		case m.Role == hermes.RoleUser && strings.HasPrefix(m.Text(), goesOn):
			again = true
		}
	}
	isDone := outcome == hermes.OutcomeDone
	o := Occasion{Session: ref, Extra: map[string]any{
		"user_message": said, "assistant_response": answer, "last_assistant_message": answer, "outcome": string(outcome), "stop_hook_active": again,
	}}
	all := s.each(context.WithoutCancel(ctx), turnEnd, o, func(e event) bool { return !isDone && (e.claude || e.name == "pre_verify") })
	var wishes []string
	for _, d := range all {
		if !d.Verdict.Blocks || d.Verdict.Ends != "" || d.event.name != "pre_verify" && d.event.name != "Stop" {
			continue
		}
		if hermes.OutsideProvenance(d.source) != "" { // it would be said as the user says it
			s.once(o, fmt.Sprintf("The hook %q of the project wants the turn to go on. That needs a folder in security.trusted_folders.", d.Entry.short()))
			continue
		}
		reason := d.Verdict.Reason
		if hermes.OutsideProvenance(d.provenance) != "" { // words of others, which would count as the user's
			reason = "this does not hold: " + d.Entry.Prompt.Text
		}
		wishes = append(wishes, reason)
	}
	if len(wishes) == 0 {
		return ""
	}
	return goesOn + strings.Join(wishes, "\n")
}

// goesOn begins the message with which a turn goes on.
const goesOn = "A hook of the user wants more before this ends: "

func (s *Session) afterModel(ctx context.Context, ref hermes.SessionRef, answer hermes.Message, err error) {
	extra := map[string]any{"assistant_response": answer.Text(), "tool_calls": len(answer.Calls)}
	if err != nil {
		extra["error"] = err.Error()
	}
	s.each(ctx, afterModel, Occasion{Session: ref, Extra: extra}, func(e event) bool { return (e.name == "api_request_error") != (err != nil) })
}

func (s *Session) childStart(ctx context.Context, parent hermes.SessionRef, t hermes.Task) error {
	for _, d := range s.each(ctx, childStart, Occasion{Session: parent, Extra: map[string]any{"goal": t.Goal, "context": t.Context, "prompt": t.Goal}}) {
		if d.Verdict.Blocks {
			return fmt.Errorf("not started: a hook refused it: %s", d.Verdict.Reason)
		}
	}
	return nil
}
