package app_test

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
	a := openHome(t, t.TempDir())
	defer a.Close()
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
		got, err := a.References(t.Context(), "see "+tt.ref+" please", dir, "m", nil)
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
