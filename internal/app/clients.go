package app

import (
	"context"
	"slices"

	"hermes"
	"hermes/internal/command"
	"hermes/internal/home"
	"hermes/internal/owner"
	"hermes/internal/protocol/local"
	"hermes/internal/protocol/router"
	"hermes/internal/session"
)

// Client returns the client of all sessions of the home, in this process and in others. waiting,
// if not nil, is called with a sentence that says what Open waits for. The app closes it.
func (a *App) Client(waiting func(string)) *router.Client {
	c := router.New(router.Config{
		Local: a.Local(waiting), Store: func(ctx context.Context) (router.Store, error) { return a.Database(ctx) }, Own: func() string { return a.leaseOwner().Name },
		Dial: func(ctx context.Context, to hermes.Owner, from hermes.From) (router.Remote, error) {
			h, err := a.home()
			if err != nil {
				return nil, err
			}
			return owner.Dialer{Folder: h.Join("run"), Above: a.opts.AboveOf}.Dial(ctx, to, from)
		},
	})
	a.closing(c.Close)
	return c
}

// Local returns the client of the sessions of this process. waiting is as for Client.
func (a *App) Local(waiting func(string)) *local.Client {
	return local.New(local.Config{
		Sessions: a.Sessions, Made: a.made, Store: func(ctx context.Context) (hermes.Store, error) { return a.Database(ctx) }, Check: a.CheckSkills, Waiting: waiting,
		Expand: func(ctx context.Context, text string, in local.Place, note func(string)) ([]hermes.Part, error) {
			e, err := a.referencesOf(ctx, text, hermes.RunSpec{Session: in.Session, Workspace: in.Workspace}, note)
			return e.Parts(), err
		},
		Commands: a.lent, Attached: a.cutOff,
	})
}

// lent is what the program lends to slash commands.
func (a *App) lent() (command.Call, error) {
	cfg, err := a.config()
	if err != nil {
		return command.Call{}, err
	}
	remembered, err := a.Memory()
	if err != nil {
		return command.Call{}, err
	}
	skills, err := a.Skills()
	if err != nil {
		return command.Call{}, err
	}
	spent, err := a.Spend()
	if err != nil {
		return command.Call{}, err
	}
	trees, err := a.Worktrees()
	if err != nil {
		return command.Call{}, err
	}
	call := command.Call{
		Worktrees: trees, Servers: lentServers{a}, Browsers: a,
		Confirmed: !cfg.Approvals().DestructiveSlashConfirm,
		Models:    a.models.References, Limits: a.models.Limits, Settings: a.Settings(), Memory: remembered, Learnings: a.Learned(), Skills: skills, Spend: spent,
		Checkpoints: a.checkpoints(cfg), Elsewhere: a.checkpointsOf, GitDiff: a.GitDiff,
		Sessions: func(ctx context.Context) (command.Sessions, error) { return a.Sessions(ctx) },
		Agents:   func(ctx context.Context) (command.Agents, error) { return a.Sessions(ctx) },
	}
	if all := a.tooling().plugins; all != nil {
		call.Plugins = all
	}
	if mixture := a.tooling().mixture; mixture != nil {
		call.Mixture = mixture
	}
	return call, nil
}

// Callable is what can be called by name after a slash, beside the commands of the table: skills, and
// the commands of plugins.
type Callable struct{ app *App }

// Callable returns it.
func (a *App) Callable() Callable { return Callable{a} }

// List returns them as skills; a skill wins over a command of its name.
func (c Callable) List(ctx context.Context) ([]hermes.Skill, error) {
	skills, err := c.app.Skills()
	if err != nil {
		return nil, err
	}
	list, err := skills.List(ctx)
	all := c.app.tooling().plugins
	if err != nil || all == nil {
		return list, err
	}
	list = slices.Clone(list)
	for _, one := range command.OfPlugins(all.SlashCommands()) {
		if !slices.ContainsFunc(list, func(s hermes.Skill) bool { return s.Name == one.Name }) {
			list = append(list, hermes.Skill{Name: one.Name, Description: one.Help})
		}
	}
	return list, nil
}

// made returns the manager of the sessions if it was made, else nil.
func (a *App) made() *session.Manager {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sessions
}

// makeListening makes what other processes reach the sessions of this one through. It listens
// from the first lease on.
func (a *App) makeListening() *owner.Owner {
	h, err := a.home()
	if err != nil {
		h = home.Dir{} // reported where the home is needed
	}
	o := owner.New(owner.Config{
		Folder: h.Join("run"), Name: a.leaseOwner().Name, Above: a.opts.AboveOf, Version: Version, Log: a.log(),
		Client: a.Local(nil),
	})
	a.closing(o.Close)
	return o
}
