package object

import (
	"context"
	"fmt"
	"os"
)

const (
	// small is the size of packs that are joined, in bytes.
	small = 4 << 20
	// manySmall is how many there may be before that is worth it.
	manySmall = 24
)

// Sweep removes the contents that keep does not want, as far as that gains space: packs that
// are mostly needed stay as they are. It joins small packs. What was added must be committed.
// A crash in the middle loses nothing: the new pack is complete before old ones go.
func (s *Store) Sweep(ctx context.Context, keep func(Hash) bool) error {
	var smalls int
	var rest []*pack
	for _, p := range s.packs {
		if p.size < small {
			smalls++
		}
	}
	var old []*pack
	for _, p := range s.packs {
		live, dead := p.weigh(keep)
		if dead > live/3 || smalls > manySmall && p.size < small {
			old = append(old, p)
			continue
		}
		rest = append(rest, p)
	}
	if len(old) == 0 {
		return nil
	}
	if err := s.carry(ctx, old, keep); err != nil {
		s.Discard()
		return err
	}
	s.packs = rest
	if err := s.Commit(); err != nil {
		s.packs = append(rest, old...)
		return err
	}
	for i, p := range old {
		p.file.Close()
		if err := os.Remove(p.path); err != nil {
			for _, p := range old[i+1:] {
				p.file.Close()
			}
			return err
		}
	}
	return s.syncFolder()
}

// weigh returns the bytes of contents that are needed and of those that are not.
func (p *pack) weigh(keep func(Hash) bool) (live, dead int64) {
	for i := range p.count() {
		e := entryAt(p.index, i)
		if keep(e.hash) {
			live += e.stored + entrySize
		} else {
			dead += e.stored + entrySize
		}
	}
	if p.count() == 0 {
		dead = p.size
	}
	return live, dead
}

// carry copies the contents that are needed from packs to the one being written, as they are
// stored: a content that is damaged stays so and is found when it is read.
func (s *Store) carry(ctx context.Context, packs []*pack, keep func(Hash) bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var buf []byte
	for _, p := range packs {
		for i := range p.count() {
			e := entryAt(p.index, i)
			if !keep(e.hash) {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if int64(cap(buf)) < e.stored {
				buf = make([]byte, e.stored)
			}
			if _, err := p.file.ReadAt(buf[:e.stored], e.at); err != nil {
				return fmt.Errorf("read a pack: %w", err)
			}
			if err := s.append(e, buf[:e.stored]); err != nil {
				return err
			}
		}
	}
	return nil
}
