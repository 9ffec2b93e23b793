package reference_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// References are read only from the working folder, and never from files that may
// contain secrets.
func TestReferencesThatAreNotAttached(t *testing.T) {
	t.Parallel()
	dir, elsewhere := t.TempDir(), t.TempDir()
	in := sources(t, dir)
	writeFile(t, filepath.Join(elsewhere, "notes.txt"), "of another")
	writeFile(t, filepath.Join(dir, "a.txt"), "one\ntwo\nthree\nfour\n")
	writeFile(t, filepath.Join(dir, "b.bin"), "a\x00b")
	writeFile(t, filepath.Join(dir, "latin.txt"), "caf\xe9")
	writeFile(t, filepath.Join(dir, ".env"), "KEY=hunter2hunter2")
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "sub", "c.txt"), "sub")
	if runtime.GOOS != "windows" {
		for from, to := range map[string]string{"link.txt": filepath.Join(elsewhere, "notes.txt"), "secret.txt": filepath.Join(dir, ".env"), "out": elsewhere} {
			if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tt := range []struct{ ref, shows, warns string }{
		{"@file:a.txt", "one\ntwo\nthree\nfour", ""},
		{"@file:a.txt:2-3", "@file:a.txt:2-3 ---\ntwo\nthree", ""},
		{"@file:a.txt:2", "--- @file:a.txt:2 ---\ntwo", ""},
		{"@file:sub/../a.txt", "one", ""},
		{"@folder:sub", "c.txt", ""},
		{"@file:gone.txt", "", "no such file"},
		{"@file:b.bin", "", "not a text file"},
		{"@file:latin.txt", "", "not a text file"},
		{"@file:sub", "", "@folder:sub"},
		{"@file:.env", "", "secrets"},
		{"@file:" + filepath.Join(elsewhere, "notes.txt"), "", "outside"},
		{"@file:../x/../../etc/passwd", "", ""},
		{"@file:link.txt", "", "outside"},
		{"@file:out/notes.txt", "", "outside"},
		{"@folder:out", "", "outside"},
		{"@folder:../", "", "outside"},
		{"@file:secret.txt", "", "secrets"},
	} {
		if runtime.GOOS == "windows" && strings.Contains(tt.ref, "out") {
			continue
		}
		got, err := in.Expand(t.Context(), "see "+tt.ref+" please", 0)
		if err != nil {
			t.Errorf("%s: %v", tt.ref, err)
			continue
		}
		warned := fmt.Sprint(got.Warnings)
		if tt.shows != "" && (!strings.Contains(got.Attached, tt.shows) || len(got.Warnings) > 0) {
			t.Errorf("%s: attached %q, warnings %s", tt.ref, got.Attached, warned)
		}
		if tt.shows == "" && (got.Attached != "" || len(got.Warnings) != 1 || !strings.Contains(warned, tt.warns)) {
			t.Errorf("%s: attached %q, warnings %s", tt.ref, got.Attached, warned)
		}
	}
}

// TestReferencesOfPaths: @path attaches what is there, under the rules of @file,
// and says nothing about words that are no paths.
func TestReferencesOfPaths(t *testing.T) {
	t.Parallel()
	dir, elsewhere := t.TempDir(), t.TempDir()
	in := sources(t, dir)
	writeFile(t, filepath.Join(dir, "a.txt"), "one\ntwo\nthree\nfour\n")
	writeFile(t, filepath.Join(dir, "my notes.txt"), "notes\n")
	writeFile(t, filepath.Join(dir, ".env"), "KEY=hunter2hunter2")
	writeFile(t, filepath.Join(elsewhere, "x.txt"), "of another")
	writeFile(t, filepath.Join(dir, "big.txt"), strings.Repeat("a line of text\n", 200_000))
	if err := os.MkdirAll(filepath.Join(dir, "sub", "deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "sub", "c.txt"), "sub")
	for _, tt := range []struct{ text, shows, warns, notes string }{
		{"see @a.txt please", "--- @a.txt ---\none\ntwo\nthree\nfour", "", ""},
		{"see @./a.txt.", "--- @./a.txt ---\none", "", ""},
		{"@a.txt:2-3", "--- @a.txt:2-3 ---\ntwo\nthree", "", ""},
		{"@sub/c.txt", "--- @sub/c.txt ---\nsub", "", ""},
		{"@sub and @sub/", "deep/", "", ""},
		{"@" + filepath.Join(dir, "a.txt"), "one", "", ""},
		{`@"my notes.txt":1`, "notes", "", ""},
		{"@a.txt:3-9", "--- @a.txt:3-9 ---\nthree\nfour", "", "it ends at line 4"},
		{"@a.txt:500-600", "", "it has 4 lines", ""},
		{"@file:a.txt:500-600", "", "it has 4 lines", ""},
		{"@file:a.txt:5", "", "it has 4 lines", ""},
		{"@file:big.txt:150000-150001", "--- @file:big.txt:150000-150001 ---\na line of text\na line of text", "", ""},
		{"@./gone.txt", "", "no such file", ""},
		{"@.env", "", "secrets", ""},
		{"@" + filepath.Join(elsewhere, "x.txt"), "", "outside", ""},
		{"@/" + filepath.Join(dir, "a.txt"), "", "", ""}, // for Windows, the name of a machine
		{"mail bob@a.txt, @bob, npm i @scope/pkg, @Override", "", "", ""},
	} {
		got, err := in.Expand(t.Context(), tt.text, 0)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		warned, noted := strings.Join(got.Warnings, "; "), strings.Join(got.Notes, "; ")
		if tt.shows == "" && got.Attached != "" || !strings.Contains(got.Attached, tt.shows) {
			t.Errorf("%s: attached %q", tt.text, got.Attached)
		}
		if (tt.warns == "") != (warned == "") || !strings.Contains(warned, tt.warns) {
			t.Errorf("%s: warnings %q", tt.text, warned)
		}
		if (tt.notes == "") != (noted == "") || !strings.Contains(noted, tt.notes) {
			t.Errorf("%s: notes %q", tt.text, noted)
		}
	}
}

// TestLongFilesAreCutWithANote also checks that the window is no excuse: the note
// says what is missing.
func TestLongFilesAreCutWithANote(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "big.txt"), strings.Repeat("a line of text\n", 200_000))
	got, err := sources(t, dir).Expand(t.Context(), "@big.txt", 10_000_000)
	if err != nil || len(got.Notes) == 0 || !strings.Contains(got.Notes[0], "2.0 MB") || strings.HasSuffix(got.Attached, "of tex") {
		t.Errorf("notes %q, %v", got.Notes, err)
	}
}

// TestUntrackedFilesAreInTheDiff: new files count as changes, with the content of
// small texts, and the rules for secrets hold.
func TestUntrackedFilesAreInTheDiff(t *testing.T) {
	t.Parallel()
	dir, elsewhere := t.TempDir(), t.TempDir()
	gitInit(t, dir)
	in := sources(t, dir)
	writeFile(t, filepath.Join(dir, "new.txt"), "brand new\n")
	writeFile(t, filepath.Join(dir, ".gitignore"), "ignored.txt\n")
	writeFile(t, filepath.Join(dir, "ignored.txt"), "IGNORED TEXT")
	writeFile(t, filepath.Join(dir, ".env"), "KEY=hunter2hunter2")
	writeFile(t, filepath.Join(dir, "b.bin"), "a\x00BINARY")
	writeFile(t, filepath.Join(dir, "long.txt"), strings.Repeat("LONG TEXT\n", 10_000))
	writeFile(t, filepath.Join(elsewhere, "x.txt"), "TEXT OF ANOTHER")
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "sub", "c.txt"), "in a folder\n")
	if runtime.GOOS != "windows" {
		if err := os.Symlink(filepath.Join(elsewhere, "x.txt"), filepath.Join(dir, "link.txt")); err != nil {
			t.Fatal(err)
		}
	}
	got, err := in.Expand(t.Context(), "@diff", 0)
	if err != nil || len(got.Warnings) > 0 {
		t.Fatal(got.Warnings, err)
	}
	for _, want := range []string{"Untracked files:", "new.txt", "+brand new", "+++ b/sub/c.txt", "+in a folder", ".env", "b.bin", "long.txt"} {
		if !strings.Contains(got.Attached, want) {
			t.Errorf("no %q in %q", want, got.Attached)
		}
	}
	for _, not := range []string{"hunter2", "BINARY", "LONG TEXT", "IGNORED TEXT", "TEXT OF ANOTHER", "ignored.txt ("} {
		if strings.Contains(got.Attached, not) {
			t.Errorf("%q is in %q", not, got.Attached)
		}
	}
	for i := range 500 {
		writeFile(t, filepath.Join(dir, "sub", fmt.Sprintf("many-%03d.txt", i)), strings.Repeat("some words ", 500))
	}
	if got, err = in.Expand(t.Context(), "@diff", 0); err != nil || len(got.Attached) > 200_000 || !strings.Contains(got.Attached, " more") {
		t.Errorf("%d bytes of many files, %v", len(got.Attached), err)
	}
	staged, err := in.Expand(t.Context(), "@staged", 0)
	if err != nil || strings.Contains(staged.Attached, "new.txt") {
		t.Errorf("staged: %q, %v", staged.Attached, err)
	}
	sub, err := sources(t, filepath.Join(dir, "sub")).Expand(t.Context(), "@diff", 0)
	if err != nil || !strings.Contains(sub.Attached, "+in a folder") || !strings.Contains(sub.Attached, "new.txt") || strings.Contains(sub.Attached, "brand new") {
		t.Errorf("from a folder of the repository: %.300q, %v", sub.Attached, err)
	}
}
