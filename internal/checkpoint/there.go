package checkpoint

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"

	"hermes/internal/checkpoint/away"
	"hermes/internal/checkpoint/object"
)

// there is the ground of a workspace in a place that scripts work in: this program decides, and
// reads and merges no more contents than it must.
type there struct {
	w       *workspace
	box     *away.Workspace
	objects *farContents
	copy    *mirror
	read    map[string]State // what the tree was when it was listed, by path; nil is not known
	top     *node            // of it, if nothing was included
}

func (t *there) exists() bool { return t.box.There }

// forPaths asks for what a look at paths needs; none are the whole tree.
func forPaths(paths []string) asking {
	return func(w *workspace) away.Question {
		states, err := withFolders(w.dir, paths)
		if len(paths) == 0 || err != nil {
			return forTree(w)
		}
		m := &mirror{at: w.at}
		return away.AskTake(takes(states, m.stamps()))
	}
}

// takes are the paths to look at, and their stamps that are known.
func takes(states map[string]State, known map[string]stamped) ([]string, map[string]string) {
	paths, stamps := slices.Sorted(maps.Keys(states)), map[string]string{}
	for _, p := range paths {
		stamps[p] = known[p].Stamp
	}
	return paths, stamps
}

func (t *there) scan(ctx context.Context, include []string) (*node, error) {
	if t.top != nil && len(include) == 0 {
		return t.top, nil
	}
	known, next := t.copy.stamps(), map[string]stamped{}
	s, tree, copied, err := t.listed(ctx, include, known)
	if err != nil {
		return nil, err
	}
	if len(tree.Entries) == 0 || tree.Entries[0].Path != "." || !tree.Entries[0].Mode.IsDir() || tree.Entries[0].Closed {
		return nil, fs.ErrPermission
	}
	top := &node{child: child{state: State{Kind: Folder, Mode: rights(tree.Entries[0].Mode)}}}
	nodes := map[string]*node{".": top}
	var read []away.Entry
	var fresh []string // the files whose content was read
	var count int64
	for _, e := range tree.Entries[1:] {
		above := nodes[path.Dir(e.Path)]
		_, why, ok := s.at(e)
		if !ok || above == nil || above.state.Kind != Folder {
			continue
		}
		n := &node{child: child{name: path.Base(e.Path)}}
		switch {
		case why != 0:
			n.state = leftOut(why)
		case e.Mode.IsDir() && e.Closed:
			n.state = leftOut(Unreadable)
		case e.Mode.IsDir():
			n.state = State{Kind: Folder, Mode: rights(e.Mode)}
			nodes[e.Path] = n
		case e.Mode&fs.ModeSymlink != 0:
			n.state = linkState(e)
		default:
			if k, ok := known[e.Path]; ok && k.Stamp == e.Stamp && t.objects.Has(k.Hash) {
				n.state = fileState(e, k.Hash)
				next[e.Path] = k
			} else if st, ok := t.taken(copied, e, next); ok {
				n.state = st
				fresh = append(fresh, e.Path)
			} else {
				read = append(read, e)
				nodes[e.Path] = n
			}
		}
		above.below = append(above.below, n)
		if n.state.Kind != LeftOut {
			if count++; count > t.w.store.cfg.Limits.Files {
				return nil, ErrTooMany
			}
		}
	}
	states, err := t.store(ctx, read, next)
	if err != nil {
		return nil, err
	}
	for rel, st := range states {
		nodes[rel].state = st
		fresh = append(fresh, rel)
	}
	t.w.store.there.written(t.w.dir, slices.DeleteFunc(fresh, func(rel string) bool {
		_, settled := next[rel]
		return settled
	}))
	top.sort()
	t.read = map[string]State{}
	top.states("", t.read)
	if len(include) == 0 {
		t.top = top
	}
	return top, t.copy.saveStamps(next)
}

// sort brings what is below a node into order.
func (n *node) sort() {
	sortBy(n.below, func(c *node) string { return c.name })
	for _, c := range n.below {
		c.sort()
	}
}

