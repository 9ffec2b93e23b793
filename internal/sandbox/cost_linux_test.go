//go:build amd64 || arm64

package sandbox_test

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"hermes/internal/proc"
	"hermes/internal/sandbox"
)

// TestWhatACommandCosts compares commands below keepers with plain ones, in turns, so that
// the load of the machine is the same for all. It measures only when asked to
// (SANDBOX_COST is the number of rounds), and fails when a budget is not kept.
func TestWhatACommandCosts(t *testing.T) {
	rounds, _ := strconv.Atoi(os.Getenv("SANDBOX_COST"))
	if rounds == 0 {
		t.Skip("set SANDBOX_COST=1000 to measure")
	}
	ways := []struct {
		name     string
		launcher proc.Launcher
		budget   time.Duration // more than a plain one
		took     []time.Duration
	}{
		{name: "fork and exec"},
		{name: "B", launcher: mustStart(t, policy(t, sandbox.B)), budget: time.Millisecond},
		{name: "A", launcher: mustStart(t, policy(t, sandbox.A)), budget: 2 * time.Millisecond},
	}
	for range rounds {
		for i := range ways {
			begin := time.Now()
			var out bytes.Buffer
			if _, err := proc.Run(t.Context(), proc.Command{Path: "/bin/true", Dir: "/", Stdout: &out, Launcher: ways[i].launcher}); err != nil {
				t.Fatal(err)
			}
			ways[i].took = append(ways[i].took, time.Since(begin))
		}
	}
	at := func(i, percent int) time.Duration {
		slices.Sort(ways[i].took)
		return ways[i].took[len(ways[i].took)*percent/100]
	}
	for i, w := range ways {
		t.Logf("%s: median %s, p95 %s", w.name, at(i, 50), at(i, 95))
		if more := at(i, 95) - at(0, 95); i > 0 && more > w.budget {
			t.Errorf("%s: the p95 is %s above that of fork and exec, allowed are %s", w.name, more, w.budget)
		}
	}
}

// BenchmarkLayer starts and ends keepers.
func BenchmarkLayer(b *testing.B) {
	for _, l := range bothLayers {
		b.Run(l.String(), func(b *testing.B) {
			p := policy(b, l)
			for b.Loop() {
				k, err := sandbox.Start(b.Context(), sandbox.Config{Policy: p, Target: sandbox.Target{Canary: canaryOf(p)}})
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				k.Close()
				b.StartTimer()
			}
		})
	}
}
