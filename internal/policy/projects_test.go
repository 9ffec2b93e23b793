package policy_test

import (
	_ "embed"
	"strings"
	"testing"

	"hermes/internal/policy"
)

//go:embed testdata/projects.txtar
var projectFiles string

//go:embed testdata/projects_unseen.txtar
var unseenProjectFiles string

// TestProjectFilesAreJudgedRight scans whole project files: honest ones, honest ones that quote attacks, and attacks inside
// plausible files. The bounds are promises to users, so a change of the patterns may not loosen them.
func TestProjectFilesAreJudgedRight(t *testing.T) {
	t.Parallel()
	files := judgeProjects(t, projectFiles, 2, 2)
	if files["injected"] < 60 || files["honest"] < 180 || files["quoting"] < 20 {
		t.Errorf("the corpus has %v files; want 60 injected, 180 honest, 20 quoting", files)
	}
}

// TestUnseenProjectFilesAreJudgedNoWorse scans files that were written after the last change of the patterns and after which
// no pattern was changed. They show how little patterns say about new attacks. The bounds are what was measured: lower them
// when a general rule finds more, and do not write rules for these files.
func TestUnseenProjectFilesAreJudgedNoWorse(t *testing.T) {
	t.Parallel()
	judgeProjects(t, unseenProjectFiles, 9, 6)
}

// judgeProjects scans the files of a corpus and returns how many it has of each kind.
func judgeProjects(t *testing.T, corpus string, mayMiss, mayBlock int) map[string]int {
	t.Helper()
	files, missed, blocked := map[string]int{}, 0, 0
	for name, text := range archive(t, corpus) {
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
	if missed > mayMiss || blocked > mayBlock {
		t.Errorf("%d injected files missed, %d honest ones blocked; want at most %d and %d", missed, blocked, mayMiss, mayBlock)
	}
	return files
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
