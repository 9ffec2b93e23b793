package ssh

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/pkg/sftp"
)

// readBytes is how much of a file is asked for at once, in several requests.
const readBytes = 256 << 10

// Open opens a file. What is no file, such as a pipe, is refused: the server would wait for
// its other end and answer nothing else meanwhile.
func (f files) Open(ctx context.Context, p string) (io.ReadCloser, error) {
	opened, err := over(ctx, f, "open", p, true, func(s *server, p string) (*sftp.File, error) {
		info, err := s.Stat(p)
		switch {
		case err != nil:
			return nil, err
		case info.IsDir():
			return nil, errFolder
		case info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) != 0:
			return nil, errKind
		}
		return s.Client.Open(p)
	}, func(f *sftp.File) { f.Close() })
	if errors.Is(err, errShell) {
		return f.shell.Open(ctx, p)
	}
	if err != nil {
		return nil, err
	}
	c := &content{ctx: ctx, file: opened}
	c.Reader = bufio.NewReaderSize(readerFunc(c.read), readBytes)
	return c, nil
}

// content is an open file.
type content struct {
	*bufio.Reader
	ctx  context.Context // of Open, as for a command that prints the file
	file *sftp.File
}

// read reads the next bytes. It returns when the context ends, whatever the other side does.
func (c *content) read(p []byte) (int, error) {
	size := len(p)
	b, err := apart(c.ctx, func() ([]byte, error) {
		b := make([]byte, size) // p is the caller's once the context has ended
		n, err := c.file.Read(b)
		if n > 0 && errors.Is(err, io.EOF) {
			err = nil
		}
		return b[:n], err
	})
	return copy(p, b), err
}

func (c *content) Close() error {
	_, err := apart(c.ctx, func() (struct{}, error) { return struct{}{}, c.file.Close() })
	if c.ctx.Err() != nil {
		return nil
	}
	return err
}

type readerFunc func([]byte) (int, error)

func (r readerFunc) Read(p []byte) (int, error) { return r(p) }

// readable is what all others may read. sftp makes files with the usual mode: one that fewer
// may read is made by a script, so that it is never open to them.
const readable = 0o044

// Write replaces a file atomically; see [hermes.Files].
func (f files) Write(ctx context.Context, p string, data []byte, mode fs.FileMode) error {
	if mode != 0 && mode&readable != readable {
		return f.shell.Write(ctx, p, data, mode)
	}
	t, err := over(ctx, f, "write", p, false, func(s *server, p string) (staged, error) {
		return s.stage(ctx, p, data, mode)
	}, staged.drop)
	if errors.Is(err, errShell) {
		return f.shell.Write(ctx, p, data, mode)
	}
	if err != nil {
		return err
	}
	// From here on the write is done or fails, whether ctx ends or not.
	if err := t.server.PosixRename(t.temp, t.path); err != nil {
		t.drop()
		if errors.Is(err, sftp.ErrSSHFxConnectionLost) {
			return fmt.Errorf("write %s: the connection to %s was lost, and it is unknown whether it was done", p, f.runner.config.Host)
		}
		return &fs.PathError{Op: "write", Path: p, Err: err}
	}
	return nil
}

// staged is a file beside the one that it is to replace.
type staged struct {
	server     *server
	temp, path string
}

func (t staged) drop() { _ = t.server.Client.Remove(t.temp) }

// stage writes the data to a new file beside the one at p, with the mode that it is to have.
func (s *server) stage(ctx context.Context, p string, data []byte, mode fs.FileMode) (staged, error) {
	real, err := s.realPath(p)
	if errors.Is(err, fs.ErrNotExist) {
		if err = s.MkdirAll(path.Dir(p)); err == nil {
			real, err = s.realPath(p)
		}
	}
	if err != nil {
		return staged{}, err
	}
	info, err := s.Stat(real)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return staged{}, err
	case info.IsDir():
		return staged{}, errFolder
	case !info.Mode().IsRegular():
		return staged{}, errKind
	case info.Mode()&readable != readable:
		return staged{}, errShell
	default:
		mode = info.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
		writable, err := s.OpenFile(real, os.O_WRONLY)
		if err != nil {
			return staged{}, err
		}
		writable.Close()
	}
	if ctx.Err() != nil {
		return staged{}, context.Cause(ctx)
	}
	t := staged{server: s, temp: path.Join(path.Dir(real), ".hermes-"+rand.Text()), path: real}
	if err := s.fill(t.temp, data, mode); err != nil {
		t.drop()
		return staged{}, err
	}
	if ctx.Err() != nil {
		t.drop()
		return staged{}, context.Cause(ctx)
	}
	return t, nil
}

// fill writes a new file, and makes sure that it is on the disk where the server can.
func (s *server) fill(name string, data []byte, mode fs.FileMode) error {
	f, err := s.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	if len(data) > 0 {
		_, err = f.Write(data)
	}
	if err == nil && mode != 0 {
		err = f.Chmod(mode)
	}
	if _, ok := s.HasExtension("fsync@openssh.com"); ok && err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
