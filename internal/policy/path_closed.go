package policy

import "strings"

// CommandReadsTree judges a folder that a command names and reads with everything below it. Only
// Hermes' own home counts as a folder above closed files: whoever searches or copies a folder
// further up is rarely after them.
func (r PathRules) CommandReadsTree(paths ...string) PathVerdict {
	if v := r.CommandReads(paths...); !v.Allowed() {
		return v
	}
	return used(strictest(paths, func(p string) PathVerdict {
		for _, at := range r.places(p) {
			if at.anchor != AtState || at.maybe {
				continue
			}
			names := at.names
			if len(names) > 0 && names[0] == "profiles" {
				names = names[min(2, len(names)):]
			}
			if len(names) == 0 || len(names) == 1 && strings.HasPrefix(names[0], "*") {
				return closedBelow(names)
			}
		}
		return PathVerdict{}
	}))
}

// closedBelow returns the verdict of the closed folder below a home of Hermes, if a name that
// begins with a wildcard may stand for it; without a name it is there.
func closedBelow(names []string) PathVerdict {
	row, ok := above(AtState, nil, func(row rule) bool {
		return row.Kind.Closed && (len(names) == 0 || expandsTo(names[0], row.segments[0].text))
	})
	if !ok {
		return PathVerdict{}
	}
	return commandVerdict(row.Kind)
}

// intoClosed judges a path that reaches a closed file through a wildcard: other patterns say
// nothing that begin with one.
func (r PathRules) intoClosed(p string) PathVerdict {
	for _, at := range r.places(p) {
		n := at.names
		if at.anchor != AtState || at.maybe || len(n) < 2 || !strings.ContainsAny(n[0][:min(1, len(n[0]))], wildcards) {
			continue
		}
		last := n[len(n)-1]
		if !strings.HasSuffix(last, ".sock") && !expandsTo(last+"*", "key") {
			continue
		}
		if v := closedBelow(n[:1]); v.Ask {
			return v
		}
	}
	return PathVerdict{}
}

// used says in a verdict that a command may only read.
func used(v PathVerdict) PathVerdict {
	if v.Ask {
		v.Reason = strings.Replace(v.Reason, "writes to", "uses", 1)
	}
	return v
}
