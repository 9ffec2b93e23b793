package app

import (
	"errors"
	"os"
	"sync"

	"hermes/internal/lru"
	"hermes/internal/trust"
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
}

// mostProjects bounds the folders that are remembered.
const mostProjects = 64

func (a *App) makeProjects() (*projects, error) {
	h, err := a.home()
	if err != nil {
		return nil, err
	}
	userHome, _ := os.UserHomeDir() // without one there is no home to keep out
	return &projects{
		finder: trust.Finder{UserHome: userHome, Own: h.Root(), Now: a.opts.Now},
		store:  trust.New(h.Trust(), a.opts.Now), seen: lru.New[string, look](mostProjects),
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
	decision, err := p.store.Decided(found.project)
	return found.project, decision, errors.Join(found.err, err)
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
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen.Put(dir, now)
	return now
}
