package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/patch"
)

// A patchRun carries out one patch. The caller holds the locks of its files.
type patchRun struct {
	*Toolset
	call  *hermes.Call
	files map[string]patchedFile // by path, as the patch names them
	moved map[string]bool        // paths whose file gets another name
	out   patchResult
	undo  []undoStep
}

// A patchedFile is one that a patch names.
type patchedFile struct {
	write
	id   string // of the file, with links followed
	name string // of the path's last entry
}

// An undoStep restores what one step changed.
type undoStep struct {
	file patchedFile
	do   func(context.Context) error
}

// open tells the patch what a path leads to. Two paths that are one file by the
// disk's own rules are one file, such as names that differ in case where the
// disk does not. Hard links are refused, since a write separates them.
func (r *patchRun) open(ctx context.Context, path string) (patch.File, error) {
	at, err := r.locate(ctx, r.call.Host, path)
	if err != nil {
		return patch.File{}, err
	}
	w, err := r.changeable(ctx, r.call, path, at)
	if err != nil {
		return patch.File{}, err
	}
	p := patchedFile{write: w, id: w.real, name: w.entry}
	link, err := w.isLink(ctx)
	if err != nil {
		return patch.File{}, err
	}
	for _, other := range r.files {
		if other.real == w.real || !sameFile(other.write, w) {
			continue
		}
		if !strings.EqualFold(other.real, w.real) {
			return patch.File{}, fmt.Errorf("%s and %s are two names of one file (hard links): use one of them, or a patch for each", other.path, w.path)
		}
		p.id = other.id
	}
	r.files[path] = p
	return patch.File{ID: p.id, Name: p.name, Link: link, Text: w.old, Exists: w.existed}, nil
}

func sameFile(a, b write) bool {
	return a.info != nil && b.info != nil && os.SameFile(a.info, b.info)
}

// carryOut renames and writes first and deletes last, so that a failure loses
// nothing. After a failure it restores the files it changed.
func (r *patchRun) carryOut(ctx context.Context, done patch.Outcome) (hermes.Result, error) {
	r.out.Success = true
	r.moved = map[string]bool{}
	for _, m := range done.Moves {
		r.moved[m.From] = true
	}
	if err := r.steps(ctx, done); err != nil {
		return hermes.Result{}, r.restore(ctx, err)
	}
	var diff strings.Builder
	for _, ch := range done.Changes {
		diff.WriteString(r.diff(ch))
	}
	return r.out.result(diff.String())
}

func (r *patchRun) steps(ctx context.Context, done patch.Outcome) error {
	for _, m := range done.Moves {
		if err := r.mayTakePlace(ctx, m); err != nil {
			return err
		}
	}
	for _, m := range done.Moves {
		if err := r.rename(ctx, r.files[m.From], r.files[m.To]); err != nil {
			return err
		}
	}
	for _, ch := range done.Changes {
		if !ch.Exists {
			continue
		}
		if err := r.put(ctx, ch); err != nil {
			return err
		}
	}
	for _, links := range []bool{false, true} { // a link cannot be restored
		for _, ch := range done.Changes {
			if ch.Exists || ch.Link != links {
				continue
			}
			if err := r.delete(ctx, ch); err != nil {
				return err
			}
		}
	}
	return nil
}

// mayTakePlace refuses a move to the name of a file that the session has not seen as it is. The patch
// deletes that file.
func (r *patchRun) mayTakePlace(ctx context.Context, m patch.Moved) error {
	to := r.files[m.To].write
	if !to.existed || r.moved[m.To] || r.config.TrustWrites || sameFile(r.files[m.From].write, to) {
		return nil
	}
	session := sessionOf(r.call)
	if stale := r.ledger.stale(session, to.location, to.before()); stale != "" {
		return fmt.Errorf("not replaced: %s. Read it again, and then move the other file to its name", stale)
	}
	if unseen := r.unseen(ctx, session, to); unseen != "" {
		return fmt.Errorf("not replaced: %s", unseen)
	}
	return nil
}

// rename gives a file another name. Everything else about it stays: its mode,
// owner and times. Between two disks it is copied with its mode.
func (r *patchRun) rename(ctx context.Context, from, to patchedFile) error {
	if !r.config.TrustWrites {
		if stale := r.ledger.stale(sessionOf(r.call), from.location, from.before()); stale != "" {
			r.out.warn(stale + "; read it and check that no change is lost")
		}
	}
	if err := to.stillFree(ctx); err != nil {
		return err
	}
	err := from.files.Rename(ctx, from.real, to.name)
	if crossDevice(err) {
		return r.copy(ctx, from, to)
	}
	if err != nil {
		return from.failure("move", err)
	}
	r.undo = append(r.undo, undoStep{from, func(ctx context.Context) error {
		if err := from.files.Rename(ctx, to.name, from.real); err != nil || !to.existed || sameFile(from.write, to.write) {
			return err
		}
		return to.restore(ctx)
	}})
	return r.noteMove(ctx, from, to)
}

