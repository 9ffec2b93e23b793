package policy_test

import (
	_ "embed"
	"strings"
	"testing"

	"hermes/internal/policy"
)

//go:embed testdata/projects.txtar
var projectFiles string

// TestProjectFilesAreJudgedRight scans whole project files: honest ones, honest ones that quote attacks, and attacks inside
// plausible files. The bounds are promises to users, so a change of the patterns may not loosen them.
func TestProjectFilesAreJudgedRight(t *testing.T) {
	t.Parallel()
	files, missed, blocked := map[string]int{}, 0, 0
	for name, text := range archive(t, projectFiles) {
		kind, _, _ := strings.Cut(name, "/")
		files[kind]++
		switch pattern := policy.Injection(text); {
		case kind == "injected" && pattern == "":
			missed++
			t.Logf("missed: %s", name)
		case kind != "injected" && pattern != "":
			blocked++
			t.Logf("blocked: %s by %q", name, pattern)
		}
	}
	t.Logf("%v: %d injected missed, %d honest blocked", files, missed, blocked)
	if files["injected"] < 60 || files["honest"] < 180 || files["quoting"] < 20 {
		t.Errorf("the corpus has %v files; want 60 injected, 180 honest, 20 quoting", files)
	}
	if missed > 2 || blocked > 2 {
		t.Errorf("%d injected files missed, %d honest ones blocked; want at most 2 of each", missed, blocked)
	}
}

// archive splits the text at its lines "-- name --".
func archive(t *testing.T, text string) map[string]string {
	t.Helper()
	files, name := map[string]string{}, ""
	for line := range strings.Lines(text) {
		if head, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "-- "); ok && strings.HasSuffix(head, " --") {
			name = strings.TrimSuffix(head, " --")
			if _, twice := files[name]; twice {
				t.Fatalf("the corpus has %s twice", name)
			}
			files[name] = ""
			continue
		}
		files[name] += line
	}
	return files
}