func linkState(e away.Entry) State {
	if e.Target == "" {
		return leftOut(Unstable)
	}
	return State{Kind: Link, Target: e.Target}
}

func fileState(e away.Entry, h object.Hash) State {
	return State{Kind: File, Mode: rights(e.Mode), Size: e.Size, Hash: h}
}

// store stores the contents of files and returns their states. What can be known again by
// its stamp is added to next.
func (t *there) store(ctx context.Context, files []away.Entry, next map[string]stamped) (map[string]State, error) {
	states := map[string]State{}
	for range tries {
		if len(files) == 0 {
			return states, nil
		}
		var paths []string
		for _, e := range files {
			paths = append(paths, e.Path)
		}
		copied, err := t.box.Copy(ctx, paths)
		if err != nil {
			return nil, err
		}
		var again []string
		for _, e := range files {
			st, whole := t.adopt(copied, e, next)
			states[e.Path] = st
			if !whole {
				again = append(again, e.Path)
			}
		}
		t.objects.copied = append(t.objects.copied, copied)
		if files = nil; len(again) > 0 {
			tree, err := t.box.Look(ctx, again)
			if err != nil {
				return nil, err
			}
			files = slices.DeleteFunc(tree.Entries, func(e away.Entry) bool { return !e.Mode.IsRegular() })
		}
	}
	return states, nil
}

// adopt returns the state of a file that was copied, and keeps its content unless it is known. whole is
// false if the file was written meanwhile, or the disk is full.
func (t *there) adopt(copied *away.Copied, e away.Entry, next map[string]stamped) (_ State, whole bool) {
	c, ok := copied.Files[e.Path]
	switch {
	case !ok:
		return leftOut(Unreadable), true
	case c.Size != e.Size:
		return leftOut(Unstable), false
	case !t.objects.Has(c.Hash):
		t.objects.adopt(c)
		copied.Use(e.Path)
	}
	if !e.Fresh {
		next[e.Path] = stamped{e.Stamp, c.Hash}
	}
	return fileState(e, c.Hash), true
}

// taken is adopt of a file that was copied while it was listed; ok is false if it was not, or not whole.
func (t *there) taken(copied *away.Copied, e away.Entry, next map[string]stamped) (_ State, ok bool) {
	c, ok := copied.Files[e.Path]
	if !ok || c.At == "" && !t.objects.Has(c.Hash) {
		return State{}, false
	}
	return t.adopt(copied, e, next)
}

func (t *there) look(ctx context.Context, states map[string]State) error {
	if t.knows(states) {
		return nil
	}
	known := t.copy.stamps()
	tree, copied, err := t.box.Ask(ctx, away.AskTake(takes(states, known)))
	if err != nil {
		return err
	}
	t.objects.copied = append(t.objects.copied, copied)
	found := map[string]away.Entry{}
	for _, e := range tree.Entries {
		found[e.Path] = e
	}
	var read []away.Entry
	var files []string
	for p := range states {
		e, ok := found[p]
		for dir := path.Dir(p); dir != "." && ok; dir = path.Dir(dir) {
			ok = found[dir].Mode.IsDir()
		}
		k, was := known[p]
		switch {
		case !ok:
			states[p] = State{}
		case e.Mode.IsDir():
			states[p] = State{Kind: Folder, Mode: rights(e.Mode)}
		case e.Mode&fs.ModeSymlink != 0:
			states[p] = linkState(e)
		case !e.Mode.IsRegular():
			states[p] = leftOut(Special)
		case was && k.Stamp == e.Stamp && t.objects.Has(k.Hash):
			states[p] = fileState(e, k.Hash)
		default:
			if states[p], ok = t.taken(copied, e, map[string]stamped{}); !ok {
				read = append(read, e)
			}
			files = append(files, p)
		}
	}
	t.w.store.there.written(t.w.dir, files)
	got, err := t.store(ctx, read, map[string]stamped{})
	maps.Copy(states, got)
	return err
}

