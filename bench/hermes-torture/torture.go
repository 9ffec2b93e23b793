package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
)

// options is what one run of the program was asked for.
type options struct {
	seed     uint64
	hermes   string // the program
	scratch  string // an empty folder
	parts    []string
	only     string // the name of one case; empty for all
	long     bool
	small    bool // a part of each part, as the tests run it
	parallel int
}

// wants reports whether the case with this name is to run.
func (o options) wants(name string) bool { return o.only == "" || o.only == name }

// finding is something that must not happen, or a failure that the program should have
// recovered from.
type finding struct {
	part, name string
	what       string
}

// replay is the command that repeats the case.
func (f finding) replay(seed uint64) string {
	return fmt.Sprintf("go run ./bench/hermes-torture -seed %d -part %s -only %q", seed, f.part, f.name)
}

// part is one kind of torture. It returns its table and what it found.
type part struct {
	name  string
	title string
	run   func(context.Context, options) (table, []finding, error)
}

var parts = []part{
	{"crash", "Killed at random moments, then resumed", crash},
	{"faults", "Faults of the model service", faults},
	{"disk", "A full disk", disk},
	{"cost", "What is booked", cost},
}

// torture runs the parts that are asked for, in order, and prints their tables.
func torture(ctx context.Context, o options, out io.Writer) ([]finding, error) {
	var all []finding
	for _, name := range o.parts {
		i := slices.IndexFunc(parts, func(p part) bool { return p.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no part %q; the parts are crash, faults, disk and cost", name)
		}
		t, found, err := parts[i].run(ctx, o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintf(out, "\n## %s\n\n%s", parts[i].title, t)
		all = append(all, found...)
	}
	if len(all) > 0 {
		fmt.Fprint(out, "\n## Findings\n\n")
	}
	for _, f := range all {
		fmt.Fprintf(out, "- %s, %s: %s\n  `%s`\n", f.part, f.name, f.what, f.replay(o.seed))
	}
	return all, ctx.Err()
}

// sideBySide calls run with 0 to n-1, at most limit at once, and waits for all.
func sideBySide(n, limit int, run func(i int)) {
	var wait sync.WaitGroup
	free := make(chan struct{}, max(1, limit))
	for i := range n {
		free <- struct{}{}
		wait.Go(func() {
			defer func() { <-free }()
			run(i)
		})
	}
	wait.Wait()
}
