package object_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"hermes/internal/checkpoint/object"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustOpen(t testing.TB, folder string) *object.Store {
	t.Helper()
	s, err := object.Open(folder)
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// contents returns what is hard in different ways: empty, small, text, noise, and both
// bigger than what is held in memory.
func contents() [][]byte {
	r := rand.New(rand.NewPCG(3, 4))
	noise := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}
	return [][]byte{nil, []byte("x"), []byte(strings.Repeat("a line of text\n", 5000)), noise(100 << 10), noise(1<<20 + 7), []byte(strings.Repeat("more text\n", 300_000))}
}

func packs(t *testing.T, folder string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(folder, "*.pack"))
	must(t, err)
	return list
}

func TestWhatIsAddedIsReadByteForByte(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "packs")
	s := mustOpen(t, folder)
	var hashes []object.Hash
	for _, c := range contents() {
		h, n, err := s.AddFrom(bytes.NewReader(c))
		must(t, err)
		if n != int64(len(c)) || h != object.HashOf(c) {
			t.Errorf("%d bytes: got %d bytes, hash %s", len(c), n, h)
		}
		hashes = append(hashes, h)
	}
	check := func(when string, s *object.Store) {
		for i, c := range contents() {
			got, err := s.Read(hashes[i])
			if err != nil || !bytes.Equal(got, c) {
				t.Errorf("%s: content %d: %d bytes, %v", when, i, len(got), err)
			}
		}
	}
	check("before the commit", s)
	must(t, s.Commit())
	check("after the commit", s)
	for _, c := range contents() { // nothing is stored twice
		_, err := s.Add(c)
		must(t, err)
	}
	must(t, s.Commit())
	if got := packs(t, folder); len(got) != 1 {
		t.Errorf("got packs %v, want one", got)
	}
	must(t, s.Close())
	s = mustOpen(t, folder)
	check("opened again", s)
	if _, err := s.Read(object.HashOf([]byte("other"))); !errors.Is(err, object.ErrMissing) {
		t.Errorf("unknown content: %v", err)
	}
	if raw := 3<<20 + 1<<20; s.Size() > int64(raw) {
		t.Errorf("text is not compressed: %d bytes", s.Size())
	}
	for _, p := range packs(t, folder) {
		if info, err := os.Stat(p); err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
			t.Errorf("others may read the pack: %v, %v", info.Mode(), err)
		}
	}
}

func TestManyMayAddAtOnce(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, t.TempDir())
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 200 {
				if _, err := s.Add([]byte(fmt.Sprint("content ", i))); err != nil {
					t.Error(g, err)
				}
			}
		})
	}
	all.Wait()
	must(t, s.Commit())
	for i := range 200 {
		c := []byte(fmt.Sprint("content ", i))
		if got, err := s.Read(object.HashOf(c)); err != nil || !bytes.Equal(got, c) {
			t.Fatalf("content %d: %q, %v", i, got, err)
		}
	}
}

func TestWhatWasNotCommittedIsGone(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := mustOpen(t, folder)
	h, err := s.Add([]byte("content"))
	must(t, err)
	s.Discard()
	if s.Has(h) {
		t.Error("a discarded content is there")
	}
	must(t, os.WriteFile(filepath.Join(folder, "ABC.tmp"), []byte("half a pack"), 0o600))
	must(t, s.Close())
	mustOpen(t, folder)
	if entries, _ := os.ReadDir(folder); len(entries) != 0 {
		t.Errorf("left behind: %v", entries)
	}
}

// shifting gives other bytes each time it is read from the beginning.
type shifting struct {
	bytes.Reader
	times int
}

func (s *shifting) Seek(offset int64, whence int) (int64, error) {
	s.times++
	s.Reader = *bytes.NewReader(bytes.Repeat([]byte{byte('a' + s.times), '\n'}, 1<<20))
	return 0, nil
}

