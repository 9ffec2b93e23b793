package sqlite

import (
	"math"
	"strings"

	"hermes"
	"hermes/internal/fulltext"
)

// The weights of the two ways to find a text.
const (
	weightWords  = 0.6
	weightVector = 0.4
)

// score says how well a text matches a query: the share of the query's terms that it
// contains, and the similarity of the vectors.
func score(r hermes.Recollection, wanted []fulltext.Term, vector []int8) float64 {
	like := likeness(vector, asBytes(r.Vector))
	if len(wanted) == 0 {
		return like
	}
	text := fulltext.Fold(r.Text)
	var all, held float64
	for _, t := range wanted {
		word := t.Run
		if word == "" {
			word = strings.Join(t.Words, " ")
		}
		weight := math.Sqrt(float64(len(word))) // long words matter more
		if len(word) < 3 && t.Run == "" {
			continue
		}
		all += weight
		if strings.Contains(text, word) {
			held += weight
		}
	}
	if all == 0 {
		return like
	}
	if len(vector) == 0 {
		return held / all
	}
	return weightWords*held/all + weightVector*like
}

// likeness returns the cosine of two vectors, 0 if it is negative or the vectors do not
// compare.
func likeness(a []int8, b []byte) float64 {
	if len(a) == 0 || len(a) != len(b) {
		return 0
	}
	var dot, aa, bb int64
	for i, x := range a {
		y := int64(int8(b[i]))
		dot += int64(x) * y
		aa += int64(x) * int64(x)
		bb += y * y
	}
	if dot <= 0 || aa == 0 || bb == 0 {
		return 0
	}
	return float64(dot) / math.Sqrt(float64(aa)*float64(bb))
}

// asBytes and asInts convert a vector to its stored form and back.
func asBytes(v []int8) []byte {
	if len(v) == 0 {
		return nil
	}
	b := make([]byte, len(v))
	for i, x := range v {
		b[i] = byte(x)
	}
	return b
}

func asInts(b []byte) []int8 {
	if len(b) == 0 {
		return nil
	}
	v := make([]int8, len(b))
	for i, x := range b {
		v[i] = int8(x)
	}
	return v
}
