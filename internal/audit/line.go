package audit

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"slices"
)

// keys makes the codes. Rows and heads have keys of their own, so that one never passes
// as the other. It is not for concurrent use.
type keys struct{ rows, heads hash.Hash }

func newKeys(key []byte) *keys {
	derive := func(purpose string) hash.Hash {
		h := hmac.New(sha256.New, key)
		h.Write([]byte("hermes audit " + purpose))
		return hmac.New(sha256.New, h.Sum(nil))
	}
	return &keys{derive("row"), derive("head")}
}

// codeSize is the length of a code in hex.
const codeSize = 2 * sha256.Size

// noCode is the code before the first row.
var noCode = string(bytes.Repeat([]byte("0"), codeSize))

func code(h hash.Hash, body []byte) string {
	h.Reset()
	h.Write(body)
	return hex.EncodeToString(h.Sum(nil))
}

// A line is the row as a JSON object whose last field is the code over the bytes before.
const (
	beforeCode = `,"mac":"`
	afterCode  = `"}` + "\n"
	endSize    = len(beforeCode) + codeSize + len(afterCode)
	// maxLine bounds a line in bytes. Rows are shorter: their texts are bounded, and a byte
	// takes at most six in JSON.
	maxLine = 128 << 10
)

// line returns a row as the bytes of its line, and its code.
func (k *keys) line(r Row) (line []byte, mac string, err error) {
	if !slices.Contains(Kinds(), r.Kind) {
		return nil, "", fmt.Errorf("a row of the unknown kind %q", r.Kind)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		return nil, "", err
	}
	body := bytes.TrimSuffix(b.Bytes(), []byte("}\n"))
	mac = code(k.rows, body)
	line = append(append(append(body, beforeCode...), mac...), afterCode...)
	if len(line) > maxLine {
		return nil, "", errors.New("the row is too long")
	}
	return line, mac, nil
}

// errCode means that bytes are no row with the code of the key.
var errCode = errors.New("the bytes of this line do not fit its code")

// row reads a line, with its line break. Every byte of a line that is accepted is as it
// was written.
func (k *keys) row(line []byte) (Row, error) {
	if len(line) <= endSize {
		return Row{}, errCode
	}
	body, end := line[:len(line)-endSize], line[len(line)-endSize:]
	mac := code(k.rows, body)
	if string(end) != beforeCode+mac+afterCode {
		return Row{}, errCode
	}
	return parse(line)
}

// parse reads a line without its code being checked.
func parse(line []byte) (Row, error) {
	var r struct {
		Row
		Code string `json:"mac"`
	}
	if err := json.Unmarshal(line, &r); err != nil {
		return Row{}, fmt.Errorf("this line is no row: %w", err)
	}
	r.Row.MAC = r.Code
	return r.Row, nil
}