// knows sets what is at each path if the tree was listed already and has no path that is left out.
func (t *there) knows(states map[string]State) bool {
	for p := range states {
		if t.read == nil || stateOf(t.read, p).Kind == LeftOut {
			return false
		}
	}
	for p := range states {
		states[p] = t.read[p]
	}
	return true
}

// fetchSize bounds the contents that are fetched to be shown at once, in bytes.
const fetchSize = 16 << 20

func (t *there) fetch(ctx context.Context, states []State) error {
	var want []away.Content
	var size int64
	for _, s := range states {
		c, ok := t.objects.index[s.Hash]
		if s.Kind != File || !ok || s.Size > shownSize || t.objects.got[s.Hash] != nil {
			continue
		}
		if size += c.Size; size > fetchSize {
			t.w.unshown[s.Hash] = true
			continue
		}
		want = append(want, c)
	}
	return t.objects.load(ctx, want)
}

func (t *there) apply(ctx context.Context, j journal) (map[string]string, error) {
	failed := map[string]string{}
	a := agenda{failed: failed, numbers: map[string]int{}}
	for _, dir := range slices.Sorted(maps.Keys(j.Modes)) { // those above first
		a.add(away.Open, Step{Path: dir})
	}
	for _, st := range slices.Backward(j.Steps) { // deepest first
		if st.From.Kind != None && st.From.Kind != st.To.Kind && st.Path != "." {
			a.add(away.Remove, st)
		}
	}
	modes := map[string]fs.FileMode{}
	for _, st := range j.Steps {
		if st.To.Kind != Folder {
			continue
		}
		modes[st.Path] = st.To.Mode
		if st.From.Kind != Folder && st.Path != "." {
			a.add(away.Mkdir, st)
		}
	}
	maps.Copy(modes, j.Modes)
	for _, st := range j.Steps {
		if st.To.Kind != File && st.To.Kind != Link {
			continue
		}
		o := a.add(away.Put, st)
		o.Temp = tempName(path.Base(st.Path))
		if c, ok := t.objects.index[st.To.Hash]; ok {
			o.At = c.At
		} else if st.To.Kind == File {
			data, err := t.objects.Read(st.To.Hash)
			if err != nil {
				failed[st.Path] = err.Error()
				a.orders = a.orders[:len(a.orders)-1]
				continue
			}
			o.Data = append([]byte{}, data...) // not nil
		}
	}
	for _, dir := range slices.Backward(slices.Sorted(maps.Keys(modes))) {
		a.add(away.Chmod, Step{Path: dir, To: State{Kind: Folder, Mode: modes[dir]}})
	}
	t.read, t.top = nil, nil
	said, err := t.box.Apply(ctx, a.orders)
	for p, n := range a.numbers {
		if why, bad := said[n]; bad {
			failed[p] = why
		}
	}
	return failed, err
}

// An agenda collects what a script does, with a number for each path.
type agenda struct {
	orders  []away.Order
	numbers map[string]int
	failed  map[string]string
}

func (a *agenda) add(do away.Deed, st Step) *away.Order {
	n, ok := a.numbers[st.Path]
	if !ok {
		n = len(a.numbers)
		a.numbers[st.Path] = n
	}
	a.orders = append(a.orders, away.Order{Do: do, Path: st.Path, Step: n, From: awayState(st.From), To: awayState(st.To)})
	return &a.orders[len(a.orders)-1]
}

func awayState(s State) away.State {
	return away.State{Kind: byte(s.Kind), Mode: s.Mode, Hash: s.Hash, Target: s.Target}
}

func (t *there) publish(ctx context.Context) error { return t.copy.publish(ctx, t.box, t.objects) }

func (t *there) remove(ctx context.Context) error {
	t.copy.version = ""
	return t.box.Remove(ctx)
}

var errElsewhere = errors.New("the path is not one of this place")
