package main

import (
	"context"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hermes/bench/instant"
)

func TestPrefixKept(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		bodies []string
		want   float64
	}{
		{"one request", []string{`{"messages":[1]}`}, 100},
		{"grows at the end", []string{`{"tools":[7],"messages":[11]}`, `{"messages":[11,22,33],"tools":[7]}`}, 100},
		{"first message differs", []string{`{"tools":[7],"messages":[11,22]}`, `{"tools":[7],"messages":[12,22]}`}, 100 * 3. / 7},
		{"tools differ", []string{`{"tools":[7],"messages":[11]}`, `{"tools":[8],"messages":[11]}`}, 0},
		{"a message is lost", []string{`{"tools":[7],"messages":[11,22]}`, `{"tools":[7],"messages":[11]}`}, 100 * 5. / 7},
	} {
		var bodies [][]byte
		for _, b := range tt.bodies {
			bodies = append(bodies, []byte(b))
		}
		if got, err := prefixKept(bodies); err != nil || math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s: got %v, %v; want %v", tt.name, got, err, tt.want)
		}
	}
	if _, err := prefixKept([][]byte{[]byte("{")}); err == nil {
		t.Error("a request that is not JSON: got no error")
	}
}

func TestPercentile(t *testing.T) {
	t.Parallel()
	values := []float64{5, 1, 4, 2, 3}
	for share, want := range map[int]float64{0: 1, 50: 3, 95: 5, 100: 5} {
		if got := percentile(values, share); got != want {
			t.Errorf("%d %%: got %v, want %v", share, got, want)
		}
	}
	if got := percentile(nil, 50); got != 0 {
		t.Errorf("of nothing: got %v", got)
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	rows := []row{
		{what: "start", unit: "ms", baseline: 2, hermes: 7, target: 10},
		{what: "prefix", unit: "%", hermes: 99.5, target: 100, atLeast: true},
		{what: "work", unit: "s", baseline: 0.05, hermes: 0.2, target: 0.15},
	}
	want := `| what | baseline | hermes | ratio | target |  |
| --- | --: | --: | --: | --: | --- |
| start | 2.0 ms | 7.0 ms | 3.5× | ≤ 10 ms | met |
| prefix | – | 99.5 % | – | 100 % | missed |
| work | 0.05 s | 0.20 s | 4.0× | ≤ 0.15 s | missed |
`
	if got := table(rows, true); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := missed(rows); got != 2 {
		t.Errorf("missed: got %d, want 2", got)
	}
	if plain := table(rows, false); strings.Contains(plain, "|") || !strings.Contains(plain, "3.5×") {
		t.Errorf("plain table:\n%s", plain)
	}
}

// TestRunRefusesAWrongAnswer keeps results of failed runs out of the table.
func TestRunRefusesAWrongAnswer(t *testing.T) {
	t.Parallel()
	sh, err := exec.LookPath("sh")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("no sh on the PATH")
		}
		t.Skip("no sh on the PATH")
	}
	p := newProgram("sh", sh, t.TempDir(), t.TempDir(), "http://127.0.0.1:1/v1")
	for _, tt := range []struct {
		script, want, fault string
	}{
		{"echo Hello.", "Hello.", ""},
		{"echo something", "", ""},
		{"echo Hi", "Hello.", "want \"Hello.\""},
		{"echo broken >&2; exit 3", "", "broken"},
	} {
		o, err := p.run(context.Background(), tt.want, true, "-c", tt.script)
		if tt.fault == "" && (err != nil || o.wall <= 0) {
			t.Errorf("%s: got %+v, %v", tt.script, o, err)
		}
		if tt.fault != "" && (err == nil || !strings.Contains(err.Error(), tt.fault)) {
			t.Errorf("%s: got %v, want %q", tt.script, err, tt.fault)
		}
	}
}

// TestBaselineAgainstItself runs the whole benchmark with the baseline on both sides.
func TestBaselineAgainstItself(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	t.Chdir(filepath.Join("..", ".."))
	scratch := t.TempDir()
	baseline, err := build(t.Context(), scratch, "./bench/baseline")
	if err != nil {
		t.Fatal(err)
	}
	second := baseline + "-2"
	if err := os.Rename(baseline, second); err != nil {
		t.Fatal(err)
	}
	b, err := newBench(t.Context(), scratch, second, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	b.hermes.args = nil
	baselineSample, other, err := b.compare(t.Context(), 1, true, answer, "-z", instant.Shell(shellCalls))
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]sample{"baseline": baselineSample, "the other side": other} {
		if len(s.wall) != 1 || s.wall[0] <= 0 || len(s.gaps) != shellCalls || len(s.bodies) != shellCalls+1 {
			t.Fatalf("%s: got %d runs, %d gaps, %d requests; want 1, %d, %d", name, len(s.wall), len(s.gaps), len(s.bodies), shellCalls, shellCalls+1)
		}
		if err := instant.Worked(s.bodies[shellCalls], shellCalls); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if kept, err := prefixKept(s.bodies); err != nil || kept != 100 {
			t.Errorf("%s: a program that only appends kept %v %%, %v", name, kept, err)
		}
	}
}
