package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"hermes"
	"hermes/internal/audit"
	"hermes/internal/auxiliary"
	"hermes/internal/config"
	"hermes/internal/evidence"
)

// confirm returns the func that compares the answers of a session with what was done, nil if it is
// off. What a child reports is not compared: the answer above it is, and with what the child did. A run with its own
// service, such as the demo, asks no second model.
func (a *App) confirm(cfg *config.Config, run hermes.RunSpec) func(context.Context, hermes.SessionRef, string, []hermes.Message) []hermes.Unconfirmed {
	if cfg.Evidence().Check == "off" || !cfg.Auxiliary(auxiliary.Evidence).Enabled || run.Origin.Depth > 0 || a.opts.BaseURL != "" {
		return nil
	}
	local := !run.Workspace.Elsewhere()
	return func(ctx context.Context, s hermes.SessionRef, answer string, transcript []hermes.Message) []hermes.Unconfirmed {
		rows, err := a.rowsOfTurn(ctx, s, transcript)
		if err != nil {
			a.log().Warn("compare an answer with the audit log", "session", s.ID, "err", err)
		}
		t := evidence.Turn{Ending: answer, Done: evidence.DoneIn(s.ID, s.Turn, transcript, rows)}
		if local {
			t.Exists = func(name string) (exists, known bool) { return existsIn(s.Dir, name, t.Done) }
		}
		marks, err := evidence.Check(ctx, t, func(ctx context.Context, system, prompt string, maxTokens int) (string, error) {
			return a.aux().Ask(ctx, auxiliary.Call{
				Task: auxiliary.Evidence, Main: s.Model, Session: s.ID, Scope: hermes.Scope{Turn: s.Turn},
				System: system, Prompt: prompt, MaxTokens: maxTokens, Effort: hermes.EffortNone,
			})
		})
		if err != nil && ctx.Err() == nil {
			a.log().Warn("an answer was not compared with what was done", "session", s.ID, "err", err)
		}
		var list []hermes.Unconfirmed
		for _, m := range marks {
			list = append(list, hermes.Unconfirmed{Class: string(m.Class), Quote: a.Mask(m.Quote), Why: m.Why})
		}
		return list
	}
}

// rowsOfTurn returns the rows about calls that ran or were refused in a turn and in its child
// sessions, those of the session first.
func (a *App) rowsOfTurn(ctx context.Context, s hermes.SessionRef, transcript []hermes.Message) ([]audit.Row, error) {
	l, err := a.record()
	if err != nil {
		return nil, err
	}
	since := time.Time{}
	if i := slices.IndexFunc(transcript, func(m hermes.Message) bool { return m.Turn == s.Turn }); i >= 0 {
		since = transcript[i].Time
	}
	family := map[string]bool{s.ID: true}
	var own, children []audit.Row
	for r, err := range l.Rows(ctx, audit.Filter{Kinds: []audit.Kind{audit.KindCall, audit.KindResult, audit.KindRefusal}, Since: since}) {
		if _, damaged := errors.AsType[*audit.LineError](err); damaged {
			continue
		}
		if err != nil {
			return nil, err
		}
		if family[r.Parent] {
			family[r.Session] = true
		}
		switch {
		case r.Kind == audit.KindCall, !family[r.Session]:
		case r.Session == s.ID && r.Turn == s.Turn:
			own = append(own, r)
		case r.Session != s.ID:
			children = append(children, r)
		}
	}
	return append(own, children...), nil
}

// existsIn reports whether there is a file of a name that an answer gives: below the folder of the session, or
// where a call named it. A short name that is nowhere may be elsewhere.
func existsIn(dir, name string, done []evidence.Done) (exists, known bool) {
	called := evidence.Paths(done, name)
	for i, p := range append(called, name) {
		sure := filepath.IsAbs(p) || i < len(called)
		if !filepath.IsAbs(p) {
			p = filepath.Join(dir, p)
		}
		_, err := os.Lstat(p)
		switch {
		case err == nil:
			return true, true
		case errors.Is(err, fs.ErrNotExist):
			known = known || sure
		default:
			return false, false
		}
	}
	return false, known
}
