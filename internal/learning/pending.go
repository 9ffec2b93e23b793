package learning

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hermes"
	"hermes/internal/atomicfile"
	"hermes/internal/order"
)

// maxPending bounds the pending learnings.
const maxPending = 100

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
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:5]), err
}

// Propose stores a learning for the user's approval and returns its id; it must be in its
// general form. It is shown to no model before that.
func (b *Store) Propose(_ context.Context, l hermes.Learning) (id string, err error) {
	w := waiting{b.cfg.Now().UTC().Truncate(time.Second), l.Tool, l.Class, l.Pattern, l.Fix, l.Context, l.Tags, l.Session, l.Provenance}
	if id, err = w.id(); err != nil {
		return "", err
	}
	file, err := b.pendingFile(id)
	if err != nil {
		return "", err
	}
	ids, err := b.Waiting()
	if err != nil || slices.Contains(ids, id) {
		return id, err
	}
	if len(ids) >= maxPending {
		return "", fmt.Errorf("%d learnings already wait for the user; approve or reject some first", len(ids))
	}
	data, err := json.MarshalIndent(w, "", " ")
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return "", fmt.Errorf("create the folder of pending learnings: %w", err)
	}
	return id, atomicfile.Write(file, data, atomicfile.Options{})
}

// pendingFile returns the file of a proposal. Its folder may not exist.
func (b *Store) pendingFile(id string) (string, error) {
	if b.cfg.Pending == nil {
		return "", errors.New("learnings cannot wait for approval here")
	}
	if id == "" || strings.ContainsFunc(id, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') }) {
		return "", noProposal(id)
	}
	folder, err := b.cfg.Pending()
	return filepath.Join(folder, id+".json"), err
}

func noProposal(id string) error {
	return fmt.Errorf("there is no pending learning %q; `hermes learning pending` lists them: %w", id, hermes.ErrNotFound)
}

// Waiting returns the ids of all pending learnings, also of damaged ones.
func (b *Store) Waiting() ([]string, error) {
	if b.cfg.Pending == nil {
		return nil, nil
	}
	folder, err := b.cfg.Pending()
	if err != nil {
		return nil, err
	}
	files, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var ids []string
	for _, f := range files {
		if id, ok := strings.CutSuffix(f.Name(), ".json"); ok && !strings.HasPrefix(id, ".") {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// Proposals returns the pending learnings, oldest first. It skips files that were
// changed since they were proposed.
func (b *Store) Proposals() ([]Proposal, error) {
	ids, err := b.Waiting()
	if err != nil {
		return nil, err
	}
	var list []Proposal
	for _, id := range ids {
		if p, err := b.Proposal(id); err == nil {
			list = append(list, p)
		}
	}
	order.By(list, func(x, y Proposal) int { return x.At.Compare(y.At) })
	return list, nil
}

// Proposal returns one pending learning. If its file was changed since it was
// proposed, it returns an error.
func (b *Store) Proposal(id string) (Proposal, error) {
	file, err := b.pendingFile(id)
	if err != nil {
		return Proposal{}, err
	}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return Proposal{}, noProposal(id)
	}
	if err != nil {
		return Proposal{}, fmt.Errorf("read the pending learning %s: %w", id, err)
	}
	var w waiting
	if err := json.Unmarshal(data, &w); err != nil {
		return Proposal{}, fmt.Errorf("the pending learning %s is damaged; reject it: %w", id, err)
	}
	if now, err := w.id(); err != nil || now != id {
		return Proposal{}, fmt.Errorf("the pending learning %s was modified after it was proposed and cannot be approved; reject it", id)
	}
	return Proposal{ID: id, At: w.At, Learning: hermes.Learning{
		Tool: w.Tool, Class: w.Class, Pattern: w.Pattern, Fix: w.Fix, Context: w.Context, Tags: w.Tags, Session: w.Session, Provenance: w.Provenance,
	}}, nil
}

// Reject deletes a pending learning, also a damaged one.
func (b *Store) Reject(id string) error {
	file, err := b.pendingFile(id)
	if err != nil {
		return err
	}
	if err := os.Remove(file); errors.Is(err, fs.ErrNotExist) {
		return noProposal(id)
	} else if err != nil {
		return err
	}
	return nil
}

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
