package terminal

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes"
	"hermes/internal/text"
)

// Limits of the background processes of a session.
const (
	maxJobs    = 64
	bufferSize = 200_000 // last bytes of output kept of each
	keepEnded  = 30 * time.Minute
	noticeTail = 2000 // bytes of output in a notice
)

// job is a background process.
type job struct {
	id      string
	command string
	dir     string
	process hermes.Process
	started time.Time
	out     *buffer

	terminal bool // it runs in a pseudo-terminal

	done chan struct{} // closed when it has ended; ended, exit and err are set

	ended time.Time
	exit  hermes.Exit
	err   error

	mu       sync.Mutex
	read     int64  // how much of the output poll has shown
	notify   bool   // tell the session when it ends
	reported bool   // the model knows, or is about to know, that it ended
	sent     string // the end of its input so far
}

// start is terminal with background=true.
func (t *shellOf) start(ctx context.Context, c *hermes.Call, e hermes.Environment, in arguments, needs []hermes.Need, line string, fed *feeding) (hermes.Result, error) {
	s, ok := e.(hermes.Starter)
	if !ok {
		return hermes.Result{}, errors.New("this environment cannot run background processes; run it in the foreground with a timeout")
	}
	if err := t.reserve(); err != nil {
		return hermes.Result{}, err
	}
	j := &job{
		id:      "proc_" + strings.ToLower(rand.Text()[:8]),
		command: in.Command,
		dir:     in.Workdir,
		started: t.config.Now(),
		out:     newBuffer(bufferSize),
		done:    make(chan struct{}),
		notify:  in.Notify, terminal: in.PTY,
	}
	if j.dir == "" {
		j.dir = currentDir(e)
	}
	if len(in.Patterns) > 0 {
		j.out.watch = t.newWatcher(j, in.Patterns)
	}
	var err error
	cmd := hermes.Command{Line: line, Dir: in.Workdir, Stdout: j.out, Stderr: j.out, Background: true, Need: needs}
	if c.Approved != nil {
		cmd.Ready = func() error { return t.unchanged(c) }
	}
	j.process, err = s.Start(ctx, cmd, in.PTY)
	if err != nil {
		return hermes.Result{}, fmt.Errorf("the process did not start: %w", err)
	}
	if fed != nil {
		if err := j.process.Input([]byte(fed.text())); err != nil {
			return hermes.Result{}, errors.Join(fmt.Errorf("pass the password to sudo: %w", err), j.process.Kill())
		}
	}
	if !t.add(j) {
		return hermes.Result{}, errors.Join(errors.New("the session is closing"), j.process.Kill())
	}
	go t.follow(j) // ends with the process; Close waits
	return hermes.JSONResult(map[string]any{
		"session_id": j.id, "pid": j.process.PID(), "status": "running", "exit_code": 0,
		"output": "Started in the background.",
	})
}

// add registers a job, unless the toolset is closed.
func (t *shellOf) add(j *job) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.jobs = append(t.jobs, j)
	t.active.Add(1)
	return true
}

// follow waits for the end of a process and notifies the session.
func (t *shellOf) follow(j *job) {
	defer t.active.Done()
	exit, err := j.process.Wait(context.Background())
	j.exit, j.err, j.ended = exit, err, t.config.Now()
	j.out.finish()
	close(j.done)

	j.mu.Lock()
	wake := j.notify && !j.reported
	j.mu.Unlock()
	t.mu.Lock()
	wake = wake && !t.closed
	t.mu.Unlock()
	if wake {
		t.wake(j.notice())
	}
}

// notice is the text for the session when a process has ended.
func (j *job) notice() string {
	notice := fmt.Sprintf("[IMPORTANT: Background process %s completed (exit code %d)]\nCommand: %s", j.id, j.exit.Code, text.Line(j.command, 300))
	if list, advice := blocked(j.exit.Refused); len(list) > 0 {
		notice += "\nBlocked: " + strings.Join(list, ", ") + "\n" + advice
	}
	if tail := strings.TrimSpace(j.out.end(noticeTail)); tail != "" {
		notice += "\nOutput:\n" + tail
	}
	return notice
}

// reserve makes sure that another process fits. It forgets processes that ended
// long ago, and the oldest ended one if there are too many.
func (t *shellOf) reserve() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.prune()
	if len(t.jobs) < maxJobs {
		return nil
	}
	i := slices.IndexFunc(t.jobs, (*job).over)
	if i < 0 {
		return fmt.Errorf("%d background processes are running, which is the maximum; end some with the tool process (action kill) first", maxJobs)
	}
	t.jobs = slices.Delete(t.jobs, i, i+1)
	return nil
}

// prune forgets processes that ended long ago. Call it with the lock held.
func (t *shellOf) prune() {
	now := t.config.Now()
	t.jobs = slices.DeleteFunc(t.jobs, func(j *job) bool { return j.over() && now.Sub(j.ended) > keepEnded })
}

// find returns a job and marks it as used.
func (t *shellOf) find(id string) *job {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.prune()
	i := slices.IndexFunc(t.jobs, func(j *job) bool { return j.id == id })
	if i < 0 {
		return nil
	}
	j := t.jobs[i]
	t.jobs = append(slices.Delete(t.jobs, i, i+1), j)
	return j
}

func (t *shellOf) all() []*job {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.prune()
	return slices.Clone(t.jobs)
}

func (t *shellOf) running() []*job {
	return slices.DeleteFunc(t.all(), (*job).over)
}

// over reports whether the process has ended.
func (j *job) over() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

// kill ends the process without a notice: the caller knows.
func (j *job) kill() error {
	j.markReported()
	if err := j.process.Kill(); err != nil {
		return err
	}
	<-j.done
	return nil
}

// markReported marks the end of the process as known to the model.
func (j *job) markReported() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.reported = true
}

// promote requests a notice at the end, even if the model did not.
func (j *job) promote() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.notify = true
}
