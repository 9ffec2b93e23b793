package source_test

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/plugin/source"
)

// archive is a .tar.gz with the file "file", and n links of which each leads to what to says.
func archive(t *testing.T, n int, to func(i int) string) source.Source {
	t.Helper()
	path := filepath.Join(t.TempDir(), "p.tar.gz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	w := tar.NewWriter(z)
	err = w.WriteHeader(&tar.Header{Name: "file", Mode: 0o644, Size: 4, Typeflag: tar.TypeReg})
	_, written := w.Write([]byte("text"))
	err = errors.Join(err, written)
	for i := range n {
		err = errors.Join(err, w.WriteHeader(&tar.Header{Name: fmt.Sprintf("l%d", i), Linkname: to(i), Typeflag: tar.TypeSymlink}))
	}
	if err = errors.Join(err, w.Close(), z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return source.Source{Kind: source.Archive, From: path}
}

// chain makes each of n links lead to the next one, and the last to the file.
func chain(n int) func(int) string {
	return func(i int) string {
		if i == n-1 {
			return "file"
		}
		return fmt.Sprintf("l%d", i+1)
	}
}

// TestLinksOfAnArchiveAreBounded: reading it ends soon, whatever it holds.
func TestLinksOfAnArchiveAreBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := archive(t, 30, chain(30)).Fetch(t.Context(), source.Tools{}, dir); err != nil {
		t.Error(err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "l0")); string(data) != "text" || err != nil {
		t.Errorf("the copy is %q, %v", data, err)
	}
	for _, tt := range []struct {
		s    source.Source
		want string
	}{
		{archive(t, 60, chain(60)), "a link to a link"},
		{archive(t, 20_000, func(int) string { return "none" }), "more than 20000 files"},
		{archive(t, 2, func(i int) string { return fmt.Sprintf("l%d", 1-i) }), "leads to no file"},
	} {
		if err := tt.s.Fetch(t.Context(), source.Tools{}, t.TempDir()); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
}

// TestReadingAPluginIsStopped by the end of its context, in each form.
func TestReadingAPluginIsStopped(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "plugin.yaml"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, s := range []source.Source{archive(t, 3, chain(3)), {Kind: source.Folder, From: folder}} {
		if err := s.Fetch(ctx, source.Tools{}, t.TempDir()); !errors.Is(err, context.Canceled) {
			t.Error(s.Kind, err)
		}
	}
}
