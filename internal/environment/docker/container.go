package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"hermes/internal/environment/remote"
)

// container is what the engine says about the container of the plan; the zero value is none.
type container struct {
	ID      string
	State   string
	Options string
	Agent   string
}

// The tries to get a container that others make, start and remove at the same time, and the
// time between two.
const (
	tries    = 20
	tryAgain = 250 * time.Millisecond
)

// abandoned is after how many tries a name that is taken by a container which the engine does
// not find belongs to one whose making was killed, and not to one that is being made.
const abandoned = 8

// ready returns the id of a running container. Only the first call asks the engine, and
// those after the container was lost.
func (r *Runner) ready(ctx context.Context) (string, error) {
	select {
	case r.turn <- struct{}{}:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	defer func() { <-r.turn }()
	if r.id != "" {
		return r.id, nil
	}
	id, err := r.obtain(ctx)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return "", fmt.Errorf("%w: %w", remote.ErrNotRun, err)
	}
	r.id = id
	r.keepUp()
	return id, nil
}

// forget makes the next call of ready look for the container, if it is still the same.
func (r *Runner) forget(id string) {
	r.turn <- struct{}{}
	if r.id == id {
		r.id = ""
	}
	<-r.turn
}

// obtain finds, starts or makes the container. Any step may be overtaken by another
// process, or may have been cut by the end of one; the next look shows it.
func (r *Runner) obtain(ctx context.Context) (string, error) {
	if err := r.findProgram(); err != nil {
		return "", err
	}
	r.begun = true
	var err error
	starts, hidden := 0, 0
	for range tries {
		var c container
		if c, err = r.look(ctx); err != nil {
			return "", err
		}
		if c.State == "exited" {
			if starts++; starts > 3 {
				return "", r.endsAtOnce(ctx, c)
			}
		}
		var done bool
		if done, err = r.step(ctx, c); done {
			if err == nil {
				err = r.prepare(ctx)
			}
			return c.ID, err
		}
		if err == nil {
			continue
		}
		if !errors.Is(err, errTaken) && !errors.Is(err, errGone) && !errors.Is(err, errStopped) {
			return "", err
		}
		if c.ID == "" && errors.Is(err, errTaken) {
			if hidden++; hidden%abandoned == 0 {
				r.removeAbandoned(ctx)
			}
		}
		select {
		case <-time.After(tryAgain):
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
	return "", fmt.Errorf("the container %s cannot be made ready: %w; remove it, then try again", r.plan.name, err)
}

// endsAtOnce explains why a container does not stay, and removes it unless it may hold
// something of the user.
func (r *Runner) endsAtOnce(ctx context.Context, c container) error {
	said, _ := r.call(ctx, "logs", "--tail", "1", c.ID)
	if !r.plan.kept {
		_ = r.remove(ctx, c.ID)
	}
	if said == "" {
		said = "its log is empty"
	}
	return fmt.Errorf("the container %s of the image %s ends as soon as it starts (%s); the image needs /bin/sh and sleep, "+
		"and the limits must be enough for them", r.plan.name, r.config.Image, said)
}

// step brings the container nearer to running. It reports whether it runs.
func (r *Runner) step(ctx context.Context, c container) (done bool, err error) {
	if c.ID == "" {
		return false, r.make(ctx)
	}
	if c.Agent != "1" || c.Options != r.plan.options {
		return true, fmt.Errorf("a container with the name %s was not made by Hermes; rename or remove it", r.plan.name)
	}
	switch c.State {
	case "running":
		return true, nil
	case "paused":
		_, err = r.call(ctx, "unpause", c.ID)
	case "removing", "stopping", "restarting":
		err = errStopped
	case "dead":
		err = r.remove(ctx, c.ID)
	default: // created, exited and podman's words for them
		err = r.start(ctx, c)
	}
	return false, err
}

// start starts a container. One that never ran and cannot is removed, because the next start
// would meet it; without force, in case another process could start it.
func (r *Runner) start(ctx context.Context, c container) error {
	_, err := r.call(ctx, "start", c.ID)
	if err == nil || ctx.Err() != nil || c.State == "exited" || errors.Is(err, errStopped) || errors.Is(err, errGone) {
		return err
	}
	_, _ = r.call(ctx, "rm", c.ID)
	if errors.Is(err, errNoInit) && !r.noInit {
		r.noInit = true
		return nil // the next look finds none
	}
	return fmt.Errorf("start the container: %w", err)
}

// lookFormat makes one line of JSON of what is asked about a container. Podman knows the id
// by this name only when it is alone between braces.
const lookFormat = `{"ID":"{{.Id}}","State":{{json .State.Status}},"Options":{{json (index .Config.Labels "` + labelOptions +
	`")}},"Agent":{{json (index .Config.Labels "` + labelAgent + `")}}}`

// look asks the engine for the container of the plan.
func (r *Runner) look(ctx context.Context) (c container, err error) {
	out, err := r.call(ctx, "inspect", "--type", "container", "--format", lookFormat, r.plan.name)
	if errors.Is(err, errGone) {
		return container{}, nil
	}
	if err != nil {
		return container{}, err
	}
	if err := json.Unmarshal([]byte(out), &c); err != nil {
		return container{}, fmt.Errorf("read what the engine says of the container %s: %w", r.plan.name, err)
	}
	return c, nil
}

// make makes the container. What an engine does not have, an init program or limits of the
// disk, is omitted.
func (r *Runner) make(ctx context.Context) error {
	version, err := r.call(ctx, "--version")
	if err != nil {
		return err
	}
	v := variants{init: !r.noInit, disk: r.config.DiskMB > 0 && !r.noDisk.Load(), files: len(r.plan.files) > 0, podman: strings.Contains(version, "podman")}
	for {
		_, err := r.call(ctx, r.plan.create(r.config, v)...)
		switch {
		case errors.Is(err, errNoInit) && v.init:
			v.init, r.noInit = false, true // the first process is a shell, which reaps as well
		case errors.Is(err, errNoDisk) && v.disk:
			v.disk = false
			r.noDisk.Store(true)
		case errors.Is(err, errNoFile) && v.files:
			v.files = false // who wants them there has to copy them
		case err != nil && !errors.Is(err, errTaken):
			return fmt.Errorf("make a container: %w", err)
		default:
			return err
		}
	}
}

// remove removes a container whatever it does, with its unnamed volumes.
func (r *Runner) remove(ctx context.Context, id string) error {
	_, err := r.call(ctx, "rm", "--force", "--volumes", id)
	if errors.Is(err, errGone) {
		return nil
	}
	return err
}

// removeAbandoned frees the name of the plan from what podman keeps of a container when it is
// killed while it makes one: a file system that has the name and is no container. It is removed
// without force, so that one that runs by now stays; one that does not is made again. Whether it
// went shows with the next try.
func (r *Runner) removeAbandoned(ctx context.Context) {
	_, _ = r.call(ctx, "rm", r.plan.name)
}

// prepare gives a user other than root the folder where scripts begin.
func (r *Runner) prepare(ctx context.Context) error {
	if !r.config.AsHostUser || os.Getuid() <= 0 || r.config.Workspace != "" {
		return nil
	}
	_, err := r.call(ctx, "exec", "--user", "0", r.plan.name, "/bin/sh", "-c", `mkdir -p "$1" && chown "$2" "$1"`, "prepare",
		Workspace, fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid()))
	return err
}
