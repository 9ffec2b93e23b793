package text

// Edits counts the characters to insert, remove, replace or swap to get from one word to
// another. Words of more than 100 bytes have nothing in common.
func Edits(a, b string) int {
	if len(a) > 100 || len(b) > 100 {
		return len(a) + len(b)
	}
	x, y := []rune(a), []rune(b)
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	var older []int
	for i := range x {
		before := row
		row = make([]int, len(y)+1)
		row[0] = i + 1
		for j := range y {
			cost := before[j]
			if x[i] != y[j] {
				cost++
			}
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				cost = min(cost, older[j-1]+1)
			}
			row[j+1] = min(cost, row[j]+1, before[j+1]+1)
		}
		older = before
	}
	return row[len(y)]
}
