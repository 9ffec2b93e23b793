package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hermes/bench/instant"
)

// Sizes of the orders; the targets assume them.
const (
	shellCalls    = 50
	chunks        = 20_000
	parallelCalls = 8
)

const answer = "Hello."

// bench holds the two programs and the server between them.
type bench struct {
	baseline, hermes program
	instant          *instant.Server
	server           *http.Server
	scale            int
}

func newBench(ctx context.Context, scratch, hermes string, scale int) (*bench, error) {
	baseline, err := build(ctx, scratch, "./bench/baseline")
	if err != nil {
		return nil, err
	}
	if hermes == "" {
		hermes, err = build(ctx, scratch, "./cmd/hermes")
	} else {
		hermes, err = filepath.Abs(hermes)
	}
	if err != nil {
		return nil, err
	}
	home, work := filepath.Join(scratch, "home"), filepath.Join(scratch, "work")
	for _, dir := range []string{home, work} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, err
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	b := &bench{instant: &instant.Server{}, scale: max(scale, 1)}
	b.server = &http.Server{Handler: b.instant, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = b.server.Serve(listener) }() // ends with close
	url := "http://" + listener.Addr().String() + "/v1"
	b.baseline = newProgram("baseline", baseline, home, work, url)
	b.hermes = newProgram("hermes", hermes, home, work, url)
	b.hermes.args = []string{"-m", instant.ModelName}
	return b, nil
}

func (b *bench) close() { _ = b.server.Close() }

// sample is the results of one program with one order.
type sample struct {
	wall, cpu, peak []float64 // ms, ms, bytes
	gaps            []float64 // ms from an answer to the next request
	bodies          [][]byte  // the requests of the last run
}

// compare runs both programs alternately, n times each, after one warm-up run.
func (b *bench) compare(ctx context.Context, n int, watch bool, want string, args ...string) (baseline, hermes sample, err error) {
	for i := range n*b.scale + 1 {
		for _, side := range []struct {
			program program
			into    *sample
		}{{b.baseline, &baseline}, {b.hermes, &hermes}} {
			o, err := side.program.run(ctx, want, watch, args...)
			if err != nil {
				return baseline, hermes, err
			}
			exchanges := b.instant.Take()
			if i > 0 {
				side.into.add(o, exchanges)
			}
		}
	}
	return baseline, hermes, nil
}

