package skill

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"hermes"
	"hermes/internal/patch"
	"hermes/internal/pending"
)

// Pending is a change that waits for the user's approval.
type Pending struct {
	ID      string               `json:"id"`
	At      time.Time            `json:"at"`
	Edit    *hermes.SkillEdit    `json:"edit,omitempty"`
	Removal *hermes.SkillRemoval `json:"removal,omitempty"`
	// Because is the reason for a change that the curator proposed. Base, if set,
	// is the hash of the SKILL.md that a removal was proposed for.
	Because string `json:"because,omitempty"`
	Base    string `json:"base,omitempty"`
}

// What describes the change in one line.
func (p Pending) What() string {
	switch {
	case p.Removal != nil && p.Removal.File == "":
		return "remove the skill " + p.Removal.Name
	case p.Removal != nil:
		return "remove " + p.Removal.File + " of " + p.Removal.Name
	case p.Edit != nil && p.Edit.New:
		return "create the skill " + p.Edit.Name
	case p.Edit != nil:
		return "change " + cmp.Or(p.Edit.File, mainFile) + " of " + p.Edit.Name
	}
	return "nothing"
}

// Why returns the reason for the change in one line: the result of its replay, or
// what the curator found. It is "" if there is no special reason.
func (p Pending) Why() string {
	if p.Because != "" {
		return p.Because
	}
	if p.Edit == nil || p.Edit.Trial == nil {
		return ""
	}
	return p.Edit.Trial.Line()
}

// Provenance names the untrusted text that the agent had read when it proposed
// the change, as in [hermes.Message].
func (p Pending) Provenance() string {
	switch {
	case p.Edit != nil:
		return p.Edit.Provenance
	case p.Removal != nil:
		return p.Removal.Provenance
	}
	return ""
}

// savePending stores a change until it is approved. An edit is bound to the
// content that it was made for, so that exactly what is approved happens.
func (l *Library) savePending(p Pending) (string, error) {
	p.ID, p.At = strings.ToLower(rand.Text()[:6]), l.cfg.Now().UTC()
	if p.Edit != nil && !p.Edit.New && p.Edit.Base == "" {
		e := *p.Edit
		e.Base = hash(l.current(e.Name, e.File))
		p.Edit = &e
	}
	return p.ID, l.pending().Add(p.ID, p)
}

func (l *Library) pending() pending.Folder {
	return pending.Folder{Path: func() (string, error) { return l.cfg.Home.Pending("skills"), nil }, What: "change", List: "hermes skills pending", None: hermes.ErrNotFound}
}

// current returns the present content of a file, nil if there is none.
func (l *Library) current(name, file string) []byte {
	it, err := l.find(context.Background(), name)
	if err != nil {
		return nil
	}
	folder, done, err := it.open()
	if err != nil {
		return nil
	}
	defer done()
	raw, err := readBounded(folder, cmp.Or(file, mainFile))
	if err != nil {
		return nil
	}
	return raw
}

// Waiting returns the ids of the pending changes, also of damaged ones.
func (l *Library) Waiting() ([]string, error) { return l.pending().Waiting() }

// Proposals returns the pending changes, oldest first. It skips damaged files.
func (l *Library) Proposals() ([]Pending, error) {
	return pending.All(l.pending(), l.proposal, func(p Pending) time.Time { return p.At })
}

func (l *Library) proposal(id string) (p Pending, err error) {
	err = l.pending().Read(id, &p)
	p.ID = id
	return p, err
}

// Diff returns a pending change as a unified diff.
func (l *Library) Diff(id string) (string, error) {
	p, err := l.proposal(id)
	if err != nil {
		return "", err
	}
	name, file, after := "", mainFile, ""
	switch {
	case p.Edit != nil:
		name, file, after = p.Edit.Name, cmp.Or(p.Edit.File, mainFile), p.Edit.Content
	case p.Removal != nil:
		name, file = p.Removal.Name, cmp.Or(p.Removal.File, mainFile)
	}
	at := name + "/" + file
	return patch.Unified(at, at, string(l.current(name, file)), after), nil
}

// Approve applies a pending change as it was shown.
func (l *Library) Approve(ctx context.Context, id string) (hermes.SkillOutcome, error) {
	p, err := l.proposal(id)
	if err != nil {
		return hermes.SkillOutcome{}, err
	}
	out, err := l.apply(ctx, p)
	if err != nil {
		return out, err
	}
	return out, l.Reject(id)
}

func (l *Library) apply(ctx context.Context, p Pending) (hermes.SkillOutcome, error) {
	switch {
	case p.Edit != nil:
		it, err := l.admit(ctx, p.Edit)
		if err != nil {
			return hermes.SkillOutcome{}, err
		}
		return l.write(ctx, *p.Edit, it)
	case p.Removal != nil:
		it, err := l.find(ctx, p.Removal.Name)
		if err != nil {
			return hermes.SkillOutcome{}, err
		}
		if err := l.removable(it, *p.Removal); err != nil {
			return hermes.SkillOutcome{}, err
		}
		if p.Base != "" && p.Base != hash(l.current(p.Removal.Name, "")) {
			return hermes.SkillOutcome{}, fmt.Errorf("the skill %q has changed since this was proposed; review it, then reject %s or delete the skill yourself", p.Removal.Name, p.ID)
		}
		return l.remove(ctx, *p.Removal, it)
	}
	return hermes.SkillOutcome{}, errors.New("the pending change is empty")
}

// Reject discards a pending change, also a damaged one.
func (l *Library) Reject(id string) error { return l.pending().Reject(id) }
