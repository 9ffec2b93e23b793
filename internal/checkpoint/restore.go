package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes/internal/atomicfile"
	"hermes/internal/checkpoint/object"
)

// ErrStale means that the folder changed since the plan was made. Nothing was restored.
var ErrStale = errors.New("files changed since the restore was planned; try again")

// Result is what a restore did.
type Result struct {
	// Before is the snapshot from before the restore: restoring it undoes the restore.
	Before Snapshot `json:"before"`
	Done   int      `json:"done"` // steps
	// Failed are steps that could not be done, since the system refused or the file changed
	// in that moment.
	Failed []Kept `json:"failed,omitempty"`
}

// A journal has the steps of a restore that has begun. With it the restore is finished after
// a crash: each step can be done again.
type journal struct {
	Version   int                    `json:"version"`
	Snapshot  string                 `json:"snapshot"` // "" if single changes are undone
	Head      string                 `json:"head"`     // of the list, when the restore is done
	FirstMove int64                  `json:"first_move"`
	Time      time.Time              `json:"time"`
	Steps     []Step                 `json:"steps"`
	Modes     map[string]fs.FileMode `json:"modes,omitempty"` // of folders that are opened for writing meanwhile
}

const (
	journalName    = "restore.json"
	journalVersion = 1
)

// Restore does what a plan says. It makes a snapshot first, even if nothing changed since the
// last one was made. ErrStale means that it did nothing. Each file is replaced as a whole; a
// restore that is interrupted is finished at the next use of the workspace.
func (s *Store) Restore(ctx context.Context, p Plan, m Meta) (Result, error) {
	w, err := s.open(ctx, p.Folder, "a restore", forTree)
	if err != nil {
		return Result{}, err
	}
	defer w.close()
	if p.Snapshot.ID != "" {
		if _, err := w.list.find(p.Snapshot.ID); err != nil {
			return Result{}, err
		}
	}
	var include []string
	for _, st := range p.Steps {
		if !validPath(st.Path) && st.Path != "." {
			return Result{}, fmt.Errorf("invalid path %q in the plan", st.Path)
		}
		include = append(include, st.Path)
	}
	before, top, _, err := w.snapshot(ctx, m, SnapshotOptions{Include: include, Always: true})
	if err != nil {
		return Result{}, err
	}
	now := map[string]State{".": top.state}
	top.states("", now)
	j := journal{Version: journalVersion, Snapshot: p.Snapshot.ID, Head: before.ID, FirstMove: before.Moves + 1, Time: s.cfg.Now().UTC(), Modes: map[string]fs.FileMode{}}
	if p.Whole {
		j.Head = p.Snapshot.ID
	}
	for _, st := range p.Steps {
		if now[st.Path] != st.From {
			return Result{Before: before}, errors.Join(fmt.Errorf("%s: %w", st.Path, ErrStale), w.ground.publish(ctx))
		}
		st.Text = ""
		j.Steps = append(j.Steps, st)
	}
	for _, h := range p.needs() {
		if !w.objects.Has(h) {
			return Result{Before: before}, errors.Join(ErrStale, w.ground.publish(ctx))
		}
	}
	j.open(now)
	data, err := json.Marshal(j.packed())
	if err != nil {
		return Result{}, err
	}
	if err := atomicfile.Write(w.file(journalName), data, atomicfile.Options{}); err != nil {
		return Result{}, err
	}
	if err := w.ground.publish(ctx); err != nil {
		return Result{}, err
	}
	done, failed, err := w.run(ctx, j)
	return Result{before, done, failed}, err
}

// by is what the ledger says of the changes.
func (j *journal) by() string {
	if j.Snapshot == "" {
		return byUndo
	}
	return "restore " + j.Snapshot
}

// open notes the folders that must be opened for writing while steps are done in them.
func (j *journal) open(now map[string]State) {
	final := map[string]fs.FileMode{}
	for _, st := range j.Steps {
		final[st.Path] = st.To.Mode
	}
	for _, st := range j.Steps {
		for dir := st.Path; dir != "."; {
			dir = path.Dir(dir)
			s := now[dir]
			if s.Kind != Folder || s.Mode&0o700 == 0o700 {
				continue
			}
			j.Modes[dir] = s.Mode
			if mode, ok := final[dir]; ok {
				j.Modes[dir] = mode
			}
		}
	}
}

