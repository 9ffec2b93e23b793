package checkpoint

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"hermes/internal/checkpoint/away"
	"hermes/internal/search"
)

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

// repositoryNames are the repositories that are left out.
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
