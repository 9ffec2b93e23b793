// Package singularity runs commands in an instance of Apptainer or Singularity: a container
// that needs no daemon and no root, as clusters have it. [New] returns the
// [remote.Runner]; what all backends share is in package remote.
//
// The instance is started before the first script and stopped by Close. If this process is
// killed, the next one stops it. The package does not know settings or sessions.
package singularity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"hermes"
	"hermes/internal/environment/remote"
	"hermes/internal/liveness"
	"hermes/internal/proc"
)

// Config says which container to run. Image and Folder are required.
type Config struct {
	// Image is what instance start takes: a file, a folder, docker://…
	Image string
	// Program is the client; empty is apptainer or singularity, which one is there.
	Program string
	// Memory and Disk are in MB, CPU in processors; 0 is no limit. Disk bounds what
	// Overlay stores when it is made.
	Memory, Disk int
	CPU          float64
	// Overlay is a file that keeps what commands change, made if it is missing. Empty
	// keeps nothing: changes are in memory and gone at the end.
	Overlay string
	// Files are files of this machine that commands may read in their home folder, which has the
	// path of Home.
	Files []remote.HomeFile
	Home  string
	// Folder is where the instance has its temporary files, on this machine.
	Folder string
	// Env holds the variables of the client, as NAME=value. The commands get none of them.
	Env []string
	// Guard ends the client if this process is killed; nil means none.
	Guard *proc.Guard
}

// prefix begins the names of instances and of their folders.
const prefix = "hermes-singularity-"

const stopTime = 30 * time.Second

// Runner runs scripts in one instance. Its methods may be called concurrently.
type Runner struct {
	config  Config
	program string

	starting chan struct{} // holds one value; who has it may start the instance
	mu       sync.Mutex
	folder   *liveness.Folder // its name is that of the instance; nil before the start
}

var (
	_ remote.Runner    = (*Runner)(nil)
	_ remote.Describer = (*Runner)(nil)
	_ remote.Instances = (*Runner)(nil)
)

// New returns a Runner. It starts nothing yet. It fails if there is no client.
func New(c Config) (*Runner, error) {
	program, err := client(c.Program)
	if err != nil {
		return nil, err
	}
	r := &Runner{config: c, program: program, starting: make(chan struct{}, 1)}
	r.starting <- struct{}{}
	return r, nil
}

func client(given string) (string, error) {
	names := []string{"apptainer", "singularity"}
	if given != "" {
		names = []string{given}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is not installed: neither is in PATH; install Apptainer, or choose another terminal.backend", strings.Join(names, " or "))
}

// Describe says what the container keeps from commands.
func (r *Runner) Describe() hermes.Description {
	return hermes.Description{
		Isolation: hermes.Isolation{
			Layer: "container", Holds: true, Lacks: []string{"the network", "the kernel and the user are those of this machine"},
			Text: "Commands run in a Singularity container of " + r.config.Image + ", without the files of this machine.",
		},
		Network: hermes.NetworkHost,
	}
}

// Exec runs a script in the instance; see [remote.Runner].
func (r *Runner) Exec(ctx context.Context, s remote.Script) (int, error) {
	if s.Running && r.name() == "" {
		return 0, remote.ErrNotRun
	}
	name, err := r.start(ctx)
	if err != nil {
		return 0, err
	}
	argv, ok := remote.Argv(s.Text)
	if !ok {
		return 0, fmt.Errorf("%w: its text is longer than 1 MB; write it to a file first", remote.ErrNotRun)
	}
	var said tail
	c := r.command(append([]string{"exec", "--cleanenv", "instance://" + name}, argv...))
	errs := &both{&said, s.Stderr}
	c.Stdin, c.Stdout, c.Stderr = s.Stdin, s.Stdout, errs
	if s.Stderr != nil && s.Stderr == s.Stdout {
		c.Stdout = errs
	}
	status, err := proc.Run(ctx, c)
	if err == nil && status.Code == fatal && strings.Contains(said.String(), "no instance found") {
		r.lost(name)
		return 0, fmt.Errorf("%w: the container was stopped", remote.ErrNotRun)
	}
	return status.Code, err
}

// fatal is the exit status of the client when it could not do what it was told.
const fatal = 255

// start starts the instance, unless it runs, and returns its name.
func (r *Runner) start(ctx context.Context) (string, error) {
	select {
	case <-r.starting:
		defer func() { r.starting <- struct{}{} }()
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	if name := r.name(); name != "" {
		return name, nil
	}
	if err := os.MkdirAll(r.config.Folder, 0o700); err != nil {
		return "", fmt.Errorf("create the folder for containers: %w", err)
	}
	r.sweep(ctx)
	if err := r.makeOverlay(ctx); err != nil {
		return "", err
	}
	folder, err := liveness.TempFolder(r.config.Folder, prefix)
	if err != nil {
		return "", fmt.Errorf("create a folder for the container: %w", err)
	}
	name := filepath.Base(folder.Path)
	err = r.run(ctx, r.startArgs(name, folder.Path, r.binds()))
	if err != nil && len(r.binds()) > 0 && ctx.Err() == nil { // as where the container can have no folders for them
		_ = r.stop(name)
		err = r.run(ctx, r.startArgs(name, folder.Path, nil))
	}
	if err != nil {
		_ = r.stop(name) // it may have started all the same
		return "", errors.Join(fmt.Errorf("start a container of %s: %w", r.config.Image, err), folder.Remove())
	}
	r.mu.Lock()
	r.folder = folder
	r.mu.Unlock()
	return name, nil
}

// startArgs are the arguments that start an instance. It has no home folder, mounts,
// variables, processes or devices of this machine.
func (r *Runner) startArgs(name, folder string, binds []string) []string {
	c := r.config
	args := []string{"instance", "start", "--containall", "--no-home", "--workdir", folder}
	if c.Overlay != "" {
		args = append(args, "--overlay", c.Overlay)
	} else {
		args = append(args, "--writable-tmpfs")
	}
	if c.Memory > 0 {
		args = append(args, "--memory", strconv.Itoa(c.Memory)+"m")
	}
	if c.CPU > 0 {
		args = append(args, "--cpus", strconv.FormatFloat(c.CPU, 'f', -1, 64))
	}
	args = append(args, binds...)
	return append(args, c.Image, name)
}

// binds are the options that show files of this machine, for reading only. Who wants a file there that
// the client could not tell from its options has to copy it.
func (r *Runner) binds() (args []string) {
	for _, f := range r.config.Files {
		to := path.Join(r.config.Home, f.Path)
		if !strings.ContainsAny(f.Source+to, ":,\\") {
			args = append(args, "--bind", f.Source+":"+to+":ro")
		}
	}
	return args
}

// Instance is the name of the instance, "" if none is known to run.
func (r *Runner) Instance() string { return r.name() }

// makeOverlay makes the file that keeps changes. It is sparse: it takes the room of what is
// in it.
func (r *Runner) makeOverlay(ctx context.Context) error {
	at := r.config.Overlay
	if at == "" {
		return nil
	}
	if _, err := os.Stat(at); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		return fmt.Errorf("create the folder of what containers change: %w", err)
	}
	const usual = 51200
	made := at + ".new" // else a file that is made in part would be used by the next one
	if err := os.RemoveAll(made); err != nil {
		return err
	}
	if err := r.run(ctx, []string{"overlay", "create", "--sparse", "--size", strconv.Itoa(cmp.Or(r.config.Disk, usual)), made}); err != nil {
		return errors.Join(fmt.Errorf("create %s for what the container changes (set terminal.container_persistent to false to keep nothing): %w", at, err), os.RemoveAll(made))
	}
	return os.Rename(made, at)
}

// sweep stops the instances of processes that were killed.
func (r *Runner) sweep(ctx context.Context) {
	entries, err := os.ReadDir(r.config.Folder)
	if err != nil {
		return
	}
	for _, e := range entries {
		at := filepath.Join(r.config.Folder, e.Name())
		if !strings.HasPrefix(e.Name(), prefix) || !e.IsDir() || !liveness.Ended(filepath.Join(at, liveness.LockName)) || ctx.Err() != nil {
			continue
		}
		if r.stop(e.Name()) == nil {
			_ = os.RemoveAll(at)
		}
	}
}

// stop stops an instance with all that runs in it. One that does not run is no error.
func (r *Runner) stop(name string) error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), stopTime, errors.New("it did not stop in time"))
	defer cancel()
	err := r.run(ctx, []string{"instance", "stop", name})
	if err != nil && strings.Contains(err.Error(), "no instance found") {
		return nil
	}
	return err
}

