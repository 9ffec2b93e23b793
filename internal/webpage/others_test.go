//go:build slow

package webpage_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"hermes/internal/webpage"
)

// TestOthersOnTheSamePages scores this extraction beside Readability and trafilatura, on the same pages
// and with the same scorer.
func TestOthersOnTheSamePages(t *testing.T) {
	dir := os.Getenv("HERMES_SLOW_WEB_PAGES")
	if dir == "" {
		t.Fatal("HERMES_SLOW_WEB_PAGES is not set: run .ci/slow web-pages")
	}
	pages := fixtures(t)
	in := t.TempDir()
	for _, f := range pages {
		if err := os.WriteFile(filepath.Join(in, f.name+".html"), []byte(f.source), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	scripts, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	texts := func(program string, args ...string) map[string]string {
		t.Helper()
		cmd := exec.Command(program, args...)
		cmd.Env, cmd.Stderr = append(os.Environ(), "NODE_PATH="+filepath.Join(dir, "node", "node_modules")), os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", program, err)
		}
		got := map[string]string{}
		if err := json.Unmarshal(out, &got); err != nil || len(got) != len(pages) {
			t.Fatalf("%s: %d texts, %v", program, len(got), err)
		}
		return got
	}
	node := filepath.Join(dir, "node", "node_modules", ".bin", "node")
	readability := texts(node, filepath.Join(scripts, "readability.js"), in)
	trafilatura := texts(filepath.Join(dir, "python", "bin", "python"), filepath.Join(scripts, "trafilatura_all.py"), in)
	var sums [3][2][]float64
	t.Logf("%-22s %13s  %13s  %13s", "recall precision", "ours", "Readability", "trafilatura")
	for _, f := range pages {
		var row [3][2]float64
		for i, text := range []string{unmarked(webpage.Convert(f.source, base(t), 0).Text), readability[f.name], trafilatura[f.name]} {
			row[i][0], row[i][1] = f.score(text)
			for j := range row[i] {
				sums[i][j] = append(sums[i][j], row[i][j])
			}
		}
		t.Logf("%-22s %.3f   %.3f  %.3f   %.3f  %.3f   %.3f", f.name, row[0][0], row[0][1], row[1][0], row[1][1], row[2][0], row[2][1])
	}
	var means [3][2]float64
	for i := range sums {
		for j := range sums[i] {
			means[i][j] = mean(sums[i][j])
		}
	}
	t.Logf("%-22s %.3f   %.3f  %.3f   %.3f  %.3f   %.3f", "mean", means[0][0], means[0][1], means[1][0], means[1][1], means[2][0], means[2][1])
	if means[0][0] < 0.95 || means[0][1] < 0.95 {
		t.Error("the mean of ours is under 0.95")
	}
	for i := 1; i < 3; i++ {
		if f := func(m [2]float64) float64 { return 2 * m[0] * m[1] / (m[0] + m[1]) }; f(means[0]) < f(means[i]) {
			t.Errorf("another one is better: %v, ours %v", means[i], means[0])
		}
	}
}
