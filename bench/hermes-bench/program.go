package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// program is one of the two compared programs.
type program struct {
	name string
	path string
	args []string // arguments before those of a run
	env  []string
	dir  string // an empty folder to work in
}

// newProgram gives a program an empty home, and the model server as its only provider.
func newProgram(name, path, home, dir, baseURL string) program {
	return program{name: name, path: path, dir: dir, env: []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + home,
		"USERPROFILE=" + home,
		"SYSTEMROOT=" + os.Getenv("SYSTEMROOT"),
		"HERMES_HOME=" + home + "/.hermes",
		"OPENAI_BASE_URL=" + baseURL,
		"OPENAI_API_KEY=none",
		"NO_PROXY=127.0.0.1",
	}}
}

// outcome is the cost of one run.
type outcome struct {
	wall time.Duration
	cpu  time.Duration // of the program and what it started
	peak int64         // maximum memory in bytes; 0 unless watched
}

// run starts the program and waits for it. A non-zero status is an error, and so is an answer
// other than want (unless that is empty), because figures of a failed run mean nothing.
func (p program) run(ctx context.Context, want string, watch bool, args ...string) (outcome, error) {
	args = append(p.args[:len(p.args):len(p.args)], args...)
	cmd := exec.CommandContext(ctx, p.path, args...)
	cmd.Env, cmd.Dir = p.env, p.dir
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints

	began := time.Now()
	if err := cmd.Start(); err != nil {
		return outcome{}, err
	}
	var peak int64
	watched := make(chan int64, 1)
	if watch {
		go func() { watched <- watchPeak(cmd.Process.Pid) }()
	}
	err := cmd.Wait()
	wall := time.Since(began)
	if watch {
		peak = max(<-watched, peakAfter(cmd.ProcessState))
	}
	if err != nil {
		return outcome{}, fmt.Errorf("%s %s: %w\n%s", p.name, strings.Join(args, " "), err, complaints.String())
	}
	if got := strings.TrimSpace(out.String()); want != "" && got != want {
		return outcome{}, fmt.Errorf("%s %s: got the answer %.200q, want %.40q\n%s", p.name, strings.Join(args, " "), got, want, complaints.String())
	}
	state := cmd.ProcessState
	return outcome{wall: wall, cpu: state.UserTime() + state.SystemTime(), peak: peak}, nil
}
