package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"hermes/internal/git"
	"hermes/internal/proc"
)

// RecordName is the file beside those of a plugin that says where they come from, see [Record].
const RecordName = ".hermes-source.json"

// Tools are what fetching needs of the program.
type Tools struct {
	// Env returns the environment of git, as NAME=value.
	Env func() []string
	// Guard ends git if this process is killed; nil does not.
	Guard *proc.Guard
	// Bundled writes the files of a plugin that comes along into a folder; nil knows none.
	Bundled func(name, address, dir string) error
	// IsBundled reports the names of those that come along, which no other plugin can have; nil knows none.
	IsBundled func(name string) bool
}

func (t Tools) remote(s Source) git.Remote {
	return git.Remote{URL: s.From, Env: t.Env, Guard: t.Guard, Own: s.Credentials}
}

// Newest returns the source at the newest commit of its branch, and the name of that. One that is no
// repository is returned as it is.
func (s Source) Newest(ctx context.Context, t Tools) (newest Source, branch string, err error) {
	if s.Kind != Git {
		return s, "", nil
	}
	s.Commit, branch, err = t.remote(s).Newest(ctx, s.Branch)
	return s, branch, err
}

// Fetch writes the files of the source into an empty folder. A repository needs a commit.
func (s Source) Fetch(ctx context.Context, t Tools, to string) error {
	if s.Kind == Bundled {
		if t.Bundled == nil {
			return fmt.Errorf("no plugin %s comes along here", s.From)
		}
		return t.Bundled(s.From, s.Address, to)
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer root.Close()
	u := &unpacking{root: root}
	info, err := os.Stat(s.From)
	switch {
	case s.Kind == Git:
		err = s.clone(ctx, t, to, u)
	case err != nil:
	case info.IsDir():
		err = u.folder(ctx, s.From)
	case strings.HasSuffix(s.From, ".zip"):
		err = u.zip(ctx, s.From)
	default:
		err = u.tarFile(ctx, s.From)
	}
	if err != nil {
		return fmt.Errorf("read the plugin from %s: %w", s, err)
	}
	return nil
}

// clone gets the files of a commit. Git works in a folder beside the one that they go to.
func (s Source) clone(ctx context.Context, t Tools, to string, u *unpacking) error {
	scratch, err := os.MkdirTemp(filepath.Dir(to), filepath.Base(to)+".git-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	read, write := io.Pipe()
	done := make(chan error, 1)
	go func() { // ends with git, which ends if nothing is read any more
		err := t.remote(s).Archive(ctx, scratch, s.Commit, s.Below, write)
		write.CloseWithError(err)
		done <- err
	}()
	if err = u.tar(ctx, read); err == nil {
		_, _ = io.Copy(io.Discard, io.LimitReader(read, 1<<20)) // what fills the last block of a tar
	} else {
		cancel() // git would wait for a reader
	}
	read.CloseWithError(errors.New("the files of the plugin cannot be used"))
	if failed := <-done; failed != nil && (err == nil || errors.Is(err, failed)) {
		return failed
	}
	return err
}

// Refuse refuses a plugin from a source that is called as one that comes along: logins for that one
// would go to it.
func (t Tools) Refuse(name string, s Source) error {
	if s.Kind == Bundled || t.IsBundled == nil || !t.IsBundled(name) {
		return nil
	}
	return fmt.Errorf("a plugin %s comes along with Hermes, and no other can have its name; `hermes plugins install %s` installs that one", name, name)
}

// Record is what the file beside those of a plugin says: where they come from, and the seal of who wrote it.
type Record struct {
	Source
	Seal string `json:"seal,omitempty"`
}

// Write leaves the record of the source of a plugin in a folder.
func (s Source) Write(dir, plugin string, by Sealer) error {
	seal, err := by.seal(plugin, s)
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(Record{s, seal}, "", " ")
	if err != nil {
		return err
	}
	path := filepath.Join(dir, RecordName)
	if err := os.RemoveAll(path); err != nil { // that of another place, perhaps
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}

// ReadRecord reads the record in a folder. ok is false without a record. Whoever put the files there may have
// written it: see [Sealer.Sealed].
func ReadRecord(dir string) (r Record, ok bool, err error) {
	data, err := os.ReadFile(filepath.Join(dir, RecordName))
	if errors.Is(err, fs.ErrNotExist) {
		return r, false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err == nil && r.Kind == Git {
		err = r.check()
	}
	if err != nil {
		return Record{}, false, fmt.Errorf("where the plugin comes from cannot be read from %s: %w", RecordName, err)
	}
	return r, true, nil
}
