package holographic

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"strings"
)

// dimension is the number of angles of a vector.
const dimension = 512

// vector is a holographic reduced representation: angles on the unit circle. Two are bound by adding
// their angles, which subtracting undoes, and several are bundled into one that is similar to each.
// Vectors of different names are as good as unrelated, since they are made from hashes.
type vector [dimension]float32

// atom is the vector of a name, always the same.
func atom(name string) (v vector) {
	var block [32]byte
	for i := range v {
		if i%8 == 0 {
			block = sha256.Sum256(binary.BigEndian.AppendUint32([]byte(name), uint32(i)))
		}
		v[i] = float32(float64(binary.BigEndian.Uint32(block[i%8*4:])) / (1 << 32) * 2 * math.Pi)
	}
	return v
}

// bind joins two vectors into one that is similar to neither.
func bind(a, b vector) (v vector) {
	for i := range v {
		v[i] = a[i] + b[i]
	}
	return v
}

// unbind takes the second vector out of what it was bound to.
func unbind(a, b vector) (v vector) {
	for i := range v {
		v[i] = a[i] - b[i]
	}
	return v
}

// bundle puts vectors together.
func bundle(list ...vector) (v vector) {
	var x, y [dimension]float64
	for _, one := range list {
		for i, angle := range one {
			sin, cos := math.Sincos(float64(angle))
			x[i] += cos
			y[i] += sin
		}
	}
	for i := range v {
		v[i] = float32(math.Atan2(y[i], x[i]))
	}
	return v
}

// similar is how alike two vectors are: 1 for the same, about 0 for unrelated ones.
func similar(a, b vector) float64 {
	var sum float64
	for i := range a {
		sum += math.Cos(float64(a[i] - b[i]))
	}
	return sum / dimension
}

// The roles of what a fact is made of.
const (
	roleWord   = "role:word"
	roleEntity = "role:entity"
)

// represent makes the vector of a fact: each entity bound to its role, and its words bundled and bound
// to theirs, so that each can be asked for by algebra.
func represent(words, entities []string) vector {
	var parts []vector
	role := atom(roleEntity)
	for _, e := range entities {
		parts = append(parts, bind(role, atom("entity:"+strings.ToLower(e))))
	}
	if len(words) > 0 {
		parts = append(parts, bind(atom(roleWord), bag(words)))
	}
	return bundle(parts...)
}

// bag is the vector of words, in any order.
func bag(words []string) vector {
	list := make([]vector, len(words))
	for i, w := range words {
		list[i] = atom("word:" + w)
	}
	return bundle(list...)
}

// holds is how strongly a fact has an entity in its role: what is left of the fact without the role is
// compared with the entity. About 0 is not at all; a fact of n parts has about 1/√n for each.
func holds(fact vector, entity string) float64 {
	return similar(unbind(fact, atom(roleEntity)), atom("entity:"+strings.ToLower(entity)))
}
