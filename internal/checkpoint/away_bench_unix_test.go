//go:build unix

package checkpoint_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"hermes/internal/checkpoint"
)

// counted counts the bytes that travel to and from a place.
type counted struct {
	*shell
	bytes, scripts int
}

func (c *counted) Script(ctx context.Context, text string, stdin io.Reader, stdout, stderr io.Writer) (int, error) {
	c.bytes += len(text)
	c.scripts++
	return c.shell.Script(ctx, text, stdin, io.MultiWriter(stdout, c), stderr)
}

func (c *counted) Write(p []byte) (int, error) {
	c.bytes += len(p)
	return len(p), nil
}

// BenchmarkSnapshotInAPlace is BenchmarkSnapshot with a place that is a shell of this machine:
// what scripts take, without a network, and how much would travel over it.
func BenchmarkSnapshotInAPlace(b *testing.B) {
	base, err := filepath.EvalSymlinks(b.TempDir())
	must(b, err)
	dir := filepath.Join(base, "tree")
	bigTree(b, dir)
	for i := range b.N {
		home := filepath.Join(base, fmt.Sprint("home", i))
		must(b, os.Mkdir(home, 0o755))
		c := &counted{shell: &shell{words: []string{"sh"}, home: home}}
		d := &desk{t: b, dir: dir, store: checkpoint.New(checkpoint.Config{Folder: filepath.Join(base, fmt.Sprint("mirror", i)), Place: c})}
		for _, step := range []string{"first", "same", "ten"} {
			if step == "ten" {
				for n := range 10 {
					must(b, os.WriteFile(filepath.Join(dir, fmt.Sprintf("d%02d/e%03d/f%d.go", n%50, n, n)), fmt.Append(nil, i, n), 0o644))
				}
			}
			start := time.Now()
			c.bytes, c.scripts = 0, 0
			d.snapshot()
			b.ReportMetric(float64(time.Since(start).Milliseconds()), step+"-ms")
			b.ReportMetric(float64(c.bytes)/1e6, step+"-MB")
			b.ReportMetric(float64(c.scripts), step+"-scripts")
		}
	}
}
