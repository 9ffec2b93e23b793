package lru_test

import (
	"fmt"
	"strings"
	"testing"

	"hermes/internal/lru"
)

// shown spells the entries, the last one used first.
func shown(m *lru.Map[string, int]) string {
	var b strings.Builder
	for k, v := range m.All() {
		fmt.Fprintf(&b, "%s%d ", k, v)
	}
	return strings.TrimSpace(b.String())
}

func TestTheUnusedIsForgotten(t *testing.T) {
	t.Parallel()
	m := lru.New[string, int](3)
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() { m.Put("a", 1); m.Put("b", 2); m.Put("c", 3) }, "c3 b2 a1"},
		{func() { m.Get("a") }, "a1 c3 b2"},
		{func() { m.Put("d", 4) }, "d4 a1 c3"},
		{func() { m.Put("c", 5) }, "c5 d4 a1"}, // a known key makes no room
		{func() { m.Make("a", func() int { return 9 }) }, "a1 c5 d4"},
		{func() { m.Make("e", func() int { return 6 }) }, "e6 a1 c5"},
		{func() { m.Delete("a"); m.Delete("a") }, "e6 c5"},
		{func() { m.Put("f", 7) }, "f7 e6 c5"},
		{func() { m.Clear() }, ""},
		{func() { m.Put("g", 8) }, "g8"},
	} {
		step.do()
		if got := shown(m); got != step.want || m.Len() != len(strings.Fields(got)) {
			t.Errorf("got %q of %d, want %q", got, m.Len(), step.want)
		}
	}
	if v, ok := m.Get("a"); v != 0 || ok {
		t.Errorf("a forgotten key gives %d, %t", v, ok)
	}
}

func TestALimitIsAtLeastOne(t *testing.T) {
	t.Parallel()
	m := lru.New[string, int](0)
	m.Put("a", 1)
	m.Put("b", 2)
	if got := shown(m); got != "b2" {
		t.Errorf("got %q", got)
	}
}
