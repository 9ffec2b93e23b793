// Package compose gets a longer text from the user: from a file, from standard
// input, or from an editor. It does not know what the text is for. Start at
// Composer.
package compose

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Max is the maximum length of a text, in bytes.
const Max = 2 << 20

// Composer says where the text comes from. Its fields are not changed.
type Composer struct {
	// From is the file with the text, "-" for In, or empty for the editor.
	From string
	In   io.Reader
	// Name is the name of the file in the editor, so that the editor detects its
	// type.
	Name string
	// Terminal reports whether there is a terminal for the editor.
	Terminal func() bool
	// Edit runs the user's editor on a file and returns when it ends.
	Edit func(ctx context.Context, path string) error
}

// Text returns the new text; the editor starts with the text before. If the
// editor fails, the file is kept, and the error says where it is.
func (c Composer) Text(ctx context.Context, before string) (string, error) {
	switch {
	case c.From == "-":
		return whole(c.In, "standard input")
	case c.From != "":
		return read(c.From)
	case !c.Terminal():
		return "", errors.New("no terminal for the editor; use --from-file")
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
		return "", fmt.Errorf("%w (your text is in %s)", err, at)
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

// whole reads to the end. It refuses a text that is too long, since a cut text
// would be stored as if it were complete.
func whole(r io.Reader, name string) (string, error) {
	raw, err := io.ReadAll(io.LimitReader(r, Max+1))
	if err != nil {
		return "", err
	}
	if len(raw) > Max {
		return "", fmt.Errorf("%s is larger than %d MB", name, Max>>20)
	}
	return string(raw), nil
}
