package cmd_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/chatserver"
)

// recipe is the script of docs/ci.md.
func recipe(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "ci.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, script, found := strings.Cut(string(page), "<!-- ci -->\n```sh\n")
	script, _, ends := strings.Cut(script, "\n```\n")
	if !found || !ends || !strings.Contains(script, "hermes -z") {
		t.Fatal("docs/ci.md has no script that is marked for this test")
	}
	return script
}

// TestRecipeForCI runs the script of docs/ci.md as it is, with the program and a scripted model.
func TestRecipeForCI(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		verdict string
		status  int
		says    string
	}{
		"pass":        {`{"verdict":"pass","problems":[]}`, 0, ""},
		"fail":        {`{"verdict":"fail","problems":["a"]}`, 1, "the review found problems"},
		"no verdict":  {`It is good.`, 1, "the review failed"},
		"another one": {`{"verdict":"maybe","problems":[]}`, 1, "the review failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newUser(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
				if results(r) == 0 {
					return call("terminal", map[string]string{"command": "rm -rf victim"}), nil
				}
				return chatserver.Answer{Text: tt.verdict}, nil
			})...)
			bin := t.TempDir()
			program, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(program, filepath.Join(bin, "hermes")); err != nil {
				t.Fatal(err)
			}
			c := exec.CommandContext(t.Context(), "sh", "-c", recipe(t))
			c.Dir, c.Env = p.dir, append(p.env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			var errs bytes.Buffer
			c.Stderr = &errs
			err = c.Run()
			status := 0
			if exit, ok := errors.AsType[*exec.ExitError](err); ok {
				status = exit.ExitCode()
			} else if err != nil {
				t.Fatal(err)
			}
			raw, err := os.ReadFile(filepath.Join(p.dir, "review.json"))
			if err != nil {
				t.Fatal(err)
			}
			if r := readResult(t, string(raw)); status != tt.status || !strings.Contains(errs.String(), tt.says) || len(r.Denied) != 1 {
				t.Errorf("status %d, want %d\n%s%s", status, tt.status, raw, errs.String())
			}
		})
	}
}
