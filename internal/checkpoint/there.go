package checkpoint

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"hermes/internal/checkpoint/away"
	"hermes/internal/checkpoint/object"
	"hermes/internal/search"
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

// names are the repositories that are left out.
func repositoryNames() []string { return slices.Sorted(maps.Keys(repositories)) }

// forTree asks for what a scan needs.
func forTree(w *workspace) away.Question {
	if l, known := w.store.there.before(w.dir); known {
		return again(l, (&mirror{at: w.at}).stamps())
	}
	return away.AskFolders(repositoryNames())
}

// again asks for a tree that was listed before.
func again(l listing, known map[string]stamped) away.Question {
	stamps := map[string]string{}
	for _, p := range l.likely {
		stamps[p] = known[p].Stamp
	}
	return away.AskList(repositoryNames(), l.skip, l.likely, stamps)
}

// forPaths asks for what a look at paths needs; none are the whole tree.
func forPaths(paths []string) asking {
	return func(w *workspace) away.Question {
		states, err := withFolders(paths)
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

// A survey is what is known of the folders of a tree, and of its rules what is ignored.
type survey struct {
	bounds
	root   string
	above  search.Ignore
	texts  map[string]string // of .gitignore files, by the path of their folder
	files  map[string]string // stamps of .gitignore files, by the path of their folder
	places map[string]place  // of folders that are read
	skip   []string          // folders that are left out
}

// listed lists the tree. What is in folders that are left out need not be listed: if it is not known which
// these are, the folders are listed first.
func (t *there) listed(ctx context.Context, include []string, known map[string]stamped) (*survey, away.Tree, *away.Copied, error) {
	e := &t.w.store.there
	l, before := e.before(t.w.dir)
	if !before {
		tree, _, err := t.box.Ask(ctx, away.AskFolders(repositoryNames()))
		if err != nil {
			return nil, tree, nil, err
		}
		s, err := t.survey(ctx, include, tree)
		if err != nil {
			return nil, tree, nil, err
		}
		l.skip = s.skip
	}
	for n := 0; ; n++ {
		tree, copied, err := t.box.Ask(ctx, again(l, known))
		if err != nil {
			return nil, tree, nil, err
		}
		t.objects.copied = append(t.objects.copied, copied)
		s, err := t.survey(ctx, include, tree)
		if err != nil {
			return nil, tree, nil, err
		}
		if !s.lacks(l.skip) {
			e.after(t.w.dir, listing{skip: s.skip})
			return s, tree, copied, nil
		}
		if l.skip = s.skip; n > 0 { // the rules changed meanwhile
			l.skip = nil
		}
	}
}

// lacks reports whether what is in a folder that is read was not listed.
func (s *survey) lacks(skipped []string) bool {
	return slices.ContainsFunc(skipped[:min(len(skipped), away.MaxSkip)], func(p string) bool {
		_, read := s.places[p]
		return read
	})
}

// survey decides which folders of a tree are read, and reads the rules for that.
func (t *there) survey(ctx context.Context, include []string, tree away.Tree) (*survey, error) {
	s := &survey{
		bounds: boundsOf(t.w.store.there.place.Folder, t.w.store.cfg.Limits, include), root: t.w.dir,
		texts: map[string]string{}, files: map[string]string{},
	}
	s.above = s.rulesAbove(tree.Ignore)
	var folders []away.Entry
	for _, e := range tree.Entries {
		switch {
		case e.Mode.IsDir():
			folders = append(folders, e)
		case path.Base(e.Path) == ".gitignore" && e.Mode.IsRegular() && e.Size <= maxRules:
			s.files[path.Dir(e.Path)] = e.Stamp
			if text, ok := t.w.store.there.rules(s.root, e); ok {
				s.texts[path.Dir(e.Path)] = text
			}
		}
	}
	for {
		unknown := s.walk(folders)
		if len(unknown) == 0 {
			return s, nil
		}
		read, err := t.box.Read(ctx, unknown)
		if err != nil {
			return nil, err
		}
		for _, dir := range unknown {
			s.texts[dir] = "" // unless it is read now
		}
		for _, r := range read {
			rel := strings.TrimPrefix(r.Folder, s.root+"/")
			s.texts[rel] = r.Text
		}
		for _, e := range tree.Entries {
			if text, ok := s.texts[path.Dir(e.Path)]; ok && s.files[path.Dir(e.Path)] == e.Stamp && path.Base(e.Path) == ".gitignore" && !e.Fresh {
				t.w.store.there.remember(s.root, e, text)
			}
		}
	}
}

// rulesAbove returns the rules from above the folder, and of its repository's own list. As for
// folders of this machine, rules that ignore the folder itself do not count.
func (s *survey) rulesAbove(list []away.Rules) search.Ignore {
	var rules search.Ignore
	if len(list) == 0 {
		return rules
	}
	for dir := list[0].Folder; ; {
		for _, r := range list {
			if r.Folder == dir {
				rules = rules.With(dir, r.Text)
			}
		}
		if dir == s.root {
			return rules
		}
		rest, ok := strings.CutPrefix(s.root, strings.TrimSuffix(dir, "/")+"/")
		name, _, _ := strings.Cut(rest, "/")
		if dir = path.Join(dir, name); !ok || rules.Match(dir, true) {
			return search.Ignore{}
		}
	}
}

// walk decides which folders are read and returns those whose rules must be known first.
func (s *survey) walk(folders []away.Entry) (unknown []string) {
	s.places, s.skip = map[string]place{}, nil
	for _, e := range folders {
		at, why, ok := s.at(e)
		switch {
		case !ok:
		case why != 0:
			s.skip = append(s.skip, e.Path)
		case !s.enter(e.Path, at):
			unknown = append(unknown, e.Path)
		}
	}
	return unknown
}

// at returns what a path inherits, and the rule by which it is left out. ok is false if its
// folder is not read.
func (s *survey) at(e away.Entry) (at place, why Reason, ok bool) {
	if e.Path == "." {
		return place{rules: s.above}, 0, true
	}
	above, ok := s.places[path.Dir(e.Path)]
	if !ok {
		return place{}, 0, false
	}
	abs := s.root + "/" + e.Path
	ignored := above.only || above.rules.Match(abs, e.Mode.IsDir())
	return place{e.Path, above.rules, ignored}, s.leaves(e.Path, abs, e.Mode, e.Size, ignored), true
}

// enter notes a folder that is read, unless its rules are not known yet.
func (s *survey) enter(rel string, at place) bool {
	text, known := s.texts[rel]
	if _, has := s.files[rel]; has && !known {
		return false
	}
	if text != "" {
		at.rules = at.rules.With(path.Join(s.root, rel), text)
	}
	s.places[rel] = at
	return true
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
