// Package lease names a process as the owner of leases on sessions, and shows the other
// processes that share its home whether it still runs.
//
// As long as a process runs, it holds the lock of a file in the folder "run" of the home.
// The file is removed with its last lease. The package does not know what a lease is on, nor
// the store. Start at NewOwner.
package lease

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"hermes/internal/lazy"
	"hermes/internal/liveness"
)

// Owner is this process as the owner of leases.
type Owner struct {
	Name string
	lock *liveness.Lock // nil if no other process can see that this one runs
}

// NewName names this process among all that share a home: host, process id and a
// random number, because process ids are reused.
func NewName() string {
	var tail [8]byte
	_, _ = rand.Read(tail[:]) // never fails, by its contract
	host, _ := os.Hostname()  // an empty name still leaves the id and the number
	host = strings.ReplaceAll(host, ":", "_")
	return fmt.Sprintf("%s:%d:%s", host, os.Getpid(), hex.EncodeToString(tail[:]))
}

// NewOwner names this process and holds the lock in a folder, which it makes. After an error
// the owner can be used too, but others wait until its leases expire.
func NewOwner(dir string) (*Owner, error) {
	o := &Owner{Name: NewName()}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return o, err
	}
	lock, err := liveness.Hold(file(dir, o.Name))
	if err != nil {
		return o, err
	}
	o.lock = lock
	return o, nil
}

// storeTime limits one question to the store.
const storeTime = 10 * time.Second

// Close frees the lock. It keeps the file if leases of this owner could not be released, for
// example on a full disk: without the file no other process could tell that they are free.
// owners lists the owners of all leases.
func (o *Owner) Close(owners func(context.Context) ([]string, error)) error {
	if o.lock == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeTime)
	defer cancel()
	if list, err := owners(ctx); err != nil || slices.Contains(list, o.Name) {
		return o.lock.Free() // Tidy removes the file when they have expired
	}
	return o.lock.Release()
}

// numberOfOwner is the number at the end of an owner's name.
var numberOfOwner = lazy.Regexp(`:([0-9a-f]{16})$`)

// file is the lock file of an owner, "" if it cannot have one.
func file(dir, owner string) string {
	number := numberOfOwner().FindStringSubmatch(owner)
	if number == nil {
		return ""
	}
	return filepath.Join(dir, number[1]+".lock")
}

// Gone returns whether the owner of a lease has certainly ended.
func Gone(dir string) func(owner string) bool {
	return func(owner string) bool {
		path := file(dir, owner)
		return path != "" && liveness.Ended(path)
	}
}

// Process returns the id of the process that an owner's name means, if that process certainly
// runs, on this host.
func Process(dir, owner string) (pid int, runs bool) {
	parts := strings.Split(owner, ":")
	host, err := os.Hostname()
	if err != nil || len(parts) != 3 || parts[0] != strings.ReplaceAll(host, ":", "_") {
		return 0, false
	}
	pid, err = strconv.Atoi(parts[1])
	path := file(dir, owner)
	return pid, err == nil && pid > 1 && path != "" && liveness.Held(path)
}

// Tidy removes the lock files of processes that have ended and whose leases have
// expired. owners lists the owners of all leases.
func Tidy(ctx context.Context, dir string, owners func(context.Context) ([]string, error)) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	var files []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".lock") {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	if len(files) == 0 {
		return nil
	}
	list, err := owners(ctx)
	if err != nil {
		return err
	}
	for _, path := range files {
		of := func(owner string) bool { return file(dir, owner) == path }
		if !slices.ContainsFunc(list, of) && liveness.Ended(path) {
			if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
				return err
			}
		}
	}
	return nil
}
