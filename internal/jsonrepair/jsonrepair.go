// Package jsonrepair repairs the JSON that a model wrote as the arguments of a
// tool call. The result is always strictly valid JSON.
//
// It repairs only unambiguous errors: raw control characters in strings, trailing
// commas, brackets that are not closed or closed too often, several objects in a
// row (it keeps the first one), and the values True, False and None. It never
// changes the meaning of a string, which may be a command, and it never guesses:
// anything else, also a string or a word that was cut, becomes the empty object.
//
// It must not know tools or schemas. Start reading at Repair.
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
	Intact   Outcome = iota // the input was already valid JSON
	Empty                   // the input was blank or the word None
	Repaired                // small errors were repaired
	Lost                    // it could not be repaired: the result is the empty object
)

// maxDepth is the nesting that encoding/json accepts.
const maxDepth = 10_000

// Repair returns in as strictly valid JSON and says what it did. Valid input
// is returned unchanged, without a copy. It may be called concurrently.
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