// copy moves a file to another disk.
func (r *patchRun) copy(ctx context.Context, from, to patchedFile) error {
	if to.existed { // a write would keep its mode
		if err := to.files.Remove(ctx, to.name); err != nil {
			return to.failure("delete", err)
		}
		r.undo = append(r.undo, undoStep{to, to.restore})
	}
	if err := to.files.Write(ctx, to.name, []byte(from.old), from.info.Mode().Perm()); err != nil {
		return to.failure("write", err)
	}
	r.undo = append(r.undo, undoStep{to, func(ctx context.Context) error { return to.files.Remove(ctx, to.name) }})
	if len(from.noted) > 0 {
		info, err := to.files.Stat(ctx, to.name)
		if err != nil {
			return to.failure("stat", err)
		}
		r.out.warn(notKept(to.path, to.keep(to.name, from.noted, from.info, info)))
	}
	if err := from.files.Remove(ctx, from.real); err != nil {
		return from.failure("delete", err)
	}
	r.undo = append(r.undo, undoStep{from, from.restore})
	return r.noteMove(ctx, from, to)
}

func (r *patchRun) noteMove(ctx context.Context, from, to patchedFile) error {
	info, err := to.files.Stat(ctx, to.name)
	if err != nil {
		return to.failure("stat", err)
	}
	session := sessionOf(r.call)
	all := r.ledger.knows(session, from.location, from.before())
	r.ledger.wrote(session, from.real, nil, nil, false)
	r.ledger.wrote(session, to.real, info, nil, all)
	return nil
}

// put writes the new text of a file that does not have it yet.
func (r *patchRun) put(ctx context.Context, ch patch.Change) error {
	p := r.files[ch.Path]
	p.new, p.whole = ch.After, ch.Whole()
	switch {
	case ch.Action == patch.Move:
		p.old, p.existed, p.noted = r.files[ch.From].old, true, r.files[ch.From].noted
		r.out.Created = append(r.out.Created, p.path)
		if p.new == p.old {
			return nil
		}
		var err error
		if p.info, err = p.files.Stat(ctx, p.real); err != nil {
			return p.failure("stat", err)
		}
	case r.moved[ch.Path]: // its file has another name now
		p.old, p.existed, p.info, p.noted = "", false, nil, nil
	}
	if err := p.stillFree(ctx); err != nil {
		return err
	}
	var done changed
	if err := r.write(ctx, sessionOf(r.call), p.write, &done); err != nil {
		return err
	}
	r.undo = append(r.undo, undoStep{p, p.restore})
	if ch.Action == patch.Move {
		done.Modified = nil // it is among those that were created
	}
	r.out.join(done)
	return nil
}

func (r *patchRun) delete(ctx context.Context, ch patch.Change) error {
	p := r.files[ch.Path]
	switch {
	case r.moved[ch.Path] && !ch.Link:
		r.out.Deleted = append(r.out.Deleted, p.real)
		return nil
	case ch.Link:
		if err := p.files.Remove(ctx, p.name); err != nil {
			return p.failure("delete", err)
		}
		r.undo = append(r.undo, undoStep{p, func(context.Context) error { return errors.New("a link cannot be restored") }})
		r.out.Deleted = append(r.out.Deleted, p.path)
		return nil
	}
	if err := r.remove(ctx, sessionOf(r.call), p.write, &r.out.changed); err != nil {
		return err
	}
	r.undo = append(r.undo, undoStep{p, p.restore})
	return nil
}

// diff shows one change to the user and the model.
func (r *patchRun) diff(ch patch.Change) string {
	p := r.files[ch.Path]
	switch {
	case ch.Link:
		return fmt.Sprintf("deleted symbolic link %s\n", p.short())
	case ch.Action == patch.Move:
		from := r.files[ch.From]
		text := fmt.Sprintf("rename from %s\nrename to %s\n", from.short(), p.short())
		if ch.Existed && p.id != from.id {
			text = diffOf(p.location, ch.Before, "", true, false) + text
		}
		return text + diffOf(p.location, from.old, ch.After, true, true)
	case !ch.Exists && r.moved[ch.Path]:
		return "" // shown where it went
	}
	return diffOf(p.location, ch.Before, ch.After, ch.Existed, ch.Exists)
}

// restore restores the files that a failed patch changed, the last one first,
// and returns the error.
func (r *patchRun) restore(ctx context.Context, cause error) error {
	ctx = context.WithoutCancel(ctx)
	var lost []string
	for _, step := range slices.Backward(r.undo) {
		if err := step.do(ctx); err != nil {
			lost = append(lost, step.file.path)
		}
	}
	for _, step := range r.undo {
		info, err := step.file.files.Stat(ctx, step.file.real)
		if err != nil {
			info = nil
		}
		r.ledger.wrote(sessionOf(r.call), step.file.real, info, nil, false)
	}
	if len(lost) > 0 {
		return fmt.Errorf("%w. The patch was stopped and these files could not be restored, check them: %s", cause, strings.Join(lost, ", "))
	}
	return fmt.Errorf("%w. The patch was stopped and every file is as it was before", cause)
}
