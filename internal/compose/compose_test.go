package compose_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/compose"
)

func TestText(t *testing.T) {
	file := filepath.Join(t.TempDir(), "given.md")
	if err := os.WriteFile(file, []byte("from a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	yes, no := func() bool { return true }, func() bool { return false }
	edits := func(_ context.Context, path string) error {
		now, err := os.ReadFile(path)
		if err != nil || filepath.Base(path) != "SKILL.md" {
			return errors.Join(err, errors.New("the wrong file: "+path))
		}
		return os.WriteFile(path, append(now, " and after"...), 0o600)
	}
	for name, c := range map[string]struct {
		composer compose.Composer
		want     string
		problem  string // part of the error
	}{
		"a file":               {compose.Composer{From: file}, "from a file", ""},
		"no such file":         {compose.Composer{From: file + "x"}, "", "given.mdx"},
		"standard input":       {compose.Composer{From: "-", In: strings.NewReader("piped")}, "piped", ""},
		"just short enough":    {compose.Composer{From: "-", In: strings.NewReader(strings.Repeat("x", compose.Max))}, strings.Repeat("x", compose.Max), ""},
		"too long to be whole": {compose.Composer{From: "-", In: strings.NewReader(strings.Repeat("x", compose.Max+1))}, "", "larger than 2 MB"},
		"the editor":           {compose.Composer{Name: "SKILL.md", Terminal: yes, Edit: edits}, "before and after", ""},
		"no terminal":          {compose.Composer{Name: "SKILL.md", Terminal: no, Edit: edits}, "", "--from-file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			got, err := c.composer.Text(t.Context(), "before")
			switch {
			case c.problem == "" && (err != nil || got != c.want):
				t.Errorf("got %.40q and %v, want %.40q", got, err, c.want)
			case c.problem != "" && (err == nil || !strings.Contains(err.Error(), c.problem) || got != ""):
				t.Errorf("got %.40q and %v, want an error with %q", got, err, c.problem)
			}
			if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v %v", left, err)
			}
		})
	}
}

// A failing editor does not lose the text.
func TestTextStaysWhereTheEditorFails(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	at := ""
	c := compose.Composer{Name: "text.md", Terminal: func() bool { return true }, Edit: func(_ context.Context, path string) error {
		at = path
		return errors.Join(os.WriteFile(path, []byte("an hour of work"), 0o600), errors.New("the editor crashed"))
	}}
	_, err := c.Text(t.Context(), "")
	if err == nil || !strings.Contains(err.Error(), "crashed") || !strings.Contains(err.Error(), at) {
		t.Errorf("got %v", err)
	}
	if got, err := os.ReadFile(at); err != nil || string(got) != "an hour of work" {
		t.Errorf("%q, %v", got, err)
	}
}
