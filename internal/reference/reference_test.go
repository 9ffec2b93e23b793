package reference_test

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/reference"
)

func TestFind(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]reference.Reference{
		"look at @file:main.go please":   {{Kind: reference.File, Text: "@file:main.go", Target: "main.go"}},
		"@file:src/a.go:10-25.":          {{Kind: reference.File, Text: "@file:src/a.go:10-25", Target: "src/a.go", From: 10, To: 25}},
		"(@file:a.go:7)":                 {{Kind: reference.File, Text: "@file:a.go:7", Target: "a.go", From: 7, To: 7}},
		"@file:a.go#L10-L25, and":        {{Kind: reference.File, Text: "@file:a.go#L10-L25", Target: "a.go", From: 10, To: 25}},
		`@file:"my notes.txt":3 now`:     {{Kind: reference.File, Text: `@file:"my notes.txt":3`, Target: "my notes.txt", From: 3, To: 3}},
		"@folder:src!":                   {{Kind: reference.Folder, Text: "@folder:src", Target: "src"}},
		"see @diff and @staged.":         {{Kind: reference.Diff, Text: "@diff"}, {Kind: reference.Staged, Text: "@staged"}},
		"@git:3":                         {{Kind: reference.Commits, Text: "@git:3", Target: "3", From: 3}},
		"@git:99":                        {{Kind: reference.Commits, Text: "@git:99", Target: "99", From: 10}},
		"@url:https://example.org/a?b=c": {{Kind: reference.URL, Text: "@url:https://example.org/a?b=c", Target: "https://example.org/a?b=c"}},
		"@url:https://x.org/a_(b).":      {{Kind: reference.URL, Text: "@url:https://x.org/a_(b)", Target: "https://x.org/a_(b)"}},
		"@session:20261120_175335":       {{Kind: reference.Session, Text: "@session:20261120_175335", Target: "20261120_175335"}},
		"@diff @diff":                    {{Kind: reference.Diff, Text: "@diff"}},
		"mail me@file.org":               nil,
		"a@diff.com and @someone":        nil,
		"@different things":              nil,
		"@git:0 @git:x @url:ftp://x":     nil,
		"@file: nothing":                 nil,
		"@":                              nil,
	} {
		if diff := cmp.Diff(want, reference.Find(text)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestExpandPutsContentBelow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gitInit(t, dir)
	writeFile(t, filepath.Join(dir, "a.go"), "one\ntwo\nthree\nfour\n")
	writeFile(t, filepath.Join(dir, ".gitignore"), "*\n")
	e, err := sources(t, dir).Expand(t.Context(), "compare @file:a.go:2-3 with @diff, @file:gone and @staged", 0)
	if err != nil {
		t.Fatal(err)
	}
	want := reference.Expanded{
		Attached:   "Attached context:\n\n--- @file:a.go:2-3 ---\ntwo\nthree\n\n--- @diff ---\n(no changes)\n\n--- @staged ---\n(no changes)",
		Warnings:   []string{"@file:gone: there is no such file"},
		Tokens:     e.Tokens,
		Provenance: "@file:a.go:2-3; @diff; @staged",
	}
	if diff := cmp.Diff(want, e); diff != "" {
		t.Error(diff)
	}
}

func TestCommits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gitInit(t, dir)
	for _, subject := range []string{"the first", "the second", "the third"} {
		c := exec.Command("git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", subject)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git: %v, %s", err, out)
		}
	}
	e, err := sources(t, dir).Expand(t.Context(), "@git:2", 0)
	if err != nil || !strings.Contains(e.Attached, "the third") || !strings.Contains(e.Attached, "the second") || strings.Contains(e.Attached, "the first") {
		t.Errorf("%+v, %v", e, err)
	}
}

// TestSessions: the words of an earlier session are attached, not the results of its
// tools.
func TestSessions(t *testing.T) {
	t.Parallel()
	s := sources(t, t.TempDir())
	s.Store = func(context.Context) (reference.Sessions, error) { return shelf{}, nil }
	e, err := s.Expand(t.Context(), "as in @session:s1, not @session:s2", 0)
	if err != nil {
		t.Fatal(err)
	}
	if want := "Attached context:\n\n--- @session:s1 ---\nuser: do it\nassistant: done"; e.Attached != want {
		t.Errorf("attached %q", e.Attached)
	}
	if diff := cmp.Diff([]string{"@session:s2: there is no such session"}, e.Warnings); diff != "" {
		t.Error(diff)
	}
}

// shelf holds the session s1.
type shelf struct{}

func (shelf) FindSession(_ context.Context, ref string) (hermes.Session, error) {
	if ref != "s1" {
		return hermes.Session{}, hermes.ErrNotFound
	}
	return hermes.Session{ID: "s1"}, nil
}

func (shelf) Messages(context.Context, string, hermes.Range) ([]hermes.Message, error) {
	say := func(r hermes.Role, text string) hermes.Message {
		return hermes.Message{Role: r, Parts: []hermes.Part{{Text: text}}}
	}
	return []hermes.Message{say(hermes.RoleUser, "do it"), say(hermes.RoleTool, "a result"), say(hermes.RoleAssistant, "done")}, nil
}

func TestTooMuchGivesANoteOrIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	expand := func(words int) (reference.Expanded, error) {
		writeFile(t, filepath.Join(dir, "a"), strings.Repeat("word ", words))
		return sources(t, dir).Expand(t.Context(), "@file:a", 10_000)
	}
	e, err := expand(2400)
	if err != nil || len(e.Notes) != 1 || len(e.Warnings) > 0 || e.Attached == "" {
		t.Errorf("a quarter: %v, %v", e.Notes, err)
	}
	e, err = expand(6000)
	if !errors.Is(err, reference.ErrTooMuch) || e.Attached != "" {
		t.Errorf("a half: %v", err)
	}
	if e, err := sources(t, dir).Expand(t.Context(), "plain words", 10); err != nil || e.Attached != "" || e.Warnings != nil {
		t.Errorf("nothing: %+v, %v", e, err)
	}
}

func FuzzFind(f *testing.F) {
	f.Add("@file:\"a b\":3-4, (@url:http://x)")
	f.Fuzz(func(t *testing.T, text string) {
		every := func(string) reference.Kind { return reference.File }
		for _, r := range append(reference.Find(text), reference.FindIn(text, every)...) {
			if !strings.Contains(text, r.Text) || !strings.HasPrefix(r.Text, "@") {
				t.Errorf("%+v is not in %q", r, text)
			}
		}
	})
}

// TestPartsShowWhatIsMissing: the content is hidden and keeps its source, the rest is shown.
func TestPartsShowWhatIsMissing(t *testing.T) {
	t.Parallel()
	got := reference.Expanded{Attached: "text", Provenance: "notes.md", Warnings: []string{"no a", "no b"}, Notes: []string{"long"}}.Parts()
	want := []hermes.Part{{Text: "text", Hidden: true, Provenance: "notes.md"}, {Text: "[Not attached: no a; no b]"}, {Text: "[Attached: long]"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := (reference.Expanded{}).Parts(); len(got) > 0 {
		t.Errorf("nothing gives %v", got)
	}
}
