package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hermes/internal/environment/remote"
	"hermes/internal/proc"
)

// The failures that the Runner acts on. What the client says decides; its exit status is 1
// or 125 for all of them.
var (
	errGone    = errors.New("the container is not there")
	errStopped = errors.New("the container does not run")
	errTaken   = errors.New("the name of the container is taken")
	errNoInit  = errors.New("the engine has no init program")
	errNoDisk  = errors.New("the engine cannot limit the disk")
	errNoFile  = errors.New("the engine does not have a file that is to be mounted")
)

// clientGrace is how long a client may take to end when it is stopped.
const clientGrace = 200 * time.Millisecond

// call runs the client and returns what it prints. The error says what to do about it.
func (r *Runner) call(ctx context.Context, args ...string) (string, error) {
	var out, said bytes.Buffer
	st, err := proc.Run(ctx, r.command(args, &out, &said))
	if err != nil {
		return "", r.startError(err)
	}
	if st.Code != 0 {
		return "", r.failure(said.String(), st.Code)
	}
	return strings.TrimSpace(out.String()), nil
}

// command is a call of the client. The variables of the container are in its environment;
// the arguments name them.
func (r *Runner) command(args []string, out, said *bytes.Buffer) proc.Command {
	return proc.Command{
		Path: r.program, Args: args, Files: nil, Env: slices.Concat(r.config.Environ, r.plan.env), Grace: clientGrace, Stdout: out, Stderr: said,
	}
}

// Lacks says whether the client is missing, without asking the engine.
func (r *Runner) Lacks() error {
	r.turn <- struct{}{}
	defer func() { <-r.turn }()
	return r.findProgram()
}

// Check asks the engine whether it can be used, without starting a container.
func (r *Runner) Check(ctx context.Context) error {
	if err := r.Lacks(); err != nil {
		return err
	}
	_, err := r.call(ctx, "ps", "--quiet", "--last", "1")
	return err
}

// findProgram settles which client is used.
func (r *Runner) findProgram() error {
	if r.program != "" {
		return nil
	}
	names := []string{r.config.Program}
	if r.config.Program == "" {
		names = []string{"docker", "podman"}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			r.program = path
			return nil
		}
	}
	return fmt.Errorf("%s is not installed on this machine; install it, or choose another terminal.backend", strings.Join(names, " or "))
}

// startError explains that the client did not run, or was stopped.
func (r *Runner) startError(err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%s is not installed on this machine any more; install it, or choose another terminal.backend", filepath.Base(r.program))
	}
	return err
}

// failure turns what the client said into an error.
func (r *Runner) failure(said string, code int) error {
	line := lastLine(said)
	has := func(any ...string) bool {
		return slices.ContainsFunc(any, func(s string) bool { return strings.Contains(strings.ToLower(said), s) })
	}
	switch {
	case has("unable to find image", "pull access denied", "manifest unknown", "initializing source", "did not resolve to an alias", "image not known"):
		return fmt.Errorf("the image %s is not here and cannot be pulled; pull it yourself, or set another terminal.docker_image (%s)", r.config.Image, line)
	case has("permission denied while trying to connect", "dial unix") && has("permission denied"):
		return certain{fmt.Errorf("this user may not use the container engine: add yourself to the group docker "+
			"(sudo usermod -aG docker $USER, then log in again), or use a rootless engine (%s)", line)}
	case has("cannot connect to the docker daemon", "is the docker daemon running", "cannot connect to podman", "unable to connect to podman"):
		return certain{fmt.Errorf("the container engine is not reachable; start it, or choose another terminal.backend (%s)", line)}
	case has("no such container", "no container with name or id"):
		return certain{fmt.Errorf("%w (%s)", errGone, line)}
	case has("is not running", "is paused", "is restarting", "container state improper", "marked for removal", "already in progress",
		"stopped container", "container that has stopped"):
		return certain{fmt.Errorf("%w (%s)", errStopped, line)}
	case has("container name") && has("already in use"):
		return errTaken
	case has("docker-init", "container-init binary"):
		return errNoInit
	case has("storage-opt", "storage option", "overlay.size"):
		return errNoDisk
	case has("bind source path does not exist", "mounts denied"), has("statfs") && has("no such file"):
		return fmt.Errorf("%w (%s)", errNoFile, line)
	case has("oci runtime", "runc", "crun") && has("/bin/sh"):
		return certain{fmt.Errorf("the image %s has no /bin/sh; set another terminal.docker_image (%s)", r.config.Image, line)}
	case has("oci runtime"):
		return certain{fmt.Errorf("the engine cannot start the command: %s", line)}
	}
	if line == "" {
		line = "it does not say why"
	}
	return fmt.Errorf("%s ended with status %d: %s", filepath.Base(r.program), code, line)
}

// certain is a failure with which a script certainly did not run.
type certain struct{ error }

func (c certain) Unwrap() []error { return []error{c.error, remote.ErrNotRun} }

// lastLine returns the last line of the client that says something, without its prefix.
func lastLine(said string) string {
	last := ""
	for line := range strings.Lines(strings.ToValidUTF8(said, "\uFFFD")) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasSuffix(line, "--help' for more information") && !strings.HasSuffix(line, "--help'.") {
			last = line
		}
	}
	for _, prefix := range []string{"docker: ", "Error response from daemon: ", "Error: "} {
		last = strings.TrimPrefix(last, prefix)
	}
	return last
}
