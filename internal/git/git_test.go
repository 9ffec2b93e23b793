package git_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/git"
)

// mustRepository makes a repository with a commit of three files, or skips the test
// without git.
func mustRepository(t *testing.T) git.Repository {
	t.Helper()
	r := git.Repository{Dir: t.TempDir(), Env: func() []string {
		return append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	}}
	if _, err := exec.LookPath("git"); err != nil && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	must(t, r, "init", "-q", "-b", "trunk")
	for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
		write(t, r, name, name)
	}
	must(t, r, "add", ".")
	must(t, r, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x")
	return r
}

func must(t *testing.T, r git.Repository, args ...string) {
	t.Helper()
	if _, err := r.Run(t.Context(), args...); err != nil {
		t.Fatalf("git %v: %v", args, err)
	}
}

func write(t *testing.T, r git.Repository, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(r.Dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	r := mustRepository(t)
	write(t, r, "a.txt", "changed")
	must(t, r, "mv", "b.txt", "renamed.txt")
	write(t, r, "new\nline.txt", "new")
	if err := os.Mkdir(filepath.Join(r.Dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	want := git.Status{Branch: "trunk", Changed: 2, Untracked: []string{"new\nline.txt"}}
	for _, dir := range []string{r.Dir, filepath.Join(r.Dir, "sub")} {
		r.Dir = dir
		got, err := r.Status(t.Context())
		slices.Sort(got.Untracked)
		if diff := cmp.Diff(want, got); (diff != "" && runtime.GOOS != "windows") || err != nil || !r.Exists() {
			t.Errorf("%s: %s, %v", dir, diff, err)
		}
	}
}

func TestNoRepository(t *testing.T) {
	t.Parallel()
	r := mustRepository(t)
	r.Dir = t.TempDir()
	if r.Exists() {
		t.Skip("the folder for temporary files is in a repository")
	}
	if s, err := r.Status(t.Context()); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestSettingsOfARepositoryStartNoProgram: a repository may be a stranger's.
func TestSettingsOfARepositoryStartNoProgram(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the program of the test is a shell script")
	}
	r := mustRepository(t)
	started := filepath.Join(t.TempDir(), "started")
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$0\" >> '"+started+"'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"core.pager", "pager.diff", "pager.log", "core.fsmonitor", "diff.external", "diff.x.textconv", "diff.x.command"} {
		must(t, r, "config", key, program)
	}
	write(t, r, ".gitattributes", "*.txt diff=x\n")
	write(t, r, "a.txt", "changed")
	if out, err := r.Changes(t.Context(), "diff"); err != nil || !strings.Contains(out, "+changed") {
		t.Errorf("diff: %q, %v", out, err)
	}
	if out, err := r.Changes(t.Context(), "log", "-p", "-1"); err != nil || !strings.Contains(out, "+a.txt") {
		t.Errorf("log: %q, %v", out, err)
	}
	if _, err := r.Status(t.Context()); err != nil {
		t.Error(err)
	}
	if who, err := os.ReadFile(started); err == nil {
		t.Errorf("started: %s", who)
	}
}

// TestSettingsOfASubmoduleStartNoProgram: git looks into each submodule of the index, by the
// submodule's own settings.
func TestSettingsOfASubmoduleStartNoProgram(t *testing.T) {
	t.Parallel()
	r := mustRepository(t)
	if runtime.GOOS == "windows" {
		t.Skip("the programs are shell scripts")
	}
	ran := filepath.Join(t.TempDir(), "ran")
	sub := git.Repository{Dir: filepath.Join(r.Dir, "sub"), Env: r.Env}
	if err := os.Mkdir(sub.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	must(t, sub, "init", "-q")
	write(t, sub, ".gitattributes", "*.t filter=z\n")
	write(t, sub, "f.t", "one")
	must(t, sub, "add", ".")
	must(t, sub, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x")
	must(t, r, "add", "sub")
	must(t, sub, "config", "filter.z.clean", "sh -c 'echo PRINTED >&2; touch "+ran+"; cat'")
	must(t, sub, "config", "core.fsmonitor", "touch "+ran+"; false")
	write(t, sub, "f.t", "two")
	out := ""
	if _, err := r.Status(t.Context()); err != nil {
		t.Error(err)
	}
	for _, args := range [][]string{{"diff"}, {"diff", "--cached"}, {"log", "-p", "-1"}} {
		text, err := r.Changes(t.Context(), args...)
		if err != nil {
			t.Error(err)
		}
		out += text
	}
	if _, err := os.Stat(ran); err == nil || strings.Contains(out, "PRINTED") {
		t.Errorf("a program of the submodule ran: %s", out)
	}
}

// TestARepositoryElsewhereIsAskedThere: nothing runs on this machine, and settings start no program either.
func TestARepositoryElsewhereIsAskedThere(t *testing.T) {
	t.Parallel()
	r := mustRepository(t)
	started := filepath.Join(t.TempDir(), "started")
	must(t, r, "config", "core.fsmonitor", "touch '"+started+"'; false")
	must(t, r, "config", "filter.a b.*c.clean", "touch '"+started+"'; cat")
	must(t, r, "config", "filter.a b.*c.required", "true")
	write(t, r, ".git/info/attributes", "*.txt filter=a\\ b.*c\n*.txt filter=plain\n")
	must(t, r, "config", "filter.plain.process", "touch '"+started+"'; cat")
	must(t, r, "config", "filter.plain.clean", "touch '"+started+"'; cat")
	write(t, r, "a.txt", "changed")
	write(t, r, "it's new", "")
	var lines []string
	there := git.Repository{Dir: "/nowhere", There: func(ctx context.Context, line string, out, complaints io.Writer) (int, error) {
		lines = append(lines, line)
		c := exec.CommandContext(ctx, "sh", "-c", line)
		c.Dir, c.Env, c.Stdout, c.Stderr = r.Dir, append(r.Env(), "GIT_DIR=/nowhere"), out, complaints
		if err := c.Run(); c.ProcessState == nil {
			return 0, err
		}
		return c.ProcessState.ExitCode(), nil
	}}
	got, err := there.Status(t.Context())
	if diff := cmp.Diff(git.Status{Branch: "trunk", Changed: 1, Untracked: []string{"it's new"}}, got); diff != "" || err != nil || !there.Exists() {
		t.Error(diff, err)
	}
	if _, err := os.Stat(started); err == nil || len(lines) == 0 {
		t.Errorf("a program ran; lines %q", lines)
	}
	if len(lines) > 2 {
		t.Errorf("%d scripts for one status: %q", len(lines), lines)
	}
	if out, err := there.Diff(t.Context(), false, false, nil); err != nil || !strings.Contains(out, "+changed") {
		t.Errorf("the diff is %q, %v", out, err)
	}
	if _, err := os.Stat(started); err == nil {
		t.Error("a filter ran")
	}
	must(t, r, "config", "filter.a=b.clean", "cat")
	if _, err := there.Status(t.Context()); err == nil || !strings.Contains(err.Error(), "rename it") {
		t.Errorf("a filter that cannot be turned off: %v", err)
	}
	must(t, r, "config", "--unset", "filter.a=b.clean")
	if out, err := there.Run(t.Context(), "log", "-1", "--format=%s it's"); err != nil || out != "x it's\n" {
		t.Errorf("%q, %v", out, err)
	}
	if _, err := there.Run(t.Context(), "log", "nothing"); err == nil || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
	there.There = func(context.Context, string, io.Writer, io.Writer) (int, error) { return 0, errors.New("it is down") }
	if _, err := there.Status(t.Context()); err == nil || err.Error() != "run git: it is down" {
		t.Error(err)
	}
}

// TestVariablesLeadToNoOtherRepository: whoever starts Hermes may be a hook of git.
func TestVariablesLeadToNoOtherRepository(t *testing.T) {
	t.Parallel()
	r, other := mustRepository(t), mustRepository(t)
	write(t, other, "d.txt", "d")
	must(t, other, "add", ".")
	env, at := r.Env, filepath.Join(other.Dir, ".git")
	r.Env = func() []string {
		return append(env(), "GIT_DIR="+at, "GIT_WORK_TREE="+other.Dir, "GIT_INDEX_FILE="+filepath.Join(at, "index"), "GIT_OBJECT_DIRECTORY="+filepath.Join(at, "none"))
	}
	out, err := r.Run(t.Context(), "ls-files")
	if err != nil || strings.Contains(out, "d.txt") {
		t.Errorf("the files are %q, %v", out, err)
	}
}

// TestAMissingObjectStartsNoProgram: git would fetch it from the remote that the settings promise it of.
func TestAMissingObjectStartsNoProgram(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the program is a script of sh")
	}
	r := mustRepository(t)
	ran, program := filepath.Join(t.TempDir(), "ran"), filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\ntouch '"+ran+"'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for key, value := range map[string]string{
		"core.repositoryFormatVersion": "1", "extensions.partialClone": "origin", "remote.origin.promisor": "true",
		"remote.origin.url": "ssh://127.0.0.1/x", "core.sshCommand": program,
	} {
		must(t, r, "config", key, value)
	}
	id, err := r.Run(t.Context(), "rev-parse", "HEAD:a.txt")
	if err != nil {
		t.Fatal(err)
	}
	id = strings.TrimSpace(id)
	if err := os.Remove(filepath.Join(r.Dir, ".git", "objects", id[:2], id[2:])); err != nil {
		t.Fatal(err)
	}
	write(t, r, "a.txt", "changed")
	c := exec.Command("git", "diff")
	c.Dir, c.Env = r.Dir, r.Env()
	if _ = c.Run(); os.Remove(ran) != nil {
		t.Fatal("git does not start it at all")
	}
	_, err = r.Changes(t.Context(), "diff")
	if _, err2 := os.Stat(ran); err == nil || err2 == nil {
		t.Errorf("it ran: %v, and the changes: %v", err2 == nil, err)
	}
}
