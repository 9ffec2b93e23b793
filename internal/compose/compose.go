// Package compose takes a longer text from a person: from a file, from the
// standard input, or out of an editor.
package compose

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Max is how long a text may be, in bytes.
const Max = 2 << 20

// Composer is how a text comes to be. Its fields are not changed.
type Composer struct {
	// From is the file that holds the text, "-" for In, empty for the editor.
	From string
	In   io.Reader
	// Name is what the file is called in the editor, so that it shows the text
	// as what it is.
	Name string
	// Terminal reports whether there is one for the editor.
	Terminal func() bool
	// Edit runs the person's editor on a file and returns when it ends.
	Edit func(ctx context.Context, path string) error
}

// Text returns the new text; the editor begins with the one before. When the
// editor fails, the error says where the text lies, and it stays there.
func (c Composer) Text(ctx context.Context, before string) (string, error) {
	switch {
	case c.From == "-":
		return whole(c.In, "the standard input")
	case c.From != "":
		return read(c.From)
	case !c.Terminal():
		return "", errors.New("there is no terminal for the editor; give the text with --from-file")
	}
	dir, err := os.MkdirTemp("", "hermes-text-")
	if err != nil {
		return "", err
	}
	at := filepath.Join(dir, c.Name)
	if err := os.WriteFile(at, []byte(before), 0o600); err != nil {
		return "", err
	}
	if err := c.Edit(ctx, at); err != nil {
		return "", fmt.Errorf("%w (the text lies in %s)", err, at)
	}
	text, err := read(at)
	if err != nil {
		return "", err
	}
	return text, os.RemoveAll(dir)
}

func read(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return whole(f, path)
}

// whole reads to the end. What is too long is refused, not cut: half a text
// would be kept as if it were the whole.
func whole(r io.Reader, name string) (string, error) {
	raw, err := io.ReadAll(io.LimitReader(r, Max+1))
	if err != nil {
		return "", err
	}
	if len(raw) > Max {
		return "", fmt.Errorf("%s holds more than %d MB; that is too long for a text", name, Max>>20)
	}
	return string(raw), nil
}
