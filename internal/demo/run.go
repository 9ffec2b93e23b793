package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// Runner is the real agent: it does one task in one folder, with the model that it is told to use.
type Runner interface {
	// Run works on the task until the agent has finished, shows the work to the person as it goes,
	// and returns the id of the session in which it is kept.
	Run(ctx context.Context, task Task) (session string, err error)
}

// Task is what a Runner is given.
type Task struct {
	Dir     string // where the sample project stands
	Prompt  string
	BaseURL string // of the model server, with /v1
	Model   string
}

// Options are the choices of the person. The zero value is the demo as it is meant to be seen.
type Options struct {
	Fast bool   // no pauses between the streamed words
	Addr string // where to listen; empty is a free port of 127.0.0.1
}

// wordPause makes the scripted model about as quick as a good real one.
const wordPause = 18 * time.Millisecond

func (o Options) pace() time.Duration {
	if o.Fast {
		return 0
	}
	return wordPause
}

// Run plays the demo: it starts the scripted model, lays the sample project out in a temporary
// folder, lets the agent work on it, and shows what changed and how to go on. The folder stays, so
// that the person can look at it. Text for the person goes to out.
func Run(ctx context.Context, agent Runner, out io.Writer, opts Options) error {
	if err := needShell(); err != nil {
		return err
	}
	stage, err := setUp(opts)
	if err != nil {
		return err
	}
	defer stage.stop()

	fmt.Fprintf(out, opening, stage.url, stage.dir, Prompt)
	session, err := agent.Run(ctx, Task{Dir: stage.dir, Prompt: Prompt, BaseURL: stage.url, Model: ModelName})
	if err != nil {
		return fmt.Errorf("the demo stopped before its end: %w", err)
	}
	diff, err := Diff(stage.dir)
	if err != nil {
		return err
	}
	if diff == "" {
		return errors.New("the demo ended, but nothing in the sample project was changed; the answer above says why")
	}
	fmt.Fprintf(out, "\nWhat changed in %s:\n\n%s", stage.dir, diff)
	fmt.Fprintf(out, ending, session)
	fmt.Fprint(out, connect)
	return nil
}

// Serve runs the scripted model until ctx ends, so that any client can be pointed at it.
func Serve(ctx context.Context, out io.Writer, opts Options) error {
	stage, err := setUp(opts)
	if err != nil {
		return err
	}
	defer stage.stop()
	fmt.Fprintf(out, serving, stage.url, stage.dir, shellQuote(Prompt))
	select {
	case <-ctx.Done():
		return nil
	case err := <-stage.failed:
		return fmt.Errorf("the demo server stopped: %w", err)
	}
}

// stage is the running model server and the project beside it.
type stage struct {
	url    string
	dir    string
	server *http.Server
	failed chan error // what Serve returned, then closed
}

func setUp(opts Options) (*stage, error) {
	addr := opts.Addr
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("start the demo server: %w", err)
	}
	dir, err := os.MkdirTemp("", "hermes-demo-")
	if err == nil {
		err = Project(dir)
	}
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	s := &stage{
		url:    "http://" + listener.Addr().String() + "/v1",
		dir:    dir,
		server: &http.Server{Handler: Server(opts.pace()), ReadHeaderTimeout: 10 * time.Second},
		failed: make(chan error, 1),
	}
	go func() {
		s.failed <- s.server.Serve(listener)
		close(s.failed)
	}()
	return s, nil
}

// stop closes the server, connections included, and waits for its goroutine.
func (s *stage) stop() {
	_ = s.server.Close() // nothing is lost: the server keeps nothing
	<-s.failed
}

// needShell tells people without a POSIX shell what to do, before anything else happens.
func needShell() error {
	if _, err := exec.LookPath("sh"); err == nil {
		return nil
	}
	if runtime.GOOS == "windows" {
		return errors.New("the demo works on a small shell project and found no sh: install Git for Windows, start its Git Bash (or put its usr\\bin folder on the PATH), and try again")
	}
	return errors.New("the demo works on a small shell project and found no sh on the PATH")
}

// shellQuote makes one word of text for the shell line that is shown.
func shellQuote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
