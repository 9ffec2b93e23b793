package checkpoint

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"hermes/internal/atomicfile"
	"hermes/internal/checkpoint/object"
	"hermes/internal/filestamp"
)

// A move is one line of the ledger: what the agent, or a restore, made of a path. The ledger
// tells such changes from those of the user.
type move struct {
	N      int64     `json:"n"` // counts up
	Time   time.Time `json:"time"`
	By     string    `json:"by"`
	Path   string    `json:"path"`
	Before State     `json:"before"`
	After  State     `json:"after"`
	// Group is the number of the first move of the same call or restore, 0 in old ledgers.
	Group int64 `json:"group,omitempty"`
	// Of are the moves that this one undid.
	Of []int64 `json:"of,omitempty"`
}

// JSON has no text that is not UTF-8, but names and links may have any bytes. Such a text is
// stored in base64 behind a NUL, which no name has.
func packText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return "\x00" + base64.StdEncoding.EncodeToString([]byte(s))
}

// unpackText reads what packText made.
func unpackText(s *string) bool {
	text, packed := strings.CutPrefix(*s, "\x00")
	if !packed {
		return true
	}
	data, err := base64.StdEncoding.DecodeString(text)
	*s = string(data)
	return err == nil
}

func (m move) packed() move {
	m.Path, m.Before.Target, m.After.Target = packText(m.Path), packText(m.Before.Target), packText(m.After.Target)
	return m
}

func (m *move) unpack() bool {
	return unpackText(&m.Path) && unpackText(&m.Before.Target) && unpackText(&m.After.Target)
}

const ledgerName = "ledger.jsonl"

// Writing is a change of the agent that is about to happen.
type Writing struct {
	store  *Store
	dir    string
	by     string
	paths  []string // none: the whole folder
	before map[string]State
	stamps map[string]filestamp.Stamp // of what is left out, before
	missed []Kept
}

// Begin remembers what is at paths, which are in the folder and with slashes, before the agent
// changes them. No paths mean the whole folder, for what may change any file. by says what
// will change them, such as the name of a tool. The caller calls Done after the change.
func (s *Store) Begin(ctx context.Context, dir, by string, paths []string) (*Writing, error) {
	w, err := s.openChecked(ctx, dir, "a checkpoint", forPaths(paths))
	if err != nil {
		return nil, err
	}
	defer w.close()
	return w.begin(ctx, by, paths)
}

func (w *workspace) begin(ctx context.Context, by string, paths []string) (*Writing, error) {
	before, err := w.now(ctx, paths)
	if err != nil {
		return nil, err
	}
	if err := w.objects.Commit(); err != nil {
		return nil, err
	}
	g := &Writing{store: w.store, dir: w.dir, by: by, paths: paths, before: before}
	g.stamps = g.stampsOf(before)
	return g, w.ground.publish(ctx)
}

// Done records what the agent made of the paths. Without it the changes count as the user's.
func (g *Writing) Done(ctx context.Context) error {
	w, err := g.store.open(ctx, g.dir, "a checkpoint", forPaths(g.paths))
	if err != nil {
		return err
	}
	defer w.close()
	after, err := w.now(ctx, g.paths, kept(g.before)...)
	if err != nil {
		return err
	}
	if err := w.objects.Commit(); err != nil {
		return err
	}
	g.compareMissed(after)
	var moves []move
	at := g.store.cfg.Now().UTC()
	for _, p := range pathsOf(g.before, after) {
		if a, b := stateOf(g.before, p), stateOf(after, p); a != b && a.Kind != LeftOut && b.Kind != LeftOut {
			moves = append(moves, move{Time: at, By: g.by, Path: p, Before: a, After: b})
		}
	}
	if err := w.record(moves); err != nil {
		return err
	}
	return w.ground.publish(ctx)
}

