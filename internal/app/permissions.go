package app

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"hermes"
	"hermes/internal/config"
	"hermes/internal/permission"
	"hermes/internal/session"
	"hermes/internal/toolbox"
	"hermes/internal/toolset"
	"hermes/internal/undo"
)

// approvals returns the approval rules of a run. A folder elsewhere has no project settings: those of
// this machine may be of another project.
func (a *App) approvals(cfg *config.Config, run hermes.RunSpec) (toolbox.Approvals, error) {
	ap, rights := cfg.Approvals(), run.Rights
	file, err := a.permissions()
	if err != nil {
		return toolbox.Approvals{}, err
	}
	rules, err := permission.ParseRules(rights.Allow)
	if err != nil {
		return toolbox.Approvals{}, err
	}
	projects, err := a.projects()
	if err != nil {
		return toolbox.Approvals{}, err
	}
	list := toolbox.Approvals{
		Mode: toolbox.ModeOf(ap.Mode, rights), Deny: ap.Deny, Allowed: slices.Concat(cfg.General().CommandAllowlist, rights.Risks), Breaker: ap.DenialBreakerThreshold,
		Rules: rules, Grants: file, Profile: cfg.Home().Profile(), Judge: a.judge(ap.SmartPolicy),
		Policies: func(string) permission.Policies { return permission.Policies{file.Policy(a.homeOf(run))} },
	}
	if !run.Workspace.Elsewhere() {
		list.Policies, list.Settings, list.Undecided = policies(file, projects), projects.settings, a.undecided(projects)
	}
	return list, nil
}

// Permissions returns what the user has allowed for good, and the risks that the
// setting command_allowlist allows.
func (a *App) Permissions() (f *permission.File, allowlist []string, err error) {
	cfg, err := a.config()
	if err != nil {
		return nil, nil, err
	}
	f, err = a.permissions()
	return f, cfg.General().CommandAllowlist, err
}

// Concerned returns whether a rule is about a tool that there is now.
func (a *App) Concerned(ctx context.Context) (func(permission.Rule) bool, error) {
	c := a.tooling().catalogue
	set, err := c.Select(ctx, toolset.Selection{Enabled: c.Names()})
	if err != nil {
		return nil, err
	}
	names := set.Names()
	return func(r permission.Rule) bool {
		return slices.ContainsFunc(names, func(name string) bool { return r.Concerns(name, set.Toolset(name)) })
	}, nil
}

// makePermissions is what the user has allowed for good, for all sessions.
func (a *App) makePermissions() (*permission.File, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	warn := func(problem string) { a.log().Warn("permissions", "problem", problem) }
	f := permission.New(cfg.Home().Permissions(), warn, a.opts.Now)
	f.Journal(func(ctx context.Context, what, path string, write func() error) error {
		return a.changes(cfg.Home()).Record(ctx, undo.Note{Kind: "permission", Actor: "person", What: what}, []string{path}, write)
	})
	return f, nil
}

// policies returns the rules that hold for sessions with a folder: the user's own, and those
// of the folder's project. Without a home of the user, rules with ~ are unclear.
func policies(own *permission.File, of *projects) func(dir string) permission.Policies {
	return func(dir string) permission.Policies {
		return append(permission.Policies{own.Policy(of.finder.UserHome)}, of.policies(dir)...)
	}
}

// SampleCall is a call that is judged and not run.
type SampleCall struct {
	Run       hermes.RunSpec
	Tool      string
	Subject   string          // the command or path; or
	Arguments json.RawMessage // all arguments
	Attended  bool            // a user is there who can be asked
	// Provenance names untrusted text that the session has read; "" if it has read none.
	Provenance string
}

// Verdict says what would become of a call in a new session, by the rules, grants and settings as they are
// now.
func (a *App) Verdict(ctx context.Context, t SampleCall) (toolbox.Verdict, error) {
	j, err := a.Judge(ctx, t)
	if err != nil {
		return toolbox.Verdict{}, err
	}
	defer j.Close()
	return j.Verdict(ctx, t.Tool, t.Subject, t.Arguments)
}

// Judge judges calls of one new session, and runs none. To make one takes much longer than a verdict: the
// session has tools and walls. It is not safe for concurrent use.
type Judge struct {
	tools *toolbox.Toolbox
	host  sampleHost
	end   func() error
}

// Judge begins the session of a sample, of which Tool, Subject and Arguments mean nothing here. The rules,
// grants and settings are those of now. The caller must close it.
func (a *App) Judge(ctx context.Context, t SampleCall) (*Judge, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	t.Run.Session = session.NewID(a.opts.Now())
	if t.Run.Workspace, err = a.workspace(t.Run); err != nil {
		return nil, err
	}
	tools, err := a.newToolbox(ctx, cfg, a.tooling(), t.Run)
	if err != nil {
		return nil, err
	}
	env, end, err := a.environmentOf(t.Run, walled{granted: func() []hermes.Need { return tools.Granted(t.Run.Ref()) }, read: func() string { return t.Provenance }})
	if err != nil {
		return nil, err
	}
	ref := t.Run.Ref()
	ref.Model = cmp.Or(t.Run.Model.Ref, a.opts.BaseModel, cfg.Model().Default)
	ref.Attended, ref.Provenance = t.Attended, t.Provenance
	ref.Mode = toolbox.BeginMode(cfg.Approvals().Mode, t.Run.Rights)
	return &Judge{tools: tools, host: sampleHost{ref: ref, env: env}, end: end}, nil
}

// Verdict says what would become of a call of a tool, with a subject or, if they are not nil, with all arguments.
func (j *Judge) Verdict(ctx context.Context, tool, subject string, arguments json.RawMessage) (toolbox.Verdict, error) {
	c := &hermes.Call{ID: "sample", Name: tool, Arguments: arguments}
	if arguments == nil {
		var err error
		if c, err = j.tools.CallOf(tool, subject); err != nil {
			return toolbox.Verdict{}, err
		}
	}
	c.Host = j.host
	return j.tools.Verdict(ctx, c)
}

// Close ends the session.
func (j *Judge) Close() error { return j.end() }

// sampleHost is the session of a call that is judged only: it neither asks nor runs anything.
type sampleHost struct {
	hermes.Host
	ref hermes.SessionRef
	env hermes.Environment
}

func (h sampleHost) Session() hermes.SessionRef      { return h.ref }
func (h sampleHost) Environment() hermes.Environment { return h.env }
