// Package order sorts lists of structs.
//
// The sorting functions of package slices are compiled once more for each type: 8 to
// 13 KB of the program every time, which made 700 KB. Those are right for long lists and
// hot paths; for a list that a person will see, use By.
package order

import "sort"

// By sorts list so that compare(a, b) is not positive for any a before b, and keeps the
// order of equal ones. Its arguments are those of [slices.SortStableFunc].
func By[T any](list []T, compare func(a, b T) int) {
	sort.SliceStable(list, func(i, j int) bool { return compare(list[i], list[j]) < 0 })
}
