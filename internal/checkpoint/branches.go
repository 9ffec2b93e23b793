package checkpoint

// Branch is one line of the tree that snapshots form.
type Branch struct {
	Snapshot
	// Lines are what to draw before it, such as "│ └─".
	Lines string
}

// Tree returns the snapshots of a workspace as a tree, oldest first. What follows a snapshot
// without a branch stays in its column; where several follow one, all but the last are indented.
func (w Workspace) Tree() []Branch {
	known := map[string]bool{}
	for _, s := range w.Snapshots {
		known[s.ID] = true
	}
	below := map[string][]Snapshot{}
	for _, s := range w.Snapshots {
		parent := s.Parent
		if !known[parent] || parent == s.ID {
			parent = ""
		}
		below[parent] = append(below[parent], s)
	}
	var out []Branch
	seen := map[string]bool{} // a damaged list may have a circle
	var draw func(id, column string)
	draw = func(id, column string) {
		list := below[id]
		for i, s := range list {
			if seen[s.ID] {
				continue
			}
			seen[s.ID] = true
			last := i == len(list)-1
			switch {
			case last: // the newest one goes on in the column
				out = append(out, Branch{s, column})
				draw(s.ID, column)
			default:
				out = append(out, Branch{s, column + "├─"})
				draw(s.ID, column+"│ ")
			}
		}
	}
	draw("", "")
	for _, s := range w.Snapshots { // what is in a circle
		if !seen[s.ID] {
			out = append(out, Branch{s, ""})
		}
	}
	return out
}
