package learning

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"hermes"
	"hermes/internal/pending"
)

// Proposal is a learning that waits for the user's approval. Its id is made from
// its content, so that exactly what was proposed is approved.
type Proposal struct {
	ID       string
	At       time.Time
	Learning hermes.Learning // with what identifies it, its texts and its origin
}

// waiting is a proposal as it is stored.
type waiting struct {
	At         time.Time `json:"at"`
	Tool       string    `json:"tool,omitempty"`
	Class      string    `json:"class"`
	Pattern    string    `json:"pattern"`
	Fix        string    `json:"fix"`
	Context    string    `json:"context,omitempty"`
	Tags       []string  `json:"tags,omitempty"`
	Session    string    `json:"session,omitempty"`
	Provenance string    `json:"outside,omitempty"`
}

func (w waiting) id() (string, error) {
	w.At = time.Time{} // the same learning proposed again is the same proposal
	data, err := json.Marshal(w)
	return pending.ID(data), err
}

func (b *Store) pending() pending.Folder {
	path := b.cfg.Pending
	if path == nil {
		path = func() (string, error) { return "", errors.New("learnings cannot wait for approval here") }
	}
	return pending.Folder{Path: path, What: "learning", List: "hermes learning pending", None: hermes.ErrNotFound}
}

// Propose stores a learning for the user's approval and returns its id; it must be in its
// general form. It is shown to no model before that.
func (b *Store) Propose(_ context.Context, l hermes.Learning) (id string, err error) {
	w := waiting{b.cfg.Now().UTC().Truncate(time.Second), l.Tool, l.Class, l.Pattern, l.Fix, l.Context, l.Tags, l.Session, l.Provenance}
	if id, err = w.id(); err != nil {
		return "", err
	}
	ids, err := b.pending().Waiting()
	if err != nil || slices.Contains(ids, id) {
		return id, err
	}
	if len(ids) >= pending.Most {
		return "", fmt.Errorf("%d learnings already wait for the user; approve or reject some first", len(ids))
	}
	return id, b.pending().Add(id, w)
}

// Waiting returns the ids of all pending learnings, also of damaged ones.
func (b *Store) Waiting() ([]string, error) {
	if b.cfg.Pending == nil {
		return nil, nil
	}
	return b.pending().Waiting()
}

// Proposals returns the pending learnings, oldest first. It skips files that were
// changed since they were proposed.
func (b *Store) Proposals() ([]Proposal, error) {
	if b.cfg.Pending == nil {
		return nil, nil
	}
	return pending.All(b.pending(), b.Proposal, func(p Proposal) time.Time { return p.At })
}

// Proposal returns one pending learning. If its file was changed since it was
// proposed, it returns an error.
func (b *Store) Proposal(id string) (Proposal, error) {
	var w waiting
	if err := b.pending().Read(id, &w); err != nil {
		return Proposal{}, err
	}
	if now, err := w.id(); err != nil || now != id {
		return Proposal{}, b.pending().Modified(id)
	}
	return Proposal{ID: id, At: w.At, Learning: hermes.Learning{
		Tool: w.Tool, Class: w.Class, Pattern: w.Pattern, Fix: w.Fix, Context: w.Context, Tags: w.Tags, Session: w.Session, Provenance: w.Provenance,
	}}, nil
}

// Reject deletes a pending learning, also a damaged one.
func (b *Store) Reject(id string) error { return b.pending().Reject(id) }

// Describe is what the user approves, on two lines.
func (p Proposal) Describe() string {
	l := p.Learning
	text := "error: " + l.Pattern
	if l.Tool != "" {
		text += " (" + l.Tool + ")"
	}
	text += "\nfix: " + l.Fix
	if l.Context != "" {
		text += " (" + l.Context + ")"
	}
	if l.Provenance != "" {
		text += "\nafter reading: " + l.Provenance
	}
	return text
}
