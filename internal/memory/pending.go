package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"hermes"
	"hermes/internal/pending"
	"hermes/internal/text"
)

// Proposal is a change that waits for the user. Its id is derived from its
// content, so that exactly the proposed change is approved.
type Proposal struct {
	ID     string `json:"-"`
	Target Target `json:"target"`
	// Who says whose USER.md it changes, as in [File.Who]; empty for the owner.
	Who string    `json:"who,omitempty"`
	At  time.Time `json:"at"`
	By  Origin    `json:"by"`
	// Operations name whole entries, even if the call named only a few words.
	Operations []Operation `json:"operations"`
}

// Describe formats the whole proposal for the user.
func (p Proposal) Describe() string {
	var b strings.Builder
	target := string(p.Target)
	if p.Who != "" {
		target += " of " + p.Who
	}
	for i, o := range p.Operations {
		if i > 0 {
			b.WriteByte('\n')
		}
		switch o.Action {
		case "add":
			fmt.Fprintf(&b, "add to %s: %s", target, o.Content)
		case "replace":
			fmt.Fprintf(&b, "replace in %s: %s\n  by: %s", target, o.OldText, o.Content)
		case "remove":
			fmt.Fprintf(&b, "remove from %s: %s", target, o.OldText)
		}
	}
	return b.String()
}

func (p Proposal) id() (string, error) {
	data, err := json.MarshalIndent(p, "", " ")
	return pending.ID(data), err
}

func (b *File) pending() pending.Folder {
	return pending.Folder{Path: func() (string, error) { return b.cfg.Pending, nil }, What: "change", List: "hermes memory pending", None: hermes.ErrNotFound}
}

// Propose checks operations as Change does, but stores them for the user's
// approval instead of applying them.
func (b *File) Propose(ctx context.Context, t Target, operations []Operation, by Origin) (Proposal, error) {
	if !b.Has(t) {
		return Proposal{}, &Refused{Reason: fmt.Sprintf("the memory %q is disabled in the configuration", t)}
	}
	p := Proposal{Target: t, Who: b.whoseIs(t), At: b.cfg.Now().UTC().Truncate(time.Second), By: by}
	err := b.locked(ctx, func() error {
		content, err := b.load(t)
		if err != nil {
			return err
		}
		entries := parse(content)
		if _, _, err := b.plan(t, entries, operations); err != nil {
			return err
		}
		if p.Operations, err = pin(entries, operations); err != nil {
			return err
		}
		return b.savePending(&p)
	})
	return p, err
}

// pin makes operations name whole entries.
func pin(entries []string, operations []Operation) ([]Operation, error) {
	d := draft{entries: slices.Clone(entries)}
	pinned := slices.Clone(operations)
	for i, o := range operations {
		pinned[i].Content = strings.TrimSpace(o.Content)
		if o.Action != "add" {
			at, err := locate(d.entries, o.OldText)
			if err != nil {
				return nil, err
			}
			pinned[i].OldText = d.entries[at]
		}
		if err := d.do(o); err != nil {
			return nil, err
		}
	}
	return pinned, nil
}

func (b *File) savePending(p *Proposal) error {
	waiting, err := b.Proposals()
	if err != nil {
		return err
	}
	if len(waiting) >= pending.Most {
		return &Refused{Reason: fmt.Sprintf("%d memory changes already wait for the user; approve or reject some first", len(waiting))}
	}
	if p.ID, err = p.id(); err != nil {
		return err
	}
	return b.pending().Add(p.ID, p)
}

// Proposals returns the pending changes, oldest first. It skips files that were
// changed since they were proposed.
func (b *File) Proposals() ([]Proposal, error) {
	return pending.All(b.pending(), b.readProposal, func(p Proposal) time.Time { return p.At })
}

func (b *File) readProposal(id string) (p Proposal, err error) {
	if err := b.pending().Read(id, &p); err != nil {
		return p, err
	}
	if now, err := p.id(); err != nil || now != id {
		return p, b.pending().Modified(id)
	}
	p.ID = id
	return p, nil
}

// Approve applies a proposal. If the entries that it names are gone, it returns
// an error and the proposal stays.
func (b *File) Approve(ctx context.Context, id string) (State, error) {
	var after State
	err := b.locked(ctx, func() error {
		p, err := b.readProposal(id)
		if err != nil {
			return err
		}
		of := b.of(p.Who)
		if err := of.stillThere(p); err != nil {
			return err
		}
		if after, err = of.change(ctx, p.Target, p.Operations, p.By); err != nil {
			return err
		}
		return b.Reject(id)
	})
	return after, err
}

// stillThere checks that the entries a proposal changes still exist unchanged,
// or are created by the proposal itself.
func (b *File) stillThere(p Proposal) error {
	s, err := b.Read(p.Target)
	if err != nil {
		return err
	}
	existing := s.Texts()
	for _, o := range p.Operations {
		if o.Action != "add" && !slices.Contains(existing, o.OldText) {
			return fmt.Errorf("the entry %q has changed since this was proposed; reject %s", text.Line(o.OldText, 60), p.ID)
		}
		existing = append(existing, o.Content)
	}
	return nil
}

// Reject deletes a proposal, even a damaged one.
func (b *File) Reject(id string) error { return b.pending().Reject(id) }

// Waiting returns the ids of all pending changes, including damaged ones.
func (b *File) Waiting() ([]string, error) { return b.pending().Waiting() }