func (s *sample) add(o outcome, exchanges []instant.Exchange) {
	s.wall = append(s.wall, ms(o.wall))
	s.cpu = append(s.cpu, ms(o.cpu))
	s.peak = append(s.peak, float64(o.peak))
	s.bodies = nil
	for i, e := range exchanges {
		s.bodies = append(s.bodies, e.Request.Body)
		if i > 0 {
			s.gaps = append(s.gaps, ms(e.Came.Sub(exchanges[i-1].Answered)))
		}
	}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// measure returns all rows, in the order of the table.
func (b *bench) measure(ctx context.Context) ([]row, error) {
	var rows []row
	for _, part := range []func(context.Context) ([]row, error){b.start, b.hello, b.shell, b.chunks, b.parallel, b.size} {
		more, err := part(ctx)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
		fmt.Fprintln(os.Stderr, "measured:", more[0].what)
	}
	return rows, nil
}

func (b *bench) start(ctx context.Context) ([]row, error) {
	baseline, hermes, err := b.compare(ctx, 30, false, "", "--version")
	return []row{{what: "`hermes --version`", unit: "ms", baseline: median(baseline.wall), hermes: median(hermes.wall), target: 10}}, err
}

func (b *bench) hello(ctx context.Context) ([]row, error) {
	baseline, hermes, err := b.compare(ctx, 20, false, answer, "-z", instant.Hello)
	if err != nil {
		return nil, err
	}
	watchedBaseline, watched, err := b.compare(ctx, 5, true, answer, "-z", instant.Hello)
	if err != nil {
		return nil, err
	}
	if len(hermes.bodies) == 0 {
		return nil, fmt.Errorf("hermes answered %q without asking the model server", answer)
	}
	return []row{
		{what: "one-shot \"hello\", whole process", unit: "ms", baseline: median(baseline.wall), hermes: median(hermes.wall), target: 40},
		{what: "peak memory of that process", unit: "MB", baseline: median(watchedBaseline.peak) / 1e6, hermes: median(watched.peak) / 1e6, target: 32},
		{what: "first request, all default tools", unit: "KB", hermes: float64(len(hermes.bodies[0])) / 1000, target: 15},
	}, nil
}

func (b *bench) shell(ctx context.Context) ([]row, error) {
	helloBaseline, helloHermes, err := b.compare(ctx, 5, false, answer, "-z", instant.Hello)
	if err != nil {
		return nil, err
	}
	baseline, hermes, err := b.compare(ctx, 5, false, answer, "-z", instant.Shell(shellCalls))
	if err != nil {
		return nil, err
	}
	if got := len(hermes.bodies); got != shellCalls+1 {
		return nil, fmt.Errorf("hermes made %d requests for %d calls, want one more than calls", got, shellCalls)
	}
	if err := instant.Worked(hermes.bodies[shellCalls], shellCalls); err != nil {
		return nil, err
	}
	kept, err := prefixKept(hermes.bodies)
	if err != nil {
		return nil, err
	}
	each := func(whole, hello sample) float64 {
		return (median(whole.wall) - median(hello.wall)) / shellCalls
	}
	return []row{
		{what: fmt.Sprintf("%d shell calls one after another, per turn", shellCalls), unit: "ms", baseline: each(baseline, helloBaseline), hermes: each(hermes, helloHermes), target: 5},
		{what: "from an answer to the next request, p95", unit: "ms", baseline: percentile(baseline.gaps, 95), hermes: percentile(hermes.gaps, 95), target: 6},
		{what: fmt.Sprintf("bytes repeated unchanged (cacheable), %d requests", shellCalls+1), unit: "%", hermes: kept, target: 100, atLeast: true},
	}, nil
}

func (b *bench) chunks(ctx context.Context) ([]row, error) {
	helloBaseline, helloHermes, err := b.compare(ctx, 5, false, answer, "-z", instant.Hello)
	if err != nil {
		return nil, err
	}
	words := strings.TrimSpace(strings.Repeat("word ", chunks))
	baseline, hermes, err := b.compare(ctx, 5, false, words, "-z", instant.Chunks(chunks))
	over := func(whole, hello sample) float64 { return (median(whole.cpu) - median(hello.cpu)) / 1000 }
	return []row{{
		what: "an answer in 20,000 chunks, CPU beyond \"hello\"", unit: "s",
		baseline: over(baseline, helloBaseline), hermes: over(hermes, helloHermes), target: 0.15,
	}}, err
}

func (b *bench) parallel(ctx context.Context) ([]row, error) {
	baseline, hermes, err := b.compare(ctx, 5, false, answer, "-z", instant.Parallel(parallelCalls))
	if err != nil {
		return nil, err
	}
	if len(hermes.bodies) == 0 {
		return nil, fmt.Errorf("hermes answered %q without asking the model server", answer)
	}
	if err := instant.Worked(hermes.bodies[len(hermes.bodies)-1], parallelCalls); err != nil {
		return nil, err
	}
	return []row{{
		what: "eight tool calls of 0.2 s each, at the same time", unit: "s",
		baseline: median(baseline.wall) / 1000, hermes: median(hermes.wall) / 1000, target: 0.26,
	}}, nil
}

func (b *bench) size(context.Context) ([]row, error) {
	baseline, err := os.Stat(b.baseline.path)
	if err != nil {
		return nil, err
	}
	hermes, err := os.Stat(b.hermes.path)
	if err != nil {
		return nil, err
	}
	return []row{{what: "binary", unit: "MB", baseline: float64(baseline.Size()) / 1e6, hermes: float64(hermes.Size()) / 1e6, target: 48}}, nil
}
