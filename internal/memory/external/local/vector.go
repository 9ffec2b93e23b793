package local

import (
	"hash/fnv"
	"math"
	"strings"
	"unicode"
)

// dimensions is the length of a vector.
const dimensions = 256

// vector represents the content of a text without a model: its words and their
// runs of three characters, each hashed to an index and a sign. Texts that
// share words, or parts of words, have similar vectors. A text without letters
// has none.
func vector(text string) []int8 {
	var sum [dimensions]float64
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, w := range words {
		if common(w) {
			continue
		}
		addFeature(&sum, w, 2)
		runes := []rune("^" + w + "$")
		for i := 0; i+3 <= len(runes); i++ {
			addFeature(&sum, string(runes[i:i+3]), 1)
		}
	}
	most := 0.0
	for i, x := range sum {
		sum[i] = math.Copysign(math.Sqrt(math.Abs(x)), x) // repetitions count less each time
		most = max(most, math.Abs(sum[i]))
	}
	if most == 0 {
		return nil
	}
	out := make([]int8, dimensions)
	for i, x := range sum {
		out[i] = int8(math.Round(x / most * 127))
	}
	return out
}

func addFeature(sum *[dimensions]float64, feature string, weight float64) {
	h := fnv.New32a()
	h.Write([]byte(feature))
	n := h.Sum32()
	if n&(1<<31) != 0 {
		weight = -weight
	}
	sum[n%dimensions] += weight
}