// run runs the client to its end.
func (r *Runner) run(ctx context.Context, args []string) error {
	var said tail
	c := r.command(args)
	c.Stdout, c.Stderr = &said, &said
	status, err := proc.Run(ctx, c)
	if err == nil && status.Code != 0 {
		err = errors.New(said.problem(status.Code))
	}
	return err
}

func (r *Runner) command(args []string) proc.Command {
	// The client enters the folder in the container that it was started in, if there is
	// one of that name.
	return proc.Command{
		Path: r.program, Args: args, Dir: "/", Env: r.config.Env, Guard: r.config.Guard,
		Files: nil, // what runs in the container cannot start a program of this machine
	}
}

func (r *Runner) name() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.folder == nil {
		return ""
	}
	return filepath.Base(r.folder.Path)
}

// lost forgets an instance that was stopped by someone else.
func (r *Runner) lost(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.folder != nil && filepath.Base(r.folder.Path) == name {
		_ = r.folder.Remove()
		r.folder = nil
	}
}

// Close stops the instance and removes its temporary files. The overlay is kept.
func (r *Runner) Close() error {
	r.mu.Lock()
	folder := r.folder
	r.folder = nil
	r.mu.Unlock()
	if folder == nil {
		return nil
	}
	if err := r.stop(filepath.Base(folder.Path)); err != nil {
		return fmt.Errorf("stop the container: %w", err) // the next process tries again
	}
	return folder.Remove()
}

// maxTail is how much of the client's messages is kept.
const maxTail = 4096

// tail keeps the end of what the client says.
type tail struct{ text []byte }

// Write says that all was written.
func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p[max(0, len(p)-maxTail):]...)
	t.text = append(t.text[:0], t.text[max(0, len(t.text)-maxTail):]...)
	return len(p), nil
}

func (t *tail) String() string { return string(t.text) }

// problem is what the client says is wrong.
func (t *tail) problem(code int) string {
	lines := strings.Split(strings.TrimSpace(t.String()), "\n")
	for _, line := range lines {
		if _, text, found := strings.Cut(line, "FATAL:"); found {
			text = strings.TrimSpace(text)
			if strings.Contains(text, "cgroup") {
				text += "; set terminal.container_memory and terminal.container_cpu to 0 where the system allows no limits"
			}
			return text
		}
	}
	return cmp.Or(strings.TrimSpace(lines[len(lines)-1]), "exit status "+strconv.Itoa(code))
}

// both writes to the tail, and to a writer if there is one.
type both struct {
	said *tail
	to   io.Writer
}

// Write returns what the writer returns.
func (b *both) Write(p []byte) (int, error) {
	b.said.Write(p)
	if b.to == nil {
		return len(p), nil
	}
	return b.to.Write(p)
}
