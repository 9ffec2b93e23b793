package git_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/git"
)

// TestDiffObeysNoSettingOfTheRepository that starts a program, and takes paths as they are.
func TestDiffObeysNoSettingOfTheRepository(t *testing.T) {
	t.Parallel()
	r := mustRepository(t)
	ran := filepath.Join(t.TempDir(), "ran")
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\ntouch '"+ran+"'\ncat \"$1\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	must(t, r, "config", "diff.external", program)
	must(t, r, "config", "diff.evil.textconv", program)
	must(t, r, "config", "diff.evil.command", program)
	must(t, r, "config", "core.pager", program)
	for _, of := range []string{"clean", "smudge", "process"} {
		must(t, r, "config", "filter.evil."+of, program)
	}
	must(t, r, "config", "color.ui", "always")
	write(t, r, ".gitattributes", "*.txt diff=evil filter=evil\n")
	write(t, r, "a.txt", "staged")
	plain, err := r.Unfiltered(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	must(t, plain, "add", ".gitattributes", "a.txt")
	write(t, r, "b.txt", "changed")
	write(t, r, "--output=c.txt", "named as an option")
	write(t, r, "*.txt", "named as a pattern")
	staged, err := r.Diff(t.Context(), true, false, nil)
	if err != nil || !strings.Contains(staged, "+staged") || strings.Contains(staged, "changed") || strings.Contains(staged, "\x1b") {
		t.Errorf("staged: %v, %q", err, staged)
	}
	all, err := r.Diff(t.Context(), false, false, nil)
	if err != nil || !strings.Contains(all, "+staged") || !strings.Contains(all, "+changed") || !strings.Contains(all, "new file, not staged: --output=c.txt") {
		t.Errorf("all: %v, %q", err, all)
	}
	for _, path := range []string{"--output=c.txt", "*.txt"} {
		if out, err := r.Diff(t.Context(), false, false, []string{path}); err != nil || out != "new file, not staged: "+path+"\n" {
			t.Errorf("%s: %v, %q", path, err, out)
		}
	}
	stat, err := r.Diff(t.Context(), false, true, []string{"b.txt"})
	if err != nil || !strings.Contains(stat, "1 file changed") || strings.Contains(stat, "a.txt") {
		t.Errorf("stat: %v, %q", err, stat)
	}
	if st, err := r.Status(t.Context()); err != nil || st.Changed != 3 {
		t.Errorf("status: %v, %+v", err, st)
	}
	if out, err := r.Changes(t.Context(), "diff"); err != nil || !strings.Contains(out, "+changed") {
		t.Errorf("changes: %v, %q", err, out)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the repository started a program")
	}
	if got, err := os.ReadFile(filepath.Join(r.Dir, "c.txt")); err != nil || string(got) != "c.txt" {
		t.Errorf("c.txt: %q, %v", got, err)
	}
}

// TestDiffWithoutACommit shows what is staged.
func TestDiffWithoutACommit(t *testing.T) {
	t.Parallel()
	r := mustRepository(t)
	r.Dir = t.TempDir()
	must(t, r, "init", "-q")
	write(t, r, "a.txt", "first\n")
	must(t, r, "add", "a.txt")
	if out, err := r.Diff(t.Context(), true, false, nil); err != nil || !strings.Contains(out, "+first") {
		t.Errorf("staged: %v, %q", err, out)
	}
	if _, err := r.Diff(t.Context(), false, false, nil); err != nil {
		t.Errorf("all: %v", err)
	}
}

// TestDiffFetchesNothing that a repository says it lacks: the program that fetches is its choice.
func TestDiffFetchesNothing(t *testing.T) {
	t.Parallel()
	r := mustRepository(t)
	ran := filepath.Join(t.TempDir(), "ran")
	for key, value := range map[string]string{
		"core.repositoryFormatVersion": "1", "extensions.partialClone": "evil", "remote.evil.promisor": "true",
		"remote.evil.url": "ext::sh -c touch% '" + ran + "'", "protocol.ext.allow": "always",
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
	if out, err := r.Diff(t.Context(), false, false, nil); err == nil {
		t.Errorf("a diff without its content: %q", out)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the repository started a program")
	}
}

// TestALongDiffSaysThatItIsCut and still names new files.
func TestALongDiffSaysThatItIsCut(t *testing.T) {
	t.Parallel()
	r := mustRepository(t)
	write(t, r, "a.txt", strings.Repeat("a line of it\n", git.MaxOutput/13+1))
	write(t, r, "new.txt", "new")
	out, err := r.Diff(t.Context(), false, false, nil)
	if err != nil || !strings.HasSuffix(out, "\n… [cut; name paths to see less of it]\nnew file, not staged: new.txt\n") {
		t.Errorf("%v, %d bytes, ending in %q", err, len(out), out[max(0, len(out)-100):])
	}
}
