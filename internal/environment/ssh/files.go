package ssh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/pkg/sftp"

	"hermes"
	"hermes/internal/environment/remote"
)

// files are the files of the machine over sftp, where the server has it, else over scripts.
type files struct {
	runner *Runner
	shell  remote.ScriptFiles
}

var _ hermes.LinklessFiles = files{}

// Files returns the files of the machine; see [remote.FileServer].
func (r *Runner) Files(scripts remote.ScriptFiles) hermes.Files {
	return files{r, scripts}
}

// NoLinks returns files over scripts: sftp names files by their whole path only, in which a
// link may take the place of a folder meanwhile.
func (f files) NoLinks() hermes.Files { return f.shell.NoLinks() }

func (f files) Resolve(p string) (string, error) { return f.shell.Resolve(p) }

func (f files) Stat(ctx context.Context, p string) (fs.FileInfo, error) {
	info, err := over(ctx, f, "stat", p, true, func(c *server, p string) (fs.FileInfo, error) { return c.Stat(p) })
	if errors.Is(err, errShell) {
		return f.shell.Stat(ctx, p)
	}
	return info, err
}

func (f files) RealPath(ctx context.Context, p string) (string, error) {
	real, err := over(ctx, f, "follow", p, true, (*server).realPath)
	if errors.Is(err, errShell) {
		return f.shell.RealPath(ctx, p)
	}
	return real, err
}

func (f files) List(ctx context.Context, dir string) ([]fs.DirEntry, error) {
	all, err := over(ctx, f, "list", dir, true, func(c *server, p string) ([]fs.FileInfo, error) { return c.ReadDir(p) })
	if errors.Is(err, errShell) {
		return f.shell.List(ctx, dir)
	}
	var entries []fs.DirEntry
	for _, info := range all {
		entries = append(entries, fs.FileInfoToDirEntry(info))
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

func (f files) Remove(ctx context.Context, p string) error {
	_, err := over(ctx, f, "remove", p, false, func(c *server, p string) (struct{}, error) {
		info, err := c.Lstat(p)
		if err == nil && info.IsDir() {
			err = c.RemoveDirectory(p)
		} else if err == nil {
			err = c.Client.Remove(p)
		}
		return struct{}{}, err
	})
	if errors.Is(err, errShell) || vague(err) {
		return f.shell.Remove(ctx, p)
	}
	return err
}

func (f files) Rename(ctx context.Context, from, to string) error {
	target, err := f.Resolve(to)
	if err != nil {
		return err
	}
	_, err = over(ctx, f, "rename", from, false, func(c *server, p string) (struct{}, error) {
		_, err := c.Lstat(p)
		if err == nil {
			err = c.MkdirAll(path.Dir(target))
		}
		if err == nil {
			err = c.PosixRename(p, target)
		}
		return struct{}{}, err
	})
	if errors.Is(err, errShell) || vague(err) { // such as to another disk
		return f.shell.Rename(ctx, from, to)
	}
	return err
}

var (
	// errShell means that the files are to be used over scripts.
	errShell  = errors.New("use the shell")
	errFolder = errors.New("it is a folder")
	errKind   = errors.New("it is not a regular file; use a command for it")
)

// vague reports whether a server only said that something failed: nothing was done, and a
// script knows the reason or another way.
func vague(err error) bool {
	var status *sftp.StatusError
	return errors.As(err, &status) && status.FxCode() == sftp.ErrSSHFxFailure
}

// server is a connected sftp server.
type server struct {
	*sftp.Client
	pipes   io.Closer
	ended   chan struct{}
	follows bool // its RealPath follows links, and the last name may be missing
}

// fileClient is the sftp connection of a runner.
type fileClient struct {
	mu      sync.Mutex
	current *server
	none    bool // the server has no sftp that is good enough
}

func (f *fileClient) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.current != nil {
		f.current.close()
	}
}

func (s *server) close() {
	_ = s.pipes.Close() // first: the other side may be silent
	_ = s.Client.Close()
}

// server returns the sftp server, or errShell if the machine has none.
func (r *Runner) server(ctx context.Context) (*server, error) {
	f := &r.files
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.none {
		return nil, errShell
	}
	if s := f.current; s != nil {
		select {
		case <-s.ended:
			s.close()
			f.current = nil
		default:
			return s, nil
		}
	}
	if r.life.Err() != nil {
		return nil, errClosed
	}
	s, err := r.open(ctx)
	if err == nil {
		_, renames := s.HasExtension("posix-rename@openssh.com")
		if !renames { // without it, a file cannot be replaced atomically
			s.close()
			f.none = true
			return nil, errShell
		}
		f.current = s
		return s, nil
	}
	if errors.Is(err, remote.ErrNotRun) || ctx.Err() != nil {
		return nil, err
	}
	if _, probe := r.Exec(ctx, remote.Script{Text: ":"}); probe != nil { // it is not the files
		return nil, probe
	}
	f.none = true
	return nil, errShell
}

// open connects to the sftp server.
func (r *Runner) open(ctx context.Context) (*server, error) {
	pipes, err := r.way.sftp(ctx)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { pipes.Close() })
	c, err := sftp.NewClientPipe(pipes, pipes, sftp.UseConcurrentWrites(true)) // of a file that is discarded if one fails
	if !stop() && err == nil {
		c.Close()
		err = context.Cause(ctx)
	}
	if err != nil {
		pipes.Close()
		return nil, err
	}
	s := &server{Client: c, pipes: pipes, ended: make(chan struct{})}
	_, s.follows = c.HasExtension("lsetstat@openssh.com") // it is OpenSSH's
	go func() {                                           // ends with the connection
		_ = c.Wait()
		close(s.ended)
	}()
	return s, nil
}

