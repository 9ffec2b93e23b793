package file

import (
	"math"
	"strconv"
	"strings"
)

// A number is a lenient integer argument: a value that is not a number counts
// as not given.
type number int

const junk = number(math.MinInt)

// UnmarshalJSON reads a JSON number or a string that holds one.
func (n *number) UnmarshalJSON(data []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(data), `" `), 64)
	if err != nil || math.IsNaN(f) || math.Abs(f) > math.MaxInt32 {
		*n = junk
		return nil
	}
	*n = number(f)
	return nil
}

// within returns the number clamped to low and high, or def if there is none.
func (n *number) within(def, low, high int) int {
	if n == nil || *n == junk {
		return def
	}
	return min(max(int(*n), low), high)
}
