// Package docker runs commands in a container of Docker or podman, through their command
// line clients: contexts, credential helpers and rootless engines work as the user has set
// them up. A [Runner] runs one script at a time in a container that it finds or makes;
// internal/environment/remote makes an environment of it.
//
// Nothing runs on this machine instead if the engine is missing or down. The package does
// not know settings; it gets a [Config]. Start reading at docker.go; container.go is how
// a container is found and made, arguments.go with which options, dangers.go which options
// break its walls, and exec.go how a script runs.
package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hermes"
	"hermes/internal/environment/remote"
)

// Workspace is the folder in the container where scripts begin.
const Workspace = "/workspace"

// Config says which container commands get. It is not changed after New.
type Config struct {
	// Program is the command line client; "" is docker, or podman where docker is missing.
	Program string
	// Environ is the whole environment of the client, as NAME=value: the user's own, so that
	// contexts and credential helpers work, without the keys of Hermes. None of it gets
	// into the container.
	Environ []string
	// Home is the folder of Hermes that containers belong to. Those of another one are
	// neither used nor removed.
	Home string
	// Session and Profile name whom the container is for.
	Session, Profile string
	// Image is the image of the container.
	Image string
	Limits
	Life
	Mounts
	// Env is added to the variables of the container.
	Env map[string]string
	// Forward are variables that every script gets, as NAME=value. They are not stored with
	// the container.
	Forward []string
	// ExtraArgs are options for the create command of the client.
	ExtraArgs []string
	// AsHostUser runs everything in the container with the ids of the user of this process.
	AsHostUser bool
	// SnapCompat omits what fails with the Docker that comes as a snap.
	SnapCompat bool
}

// Limits is what the container may use; zero sets no limit.
type Limits struct {
	CPU      float64 // processors
	MemoryMB int
	DiskMB   int // where the engine's storage supports it
	// Network connects the container to the engine's network. Without it there is only
	// loopback.
	Network bool
}

// Life says for how long a container is there.
type Life struct {
	// Persistent and AcrossProcesses together keep the container, for all sessions of Home
	// with the same options. Otherwise each session has its own, which Close removes.
	Persistent, AcrossProcesses bool
	// SharedKey, if set, names a kept container that other homes with the same key use, too.
	SharedKey string
	// Lifetime is how long a container runs on without a Runner, at least three seconds; 0
	// is for ever. A kept one is started again when it is needed.
	Lifetime time.Duration
	// Reap removes containers of Home that were left by killed processes, once they have
	// not run for twice the Lifetime.
	Reap bool
}

// Mounts are what the container sees of this machine.
type Mounts struct {
	// Workspace is the folder that is mounted as /workspace; "" is none.
	Workspace string
	// Volumes are volumes and folders as the client's option --volume takes them; a leading
	// ~ is UserHome.
	Volumes  []string
	UserHome string
	// Files are files that commands may read in their home folder. A container that is kept gets
	// none of them: it could not start again without them, and would show what they were. Nor are those
	// mounted that commands could replace: an engine follows a link when it starts the container again.
	Files []remote.HomeFile
}

// Runner runs scripts in one container. Its methods may be called concurrently.
type Runner struct {
	config  Config
	plan    plan
	dangers dangers

	life   context.Context // ends with Close
	end    context.CancelFunc
	beside sync.WaitGroup // what runs beside the scripts: see upkeep.go
	upkeep sync.Once

	turn    chan struct{} // held by whoever finds or makes the container; guards the four below
	program string        // "" before the first use
	id      string        // of the container; "" is not known
	begun   bool          // a container may be there
	noInit  bool          // the engine has no init program

	noDisk atomic.Bool  // the engine cannot limit the disk
	used   atomic.Int64 // when a script ran last, in Unix nanoseconds
}

var (
	_ remote.Runner    = (*Runner)(nil)
	_ remote.Describer = (*Runner)(nil)
	_ remote.Terminals = (*Runner)(nil)
	_ remote.Lasting   = (*Runner)(nil)
	_ remote.Instances = (*Runner)(nil)
)

