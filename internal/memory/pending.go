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
)

// maxPending bounds the changes that wait for the person.
const maxPending = 100

// Proposal is a change that waits for the person. Its id is made from its
// content, so that what is approved is exactly what was proposed.
type Proposal struct {
	ID     string `json:"-"`
	Target Target `json:"target"`
	// Who is whose USER.md it is about, as in [File.Who]; empty for the owner's.
	Who string    `json:"who,omitempty"`
	At  time.Time `json:"at"`
	By  Origin    `json:"by"`
	// Operations name whole entries, however short the locators were.
	Operations []Operation `json:"operations"`
}

// Describe is the proposal in a few lines, whole, for the person.
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

// Propose checks operations as Change would and lays them aside for the
// person instead of carrying them out.
func (b *File) Propose(ctx context.Context, t Target, operations []Operation, by Origin) (Proposal, error) {
	if !b.Has(t) {
		return Proposal{}, &Refused{Reason: fmt.Sprintf("the memory %q is switched off in the configuration", t)}
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

// pin makes operations name the whole entries that they mean.
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
		return &Refused{Reason: fmt.Sprintf("%d changes of memory wait for the person already; no more are taken until some are approved or rejected", len(waiting))}
	}
	data, id, err := p.encode()
	if err != nil {
		return err
	}
	p.ID = id
	if err := os.MkdirAll(b.cfg.Pending, 0o700); err != nil {
		return fmt.Errorf("make the folder of pending memories: %w", err)
	}
	return atomicfile.Write(b.proposal(id), data, atomicfile.Options{})
}

func (b *File) proposal(id string) string { return filepath.Join(b.cfg.Pending, id+".json") }

// Proposals are the changes that wait, oldest first. Files that are not what
// they were when they were proposed are left out.
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
	slices.SortStableFunc(list, func(x, y Proposal) int { return x.At.Compare(y.At) })
	return list, nil
}

func (b *File) readProposal(id string) (Proposal, error) {
	var p Proposal
	if id == "" || strings.ContainsFunc(id, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') }) {
		return p, fmt.Errorf("there is no waiting change %q; `hermes memory pending` lists them: %w", id, hermes.ErrNotFound)
	}
	data, err := os.ReadFile(b.proposal(id))
	if errors.Is(err, fs.ErrNotExist) {
		return p, fmt.Errorf("there is no waiting change %q; `hermes memory pending` lists them: %w", id, hermes.ErrNotFound)
	}
	if err != nil {
		return p, fmt.Errorf("read the pending change %s: %w", id, err)
	}
	if err := json.Unmarshal(data, &p); err != nil {
		return p, fmt.Errorf("the pending change %s is damaged; reject it: %w", id, err)
	}
	if _, now, err := p.encode(); err != nil || now != id {
		return p, fmt.Errorf("the pending change %s is not what was proposed any more; it cannot be approved, reject it", id)
	}
	p.ID = id
	return p, nil
}

// Approve carries out a proposal. If the entries that it names are not there
// any more, it is refused and stays.
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

// stillThere checks that the entries a proposal changes are exactly those it
// was made for, or are made by the proposal itself.
func (b *File) stillThere(p Proposal) error {
	s, err := b.Read(p.Target)
	if err != nil {
		return err
	}
	there := s.Texts()
	for _, o := range p.Operations {
		if o.Action != "add" && !slices.Contains(there, o.OldText) {
			return fmt.Errorf("the entry %q has changed since this was proposed; reject %s", shorten(o.OldText, 60), p.ID)
		}
		there = append(there, o.Content)
	}
	return nil
}

// Reject drops a proposal, also a damaged one.
func (b *File) Reject(id string) error {
	if strings.ContainsAny(id, `/\.`) || id == "" {
		return fmt.Errorf("there is no waiting change %q; `hermes memory pending` lists them: %w", id, hermes.ErrNotFound)
	}
	err := os.Remove(b.proposal(id))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no waiting change %q; `hermes memory pending` lists them: %w", id, hermes.ErrNotFound)
	}
	return err
}

// Waiting are the ids of everything that waits, damaged proposals included.
func (b *File) Waiting() ([]string, error) {
	files, err := os.ReadDir(b.cfg.Pending)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list pending memories: %w", err)
	}
	var ids []string
	for _, f := range files {
		if id, ok := strings.CutSuffix(f.Name(), ".json"); ok && !strings.HasPrefix(id, ".") {
			ids = append(ids, id)
		}
	}
	return ids, nil
}