// over does something over sftp with a resolved path. When ctx ends it returns at once, and
// what late says is done with a result that comes later. It is done again over another
// connection if again is set and the first one was lost.
func over[T any](ctx context.Context, f files, verb, p string, again bool, do func(*server, string) (T, error), late ...func(T)) (T, error) {
	var none T
	resolved, err := f.Resolve(p)
	if err != nil {
		return none, err
	}
	for {
		s, err := apart(ctx, func() (*server, error) { return f.runner.server(ctx) })
		if err != nil {
			return none, err
		}
		v, err := apart(ctx, func() (T, error) { return do(s, resolved) }, late...)
		switch {
		case err == nil || errors.Is(err, errShell):
			return v, err
		case ctx.Err() != nil:
			return none, fmt.Errorf("%s %s: %w", verb, p, err)
		case !errors.Is(err, sftp.ErrSSHFxConnectionLost):
			var inner *fs.PathError
			if errors.As(err, &inner) {
				err = inner.Err
			}
			return none, &fs.PathError{Op: verb, Path: p, Err: err}
		case !again:
			return none, fmt.Errorf("%s %s: the connection to %s was lost, and it is unknown whether it was done", verb, p, f.runner.config.Host)
		}
		again = false
		s.close() // it has ended
		<-s.ended
	}
}

// apart does something in a goroutine of its own, which goes on when ctx ends.
func apart[T any](ctx context.Context, do func() (T, error), late ...func(T)) (T, error) {
	type result struct {
		v   T
		err error
	}
	done := make(chan result, 1)
	go func() { // ends with the answer or the connection
		v, err := do()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.v, r.err
	case <-ctx.Done():
		go func() { // the same
			if r := <-done; r.err == nil {
				for _, l := range late {
					l(r.v)
				}
			}
		}()
		var none T
		return none, context.Cause(ctx)
	}
}

const maxLinks = 40

// realPath follows all links of a path. The last name may be missing, also as the target of
// a link.
func (s *server) realPath(p string) (string, error) {
	if s.follows {
		if real, err := s.Client.RealPath(p); err == nil || !vague(err) {
			return real, err
		}
	}
	real, links := "/", 0
	for rest := strings.Trim(p, "/"); rest != ""; {
		name, after, _ := strings.Cut(rest, "/")
		rest = strings.TrimLeft(after, "/")
		next := path.Join(real, name) // also for . and ..: real has no links
		info, err := s.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist) && rest == "":
			return next, nil
		case err != nil:
			return "", err
		case info.Mode()&fs.ModeSymlink == 0:
			real = next
			continue
		}
		if links++; links > maxLinks {
			return "", errors.New("its links form a loop")
		}
		target, err := s.ReadLink(next)
		if err != nil {
			return "", err
		}
		if path.IsAbs(target) {
			real = "/"
		}
		rest = strings.Trim(target+"/"+rest, "/")
	}
	return real, nil
}
