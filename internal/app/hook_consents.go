package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"hermes"
	"hermes/internal/audit"
	"hermes/internal/hook/script"
	"hermes/internal/toolset"
	"hermes/internal/trust"
)

// HookState says whether a hook may run.
type HookState string

// The states.
const (
	HookAgreed    HookState = "agreed"        // it runs
	HookWaits     HookState = "waits"         // the user has not agreed to it
	HookChanged   HookState = "changed"       // what the user agreed to has changed since
	HookUntrusted HookState = "not trusted"   // the project that brings it is not
	HookBroken    HookState = "cannot be run" // as it is written
)

// HookConsent is what the user has agreed to, and HookRun how a run went.
type (
	HookConsent = script.Consent
	HookRun     = script.Ran
)

// HookEvents lists the events for which hooks can be configured.
func HookEvents() []script.Event { return script.Events() }

// Hook is a configured hook, with what the user has agreed to.
type Hook struct {
	script.Entry
	Identity script.Identity
	State    HookState
	Why      string   // it cannot be run; "" if it can
	Changed  []string // the files that have changed since the user agreed
	Agreed   time.Time
	By       string
	Project  string // the folder of the project that brings it; "" for the user's own
	Dir      string // where it runs
	Webhook  bool   // it is told of events, and cannot answer
}

// Hooks lists the hooks that sessions in a folder have.
func (a *App) Hooks(dir string) (list []Hook) {
	cfg, err := a.config()
	if err != nil {
		return nil // reported where the configuration is used
	}
	run := hermes.RunSpec{Workspace: hermes.Workspace{Dir: dir}}
	dir = a.hookDir(cfg, run)
	userHome, _ := os.UserHomeDir() // without one ~ stays as it is
	s := a.scripts()
	for _, e := range s.entries {
		list = append(list, s.hook(e, dir, userHome, false, nil))
	}
	for _, w := range s.webhooks {
		h := Hook{Entry: w.Entry(cfg.Home().Config()), Identity: w.Identity(), Webhook: true}
		list = append(list, s.judged(h))
	}
	brought, _ := a.projectHooks(run)
	for _, set := range brought {
		for _, e := range set.Entries {
			h := s.hook(e, set.Dir, userHome, true, set.Copied)
			h.Project = set.Project
			switch {
			case !set.Trusted():
				h.State = HookUntrusted
			case h.State != HookBroken && len(h.Identity.Files) == 0:
				h.State = HookAgreed // with the trust
			}
			list = append(list, h)
		}
	}
	return list
}

// hook says of a hook what the user has agreed to; copied are files that were trusted.
func (s *scripts) hook(e script.Entry, dir, userHome string, project bool, copied func(string) (string, bool)) Hook {
	h := Hook{Entry: e, Why: e.Fault, Dir: dir}
	id, err := e.Identify(dir, userHome, copied)
	if err == nil && e.Fault == "" {
		err = e.Runs(dir, userHome, project, copied)
	}
	if err != nil {
		h.Why = err.Error()
	}
	if h.Identity = id; h.Why != "" {
		h.State = HookBroken
		return h
	}
	return s.judged(h)
}

func (s *scripts) judged(h Hook) Hook {
	list, err := s.consents.List()
	if err != nil {
		h.State, h.Why = HookBroken, err.Error()
		return h
	}
	h.State = HookWaits
	for _, c := range list {
		if c.Hash == h.Identity.Hash {
			h.State, h.Agreed, h.By = HookAgreed, c.At, c.By
			return h
		}
	}
	if was, ok := s.consents.Earlier(h.Identity); ok {
		h.State, h.Changed = HookChanged, changedFiles(was.Files, h.Identity.Files)
	}
	return h
}

// changedFiles lists the files that are not as they were.
func changedFiles(was, now []script.File) (list []string) {
	old := map[string]string{}
	for _, f := range was {
		old[f.Path] = f.Hash
	}
	for _, f := range now {
		if old[f.Path] != f.Hash {
			list = append(list, f.Path)
		}
		delete(old, f.Path)
	}
	for path := range old {
		list = append(list, path)
	}
	return list
}

// AgreeToHooks keeps that the user has agreed to hooks as they are. by says how.
func (a *App) AgreeToHooks(ctx context.Context, by string, list ...Hook) error {
	var ids []script.Identity
	for _, h := range list {
		if h.Identity.Hash == "" {
			continue
		}
		ids = append(ids, h.Identity)
		if err := a.Record(ctx, audit.Row{Kind: audit.KindTrust, By: "user", Decision: string(trust.Trusted), Note: "a hook of " + h.Event + " with the hash " + h.Identity.Hash}); err != nil {
			return err
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return a.scripts().consents.Agree(ctx, by, ids...)
}

// RevokeHooks forgets the consents that a func picks.
func (a *App) RevokeHooks(ctx context.Context, picked func(script.Consent) bool) ([]script.Consent, error) {
	s := a.scripts()
	if s.consents == nil {
		return nil, errors.New("the configuration cannot be read")
	}
	return s.consents.Revoke(ctx, picked)
}

// HookConsents lists what the user has agreed to.
func (a *App) HookConsents() ([]script.Consent, error) {
	s := a.scripts()
	if s.consents == nil {
		return nil, nil
	}
	return s.consents.List()
}

// TryHooks runs the hooks of an event in a folder with a sample; see [script.Session.Try].
func (a *App) TryHooks(ctx context.Context, dir, event, tool string) ([]script.Ran, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	_, s := a.scripted(cfg, hermes.RunSpec{Session: "sample", Workspace: hermes.Workspace{Dir: dir}})
	list, err := s.Try(ctx, event, tool)
	return list, errors.Join(err, s.Close())
}

// HookProblems lists what is wrong with the hooks of the settings, and of the project of a folder.
func (a *App) HookProblems(dir string) []script.Problem {
	list := slices.Clone(a.scripts().problems)
	p, err := a.projects()
	if err != nil {
		return list
	}
	for _, f := range p.look(dir).project.Named(trust.Config) {
		_, problems := readProjectHooks(f)
		for _, problem := range problems {
			problem.Key = f.Path + ": " + problem.Key
			list = append(list, problem)
		}
	}
	return list
}

// HookTools lists the tools of sessions, without those of MCP servers that are not connected, for
// [script.Entry.Unmatched].
func (a *App) HookTools(ctx context.Context) ([]string, error) {
	c := a.tooling().catalogue
	set, err := c.Select(ctx, toolset.Selection{Enabled: c.Names()})
	if err != nil {
		return nil, err
	}
	return set.Names(), nil
}

// HookPath are the folders in which hooks find programs.
func (a *App) HookPath() []string { return filepath.SplitList(a.opts.Getenv("PATH")) }

// UserHome is the home folder of the user, "" if it is not known.
func (a *App) UserHome() string {
	dir, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return dir
}

// UpstreamHooks reports whether the home has the list of hooks of another Hermes.
func (a *App) UpstreamHooks() bool {
	h, err := a.home()
	return err == nil && script.Upstream(h.Path())
}
