package protocol

import (
	"cmp"
	"slices"
	"strings"

	"hermes/internal/order"
)

// The number of sessions in a list that does not say how many.
const defaultLimit = 20

// Of returns the sessions of a list that a filter selects, last active first. It is for
// sessions that run, some of which are not stored yet; the store selects among the others.
func (f Filter) Of(list []SessionInfo) []SessionInfo {
	if i := slices.IndexFunc(list, func(s SessionInfo) bool { return s.ID == f.ID }); f.ID != "" && i >= 0 {
		return list[i : i+1]
	}
	var found []SessionInfo
	for _, s := range list {
		if f.selects(s) {
			found = append(found, s)
		}
	}
	order.By(found, func(a, b SessionInfo) int {
		return cmp.Or(b.Active.Compare(a.Active), cmp.Compare(b.ID, a.ID))
	})
	found = found[min(max(f.Offset, 0), len(found)):]
	if limit := cmp.Or(f.Limit, defaultLimit); limit > 0 {
		found = found[:min(limit, len(found))]
	}
	return found
}

func (f Filter) selects(s SessionInfo) bool {
	if f.ID != "" {
		return strings.HasPrefix(s.ID, f.ID) || s.Title == f.ID
	}
	return (f.Platform == "" || s.Platform == f.Platform) && !slices.Contains(f.Exclude, s.Platform) && (f.Dir == "" || s.Dir == f.Dir) &&
		(f.Parent == "" || s.Parent == f.Parent) && (f.Archived || !s.Archived)
}
