package checkpoint

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
	"strings"
	"unicode/utf8"

	"hermes/internal/checkpoint/object"
	"hermes/internal/patch"
	"hermes/internal/text"
)

// Change is one path at which two trees differ.
type Change struct {
	Path string `json:"path"` // in the folder, with slashes
	Old  State  `json:"old"`
	New  State  `json:"new"`
	// Text is a unified diff of texts, or one line that says what changed.
	Text string `json:"text,omitempty"`
}

// shownSize is the size up to which files are shown as texts, in bytes.
const shownSize = 4 << 20

// Diff compares a snapshot with a later one, or with the folder as it is if to is "". It
// names what was left out in neither. Paths bounds it to files and folders with these paths;
// none means all.
func (s *Store) Diff(ctx context.Context, dir, from, to string, paths []string) ([]Change, error) {
	var first asking
	if to == "" {
		first = forTree
	}
	w, err := s.open(ctx, dir, "a comparison of checkpoints", first)
	if err != nil {
		return nil, err
	}
	defer w.close()
	old, err := w.list.find(from)
	if err != nil {
		return nil, err
	}
	tree, mode, err := w.treeOf(ctx, to, old.Tree)
	if err != nil {
		return nil, err
	}
	var out []Change
	if old.Mode != mode && len(paths) == 0 {
		out = append(out, Change{Path: ".", Old: State{Kind: Folder, Mode: old.Mode}, New: State{Kind: Folder, Mode: mode}})
	}
	err = compareTrees(w.objects, old.Tree, tree, func(rel string, a, b State) {
		if differs(a, b) && chosen(paths, rel) {
			out = append(out, Change{Path: rel, Old: a, New: b})
		}
	})
	if err != nil {
		return nil, err
	}
	var states []State
	for _, c := range out {
		states = append(states, c.Old, c.New)
	}
	if err := w.ground.fetch(ctx, states); err != nil {
		return nil, err
	}
	for i := range out {
		if out[i].Text, err = w.show(out[i].Path, out[i].Old, out[i].New); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// treeOf returns the tree of a snapshot, or of the folder as it is. Then it has what another
// tree has, also what is ignored now.
func (w *workspace) treeOf(ctx context.Context, ref string, other object.Hash) (object.Hash, os.FileMode, error) {
	if ref != "" {
		s, err := w.list.find(ref)
		return s.Tree, s.Mode, err
	}
	there, err := statesOf(w.objects, other)
	if err != nil {
		return object.Hash{}, 0, err
	}
	top, err := w.scan(ctx, kept(there))
	if err != nil {
		return object.Hash{}, 0, err
	}
	tree, err := top.store(w.objects)
	return tree, top.state.Mode, err
}

// chosen reports whether a path is one of paths or below one. No paths choose all.
func chosen(paths []string, rel string) bool {
	if len(paths) == 0 {
		return true
	}
	for _, p := range paths {
		if p == "." || rel == p || strings.HasPrefix(rel, p+"/") {
			return true
		}
	}
	return false
}

// compareTrees calls each for every path whose state is not the same in two trees, in the
// order of a walk. Folders that are the same are not read, and neither are those that are left
// out on one side.
func compareTrees(objects contents, a, b object.Hash, each func(rel string, a, b State)) error {
	return compareBelow(objects, "", State{Kind: Folder, Hash: a}, State{Kind: Folder, Hash: b}, each)
}

func compareBelow(objects contents, rel string, a, b State, each func(rel string, a, b State)) error {
	was, err := childrenOf(objects, rel, a)
	if err != nil {
		return err
	}
	is, err := childrenOf(objects, rel, b)
	if err != nil {
		return err
	}
	for len(was) > 0 || len(is) > 0 {
		var name string
		var x, y State
		if len(is) == 0 || len(was) > 0 && was[0].name <= is[0].name {
			name = was[0].name
		} else {
			name = is[0].name
		}
		if len(was) > 0 && was[0].name == name {
			x, was = was[0].state, was[1:]
		}
		if len(is) > 0 && is[0].name == name {
			y, is = is[0].state, is[1:]
		}
		if x == y {
			continue
		}
		below := path.Join(rel, name)
		each(below, x, y)
		if x.Kind == LeftOut || y.Kind == LeftOut || x.Kind != Folder && y.Kind != Folder || x.Kind == y.Kind && x.Hash == y.Hash {
			continue
		}
		if err := compareBelow(objects, below, x, y, each); err != nil {
			return err
		}
	}
	return nil
}

// statesOf returns what is at each path of a tree. Folders have no hash there.
func statesOf(objects contents, tree object.Hash) (map[string]State, error) {
	out := map[string]State{}
	err := compareBelow(objects, "", State{}, State{Kind: Folder, Hash: tree}, func(rel string, _, s State) {
		if s.Kind == Folder {
			s.Hash = object.Hash{}
		}
		out[rel] = s
	})
	return out, err
}

// kept returns the paths of what is in a snapshot.
func kept(states map[string]State) []string {
	var out []string
	for p, s := range states {
		if s.Kind != LeftOut {
			out = append(out, p)
		}
	}
	return out
}

func childrenOf(objects contents, rel string, s State) ([]child, error) {
	if s.Kind != Folder {
		return nil, nil
	}
	list, err := readTree(objects, s.Hash)
	if err != nil {
		return nil, fmt.Errorf("folder %q: %w", rel, err)
	}
	return list, nil
}

// show describes a change: as a diff if both sides are texts or nothing. Rights that change with
// the text, or with which a program or more comes back, have a line before it. Names cannot look
// like more lines.
func (w *workspace) show(rel string, a, b State) (string, error) {
	old, oldText, err := w.text(a)
	if err != nil {
		return "", fmt.Errorf("%s: %w", rel, err)
	}
	now, nowText, err := w.text(b)
	if err != nil {
		return "", fmt.Errorf("%s: %w", rel, err)
	}
	rel = text.VisibleName(rel)
	if (a.Kind == File || b.Kind == File) && oldText && nowText && old != now {
		from, to, modes := "a/"+rel, "b/"+rel, ""
		switch {
		case a.Kind == None:
			from = "/dev/null"
			if b.Mode&^0o666 != 0 {
				modes = fmt.Sprintf("%s: rights %v\n", rel, b.Mode)
			}
		case b.Kind == None:
			to = "/dev/null"
		case a.Mode != b.Mode:
			modes = fmt.Sprintf("%s: rights %v, now %v\n", rel, a.Mode, b.Mode)
		}
		return modes + patch.Unified(from, to, old, now), nil
	}
	return fmt.Sprintf("%s: %s, now %s\n", rel, a.Describe(), b.Describe()), nil
}

// text returns the content of a text file. Of nothing it is "".
func (w *workspace) text(s State) (content string, ok bool, err error) {
	if s.Kind == None {
		return "", true, nil
	}
	if s.Kind != File || s.Size > shownSize || w.unshown[s.Hash] {
		return "", false, nil
	}
	data, err := w.objects.Read(s.Hash)
	if err != nil {
		return "", false, err
	}
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return "", false, nil
	}
	return string(data), true, nil
}

// Describe says in a few words what a state is.
func (s State) Describe() string {
	switch s.Kind {
	case None:
		return "nothing"
	case File:
		return fmt.Sprintf("file of %d bytes (%v)", s.Size, s.Mode)
	case Folder:
		return fmt.Sprintf("folder (%v)", s.Mode)
	case Link:
		return "link to " + text.VisibleName(s.Target)
	}
	return "left out (" + s.Why.String() + ")"
}

// Lines counts the lines that a change adds and removes, of files that are texts.
func (c Change) Lines() (added, removed int) {
	inHunk := false
	for line := range strings.Lines(c.Text) {
		switch {
		case strings.HasPrefix(line, "@@ "):
			inHunk = true
		case !inHunk:
		case line[0] == '+':
			added++
		case line[0] == '-':
			removed++
		}
	}
	return added, removed
}

// What says in a word what happened to the path: added, removed or changed.
func (c Change) What() string {
	switch {
	case c.Old.Kind == None:
		return "added"
	case c.New.Kind == None:
		return "removed"
	}
	return "changed"
}
