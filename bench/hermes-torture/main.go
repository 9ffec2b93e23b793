// Command hermes-torture runs the built hermes under the conditions in which agents
// lose work, and checks what may never happen: it kills the program at random moments,
// lets the model service fail in every known way, fills the disk, and compares what was
// booked with what the service counted.
//
// Run it in the checkout: go run ./bench/hermes-torture. It prints a Markdown table for
// each part and exits with status 1 if something that can be recovered from was not, or
// a law was broken. All random choices come from -seed; a finding names the command that
// repeats it.
//
// Start reading at torture.go. The laws are in laws.go, the model is in model.go.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "hermes-torture:", err)
		os.Exit(1)
	}
}

func run() error {
	var o options
	seed := flag.Uint64("seed", 0, "seed of all random choices (default: a new one)")
	hermes := flag.String("hermes", "", "the hermes program to run (default: build it from the checkout)")
	parts := flag.String("part", "crash,faults,disk,cost", "what to run, comma-separated")
	flag.StringVar(&o.only, "only", "", "run only the case with this name")
	flag.BoolVar(&o.long, "long", false, "ten times as many kills, and each fault over both protocols")
	flag.IntVar(&o.parallel, "parallel", max(2, runtime.NumCPU()), "number of cases to run at once")
	flag.Parse()
	o.parts = strings.Split(*parts, ",")
	if o.seed = *seed; o.seed == 0 {
		o.seed = rand.Uint64N(1_000_000) + 1
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	scratch, err := os.MkdirTemp("", "hermes-torture-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	o.scratch = scratch
	if o.hermes, err = program(ctx, scratch, *hermes); err != nil {
		return err
	}
	fmt.Printf("Seed %d: `go run ./bench/hermes-torture -seed %d -part %s` repeats this run.\n", o.seed, o.seed, *parts)
	found, err := torture(ctx, o, os.Stdout)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return fmt.Errorf("%d findings, listed above", len(found))
	}
	return nil
}

// program returns the path of the program to run, which it builds unless one is given.
func program(ctx context.Context, scratch, given string) (string, error) {
	if given != "" {
		return filepath.Abs(given)
	}
	target := filepath.Join(scratch, "hermes")
	if runtime.GOOS == "windows" {
		target += ".exe"
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", target, "hermes/cmd/hermes")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("build hermes (run this in the checkout): %w", err)
	}
	return target, nil
}