// pathsOf returns the paths of two trees, sorted.
func pathsOf(a, b map[string]State) []string {
	out := make([]string, 0, len(b))
	for p := range b {
		out = append(out, p)
	}
	for p := range a {
		if _, ok := b[p]; !ok {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

// stateOf returns what is at a path. Below what is left out, all is.
func stateOf(states map[string]State, rel string) State {
	if s, ok := states[rel]; ok {
		return s
	}
	for dir := path.Dir(rel); dir != "."; dir = path.Dir(dir) {
		if s := states[dir]; s.Kind == LeftOut {
			return s
		}
	}
	return State{}
}

// now returns what is at paths and, since a change may make or remove them, at the folders
// above. Contents are stored, not committed. Without paths it is the whole folder, with include
// also if that is ignored now.
func (w *workspace) now(ctx context.Context, paths []string, include ...string) (map[string]State, error) {
	if len(paths) == 0 {
		out := map[string]State{}
		top, err := w.scan(ctx, include)
		if err != nil {
			return nil, err
		}
		top.states("", out)
		return out, nil
	}
	out, err := withFolders(w.dir, paths)
	if err != nil {
		return nil, err
	}
	return out, w.ground.look(ctx, out)
}

// withFolders are paths in a folder and the folders above them, without what is there.
func withFolders(dir string, paths []string) (map[string]State, error) {
	out := map[string]State{}
	for _, p := range paths {
		if !filepath.IsLocal(filepath.FromSlash(p)) {
			return nil, fmt.Errorf("%s is not in %s", p, dir)
		}
		for p = path.Clean(p); p != "."; p = path.Dir(p) {
			out[p] = State{}
		}
	}
	return out, nil
}

// record adds moves to the ledger and numbers them.
func (w *workspace) record(moves []move) error {
	if len(moves) == 0 {
		return nil
	}
	last, err := w.lastMove()
	if err != nil {
		return err
	}
	for i := range moves {
		moves[i].N, moves[i].Group = last+int64(i)+1, last+1
	}
	return w.appendMoves(moves)
}

// appendMoves adds numbered moves.
func (w *workspace) appendMoves(moves []move) error {
	var b bytes.Buffer
	for _, m := range moves {
		line, err := json.Marshal(m.packed())
		if err != nil {
			return err
		}
		b.Write(append(line, '\n'))
	}
	f, err := os.OpenFile(w.file(ledgerName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	end, err := wholeLines(f)
	if err == nil {
		err = f.Truncate(end) // a line that a crash cut
	}
	if err == nil {
		_, err = f.WriteAt(b.Bytes(), end)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// tailSize is what of the end of the ledger is searched for the last line.
const tailSize = 64 << 10

// wholeLines returns the size of a file without an unfinished line at its end.
func wholeLines(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	for end, from := info.Size(), info.Size(); from > 0; {
		from = max(0, end-tailSize)
		part := make([]byte, end-from)
		if _, err := f.ReadAt(part, from); err != nil && !isEOF(err) {
			return 0, err
		}
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			return from + int64(i) + 1, nil
		}
		end = from
	}
	return 0, nil
}

// lastMove returns the number of the last move, 0 if there was none.
func (w *workspace) lastMove() (int64, error) {
	var last int64
	for _, s := range w.list.Snapshots {
		last = max(last, s.Moves)
	}
	f, err := os.Open(w.file(ledgerName))
	if errors.Is(err, fs.ErrNotExist) {
		return last, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	end, err := wholeLines(f)
	if err != nil {
		return 0, err
	}
	part := make([]byte, min(end, tailSize))
	if _, err := f.ReadAt(part, end-int64(len(part))); err != nil && !isEOF(err) {
		return 0, err
	}
	for _, m := range decodeMoves(part) {
		last = max(last, m.N)
	}
	return last, nil
}

// moves returns the moves after one, in order.
func (w *workspace) moves(after int64) ([]move, error) {
	all, err := movesIn(w.file(ledgerName))
	return slices.DeleteFunc(all, func(m move) bool { return m.N <= after }), err
}

// movesIn reads a ledger. A missing one is empty.
func movesIn(path string) ([]move, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return decodeMoves(data), err
}

// decodeMoves reads whole lines. One that cannot be read is skipped: what it says counts as
// the user's change then, which no restore overwrites.
func decodeMoves(data []byte) []move {
	var out []move
	r := bufio.NewReader(bytes.NewReader(data))
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return out
		}
		var m move
		if json.Unmarshal(line, &m) == nil && m.unpack() && m.N > 0 && validPath(m.Path) {
			out = append(out, m)
		}
	}
}

// validPath reports whether a stored path is one in the workspace.
func validPath(p string) bool {
	return p != "." && p == path.Clean(p) && filepath.IsLocal(filepath.FromSlash(p))
}

// forget removes moves that no snapshot needs from the ledger.
func (w *workspace) forget() error {
	if len(w.list.Snapshots) == 0 {
		return removeIfThere(w.file(ledgerName))
	}
	first := w.list.Snapshots[0].Moves
	for _, s := range w.list.Snapshots {
		first = min(first, s.Moves)
	}
	all, err := w.moves(0)
	if err != nil || len(all) == 0 || all[0].N > first {
		return err
	}
	var b bytes.Buffer
	for _, m := range all {
		if m.N > first {
			line, err := json.Marshal(m.packed())
			if err != nil {
				return err
			}
			b.Write(append(line, '\n'))
		}
	}
	return atomicfile.Write(w.file(ledgerName), b.Bytes(), atomicfile.Options{})
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// hashesOf adds the contents that moves need.
func hashesOf(moves []move, to map[object.Hash]bool) {
	for _, m := range moves {
		for _, s := range [...]State{m.Before, m.After} {
			if s.Kind == File {
				to[s.Hash] = true
			}
		}
	}
}

// Missed returns what the change touched although it is in no snapshot, such as files that are
// too large: no restore brings it back. It is known after Done. Ignored files and the data of
// version control are not in it.
func (g *Writing) Missed() []Kept { return g.missed }

// Folder returns the folder that is changed, without links.
func (g *Writing) Folder() string { return g.dir }

// stampsOf returns the stamps of what is left out of a tree for a reason that depends on the file;
// none for files elsewhere.
func (g *Writing) stampsOf(states map[string]State) map[string]filestamp.Stamp {
	out := map[string]filestamp.Stamp{}
	if g.store.away() {
		return out
	}
	for p, s := range states {
		if !missable(s) {
			continue
		}
		info, err := os.Lstat(filepath.Join(g.dir, filepath.FromSlash(p)))
		if err != nil {
			continue // it went in this moment
		}
		out[p] = filestamp.Of(info)
	}
	return out
}

// missable reports whether something is left out for a reason that depends on the file.
func missable(s State) bool {
	return s.Kind == LeftOut && (s.Why == TooLarge || s.Why == Unreadable || s.Why == Unstable)
}

// compareMissed notes what is left out and changed between the two trees.
func (g *Writing) compareMissed(after map[string]State) {
	now := g.stampsOf(after)
	for p, was := range g.stamps {
		if is, ok := now[p]; ok && is == was {
			continue
		}
		g.missed = append(g.missed, Kept{p, g.before[p].Why.String()})
	}
	for p := range now {
		if _, ok := g.stamps[p]; !ok && stateOf(g.before, p).Kind != File { // what was a file is in the snapshot
			g.missed = append(g.missed, Kept{p, after[p].Why.String()})
		}
	}
	sortBy(g.missed, func(k Kept) string { return k.Path })
}
