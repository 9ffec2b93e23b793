package gitindex_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/sandbox/gitguard/gitindex"
)

// git runs git in a folder, without settings of the user.
func git(t testing.TB, dir, stdin string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=b"}, args...)...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// entries is what `git update-index --index-info` reads: files, two submodules, and one
// with a long name.
func entries(hash int) string {
	var b strings.Builder
	id := strings.Repeat("1", hash)
	for i := range 50 {
		fmt.Fprintf(&b, "100644 %s\tdir%d/file%s\n", id, i%7, strings.Repeat("x", i))
	}
	fmt.Fprintf(&b, "160000 %s\tvendor/x\n160000 %s\tdir3/sub\n160000 %s\t%s\n", id, id, id, long)
	return b.String()
}

var (
	long = strings.Repeat("a/", 2300) + "z"
	want = []string{long, "dir3/sub", "vendor/x"}
)

// mustIndexes returns indexes that git made.
func mustIndexes(t testing.TB) map[string][]byte {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	out := map[string][]byte{}
	for _, format := range []string{"sha1", "sha256"} {
		for _, version := range []string{"2", "3", "4"} {
			dir := t.TempDir()
			git(t, dir, "", "init", "-q", "--object-format="+format)
			git(t, dir, "", "config", "index.threads", "4")
			git(t, dir, "", "config", "core.untrackedCache", "true")
			git(t, dir, entries(map[string]int{"sha1": 40, "sha256": 64}[format]), "update-index", "--index-info")
			if version == "3" {
				git(t, dir, "", "update-index", "--skip-worktree", "vendor/x")
			}
			git(t, dir, "", "update-index", "--index-version", version)
			text, err := os.ReadFile(filepath.Join(dir, ".git/index"))
			if err != nil {
				t.Fatal(err)
			}
			out[format+" "+version] = text
		}
	}
	return out
}

func TestSubmodulesAreFoundInIndexesOfGit(t *testing.T) {
	t.Parallel()
	for name, text := range mustIndexes(t) {
		got, err := gitindex.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got.Links); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestLargeIndexesOfGitAreUnderstood has a table of blocks, which git reads in parallel.
func TestLargeIndexesOfGitAreUnderstood(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	for _, version := range []string{"2", "4"} {
		text := mustLarge(t, version)
		if !bytes.Contains(text, []byte("IEOT")) || !bytes.Contains(text, []byte("EOIE")) {
			t.Fatal("there is no table")
		}
		got, err := gitindex.Parse(text)
		if err != nil || !slices.Equal(got.Links, []string{"f50000/sub"}) {
			t.Errorf("version %s: %q, %v", version, got.Links, err)
		}
		// A table that leads elsewhere.
		at := bytes.Index(text, []byte("IEOT"))
		binary.BigEndian.PutUint32(text[at+12:], 100)
		if _, err := gitindex.Parse(text); !errors.Is(err, gitindex.ErrUnknown) {
			t.Errorf("version %s: another table: %v", version, err)
		}
	}
}

// mustLarge returns an index of 100,000 entries.
func mustLarge(t testing.TB, version string) []byte {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, "", "init", "-q")
	git(t, dir, "", "config", "index.threads", "2")
	var b strings.Builder
	id := strings.Repeat("1", 40)
	for i := range 100_000 {
		fmt.Fprintf(&b, "100644 %s\tsome/folder%d/and/file%d.go\n", id, i/100, i)
	}
	fmt.Fprintf(&b, "160000 %s\tf50000/sub\n", id)
	git(t, dir, "", "config", "index.version", version)
	git(t, dir, b.String(), "update-index", "--index-info")
	text, err := os.ReadFile(filepath.Join(dir, ".git/index"))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestASplitIndexNamesTheOther(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	dir := t.TempDir()
	git(t, dir, "", "init", "-q")
	git(t, dir, entries(40), "update-index", "--index-info")
	git(t, dir, "", "update-index", "--split-index")
	git(t, dir, "160000 "+strings.Repeat("2", 40)+"\tnew\n", "update-index", "--index-info")
	text, err := os.ReadFile(filepath.Join(dir, ".git/index"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := gitindex.Parse(text)
	if err != nil || !slices.Equal(got.Links, []string{"new"}) {
		t.Errorf("%+v, %v", got, err)
	}
	if text, err = os.ReadFile(filepath.Join(dir, ".git", got.Shared)); err != nil {
		t.Fatal(err)
	}
	if got, err = gitindex.Parse(text); err != nil || !slices.Equal(got.Links, want) {
		t.Errorf("%d links, %v", len(got.Links), err)
	}
}

// one returns an index with one entry.
func one(version uint32, mode uint32, name string, rest string) []byte {
	b := []byte("DIRC")
	b = binary.BigEndian.AppendUint32(b, version)
	b = binary.BigEndian.AppendUint32(b, 1)
	b = append(b, make([]byte, 24)...)
	b = binary.BigEndian.AppendUint32(b, mode)
	b = append(b, make([]byte, 12+20)...)
	b = binary.BigEndian.AppendUint16(b, uint16(len(name)))
	if version == 4 {
		b = append(b, 0)
	}
	b = append(b, name...)
	b = append(b, 0)
	for version != 4 && (len(b)-12)%8 != 0 {
		b = append(b, 0)
	}
	b = append(b, rest...)
	return append(b, make([]byte, 20)...)
}

func TestWhatGitMayReadOtherwiseIsRefused(t *testing.T) {
	t.Parallel()
	for version := uint32(2); version <= 4; version++ {
		if got, err := gitindex.Parse(one(version, 0o160000, "sub", "")); err != nil || !slices.Equal(got.Links, []string{"sub"}) {
			t.Errorf("version %d: %v, %v", version, got, err)
		}
		if got, err := gitindex.Parse(one(version, 0o040000, "sparse/", "")); err != nil || !slices.Equal(got.Sparse, []string{"sparse/"}) {
			t.Errorf("version %d: %v, %v", version, got, err)
		}
	}
	short := one(2, 0o100644, "sub", "")
	short[12+61]++
	for name, text := range map[string][]byte{
		"nothing":                nil,
		"another file":           []byte("DIRX" + strings.Repeat("\x00", 100)),
		"version 5":              one(5, 0o160000, "sub", ""),
		"a cut entry":            one(2, 0o160000, "sub", "")[:60],
		"a wrong length":         short,
		"a name with an end":     one(2, 0o160000, "a\x00b", ""),
		"no name":                one(2, 0o160000, "", ""),
		"a cut extension":        one(2, 0o160000, "sub", "TREE\x00\x00\x00\x09"),
		"extensions elsewhere":   one(2, 0o160000, "sub", "EOIE\x00\x00\x00\x18\x00\x00\x00\x20"+strings.Repeat("\x00", 20)),
		"a table of more blocks": one(2, 0o160000, "sub", "IEOT\x00\x00\x00\x0c\x00\x00\x00\x01\x00\x00\x00\x0c\x00\x00\x00\x02"),
		"a table that leads out": one(2, 0o160000, "sub", "IEOT\x00\x00\x00\x0c\x00\x00\x00\x01\x00\x00\x10\x00\x00\x00\x00\x01"),
		"a table of fewer":       one(2, 0o160000, "sub", "IEOT\x00\x00\x00\x04\x00\x00\x00\x01"),
		"two shared indexes":     one(2, 0o160000, "sub", strings.Repeat("link\x00\x00\x00\x14"+strings.Repeat("x", 20), 2)),
	} {
		if got, err := gitindex.Parse(text); !errors.Is(err, gitindex.ErrUnknown) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func FuzzIndex(f *testing.F) {
	for version := uint32(2); version <= 5; version++ {
		f.Add(one(version, 0o160000, "vendor/x", "link\x00\x00\x00\x14"+strings.Repeat("x", 20)))
		f.Add(one(version, 0o100644, "a", "IEOT\x00\x00\x00\x0c\x00\x00\x00\x01\x00\x00\x00\x0c\x00\x00\x00\x01"))
	}
	if _, err := exec.LookPath("git"); err == nil {
		for _, text := range mustIndexes(f) {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		before := bytes.Clone(text)
		got, err := gitindex.Parse(text)
		if !bytes.Equal(before, text) {
			t.Error("the text was changed")
		}
		if err == nil && slices.Contains(got.Links, "") {
			t.Error("a submodule without a name")
		}
		if got.Shared != "" && !strings.HasPrefix(got.Shared, "sharedindex.") {
			t.Errorf("the shared index %q", got.Shared)
		}
	})
}

func BenchmarkIndexOf100000Entries(b *testing.B) {
	for _, version := range []string{"2", "4"} {
		text := mustLarge(b, version)
		b.Run("version "+version, func(b *testing.B) {
			for b.Loop() {
				if _, err := gitindex.Parse(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
