package reference_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

func sources(size int) reference.Sources {
	return reference.Sources{
		File: func(_ context.Context, path string, from, to int) (reference.Page, error) {
			if path == "secret" {
				return reference.Page{}, errors.New("it may hold secrets and is not attached")
			}
			return reference.Page{Text: fmt.Sprintf("content of %s %d-%d %s", path, from, to, strings.Repeat("word ", size))}, nil
		},
		Git: func(_ context.Context, args ...string) (string, error) {
			if args[0] == "log" {
				return strings.Join(args, " "), nil
			}
			return "", nil
		},
	}
}

func TestExpandPutsContentBelow(t *testing.T) {
	t.Parallel()
	e, err := reference.Expand(t.Context(), "compare @file:a.go:2-3 with @diff, @git:2, @file:secret and @url:https://x.org", sources(1), 0)
	if err != nil {
		t.Fatal(err)
	}
	want := "Attached context:\n\n--- @file:a.go:2-3 ---\ncontent of a.go 2-3 word \n\n--- @diff ---\n(no changes)\n\n--- @git:2 ---\nlog -p -2"
	if e.Attached != want {
		t.Errorf("attached %q", e.Attached)
	}
	if len(e.Warnings) != 2 || !strings.Contains(e.Warnings[0], "secrets") || !strings.Contains(e.Warnings[1], "is not available here") {
		t.Errorf("warnings %q", e.Warnings)
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	s := reference.Sources{URL: func(_ context.Context, address string) (reference.Page, error) {
		if strings.HasSuffix(address, "/bad") {
			return reference.Page{}, errors.New("the server answered Not Found (404)")
		}
		return reference.Page{Text: "page at " + address, Note: "it was cut"}, nil
	}}
	e, err := reference.Expand(t.Context(), `@url:https://x.org/a(b), @url:"https://x.org/c d" @url:https://x.org/bad.`, s, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := "Attached context:\n\n--- @url:https://x.org/a(b) ---\npage at https://x.org/a(b)\n\n--- @url:\"https://x.org/c d\" ---\npage at https://x.org/c d"
	if e.Attached != want {
		t.Errorf("attached %q", e.Attached)
	}
	if len(e.Notes) != 2 || e.Notes[0] != "@url:https://x.org/a(b): it was cut" || len(e.Warnings) != 1 || !strings.Contains(e.Warnings[0], "/bad: the server answered") {
		t.Errorf("notes %q, warnings %q", e.Notes, e.Warnings)
	}
	if !strings.Contains(e.Provenance, "@url:https://x.org/a(b)") {
		t.Errorf("provenance %q", e.Provenance)
	}
}

func TestTooMuchGivesANoteOrIsRefused(t *testing.T) {
	t.Parallel()
	const text = "@file:a"
	e, err := reference.Expand(t.Context(), text, sources(2400), 10_000)
	if err != nil || len(e.Notes) != 1 || len(e.Warnings) > 0 || e.Attached == "" {
		t.Errorf("a quarter: %v, %v", e.Notes, err)
	}
	e, err = reference.Expand(t.Context(), text, sources(6000), 10_000)
	if !errors.Is(err, reference.ErrTooMuch) || e.Attached != "" {
		t.Errorf("a half: %v", err)
	}
	if e, err := reference.Expand(t.Context(), "plain words", sources(1), 10); err != nil || e.Attached != "" || e.Warnings != nil {
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
