package ssh

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"hermes/internal/environment/remote"
	"hermes/internal/liveness"
	"hermes/internal/proc"
)

// folderPrefix begins the names of folders for sockets, and longestFolder is how long their
// paths may be: a socket's path has at most 104 bytes, of which ssh itself adds up to 20.
const (
	folderPrefix  = "ssh-"
	longestFolder = 75
)

// system reaches the machine with the program ssh. Its first session, the lead, holds the
// shared connection: it ends with this process, since its input does.
type system struct {
	config  Config
	program string
	life    context.Context

	mu      sync.Mutex
	folder  *liveness.Folder
	masters int // started so far
	current *attempt
}

// attempt is one connection from its start on.
type attempt struct {
	ready   chan struct{} // closed when it works or has failed
	err     error
	process *proc.Process
	socket  string
	errs    recent
}

func newSystem(life context.Context, c Config, program string) *system {
	return &system{config: c, program: program, life: life}
}

// options are the arguments of every ssh, before the host. What the user has configured
// applies, except for what would open a way back to this machine or ask on the terminal.
func (s *system) options(socket string, master bool) []string {
	c := s.config
	alive := max(1, int(c.Alive.Round(time.Second)/time.Second))
	var args []string
	if c.File != "" {
		args = append(args, "-F", c.File)
	}
	for _, o := range []string{
		"BatchMode=yes", "StrictHostKeyChecking=yes", "UpdateHostKeys=no", "VerifyHostKeyDNS=no",
		"ForwardAgent=no", "ForwardX11=no", "ClearAllForwardings=yes", "Tunnel=no", "PermitLocalCommand=no", "RemoteCommand=none", "EscapeChar=none",
		"ConnectTimeout=" + strconv.Itoa(int(connectWait/time.Second)), "ServerAliveInterval=" + strconv.Itoa(alive), "ServerAliveCountMax=" + strconv.Itoa(aliveCount),
		"ControlPersist=no", "ControlPath=" + socket, "ControlMaster=" + map[bool]string{true: "yes", false: "no"}[master],
	} {
		args = append(args, "-o", o)
	}
	if c.Port != 0 {
		args = append(args, "-p", strconv.Itoa(c.Port))
	}
	if c.User != "" {
		args = append(args, "-l", c.User)
	}
	if c.Key != "" {
		args = append(args, "-o", "IdentitiesOnly=yes", "-i", c.Key)
	}
	return args
}

// environment is that of every ssh: no window may ask for a password.
func (s *system) environment(terminal bool) []string {
	env := []string{"SSH_ASKPASS_REQUIRE=never"}
	for _, v := range s.config.Env {
		name, _, _ := strings.Cut(v, "=")
		if name != "SSH_ASKPASS" && name != "SSH_ASKPASS_REQUIRE" && name != "DISPLAY" && (name != "TERM" || !terminal) {
			env = append(env, v)
		}
	}
	if terminal {
		env = append(env, "TERM=xterm-256color")
	}
	return env
}

// connection returns the shared connection, which it makes if there is none. What one caller
// began goes on for the others if its context ends.
func (s *system) connection(ctx context.Context) (*attempt, error) {
	s.mu.Lock()
	a := s.current
	if a == nil || a.over() {
		a = &attempt{ready: make(chan struct{})}
		if err := s.begin(a); err != nil {
			s.mu.Unlock()
			return nil, fmt.Errorf("%w: %w", remote.ErrNotRun, err)
		}
		s.current = a
	}
	s.mu.Unlock()
	select {
	case <-a.ready:
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", remote.ErrNotRun, context.Cause(ctx))
	}
	if a.err != nil {
		return nil, fmt.Errorf("%w: %w", remote.ErrNotRun, a.err)
	}
	return a, nil
}

// over reports that a connection has ended or was never made.
func (a *attempt) over() bool {
	select {
	case <-a.process.Done():
		return true
	default:
	}
	select {
	case <-a.ready:
		return a.err != nil
	default:
		return false
	}
}

// begin starts the master of a connection. The lock is held.
func (s *system) begin(a *attempt) error {
	if s.life.Err() != nil {
		return errClosed
	}
	if s.folder == nil {
		var err error
		if s.folder, err = socketFolder(s.config.Run); err != nil {
			return fmt.Errorf("make a folder for the connection: %w", err)
		}
	}
	if s.current != nil {
		s.current.process.Close()
	}
	s.masters++
	a.socket = filepath.Join(s.folder.Path, strconv.Itoa(s.masters))
	mark := newMark()
	var said recent
	hello := newTail(mark, &said)
	args := append(s.options(a.socket, true), "-o", "LogLevel=ERROR", "-T", "--", s.config.Host, leadLine(mark))
	var err error
	a.process, err = proc.Start(s.life, proc.Command{
		Path: s.program, Args: args, Env: s.environment(false), OpenInput: true, Stdout: hello, Stderr: &a.errs, Files: nil, Guard: s.config.Guard,
	})
	if err != nil {
		return err
	}
	go s.await(a, hello, &said) // ends with the login, or after a time
	return nil
}