// New checks the options. It starts nothing: the first script does, so that an engine that
// is down is an error of that script. The caller must close the Runner.
func New(c Config) (*Runner, error) {
	if c.Image == "" || strings.HasPrefix(c.Image, "-") {
		return nil, fmt.Errorf("%q is no image; set terminal.docker_image", c.Image)
	}
	if c.Home == "" || c.Session == "" {
		return nil, errors.New("a container needs the home and the session that it is for")
	}
	for i, v := range c.Volumes {
		if v == "~" || strings.HasPrefix(v, "~/") || strings.HasPrefix(v, "~:") {
			v = c.UserHome + v[1:]
		}
		if !strings.Contains(v, ":") {
			return nil, fmt.Errorf("terminal.docker_volumes: %q has no folder of the container; write folder:%s", v, cmp.Or(v, "/data"))
		}
		c.Volumes = slices.Clone(c.Volumes)
		c.Volumes[i] = v
	}
	if err := checkExtra(c.ExtraArgs); err != nil {
		return nil, err
	}
	if c.Lifetime > 0 {
		c.Lifetime = max(c.Lifetime, 3*time.Second)
	}
	c.Files = mountable(c)
	r := &Runner{config: c, plan: newPlan(c), dangers: dangersOf(c), turn: make(chan struct{}, 1)}
	r.life, r.end = context.WithCancel(context.Background())
	return r, nil
}

// Describe says what holds of the container. Options that break its walls, and folders of
// this machine that it may change, make it hold nothing: commands are then judged as if
// they ran here.
func (r *Runner) Describe() hermes.Description {
	d := hermes.Description{Network: hermes.NetworkOff}
	if r.config.Network {
		d.Network = hermes.NetworkHost
	}
	if n := r.dangers.network; n != "" {
		d.Network = n
	}
	d.Isolation = hermes.Isolation{Layer: "container", Holds: r.dangers.holds(), Lacks: r.dangers.lacks()}
	if r.config.DiskMB == 0 || r.noDisk.Load() {
		d.Isolation.Lacks = append(d.Isolation.Lacks, "a limit of the disk")
	}
	d.Isolation.Text = fmt.Sprintf("Commands run in a container of the image %s.", r.config.Image)
	switch {
	case len(r.dangers.escapes) > 0:
		d.Isolation.Text = fmt.Sprintf("Commands run in a container of the image %s, but it is no wall: %s.",
			r.config.Image, strings.Join(r.dangers.escapes, ", "))
	case len(r.dangers.writable) > 0:
		d.Isolation.Text = fmt.Sprintf("Commands run in a container of the image %s, and can change these folders of the host: %s.",
			r.config.Image, strings.Join(r.dangers.writable, ", "))
	}
	return d
}

// Place is the name of a container that is kept.
func (r *Runner) Place() string {
	if !r.plan.kept {
		return ""
	}
	return "docker " + r.plan.name
}

// Instance is the id of the container, "" if it is not known.
func (r *Runner) Instance() string {
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
		return r.id
	default: // it is being made
		return ""
	}
}

// HostWritable reports whether commands can change files of the host or reach its engine.
func (r *Runner) HostWritable() bool { return !r.dangers.holds() }

// closeTime bounds the removal of a container.
const closeTime = 30 * time.Second

// Close removes the container, unless it is kept: that one stops by itself after its
// Lifetime, since other sessions may use it.
func (r *Runner) Close() error {
	r.end()
	r.beside.Wait()
	r.turn <- struct{}{} // no Exec runs any more
	defer func() { <-r.turn }()
	if r.plan.kept || !r.begun {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), closeTime, errors.New("the engine does not answer"))
	defer cancel()
	if err := r.remove(ctx, r.plan.name); err != nil {
		return fmt.Errorf("remove the container %s: %w", r.plan.name, err)
	}
	return nil
}
