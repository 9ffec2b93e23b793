package replay

import (
	"context"
	"slices"
	"sync"

	"hermes"
)

// maxDrafts bounds the sessions whose drafts wait, and the drafts of one.
const maxDrafts = 100

// Drafts are the skills that models wrote in their conversations, by session,
// until somebody tries them. It may be used concurrently; the zero value is
// empty.
type Drafts struct {
	mu   sync.Mutex
	list map[string][]Draft
}

// Watch is a library whose drafts are noted when they were saved.
func (d *Drafts) Watch(l hermes.SkillLibrary) hermes.SkillLibrary { return &watched{l, d} }

// Has reports whether drafts of a session wait.
func (d *Drafts) Has(session string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.list[session]) > 0
}

// Take gives out the drafts of a session and forgets them.
func (d *Drafts) Take(session string) []Draft {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := d.list[session]
	delete(d.list, session)
	return out
}

// add notes a draft. Of several of one skill the last counts, beside what stood
// there before the first.
func (d *Drafts) add(session string, new Draft) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.list == nil || len(d.list) >= maxDrafts {
		d.list = map[string][]Draft{}
	}
	list := d.list[session]
	at := slices.IndexFunc(list, func(old Draft) bool { return old.Name == new.Name })
	switch {
	case at >= 0:
		list[at].Text = new.Text
	case len(list) < maxDrafts:
		d.list[session] = append(list, new)
	}
}

type watched struct {
	hermes.SkillLibrary
	drafts *Drafts
}

// Save notes what the model writes into the main file of a skill.
func (w *watched) Save(ctx context.Context, e hermes.SkillEdit) (hermes.SkillOutcome, error) {
	if !e.Agent || e.File != "" && e.File != "SKILL.md" {
		return w.SkillLibrary.Save(ctx, e)
	}
	d := Draft{Name: e.Name, Text: e.Content}
	if !e.New {
		now, err := w.View(ctx, e.Name, "")
		if err != nil {
			return hermes.SkillOutcome{}, err
		}
		d.Before = now.Content
	}
	out, err := w.SkillLibrary.Save(ctx, e)
	if err == nil && out.Pending == "" {
		w.drafts.add(e.Session, d)
	}
	return out, err
}
