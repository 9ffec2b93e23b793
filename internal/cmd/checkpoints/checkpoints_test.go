package checkpoints_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/app"
	"hermes/internal/checkpoint"
	"hermes/internal/cmd/checkpoints"
	"hermes/internal/cmd/factory"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestListDiffRestoreAndPrune is a restore as a user makes it.
func TestListDiffRestoreAndPrune(t *testing.T) {
	t.Parallel()
	home, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	run := func(answer string, args ...string) (string, error) {
		t.Helper()
		var out bytes.Buffer
		cmd := checkpoints.NewCmd(factory.New(app.Options{Home: home}, factory.IO{}))
		cmd.SetArgs(args)
		cmd.SetIn(strings.NewReader(answer))
		cmd.SetOut(&out)
		cmd.SetErr(&out)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		err := cmd.ExecuteContext(t.Context())
		return out.String(), err
	}
	a := filepath.Join(dir, "a.txt")
	must(t, os.WriteFile(a, []byte("old\n"), 0o644))
	if _, err := run("", "diff", "1", "-C", dir); err == nil || !strings.Contains(err.Error(), "has no checkpoints") {
		t.Errorf("without checkpoints: %v", err)
	}
	s := checkpoint.New(checkpoint.Config{Folder: filepath.Join(home, "checkpoints")})
	_, _, err = s.Snapshot(t.Context(), dir, checkpoint.Meta{Reason: "before patch a.txt"}, checkpoint.SnapshotOptions{})
	must(t, err)
	w, err := s.Begin(t.Context(), dir, "patch", []string{"a.txt"})
	must(t, err)
	must(t, os.WriteFile(a, []byte("new\n"), 0o644))
	must(t, w.Done(t.Context()))
	must(t, os.WriteFile(filepath.Join(dir, "b.txt"), []byte("mine\n"), 0o644))
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"list", "-C", dir}, "before patch a.txt"},
		{[]string{"diff", "1", "-C", dir}, "-old\n+new\n"},
		{[]string{"restore", "1", "a.txt", "-C", dir, "--preview"}, "-new\n+old\n"},
	}
	for _, tt := range tests {
		if out, err := run("", tt.args...); err != nil || !strings.Contains(out, tt.want) {
			t.Errorf("%v: got %q, %v, want %q", tt.args, out, err, tt.want)
		}
	}
	out, err := run("", "list", "--all", "--json")
	var listed []checkpoint.Workspace
	if err != nil || json.Unmarshal([]byte(out), &listed) != nil || len(listed) != 1 || listed[0].Folder != dir || len(listed[0].Snapshots) != 1 {
		t.Errorf("list --json: %q, %v", out, err)
	}
	if got, _ := os.ReadFile(a); string(got) != "new\n" {
		t.Errorf("a preview restored: %q", got)
	}
	if _, err := run("", "restore", "1", "../x", "-C", dir, "--yes"); err == nil {
		t.Error("a path outside was taken")
	}
	if _, err := run("", "restore", "1", "-C", dir); err == nil { // no terminal to ask on
		t.Error("it restored without asking")
	}
	out, err = run("", "restore", "1", "-C", dir, "--yes")
	must(t, err)
	if got, _ := os.ReadFile(a); string(got) != "old\n" || !strings.Contains(out, "kept: b.txt (changed by you)") || !strings.Contains(out, "Restored 1 path.") {
		t.Errorf("got %q, output %q", got, out)
	}
	if out, err := run("", "prune"); err != nil || !strings.Contains(out, "Removed 0 checkpoints") {
		t.Errorf("prune: %q, %v", out, err)
	}
}
