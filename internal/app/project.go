package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"hermes/internal/audit"
	"hermes/internal/git"
	"hermes/internal/lru"
	"hermes/internal/permission"
	"hermes/internal/toolbox"
	"hermes/internal/trust"
	"hermes/internal/undo"
)

// projects knows the settings of the projects in which sessions work.
type projects struct {
	finder trust.Finder
	store  *trust.Store

	mu   sync.Mutex
	seen *lru.Map[string, look] // by folder
}

// look is what was found in a folder.
type look struct {
	project trust.Project
	err     error
	// The rules of the project, for each state of trust.
	trusted, untrusted permission.Policies
}

// mostProjects bounds the folders that are remembered.
const mostProjects = 64

func (a *App) makeProjects() (*projects, error) {
	h, err := a.home()
	if err != nil {
		return nil, err
	}
	userHome, _ := os.UserHomeDir() // without one there is no home to keep out
	store := trust.New(h.Trust(), a.opts.Now)
	store.Journal(func(ctx context.Context, what, path string, write func() error) error {
		return a.changes(h).Record(ctx, undo.Note{Kind: "trust", Actor: "person", What: what}, []string{path}, write)
	})
	return &projects{
		finder: trust.Finder{UserHome: userHome, Own: h.Root(), Now: a.opts.Now},
		store:  store, seen: lru.New[string, look](mostProjects),
	}, nil
}

// Trust returns what the user decided about project settings.
func (a *App) Trust() (*trust.Store, error) {
	p, err := a.projects()
	if err != nil {
		return nil, err
	}
	return p.store, nil
}

// Project returns the project settings that hold in a folder, and what the user decided
// about them. They are read again when they have changed, and the decision for each call.
// With an error not everything is known: what was found may restrict, and the decision
// is never Trusted.
func (a *App) Project(dir string) (trust.Project, trust.Decision, error) {
	p, err := a.projects()
	if err != nil {
		return trust.Project{}, trust.Decision{}, err
	}
	found := p.look(dir)
	decision, err := p.decided(dir, found)
	return found.project, decision, errors.Join(found.err, err)
}

// decided returns what the user decided about the settings of a folder. About those of a worktree
// that are the same as in its repository, that is what the user decided there.
func (p *projects) decided(dir string, found look) (trust.Decision, error) {
	d, err := p.store.Decided(found.project)
	if err != nil || found.err != nil || d.State != trust.Unknown || found.project.Empty() {
		return d, err
	}
	dir, err = filepath.EvalSymlinks(dir)
	if err != nil {
		return d, nil // its settings are not known, which the look says
	}
	tree, ok := git.LinkedAt(git.Root(dir))
	if !ok {
		return d, nil
	}
	rel, err := filepath.Rel(tree.Top, dir)
	if err != nil {
		return d, nil
	}
	of := p.look(filepath.Join(tree.Main, rel))
	if of.err != nil || !found.project.CopyOf(of.project, tree.Top, tree.Main) {
		return d, nil
	}
	if main, err := p.store.Decided(of.project); err == nil && main.State != trust.Unknown {
		return main, nil
	}
	return d, nil
}

// look finds the settings of a folder, or returns what it found before.
func (p *projects) look(dir string) look {
	p.mu.Lock()
	was, ok := p.seen.Get(dir)
	p.mu.Unlock()
	if ok && was.project.Stamp.Fresh() {
		return was
	}
	var now look
	now.project, now.err = p.finder.Look(dir)
	now.trusted, now.untrusted = p.rules(now.project, true), p.rules(now.project, false)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen.Put(dir, now)
	return now
}

// rules reads the rules of a project, from its top folder down. What could not be read may deny
// anything.
func (p *projects) rules(found trust.Project, trusted bool) permission.Policies {
	var ps permission.Policies
	for _, f := range found.Named(trust.Permissions) {
		ps = append(ps, permission.ReadProject(f.Content, f.Folder+"/"+f.Name, p.finder.UserHome, f.Folder, trusted))
	}
	unread := &permission.Policy{Untrusted: true}
	for _, path := range found.Unread {
		unread.Problems = append(unread.Problems, permission.Problem{Place: path, Text: "it cannot be read, and may have rules", Stops: true})
	}
	return append(ps, unread)
}

// policies returns the rules of the project of a folder. Only a trusted one's allow anything.
func (p *projects) policies(dir string) permission.Policies {
	if dir == "" {
		return nil
	}
	if here, err := thereOrHere(dir); err == nil { // as its environment does
		dir = here
	}
	found := p.look(dir)
	if len(found.project.Files)+len(found.project.Unread) == 0 {
		return nil
	}
	if d, err := p.decided(dir, found); err == nil && found.err == nil && d.State == trust.Trusted {
		return found.trusted
	}
	return found.untrusted
}

// settings names the version of the settings that hold in a folder.
func (p *projects) settings(dir string) string {
	if here, err := thereOrHere(dir); err == nil { // as its environment does
		dir = here
	}
	return p.look(dir).project.Hash
}

// undecided returns the settings that hold in a folder and that the user has neither trusted nor
// declined, nil if there are none. What is shown is what is trusted.
func (a *App) undecided(p *projects) func(dir string) *toolbox.Undecided {
	return func(dir string) *toolbox.Undecided {
		if here, err := thereOrHere(dir); err == nil { // as its environment does
			dir = here
		}
		found := p.look(dir)
		d, err := p.decided(dir, found)
		if err != nil || found.err != nil || found.project.Empty() || d.State != trust.Unknown {
			return nil
		}
		return &toolbox.Undecided{
			Subject: trust.Question(found.project, d), Rules: found.trusted, Hash: found.project.Hash, ChangedSince: found.project.Stamp.ChangedSince,
			Decide: func(ctx context.Context, trusted bool) error {
				state := trust.Declined
				if trusted {
					state = trust.Trusted
				}
				return a.decideTrust(ctx, p.store, found.project, state)
			},
		}
	}
}

// decideTrust records a decision of the user about the settings of a project and keeps it. What cannot be recorded is
// not trusted.
func (a *App) decideTrust(ctx context.Context, store *trust.Store, p trust.Project, state trust.State) error {
	if err := a.Record(ctx, audit.Row{Kind: audit.KindTrust, By: "user", Dir: p.Dir, Decision: string(state), Note: "settings with the hash " + p.Hash}); err != nil {
		return err
	}
	if err := store.Set(ctx, p, state, "user"); err != nil {
		return err
	}
	if _, notes, err := a.ReloadMCP(false); err != nil || len(notes) > 0 { // the servers of the project, which nothing else waits for
		a.noteMCP(notes, err)
	}
	return nil
}

// DecideTrust records a decision of the user about the settings of a project and keeps it.
func (a *App) DecideTrust(ctx context.Context, p trust.Project, state trust.State) error {
	store, err := a.Trust()
	if err != nil {
		return err
	}
	return a.decideTrust(ctx, store, p, state)
}
