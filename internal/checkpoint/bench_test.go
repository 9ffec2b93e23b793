package checkpoint_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes/internal/checkpoint"
)

const (
	benchFiles = 11_500
	benchSize  = 156 << 20
)

// bigTree makes 11,500 files of 156 MB in 1,150 folders: nine in ten are like program text,
// the others cannot be compressed.
func bigTree(b *testing.B, top string) {
	b.Helper()
	r := rand.New(rand.NewPCG(1, 1))
	words := strings.Fields("func return if err nil string int for range struct type package import const var the of and error value path name file folder")
	size := benchSize / benchFiles
	data := make([]byte, 0, size+20)
	old := time.Now().Add(-time.Hour)
	for i := range benchFiles {
		dir := filepath.Join(top, fmt.Sprintf("d%02d/e%03d", i%50, i%1150))
		must(b, os.MkdirAll(dir, 0o755))
		data = data[:0]
		for n := 0; len(data) < size; n++ {
			switch {
			case i%10 == 0:
				data = append(data, byte(r.Uint32()))
			case n%9 == 8:
				data = append(data, '\n')
			default:
				data = append(append(data, words[r.IntN(len(words))]...), ' ')
				if n%5 == 0 {
					data = fmt.Append(data, r.IntN(100_000))
				}
			}
		}
		path := filepath.Join(dir, fmt.Sprintf("f%d.go", i))
		must(b, os.WriteFile(path, data, 0o644))
		must(b, os.Chtimes(path, old, old))
	}
}

// BenchmarkSnapshot makes the first snapshot of a tree, one with nothing changed and some with
// ten changed files each, and does the same with git and a folder of its own. What is reported of
// the last is the median of those in a row.
func BenchmarkSnapshot(b *testing.B) {
	const rounds = 9
	base := b.TempDir()
	dir := filepath.Join(base, "tree")
	bigTree(b, dir)
	d := &desk{t: b, dir: dir}
	for i := range b.N {
		gitDir := filepath.Join(base, fmt.Sprint("git", i))
		git := func(args ...string) {
			b.Helper()
			cmd := exec.Command("git", args...)
			cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+base, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a")
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("git %v: %v\n%s", args, err, out)
			}
		}
		git("init", "-q", "--bare", gitDir)
		git("--git-dir="+gitDir, "config", "core.bare", "false")
		d.store = checkpoint.New(checkpoint.Config{Folder: filepath.Join(base, fmt.Sprint("store", i))})
		kinds := []struct {
			name string
			make func()
		}{
			{"hermes", func() { d.snapshot() }},
			{"git", func() {
				in := []string{"--git-dir=" + gitDir, "--work-tree=" + dir}
				git(append(in, "add", "-A")...)
				git(append(in, "commit", "-q", "--allow-empty", "-m", "snapshot")...)
			}},
		}
		took := map[string][]float64{}
		timed := func(kind, step string, do func()) {
			start := time.Now()
			do()
			unit := kind + "-" + step + "-ms"
			took[unit] = append(took[unit], float64(time.Since(start).Microseconds())/1000)
		}
		for _, step := range []string{"first", "same"} {
			for _, k := range kinds {
				timed(k.name, step, k.make)
			}
		}
		settle(b)
		for _, k := range kinds {
			for round := range rounds {
				for n := range 10 {
					path := filepath.Join(dir, fmt.Sprintf("d%02d/e%03d/f%d.go", n%50, n, n))
					must(b, os.WriteFile(path, fmt.Append(nil, i, k.name, round, n), 0o644))
				}
				timed(k.name, "ten", k.make)
			}
		}
		for unit, all := range took {
			b.Log(unit, all)
			slices.Sort(all)
			b.ReportMetric(all[len(all)/2], unit)
		}
		w, err := d.store.List(dir)
		must(b, err)
		b.ReportMetric(float64(w.Size)/1e6, "hermes-MB")
	}
}

// settle waits until what was written is on the disk, which would slow down what follows.
func settle(b *testing.B) {
	b.Helper()
	if err := exec.Command("sync").Run(); err != nil {
		b.Fatal(err)
	}
	runtime.GC()
}
