// Command hermes-bench measures complete runs of hermes against a model server that
// answers immediately. It compares them with the baseline program, which makes the same
// requests and starts the same processes and does nothing else. The runs of both programs
// alternate, so that the ratio is right even on a busy machine.
//
// Run it in the checkout: go run ./bench/hermes-bench. Start reading at measure.go. The
// packages themselves are measured by their own benchmarks (go test -bench).
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "hermes-bench:", err)
		os.Exit(1)
	}
}

func run() error {
	hermes := flag.String("hermes", "", "the hermes program to measure (default: build it from the checkout)")
	scale := flag.Int("scale", 1, "multiply the number of runs")
	markdown := flag.Bool("md", false, "print the table as Markdown")
	check := flag.Bool("check", false, "exit with status 1 if a target is missed")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	scratch, err := os.MkdirTemp("", "hermes-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)

	b, err := newBench(ctx, scratch, *hermes, *scale)
	if err != nil {
		return err
	}
	defer b.close()
	rows, err := b.measure(ctx)
	if err != nil {
		return err
	}
	fmt.Print(table(rows, *markdown))
	if missed := missed(rows); *check && missed > 0 {
		return fmt.Errorf("%d targets missed", missed)
	}
	return nil
}

// build compiles one program of the checkout with release settings.
func build(ctx context.Context, scratch, pkg string) (string, error) {
	target := filepath.Join(scratch, filepath.Base(pkg))
	if runtime.GOOS == "windows" {
		target += ".exe"
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w -funcalign=16", "-o", target, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("build %s (run this in the checkout): %w", pkg, err)
	}
	return target, nil
}
