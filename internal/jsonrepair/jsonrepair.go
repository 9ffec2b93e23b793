// Package jsonrepair mends the JSON that a model wrote as the arguments of a
// tool call. What comes out is always strictly valid JSON.
//
// It mends only what leaves no doubt: control characters standing raw inside
// strings, trailing commas, brackets never closed or closed once too often,
// objects glued together (the first one is kept), and the words True, False
// and None in a value's place. It never changes the meaning of a string, since
// commands are in them, and it never guesses: what stays broken, also a string
// or a word cut in the middle, becomes the empty object.
//
// It knows nothing of tools or schemas. Start reading at Repair.
package jsonrepair

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// Outcome says what Repair had to do.
type Outcome int

// The outcomes of a repair.
const (
	Intact   Outcome = iota // the input was valid JSON already
	Empty                   // there was nothing: blank or the word None
	Repaired                // something small was put right
	Lost                    // it stayed broken: the result is the empty object
)

// maxDepth is the nesting that encoding/json accepts.
const maxDepth = 10_000

// Repair returns in as strictly valid JSON and says what it did. Valid input
// is returned as it is, without a copy. It may be called concurrently.
func Repair(in []byte) ([]byte, Outcome) {
	if json.Valid(in) && utf8.Valid(in) {
		return in, Intact
	}
	text := bytes.TrimSpace(bytes.TrimPrefix(in, []byte("\uFEFF")))
	if len(text) == 0 || string(text) == "None" {
		return []byte("{}"), Empty
	}
	m := repairer{in: bytes.ToValidUTF8(text, []byte("\uFFFD"))}
	if m.run() && json.Valid(m.out) {
		return m.out, Repaired
	}
	return []byte("{}"), Lost
}