// finishRestore does the rest of a restore that was interrupted.
func (w *workspace) finishRestore(ctx context.Context) error {
	data, err := os.ReadFile(w.file(journalName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	j, err := decodeJournal(data)
	if err != nil {
		aside := w.file(journalName + ".damaged")
		return errors.Join(fmt.Errorf("the record of an interrupted restore of %s is damaged (%w); it is kept in %s. "+
			"Compare the files with `hermes checkpoints diff`", w.dir, err, aside), os.Rename(w.file(journalName), aside), w.ground.publish(ctx))
	}
	if !w.ground.exists() {
		return nil // the folder may come again
	}
	_, _, err = w.run(ctx, j)
	return err
}

func decodeJournal(data []byte) (journal, error) {
	var j journal
	if err := json.Unmarshal(data, &j); err != nil {
		return journal{}, err
	}
	if j.Version != journalVersion {
		return journal{}, errors.New("it was written by another version of the program")
	}
	for i := range j.Steps {
		st := &j.Steps[i]
		if !unpackText(&st.Path) || !unpackText(&st.From.Target) || !unpackText(&st.To.Target) || !validPath(st.Path) && st.Path != "." {
			return journal{}, fmt.Errorf("invalid path %q", st.Path)
		}
	}
	modes := map[string]fs.FileMode{}
	for p, mode := range j.Modes {
		if !unpackText(&p) || !validPath(p) && p != "." {
			return journal{}, fmt.Errorf("invalid path %q", p)
		}
		modes[p] = mode
	}
	j.Modes = modes
	return j, nil
}

// packed is the journal with texts that JSON can have.
func (j journal) packed() journal {
	j.Steps = slices.Clone(j.Steps)
	for i := range j.Steps {
		st := &j.Steps[i]
		st.Path, st.From.Target, st.To.Target = packText(st.Path), packText(st.From.Target), packText(st.To.Target)
	}
	modes := map[string]fs.FileMode{}
	for p, mode := range j.Modes {
		modes[packText(p)] = mode
	}
	j.Modes = modes
	return j
}

// run does the steps of a journal, writes what it did into the ledger and removes the journal.
func (w *workspace) run(ctx context.Context, j journal) (done int, failed []Kept, err error) {
	bad, err := w.ground.apply(ctx, j)
	if context.Cause(ctx) == nil && err != nil {
		return 0, nil, err
	}
	if err := context.Cause(ctx); err != nil {
		return 0, nil, fmt.Errorf("the restore was interrupted and is finished at the next use of the folder's checkpoints: %w", err)
	}
	last, err := w.lastMove()
	if err != nil {
		return 0, nil, err
	}
	gone := w.gone(ctx, j, bad)
	var moves []move
	for i, st := range j.Steps {
		if why, bad := bad[st.Path]; bad {
			failed = append(failed, Kept{st.Path, why})
			if !gone[st.Path] {
				continue
			}
			st.To, st.Of = State{}, nil
		} else {
			done++
		}
		if n := j.FirstMove + int64(i); n > last && st.Path != "." { // else it was written before a crash
			moves = append(moves, move{N: n, Time: j.Time, By: j.by(), Path: st.Path, Before: st.From, After: st.To, Group: j.FirstMove, Of: st.Of})
		}
	}
	if len(moves) > 0 {
		if err := w.appendMoves(moves); err != nil {
			return done, failed, err
		}
	}
	if w.list.Head != j.Head {
		if _, err := w.list.find(j.Head); err == nil {
			w.list.Head = j.Head
			if err := w.saveList(); err != nil {
				return done, failed, err
			}
		}
	}
	return done, failed, errors.Join(removeIfThere(w.file(journalName)), w.ground.publish(ctx))
}

// gone returns the paths of failed steps where nothing is now: what was there was removed, and what
// should come did not. It must not count as removed by the user.
func (w *workspace) gone(ctx context.Context, j journal, failed map[string]string) map[string]bool {
	var paths []string
	for _, st := range j.Steps {
		if failed[st.Path] != "" && st.From.Kind != None && st.From.Kind != st.To.Kind && st.Path != "." {
			paths = append(paths, st.Path)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	now, err := w.now(ctx, paths)
	if err != nil {
		return nil // the restore is done but for this
	}
	out := map[string]bool{}
	for _, p := range paths {
		out[p] = now[p].Kind == None
	}
	return out
}

// restoring does the steps of a restore. A step that fails does not stop the others.
type restoring struct {
	objects *object.Store
	root    *os.Root
	mu      sync.Mutex
	failed  map[string]string
}

// apply does the steps: what must go first, then folders, contents, and the modes of folders.
func (r *restoring) apply(ctx context.Context, j journal) {
	for _, dir := range slices.Sorted(maps.Keys(j.Modes)) { // those above first
		r.chmodFolder(dir, func(mode fs.FileMode) fs.FileMode { return mode | 0o700 })
	}
	for _, st := range slices.Backward(j.Steps) { // deepest first
		if st.From.Kind != None && st.From.Kind != st.To.Kind && ctx.Err() == nil {
			r.do(st, r.remove)
		}
	}
	for _, st := range j.Steps {
		if st.To.Kind == Folder && st.From.Kind != Folder && ctx.Err() == nil {
			r.do(st, r.mkdir)
		}
	}
	steps := make(chan Step)
	var workers sync.WaitGroup
	for range 8 { // they mostly wait for the disk
		workers.Go(func() {
			for st := range steps {
				r.do(st, r.put)
			}
		})
	}
	for _, st := range j.Steps {
		if (st.To.Kind == File || st.To.Kind == Link) && ctx.Err() == nil {
			steps <- st
		}
	}
	close(steps)
	workers.Wait()
	if ctx.Err() != nil {
		return
	}
	r.sync(j)
	modes := map[string]fs.FileMode{}
	for _, st := range j.Steps {
		if st.To.Kind == Folder && r.failed[st.Path] == "" {
			modes[st.Path] = st.To.Mode
		}
	}
	for dir, mode := range j.Modes {
		modes[dir] = mode
	}
	var dirs []string
	for dir := range modes {
		dirs = append(dirs, dir)
	}
	slices.SortFunc(dirs, func(a, b string) int { return strings.Compare(b, a) })
	for _, dir := range dirs {
		r.chmodFolder(dir, func(fs.FileMode) fs.FileMode { return modes[dir] })
	}
}

// sync makes the names that steps made or removed durable, before the journal goes.
func (r *restoring) sync(j journal) {
	done := map[string]bool{}
	for _, st := range j.Steps {
		dir := path.Dir(st.Path)
		if done[dir] {
			continue
		}
		done[dir] = true
		here, err := openParent(r.root, st.Path)
		if err != nil {
			continue // it is gone
		}
		if err := atomicfile.SyncFolder(here); err != nil {
			r.failed[st.Path] = reason(err)
		}
		here.Close()
	}
}

// do does one step, unless an earlier part of it failed.
func (r *restoring) do(st Step, how func(here *os.Root, name string, st Step) error) {
	r.mu.Lock()
	_, bad := r.failed[st.Path]
	r.mu.Unlock()
	if bad || st.Path == "." {
		return
	}
	here, err := openParent(r.root, st.Path)
	if errors.Is(err, fs.ErrNotExist) && st.To.Kind == None {
		return // it is gone with its folder
	}
	if err == nil {
		err = how(here, path.Base(st.Path), st)
		here.Close()
	}
	if err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.failed[st.Path] = reason(err)
	}
}

// reason words an error without the names of system calls.
func reason(err error) string {
	var onPath *fs.PathError
	if errors.As(err, &onPath) {
		err = onPath.Err
	}
	return err.Error()
}

var errMeanwhile = errors.New("it changed in that moment")

// remove removes what is in the way of a step, or what the step removes.
func (r *restoring) remove(here *os.Root, name string, st Step) error {
	now, err := lookIn(here, name, hashed)
	switch {
	case err != nil:
		return err
	case now.Kind == None || st.To.Kind != None && now.Kind == st.To.Kind:
		return nil // done before a crash
	case now.Kind == Folder && st.From.Kind == Folder || now == st.From:
		return here.Remove(name)
	}
	return errMeanwhile
}

func (r *restoring) mkdir(here *os.Root, name string, st Step) error {
	now, err := lookIn(here, name, hashed)
	switch {
	case err != nil:
		return err
	case now.Kind == Folder:
		return nil
	case now.Kind != None:
		return errMeanwhile
	}
	return here.Mkdir(name, 0o700)
}

// put makes a file or link what it was.
func (r *restoring) put(here *os.Root, name string, st Step) error {
	temp := tempName(name)
	if err := here.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) { // a crash left it
		return err
	}
	now, err := lookIn(here, name, hashed)
	switch {
	case err != nil:
		return err
	case now == st.To:
		return nil
	case now != st.From && (now.Kind != None || st.From.Kind == st.To.Kind):
		return errMeanwhile
	case st.To.Kind == Link:
		return putLink(here, name, st.To.Target, temp)
	case now.Kind == File && now.Hash == st.To.Hash:
		return chmodFile(here, name, st.To.Mode)
	}
	return atomicfile.CopyIn(here, name, func(f io.Writer) error {
		return r.objects.Copy(f, st.To.Hash)
	}, atomicfile.Options{Mode: st.To.Mode, Force: true, Temp: temp})
}

// tempName is the name under which a file is written before it gets its own. It is the same
// after a crash, so that it can be removed then.
func tempName(name string) string {
	return fmt.Sprintf(".hermes-restore-%.12s.tmp", object.HashOf([]byte(name)))
}

// chmodFile changes the rights of a file without following a link.
func chmodFile(here *os.Root, name string, mode fs.FileMode) error {
	f, err := atomicfile.OpenFile(here, name)
	if errors.Is(err, fs.ErrPermission) {
		return here.Chmod(name, mode) // it may not be read; its folder is open, so only its name could become a link
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Chmod(mode)
}

// putLink makes a link, in place of another one if there is one.
func putLink(here *os.Root, name, target, tmp string) error {
	if err := here.Symlink(target, tmp); err != nil {
		return err
	}
	if err := here.Rename(tmp, name); err != nil {
		_ = here.Remove(tmp)
		return err
	}
	return nil
}

// chmodFolder changes the rights of a folder if it is there.
func (r *restoring) chmodFolder(dir string, to func(fs.FileMode) fs.FileMode) {
	here, err := openParent(r.root, dir)
	if err != nil {
		return // the steps in it say why they fail
	}
	defer here.Close()
	name := path.Base(dir)
	info, err := here.Lstat(name)
	if err != nil || !info.IsDir() {
		return
	}
	if mode := to(rights(info.Mode())); mode != rights(info.Mode()) {
		if err := here.Chmod(name, mode); err != nil {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.failed[dir] = reason(err)
		}
	}
}