// await waits for the lead to answer, and says what is wrong if it does not.
func (s *system) await(a *attempt, hello *tail, said *recent) {
	defer close(a.ready)
	wait := time.NewTimer(loginWait)
	defer wait.Stop()
	select {
	case <-hello.seen:
		return
	case <-wait.C:
		a.process.Close()
		a.err = fmt.Errorf("no login at %s within %v", s.config.Host, loginWait)
		return
	case <-a.process.Done():
	}
	st, _ := a.process.Wait(context.Background())
	hello.finish()
	a.process.Close()
	switch {
	case s.life.Err() != nil:
		a.err = errClosed
	case st.Code != 255:
		a.err = fmt.Errorf("%s logs in but runs no /bin/sh: %s", s.config.Host, cmp.Or(lastLine(said.String()), lastLine(a.errs.String()), "status "+strconv.Itoa(st.Code)))
	default:
		a.err = s.explain(a.errs.String())
	}
}

// socketFolder makes a folder for sockets that only this user can enter, and removes those of
// processes that were killed.
func socketFolder(run string) (*liveness.Folder, error) {
	if len(run) > longestFolder-len(folderPrefix)-10 {
		run = ""
	}
	if run != "" {
		if err := os.MkdirAll(run, 0o700); err != nil {
			return nil, err
		}
	}
	prefix := folderPrefix
	if run == "" {
		prefix = "hermes-" + prefix
	}
	liveness.Sweep(run, prefix)
	return liveness.TempFolder(run, prefix)
}

// client is the command of an ssh that uses the shared connection, for terminals, for sftp and
// where the master opens no session. If that accepts no more sessions, ssh makes a connection of
// its own.
func (s *system) client(a *attempt, terminal bool, args ...string) proc.Command {
	all := append(s.options(a.socket, false), "-o", "LogLevel=QUIET")
	return proc.Command{Path: s.program, Args: append(all, args...), Env: s.environment(terminal), Files: nil, Guard: s.config.Guard}
}

func (s *system) start(ctx context.Context, c call) (session, error) {
	a, err := s.connection(ctx)
	if err != nil {
		return nil, err
	}
	back, to, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", remote.ErrNotRun, err)
	}
	c.in.to, c.in.back = to, back
	c.in.begin()
	if !c.terminal {
		p, err := s.share(ctx, a, c, back)
		if !errors.Is(err, errNotShared) {
			return p, err
		}
	}
	mode := "-T"
	if c.terminal {
		mode = "-tt"
	}
	command := s.client(a, c.terminal, mode, "--", s.config.Host, c.line)
	command.Stdin, command.Stdout, command.Stderr = back, c.out, c.errs
	p, err := proc.Start(s.life, command)
	if err != nil {
		c.in.stop()
		return nil, fmt.Errorf("%w: %w", remote.ErrNotRun, err)
	}
	go c.in.run() // ends with the input; stop ends it
	return &client{Process: p, connection: a}, nil
}

// client is one session of the shared connection.
type client struct {
	*proc.Process
	connection *attempt
}

func (c *client) done() <-chan struct{} { return c.Process.Done() }

func (c *client) close() { c.Process.Close() }

// problem says why the connection ended, which its master knows.
func (c *client) problem() string {
	st, _ := c.Wait(context.Background())
	return c.connection.problem("ssh ended with status " + strconv.Itoa(st.Code))
}

// problem says why the connection ended, or otherwise if its master has said nothing.
func (a *attempt) problem(otherwise string) string {
	select {
	case <-a.process.Done():
	case <-time.After(leftWait): // its sessions hear of the end first
	}
	return cmp.Or(lastLine(a.errs.String()), otherwise)
}

// errNotShared means that the master of a connection opened no session for this process, and that
// nothing of the input was used.
var errNotShared = errors.New("the master of the connection opened no session")

func (s *system) sftp(ctx context.Context) (io.ReadWriteCloser, error) {
	a, err := s.connection(ctx)
	if err != nil {
		return nil, err
	}
	in, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	from, out, err := os.Pipe()
	if err != nil {
		to.Close()
		return nil, err
	}
	defer out.Close()
	command := s.client(a, false, "-T", "-s", "--", s.config.Host, "sftp")
	command.Stdin, command.Stdout = in, out
	p, err := proc.Start(s.life, command)
	if err != nil {
		return nil, errors.Join(err, to.Close(), from.Close())
	}
	return &pipes{Reader: from, WriteCloser: to, from: from, process: p}, nil
}

// pipes are both directions of a subsystem.
type pipes struct {
	io.Reader
	io.WriteCloser
	from    *os.File
	process *proc.Process
}

func (p *pipes) Close() error {
	err := p.WriteCloser.Close()
	p.process.Close()
	return errors.Join(err, p.from.Close())
}

func (s *system) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != nil {
		s.current.process.Close() // it removes its socket
		<-s.current.ready
	}
	if s.folder == nil {
		return nil
	}
	return s.folder.Remove()
}
