package file

import (
	"math"
	"strconv"
	"strings"
)

// A number is an integer argument that forgives: what is no number counts as
// not given.
type number int

const junk = number(math.MinInt)

// UnmarshalJSON takes a JSON number or a text that holds one.
func (n *number) UnmarshalJSON(data []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(data), `" `), 64)
	if err != nil || math.IsNaN(f) || math.Abs(f) > math.MaxInt32 {
		*n = junk
		return nil
	}
	*n = number(f)
	return nil
}

// within gives the number kept between low and high, or def if there is none.
func (n *number) within(def, low, high int) int {
	if n == nil || *n == junk {
		return def
	}
	return min(max(int(*n), low), high)
}
