package protocol_test

import (
	"slices"
	"testing"
	"time"

	"hermes/internal/protocol"
)

// TestAFilterSelects among sessions that run, as the store does among stored ones.
func TestAFilterSelects(t *testing.T) {
	t.Parallel()
	at := func(n int64) time.Time { return time.Unix(n, 0) }
	all := []protocol.SessionInfo{
		{ID: "a1", Platform: "cli", Dir: "/x", Active: at(1)},
		{ID: "a12", Platform: "subagent", Parent: "a1", Active: at(3)},
		{ID: "b", Platform: "web", Title: "t", Active: at(2)},
		{ID: "c", Platform: "cli", Archived: true, Active: at(4)},
	}
	for name, tt := range map[string]struct {
		filter protocol.Filter
		want   []string
	}{
		"all":             {protocol.Filter{}, []string{"a12", "b", "a1"}},
		"archived ones":   {protocol.Filter{Archived: true}, []string{"c", "a12", "b", "a1"}},
		"an id":           {protocol.Filter{ID: "a1"}, []string{"a1"}},
		"beginning of it": {protocol.Filter{ID: "a"}, []string{"a12", "a1"}},
		"a title":         {protocol.Filter{ID: "t"}, []string{"b"}},
		"no title":        {protocol.Filter{ID: "T"}, nil},
		"a platform":      {protocol.Filter{Platform: "cli"}, []string{"a1"}},
		"all but two":     {protocol.Filter{Exclude: []string{"cli", "web"}}, []string{"a12"}},
		"a folder":        {protocol.Filter{Dir: "/x"}, []string{"a1"}},
		"children":        {protocol.Filter{Parent: "a1"}, []string{"a12"}},
		"a page":          {protocol.Filter{Limit: 1, Offset: 1}, []string{"b"}},
		"odd numbers":     {protocol.Filter{Limit: -7, Offset: -7}, []string{"a12", "b", "a1"}},
		"far away":        {protocol.Filter{Offset: 1 << 40}, nil},
	} {
		var got []string
		for _, s := range tt.filter.Of(slices.Clone(all)) {
			got = append(got, s.ID)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
	if got := (protocol.Filter{}).Of(make([]protocol.SessionInfo, 30)); len(got) != 20 {
		t.Errorf("without a limit: %d", len(got))
	}
}
