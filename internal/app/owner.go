package app

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"hermes/internal/home"
	"hermes/internal/liveness"
	"hermes/internal/store/sqlite"
)

// owner names this process among all that share a home: host, process id and a
// random number, because process ids are reused.
func owner() string {
	var tail [8]byte
	_, _ = rand.Read(tail[:]) // never fails, by its contract
	return fmt.Sprintf("%s:%d:%s", hostname(), os.Getpid(), hex.EncodeToString(tail[:]))
}

func hostname() string {
	host, _ := os.Hostname() // an empty name still leaves the id and the number
	return strings.ReplaceAll(host, ":", "_")
}

// makeLeaseOwner names this process as the owner of leases. As long as it runs, it holds the
// lock that shows other processes that it does. Without one they wait until its leases
// expire.
func (a *App) makeLeaseOwner() string {
	name := owner()
	h, err := a.home()
	if err != nil {
		return name // reported where the home is needed
	}
	path := ownerFile(h, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		a.log().Warn("show that this process runs", "error", err)
		return name
	}
	lock, err := liveness.Hold(path)
	if err != nil {
		a.log().Warn("show that this process runs", "error", err)
		return name
	}
	a.closing(func() error {
		if a.leasesLeft(name) {
			return lock.Free() // tidyOwners removes the file when they have expired
		}
		return lock.Release()
	})
	return name
}

// leasesLeft reports whether leases of this owner could not be released, for example on a
// full disk. Without the file no other process could tell that they are free.
func (a *App) leasesLeft(owner string) bool {
	store := a.opened.Load()
	if store == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), recordTime)
	defer cancel()
	owners, err := store.LeaseOwners(ctx)
	return err != nil || slices.Contains(owners, owner)
}

// numberOfOwner is the number at the end of an owner's name.
var numberOfOwner = regexp.MustCompile(`:([0-9a-f]{16})$`)

// ownerFile is the lock file of an owner, "" if it cannot have one.
func ownerFile(h home.Dir, owner string) string {
	number := numberOfOwner.FindStringSubmatch(owner)
	if number == nil {
		return ""
	}
	return h.Join("run", number[1]+".lock")
}

// ownerGone returns whether the owner of a lease has certainly ended.
func ownerGone(h home.Dir) func(owner string) bool {
	return func(owner string) bool {
		path := ownerFile(h, owner)
		return path != "" && liveness.Ended(path)
	}
}

// tidyOwners removes the lock files of processes that have ended and whose leases have
// expired.
func tidyOwners(ctx context.Context, h home.Dir, store *sqlite.Store) error {
	entries, err := os.ReadDir(h.Join("run"))
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	var files []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".lock") {
			files = append(files, h.Join("run", e.Name()))
		}
	}
	if len(files) == 0 {
		return nil
	}
	owners, err := store.LeaseOwners(ctx)
	if err != nil {
		return err
	}
	for _, path := range files {
		of := func(owner string) bool { return ownerFile(h, owner) == path }
		if !slices.ContainsFunc(owners, of) && liveness.Ended(path) {
			if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
				return err
			}
		}
	}
	return nil
}
