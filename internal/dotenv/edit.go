package dotenv

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrName means that a name is not valid in an .env file.
var ErrName = errors.New("is not a valid name; use letters, digits and _, not starting with a digit")

// ErrUnsafe means that the change would alter other values too; the user must edit
// the file by hand.
var ErrUnsafe = errors.New("cannot be changed without affecting other lines; edit the file by hand")

// Set returns the text with name set to value. The last assignment of the name
// is changed in place, its comment kept; a new one goes to the end.
func Set(text, name, value string) (string, error) {
	if !ValidName(name) {
		return "", fmt.Errorf("%q %w", name, ErrName)
	}
	written := quote(value)
	f := Parse(text, nil)
	out := ""
	if i := last(f.entries, name); i >= 0 {
		e := f.entries[i]
		out = text[:e.at] + written + text[e.end:]
	} else {
		newline := "\n"
		if strings.Contains(text, "\r\n") {
			newline = "\r\n"
		}
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += newline
		}
		out = text + name + "=" + written + newline
	}
	if got := Parse(out, nil); got.Values[name] != value || len(got.Bad) != len(f.Bad) {
		return "", fmt.Errorf("%s %w", name, ErrUnsafe)
	}
	return out, nil
}

// Unset returns the text without any assignment of name. Comments stay.
func Unset(text, name string) string {
	f := Parse(text, nil)
	for _, e := range slices.Backward(f.entries) {
		if e.name == name {
			text = text[:e.from] + text[e.to:]
		}
	}
	return text
}

func last(entries []entry, name string) int {
	for i, e := range slices.Backward(entries) {
		if e.name == name {
			return i
		}
	}
	return -1
}

// quote writes a value so that this package, a shell and other readers of .env
// files read it unchanged, as far as one form suits them all.
func quote(value string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_./:@%+,=~-", r)
	}
	switch {
	case value == "" || strings.IndexFunc(value, func(r rune) bool { return !plain(r) }) < 0:
		return value
	case !strings.ContainsAny(value, `'\`):
		return "'" + value + "'"
	case !strings.ContainsAny(value, "$`!"):
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
	}
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(value) + "'"
}
