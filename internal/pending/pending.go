// Package pending keeps what waits for the user's approval: a folder for each kind, in
// it a file for each proposal, named by its id.
//
// It owns the files. What a proposal says, who may make one, whether it still holds and
// what an approval does is known to the part that it is for, which wraps a Folder.
// Several processes may use a folder at once. Start at Folder.
package pending

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hermes/internal/atomicfile"
	"hermes/internal/order"
)

// Most is how many proposals of one kind may wait.
const Most = 100

// Folder are the proposals of one kind. Its methods may be called concurrently.
type Folder struct {
	// Path is the folder. It need not exist before something is added.
	Path func() (string, error)
	// What is one of them, such as change, and List the command that lists them.
	What, List string
	// None is what an error wraps if there is no proposal with an id.
	None error
}

// ID makes an id of what a proposal says, so that what was proposed is what is approved.
func ID(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:5])
}

// file is the file of a proposal. An id cannot name a file elsewhere.
func (f Folder) file(id string) (string, error) {
	if id == "" || strings.ContainsFunc(id, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'z') }) {
		return "", f.missing(id)
	}
	folder, err := f.Path()
	return filepath.Join(folder, id+".json"), err
}

func (f Folder) missing(id string) error {
	return fmt.Errorf("there is no pending %s %q; `%s` lists them: %w", f.What, id, f.List, f.None)
}

// Add stores a proposal as JSON. One with the same id is replaced.
func (f Folder) Add(id string, v any) error {
	file, err := f.file(id)
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("create the folder of a pending %s: %w", f.What, err)
	}
	return atomicfile.Write(file, data, atomicfile.Options{})
}

// Waiting returns the ids of all proposals in their order, also of damaged ones.
func (f Folder) Waiting() (ids []string, err error) {
	folder, err := f.Path()
	if err != nil {
		return nil, err
	}
	files, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list what is pending: %w", err)
	}
	for _, e := range files {
		if id, ok := strings.CutSuffix(e.Name(), ".json"); ok && !strings.HasPrefix(id, ".") {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// Read decodes a proposal into v. If there is none, the error wraps None.
func (f Folder) Read(id string, v any) error {
	file, err := f.file(id)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return f.missing(id)
	}
	if err != nil {
		return fmt.Errorf("read the pending %s %s: %w", f.What, id, err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("the pending %s %s is damaged; reject it: %w", f.What, id, err)
	}
	return nil
}

// Modified says that a proposal is not what it was when it got its id.
func (f Folder) Modified(id string) error {
	return fmt.Errorf("the pending %s %s was modified after it was proposed and cannot be approved; reject it", f.What, id)
}

// Reject deletes a proposal, also a damaged one. If there is none, the error wraps
// None.
func (f Folder) Reject(id string) error {
	file, err := f.file(id)
	if err != nil {
		return err
	}
	if err := os.Remove(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return f.missing(id)
}

// All reads all proposals, oldest first, and skips those that cannot be read.
func All[T any](f Folder, read func(id string) (T, error), at func(T) time.Time) ([]T, error) {
	ids, err := f.Waiting()
	if err != nil {
		return nil, err
	}
	var list []T
	for _, id := range ids {
		if p, err := read(id); err == nil {
			list = append(list, p)
		}
	}
	order.By(list, func(a, b T) int { return at(a).Compare(at(b)) })
	return list, nil
}
