package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Runner is the real agent. It does one task in one folder with the given model.
type Runner interface {
	// Run works on the task in a new session until the agent has finished, and shows the work to the
	// user meanwhile.
	Run(ctx context.Context, task Task) (Answer, error)
}

// Task is what a Runner is given.
type Task struct {
	Home    string // where the agent keeps everything; the same for both sessions
	Dir     string // the folder of the sample project
	Title   string // of the session
	Prompt  string
	BaseURL string // of the model server, with /v1
	Model   string
}

// Answer is the result of a task.
type Answer struct {
	Session string // its id
	Text    string // the final answer of the agent
}

// Options are the choices of the user. The zero value is the normal demo.
type Options struct {
	Fast  bool   // no pauses between the streamed words
	Addr  string // where to listen; empty is a free port of 127.0.0.1
	Width int    // of the terminal in cells; 0 is 80
}

func (o Options) fold(format string, a ...any) string {
	return fold(fmt.Sprintf(format, a...), min(cmp.Or(o.Width, 80), 80)-1)
}

// Expected reports whether the script needs the approval of a tool. It keeps a note and a skill; nothing
// else needs an approval.
func Expected(tool string) bool { return tool == "memory" || tool == "skill_manage" }

// Answer is the text that shows an approval question of the agent and the answer of the demo.
func (o Options) Answer(tool, answer string) string { return o.fold(asking, tool, answer) }

// wordPause makes the scripted model about as quick as a good real one.
const wordPause = 10 * time.Millisecond

func (o Options) pace() time.Duration {
	if o.Fast {
		return 0
	}
	return wordPause
}

// Run plays the demo. It starts the scripted model and creates the sample project and an empty home in
// a temporary folder. The agent works on the project in one session, and a second session is asked what
// the first has kept. The folder stays, so that the user can look at it. Text for the user goes to out.
func Run(ctx context.Context, agent Runner, out io.Writer, opts Options) error {
	if err := needShell(); err != nil {
		return err
	}
	stage, err := setUp(opts)
	if err != nil {
		return err
	}
	defer stage.stop()

	fmt.Fprint(out, opts.fold(opening, stage.url, stage.dir))
	first, err := stage.play(ctx, agent, out, "First", Task{Prompt: Prompt, Title: title})
	if err != nil {
		return err
	}
	diff, err := Diff(stage.project())
	if err != nil {
		return err
	}
	if diff == "" {
		return errors.New("the demo ended without a change in the sample project; see the answer above")
	}
	fmt.Fprint(out, opts.fold(changed, count(diff)), opts.fold(between))
	second, err := stage.play(ctx, agent, out, "Second", Task{Prompt: Again, Title: titleAgain})
	if err != nil {
		return err
	}
	if second.Session == first.Session || !strings.Contains(second.Text, first.Session) {
		return errors.New("the demo ended, but the second session did not find what the first one kept; see the answer above")
	}
	fmt.Fprint(out, opts.fold(ending, stage.home(), first.Session), opts.fold(connect))
	return nil
}

// play has the agent do one task.
func (s *stage) play(ctx context.Context, agent Runner, out io.Writer, name string, t Task) (Answer, error) {
	fmt.Fprint(out, s.opts.fold(said, name, t.Prompt), "\n")
	t.Home, t.Dir, t.BaseURL, t.Model = s.home(), s.project(), s.url, ModelName
	done, err := agent.Run(ctx, t)
	if err != nil {
		return done, fmt.Errorf("the demo stopped early: %w", err)
	}
	return done, nil
}

// count describes a diff: its files, and how many lines were added and removed.
func count(diff string) string {
	var files []string
	added, removed := 0, 0
	for line := range strings.Lines(diff) {
		name, isName := strings.CutPrefix(strings.TrimSpace(line), "+++ b/")
		switch {
		case isName:
			files = append(files, name)
		case strings.HasPrefix(line, "--- "):
		case line[0] == '+':
			added++
		case line[0] == '-':
			removed++
		}
	}
	return fmt.Sprintf("%s, %d lines added, %d removed", strings.Join(files, ", "), added, removed)
}

// Serve runs the scripted model for any client until ctx ends.
func Serve(ctx context.Context, out io.Writer, opts Options) error {
	stage, err := setUp(opts)
	if err != nil {
		return err
	}
	defer stage.stop()
	fmt.Fprintf(out, serving, stage.url, stage.project(), shellQuote(Prompt), stage.home(), shellQuote(Again))
	select {
	case <-ctx.Done():
		return nil
	case err := <-stage.failed:
		return fmt.Errorf("the demo server stopped: %w", err)
	}
}

// stage is the running model server with its project and home.
type stage struct {
	opts   Options
	url    string
	dir    string // contains the project and the home
	server *http.Server
	failed chan error // what Serve returned, then closed
}

func (s *stage) project() string { return filepath.Join(s.dir, "project") }
func (s *stage) home() string    { return filepath.Join(s.dir, "home") }

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
	s := &stage{
		opts: opts, dir: dir,
		url:    "http://" + listener.Addr().String() + "/v1",
		server: &http.Server{Handler: Server(opts.pace()), ReadHeaderTimeout: 10 * time.Second},
		failed: make(chan error, 1),
	}
	if err == nil {
		err = os.Mkdir(s.project(), 0o755)
	}
	if err == nil {
		err = Project(s.project())
	}
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	go func() {
		s.failed <- s.server.Serve(listener)
		close(s.failed)
	}()
	return s, nil
}

// stop closes the server and its connections, and waits for its goroutine.
func (s *stage) stop() {
	_ = s.server.Close() // the server has no state to lose
	<-s.failed
}

// needShell returns an error that says what to do if there is no POSIX shell.
func needShell() error {
	if _, err := exec.LookPath("sh"); err == nil {
		return nil
	}
	if runtime.GOOS == "windows" {
		return errors.New("the demo needs a POSIX shell and found no sh; install Git for Windows, then run the demo in Git Bash or add its usr\\bin folder to the PATH")
	}
	return errors.New("the demo needs a POSIX shell and found no sh on the PATH")
}

// shellQuote quotes a text as one word for the shown shell command.
func shellQuote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
