// Package ssh runs the commands of a session on another machine over ssh. [Runner] is a
// [remote.Runner]: the environment over it is written in package remote.
//
// There are two ways to the machine, chosen once. Where the program ssh is installed, one
// connection of it is shared by all commands: it knows agents, hardware keys, jump hosts and
// the whole configuration of the user. Elsewhere, as on most Windows systems, a library does
// the same with what it understands of that configuration. Either way, the key of the host
// must be known, no password is asked for, and nothing is forwarded.
//
// A script is sent over the standard input with its length, not as an argument: arguments
// have limits, are seen by other users, and are read by the login shell, which may be any.
// What the far side says at the end tells the end of a script from the end of a connection.
//
// The package does not know what is run, and asks no one. Start reading at exec.go; the ways
// are in system.go and library.go, the files in files.go.
package ssh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"hermes"
	"hermes/internal/environment/remote"
	"hermes/internal/proc"
)

// Config says which machine it is and how to reach it. Host is required.
type Config struct {
	// Host is a name, an address, or an alias of the user's configuration.
	Host string
	// User, Port and Key, the file of a private key, are what the user's configuration says
	// if they are empty. So is port 22, which is the default anyway.
	User string
	Port int
	Key  string
	// Home is the user's home folder on this machine, for ~.
	Home string
	// Run is a private folder for the sockets of connections, which is made; if it is empty
	// or its path too long for a socket, a new one below the system's temporary folder is used.
	Run string
	// Env is the environment of ssh, as NAME=value.
	Env []string
	// Guard ends the connections if this process is killed; nil means none.
	Guard *proc.Guard
	// Library uses the library also where ssh is installed.
	Library bool
	// File is the client's configuration; if empty, those of the user and the system.
	File string
	// Alive is how often a silent connection is asked for a sign of life; after three
	// without an answer it counts as lost. 0 means 15 seconds.
	Alive time.Duration
}

// Defaults and limits.
const (
	aliveDefault = 15 * time.Second
	aliveCount   = 3
	connectWait  = 15 * time.Second // for the other side to answer
	loginWait    = time.Minute      // for the whole login
	maxLeft      = 4                // sessions kept for what commands left running; servers allow ten
)

// Runner runs scripts on another machine. Its methods may be called concurrently.
type Runner struct {
	config Config
	way    way
	life   context.Context // ends with Close
	end    context.CancelCauseFunc
	files  fileClient

	mu   sync.Mutex
	left []session // ended scripts whose processes still have their output open
}

var (
	_ remote.Runner     = (*Runner)(nil)
	_ remote.Describer  = (*Runner)(nil)
	_ remote.Terminals  = (*Runner)(nil)
	_ remote.FileServer = (*Runner)(nil)
	_ remote.Lasting    = (*Runner)(nil)
)

// way is a way to the machine. Its methods may be called concurrently.
type way interface {
	// start runs a command line of the user's login shell over the shared connection,
	// which it makes if there is none. An error wraps remote.ErrNotRun.
	start(ctx context.Context, c call) (session, error)
	// sftp opens the subsystem for files.
	sftp(ctx context.Context) (io.ReadWriteCloser, error)
	// close ends the connection and frees all resources.
	close() error
}

// call is what a way starts.
type call struct {
	line          string
	in            *feed
	out, errs     io.Writer // written from one goroutine each, until done is closed
	terminal      bool
	columns, rows int
}

// session is a started command line.
type session interface {
	// done is closed when it has ended and its output was delivered.
	done() <-chan struct{}
	// close frees it. If it still runs, the connection to it is cut first, without waiting
	// for the other side.
	close()
	// problem says why it ended, after done.
	problem() string
}

var errClosed = errors.New("the connection to the machine is closed")

// New returns the runner for a machine. It connects with the first script.
func New(c Config) (*Runner, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	r := &Runner{config: c}
	r.life, r.end = context.WithCancelCause(context.Background())
	program, err := exec.LookPath("ssh")
	if c.Library || err != nil || runtime.GOOS == "windows" {
		r.way = newLibrary(r.life, c)
		return r, nil
	}
	r.way = newSystem(r.life, c, program)
	return r, nil
}

// check refuses what ssh could read as an option or hand to a shell, and completes the rest.
func (c *Config) check() error {
	switch {
	case c.Host == "":
		return errors.New("no host is set; set terminal.ssh_host")
	case strings.HasPrefix(c.Host, "-") || strings.Trim(c.Host, letters+"._:%[]-") != "" || strings.ContainsAny(c.Host, forbidden):
		return fmt.Errorf("%q is not a host name; correct terminal.ssh_host", c.Host)
	case strings.HasPrefix(c.User, "-") || strings.ContainsAny(c.User, forbidden):
		return fmt.Errorf("%q is not a user name; correct terminal.ssh_user", c.User)
	case c.Port < 0 || c.Port > 65535:
		return fmt.Errorf("%d is not a port; correct terminal.ssh_port", c.Port)
	}
	if c.Port == 22 {
		c.Port = 0
	}
	if c.Key != "" {
		c.Key = expand(c.Key, c.Home)
		if _, err := os.Stat(c.Key); err != nil {
			return fmt.Errorf("the key of terminal.ssh_key: %w", err)
		}
	}
	if c.Alive == 0 {
		c.Alive = aliveDefault
	}
	return nil
}

const (
	letters   = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	forbidden = "'`\"$\\;&<>|(){}*?! \t\r\n\x00"
)

func expand(path, home string) string {
	if home != "" && (path == "~" || strings.HasPrefix(path, "~/")) {
		return filepath.Join(home, path[1:])
	}
	return path
}

// target is the machine in messages, and to name it to ssh by hand.
func (c Config) target() string {
	t := c.Host
	if c.User != "" {
		t = c.User + "@" + t
	}
	if c.Port != 0 {
		t = "-p " + strconv.Itoa(c.Port) + " " + t
	}
	return t
}

// Describe says that there are no walls; see [remote.Describer].
func (r *Runner) Describe() hermes.Description {
	text := "Commands run on " + r.config.Host
	if r.config.User != "" {
		text += " as " + r.config.User
	}
	return hermes.Description{
		Isolation: hermes.Isolation{Layer: "remote", Text: text + ", and may do what that user may."},
		Network:   hermes.NetworkHost,
	}
}

// Place is the machine and who logs in there.
func (r *Runner) Place() string {
	return fmt.Sprintf("ssh %s %s %d", r.config.User, r.config.Host, r.config.Port)
}

// Close ends the connection with all that still uses it. What scripts left running on the
// machine is not ended.
func (r *Runner) Close() error {
	r.end(errClosed)
	r.mu.Lock()
	left := r.left
	r.left = nil
	r.mu.Unlock()
	for _, s := range left {
		s.close()
	}
	r.files.close()
	return r.way.close()
}