func TestAContentThatChangesWhileItIsReadIsNotStored(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, t.TempDir())
	before, err := s.Add([]byte("before"))
	must(t, err)
	moving := &shifting{Reader: *bytes.NewReader(bytes.Repeat([]byte("a\n"), 1<<20))}
	if _, _, err := s.AddFrom(moving); !errors.Is(err, object.ErrChanged) {
		t.Fatalf("got %v", err)
	}
	after, err := s.Add([]byte("after"))
	must(t, err)
	must(t, s.Commit())
	for h, want := range map[object.Hash]string{before: "before", after: "after"} {
		if got, err := s.Read(h); err != nil || string(got) != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	if s.Size() > 1000 {
		t.Errorf("the pack has %d bytes", s.Size())
	}
}

// TestEveryDamagedByteIsNoticed changes each byte of a pack in turn: what is read is what was
// stored, or an error.
func TestEveryDamagedByteIsNoticed(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := mustOpen(t, folder)
	small := [][]byte{[]byte("one content"), []byte(strings.Repeat("text ", 40))}
	for _, c := range small {
		_, err := s.Add(c)
		must(t, err)
	}
	must(t, s.Commit())
	must(t, s.Close())
	path := packs(t, folder)[0]
	good, err := os.ReadFile(path)
	must(t, err)
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 0x55
		must(t, os.WriteFile(path, bad, 0o600))
		s, err := object.Open(folder)
		must(t, err)
		for _, c := range small {
			if got, err := s.Read(object.HashOf(c)); err == nil && !bytes.Equal(got, c) {
				t.Fatalf("byte %d: got %q", i, got)
			}
		}
		must(t, s.Close())
	}
	for n := range good { // cut
		must(t, os.WriteFile(path, good[:n], 0o600))
		s, err := object.Open(folder)
		must(t, err)
		if len(s.Damaged()) != 1 {
			t.Fatalf("cut to %d bytes: not noticed", n)
		}
		must(t, s.Close())
	}
}

func TestSweepRemovesWhatIsNotNeededAndJoinsSmallPacks(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := mustOpen(t, folder)
	wanted := map[object.Hash]string{}
	for i := range 40 {
		c := fmt.Sprint("content ", i)
		h, err := s.Add([]byte(c))
		must(t, err)
		if i%2 == 0 {
			wanted[h] = c
		}
		must(t, s.Commit())
	}
	must(t, s.Sweep(context.Background(), func(h object.Hash) bool { return wanted[h] != "" }))
	if got := packs(t, folder); len(got) != 1 {
		t.Errorf("got %d packs, want 1", len(got))
	}
	for _, s := range []*object.Store{s, mustOpen(t, folder)} {
		for h, want := range wanted {
			if got, err := s.Read(h); err != nil || string(got) != want {
				t.Errorf("got %q, %v, want %q", got, err, want)
			}
		}
		if s.Has(object.HashOf([]byte("content 1"))) {
			t.Error("what is not needed is there")
		}
	}
	must(t, s.Sweep(context.Background(), func(object.Hash) bool { return false }))
	if got := packs(t, folder); len(got) != 0 || s.Size() != 0 {
		t.Errorf("got packs %v, %d bytes", got, s.Size())
	}
}

func FuzzPack(f *testing.F) {
	folder := f.TempDir()
	s := mustOpen(f, folder)
	h, err := s.Add([]byte(strings.Repeat("text ", 40)))
	must(f, err)
	must(f, s.Commit())
	list, _ := filepath.Glob(filepath.Join(folder, "*.pack"))
	good, err := os.ReadFile(list[0])
	must(f, err)
	f.Add(good)
	f.Fuzz(func(t *testing.T, data []byte) {
		folder := t.TempDir()
		must(t, os.WriteFile(filepath.Join(folder, "A.pack"), data, 0o600))
		s, err := object.Open(folder)
		must(t, err)
		defer s.Close()
		if got, err := s.Read(h); err == nil && object.HashOf(got) != h {
			t.Errorf("got %q", got)
		}
	})
}
