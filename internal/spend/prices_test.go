package spend_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/spend"
)

func TestThePriceOfTheUserComesFirst(t *testing.T) {
	t.Parallel()
	listed := hermes.Price{Input: 10, Output: 20, CacheRead: -1, Above: []hermes.PriceTier{{Prompt: 100, Price: hermes.Price{Input: 30}}}}
	catalogue := func(ref string) (hermes.ModelInfo, string) {
		switch ref {
		case "p:listed":
			return hermes.ModelInfo{Price: &listed}, ""
		case "p:fast":
			return hermes.ModelInfo{Price: &listed}, "priority"
		case "p:slow":
			return hermes.ModelInfo{Price: &listed}, "flex"
		}
		return hermes.ModelInfo{}, ""
	}
	set := map[string]hermes.Price{"q:listed": {Input: 1}, "own:m": {Input: 2}, "named": {Input: 3, CacheWriteLong: 4}}
	p := spend.NewPrices(set, []string{"Plan", "custom:box"}, catalogue)
	for ref, want := range map[string]*hermes.Price{
		"p:listed":         &listed,
		"q:listed":         {Input: 1},
		"custom:own:m":     {Input: 2},
		"any:vendor/named": {Input: 3, CacheWriteLong: 4},
		"plan:x":           {},
		"custom:box:x":     {},
		"p:fast":           {Input: 25, Output: 50, CacheRead: -1, Above: []hermes.PriceTier{{Prompt: 100, Price: hermes.Price{Input: 75}}}},
		"p:slow":           &listed,
		"p:unknown":        nil,
	} {
		got, ok := p.Of(ref)
		if ok != (want != nil) {
			t.Errorf("%s: known is %t", ref, ok)
		}
		if diff := cmp.Diff(want, &got); ok && diff != "" {
			t.Errorf("%s: %s", ref, diff)
		}
	}
	for ref, want := range map[string]bool{"p:listed": true, "p:unknown": true, "q:listed": false, "plan:x": false} {
		if got := p.Stated(ref); got != want {
			t.Errorf("%s: a stated cost counts is %t", ref, got)
		}
	}
}

func TestLongest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		window, limit int
		prompt, want  int64
	}{{0, 0, 10, 0}, {0, 50, 10, 50}, {100, 0, 10, 90}, {100, 50, 10, 50}, {100, 50, 70, 30}, {100, 50, 200, 0}} {
		p := spend.NewPrices(nil, nil, func(string) (hermes.ModelInfo, string) {
			return hermes.ModelInfo{ContextLength: c.window, OutputLimit: c.limit}, ""
		})
		if got := p.Longest("p:m", c.prompt); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// family finds a session by its id; the value is the parent's.
type family map[string]string

func (f family) FindSession(_ context.Context, id string) (hermes.Session, error) {
	parent, ok := f[id]
	if !ok {
		return hermes.Session{}, hermes.ErrNotFound
	}
	row := hermes.Session{ID: id, Parent: parent, Platform: "subagent"}
	if parent == "" {
		row.Platform = "cli"
	}
	return row, nil
}

func TestTree(t *testing.T) {
	t.Parallel()
	f := family{"top": "", "child": "top", "grandchild": "child", "round": "round"}
	for session, want := range map[string]string{"top": "top", "child": "top", "grandchild": "top", "round": "round"} {
		if got, err := spend.Tree(t.Context(), f, session); got.Tree != want || err != nil {
			t.Errorf("%s: %+v, %v", session, got, err)
		}
	}
	if _, err := spend.Tree(t.Context(), f, "gone"); !errors.Is(err, hermes.ErrNotFound) {
		t.Errorf("a session that is not there: %v", err)
	}
}
