package search_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/search"
)

// benchTree makes 10,000 source-like files of about 4 KB in 400 folders.
func benchTree(b *testing.B) string {
	b.Helper()
	root := b.TempDir()
	words := strings.Fields("return value error context handler request response string number buffer reader writer close open file line token parse func if else range nil map slice index count total config session model")
	r := rand.New(rand.NewPCG(1, 2))
	for d := range 400 {
		dir := filepath.Join(root, fmt.Sprintf("pkg%d", d/20), fmt.Sprintf("sub%d", d))
		mustDo(b, os.MkdirAll(dir, 0o755))
		for f := range 25 {
			var text strings.Builder
			for range 90 {
				for range 7 {
					text.WriteString(words[r.IntN(len(words))] + " ")
				}
				text.WriteString("\n")
			}
			if f == 7 {
				text.WriteString("special := NeedleInHay(1)\n")
			}
			mustDo(b, os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.go", f)), []byte(text.String()), 0o644))
		}
	}
	return root
}

func BenchmarkSearch(b *testing.B) {
	root := benchTree(b)
	rg, _ := exec.LookPath("rg")
	for _, bench := range []struct{ name, pattern string }{
		{"literal", "NeedleInHay"}, {"folded", "(?i)needleinhay"}, {"regexp", `Needle\w+\(\d`}, {"noliteral", `[A-Z][a-z]+[A-Z][a-z]+Hay`}, {"absent", "zebra crossing"},
	} {
		b.Run(bench.name+"/go", func(b *testing.B) {
			m := mustMatcher(b, bench.pattern)
			for b.Loop() {
				if _, err := search.Search(context.Background(), search.Query{Root: root, Lines: m}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(bench.name+"/rg", func(b *testing.B) {
			if rg == "" {
				b.Skip("ripgrep is not installed")
			}
			for b.Loop() {
				_ = exec.Command(rg, "-n", "--no-heading", bench.pattern, root).Run()
			}
		})
	}
}
