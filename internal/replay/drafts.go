package replay

import (
	"context"
	"slices"
	"sync"

	"hermes"
	"hermes/internal/lru"
)

// maxDrafts limits the sessions with waiting drafts, and the drafts of each.
const maxDrafts = 100

// Drafts holds the skills that models wrote in their conversations, by
// session, until they are tried. It may be used concurrently.
type Drafts struct {
	mu   sync.Mutex
	list *lru.Map[string, []Draft]
}

// NewDrafts returns an empty collection.
func NewDrafts() *Drafts { return &Drafts{list: lru.New[string, []Draft](maxDrafts)} }

// Watch returns a library that adds each saved draft to d.
func (d *Drafts) Watch(l hermes.SkillLibrary) hermes.SkillLibrary { return &watched{l, d} }

// Has reports whether drafts of a session wait.
func (d *Drafts) Has(session string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	list, _ := d.list.Get(session)
	return len(list) > 0
}

// Take returns the drafts of a session and removes them.
func (d *Drafts) Take(session string) []Draft {
	d.mu.Lock()
	defer d.mu.Unlock()
	out, _ := d.list.Get(session)
	d.list.Delete(session)
	return out
}

// add adds a draft. For several drafts of one skill, it keeps the last Text and
// the first Before.
func (d *Drafts) add(session string, new Draft) {
	d.mu.Lock()
	defer d.mu.Unlock()
	list, _ := d.list.Get(session)
	at := slices.IndexFunc(list, func(old Draft) bool { return old.Name == new.Name })
	switch {
	case at >= 0:
		list[at].Text = new.Text
	case len(list) < maxDrafts:
		d.list.Put(session, append(list, new))
	}
}

type watched struct {
	hermes.SkillLibrary
	drafts *Drafts
}

// Save saves a skill and adds it as a draft if the model wrote its main file.
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
