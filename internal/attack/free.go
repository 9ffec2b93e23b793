package attack

import (
	"bytes"
	"context"
	"path/filepath"
	"time"

	"hermes/internal/proc"
)

// free returns a copy of the folders of the scene, in which a command can be run without anything in its way: the
// control of the attacks that commands make.
func (s *scene) free() (*scene, error) {
	root := filepath.Join(s.root, "free")
	f := &scene{app: s.app, getenv: s.getenv, root: root, home: filepath.Join(root, "home"), workspace: filepath.Join(root, "work"), outside: filepath.Join(root, "outside")}
	return f, f.plant()
}

// runFree runs a line in the folders without walls, rules or questions, and returns what it printed. What it could not do
// is seen from that.
func (s *scene) runFree(ctx context.Context, line string, env ...string) string {
	ctx, cancel := context.WithTimeout(ctx, limit/2)
	defer cancel()
	var out bytes.Buffer
	_, _ = proc.Run(ctx, proc.Command{ // a line that fails has made nothing
		Path: "sh", Args: []string{"-c", line}, Dir: s.workspace, Files: nil, Env: append([]string{"PATH=" + s.getenv("PATH"), "HOME=" + s.outside}, env...),
		Stdout: &out, Stderr: &out, Drain: 100 * time.Millisecond,
	})
	return out.String()
}
