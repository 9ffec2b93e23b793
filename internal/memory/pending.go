package memory

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

// maxPending bounds the pending changes.
const maxPending = 100

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

func (p Proposal) encode() ([]byte, string, error) {
	data, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		return nil, "", err
	}
	sum := sha256.Sum256(data)
	return data, hex.EncodeToString(sum[:5]), nil
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
	if len(waiting) >= maxPending {
		return &Refused{Reason: fmt.Sprintf("%d memory changes already wait for the user; approve or reject some first", len(waiting))}
	}
	data, id, err := p.encode()
	if err != nil {
		return err
	}
	p.ID = id
	if err := os.MkdirAll(b.cfg.Pending, 0o700); err != nil {
		return fmt.Errorf("create the folder of pending memory changes: %w", err)
	}
	return atomicfile.Write(b.proposal(id), data, atomicfile.Options{})
}

func (b *File) proposal(id string) string { return filepath.Join(b.cfg.Pending, id+".json") }

// Proposals returns the pending changes, oldest first. It skips files that were
// changed since they were proposed.
func (b *File) Proposals() ([]Proposal, error) {
	ids, err := b.Waiting()
	if err != nil {
		return nil, err
	}
	var list []Proposal
	for _, id := range ids {
		if p, err := b.readProposal(id); err == nil {
			list = append(list, p)
		}
	}
	order.By(list, func(x, y Proposal) int { return x.At.Compare(y.At) })
	return list, nil
}

func (b *File) readProposal(id string) (Proposal, error) {
	var p Proposal
	if id == "" || strings.ContainsFunc(id, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') }) {
		return p, fmt.Errorf("there is no pending change %q; `hermes memory pending` lists them: %w", id, hermes.ErrNotFound)
	}
	data, err := os.ReadFile(b.proposal(id))
	if errors.Is(err, fs.ErrNotExist) {
		return p, fmt.Errorf("there is no pending change %q; `hermes memory pending` lists them: %w", id, hermes.ErrNotFound)
	}
	if err != nil {
		return p, fmt.Errorf("read the pending change %s: %w", id, err)
	}
	if err := json.Unmarshal(data, &p); err != nil {
		return p, fmt.Errorf("the pending change %s is damaged; reject it: %w", id, err)
	}
	if _, now, err := p.encode(); err != nil || now != id {
		return p, fmt.Errorf("the pending change %s was modified after it was proposed and cannot be approved; reject it", id)
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
			return fmt.Errorf("the entry %q has changed since this was proposed; reject %s", shorten(o.OldText, 60), p.ID)
		}
		existing = append(existing, o.Content)
	}
	return nil
}

// Reject deletes a proposal, even a damaged one.
func (b *File) Reject(id string) error {
	if strings.ContainsAny(id, `/\.`) || id == "" {
		return fmt.Errorf("there is no pending change %q; `hermes memory pending` lists them: %w", id, hermes.ErrNotFound)
	}
	err := os.Remove(b.proposal(id))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no pending change %q; `hermes memory pending` lists them: %w", id, hermes.ErrNotFound)
	}
	return err
}

// Waiting returns the ids of all pending changes, including damaged ones.
func (b *File) Waiting() ([]string, error) {
	files, err := os.ReadDir(b.cfg.Pending)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list pending memory changes: %w", err)
	}
	var ids []string
	for _, f := range files {
		if id, ok := strings.CutSuffix(f.Name(), ".json"); ok && !strings.HasPrefix(id, ".") {
			ids = append(ids, id)
		}
	}
	return ids, nil
}
