package order_test

import (
	"slices"
	"testing"

	"hermes/internal/order"
)

func TestEqualOnesKeepTheirOrder(t *testing.T) {
	t.Parallel()
	type pair struct{ key, at int }
	var list []pair
	for i := range 100 {
		list = append(list, pair{key: i * 7 % 5, at: i})
	}
	want := slices.Clone(list)
	compare := func(a, b pair) int { return b.key - a.key }
	slices.SortStableFunc(want, compare)
	if order.By(list, compare); !slices.Equal(list, want) {
		t.Errorf("got %v, want %v", list, want)
	}
}
