//go:build unix

package owner_test

import (
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/owner"
)

// left makes a socket at which nothing listens, as a killed process leaves it.
func left(t *testing.T, path string) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// names lists what is in a folder.
func names(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func private(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.Chmod(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	return folder
}

// TestTidyRemovesWhatNoLeaseNames: a socket with a lock file may still be in one.
func TestTidyRemovesWhatNoLeaseNames(t *testing.T) {
	t.Parallel()
	folder := private(t)
	o := owner.New(owner.Config{Folder: folder, Name: "host:1:aa", Log: slog.New(slog.DiscardHandler)})
	defer o.Close()
	o.Address()
	left(t, filepath.Join(folder, "bb.sock"))
	left(t, filepath.Join(folder, "cc.sock"))
	if err := os.WriteFile(filepath.Join(folder, "cc.lock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := owner.Tidy(t.Context(), folder); err != nil {
		t.Error(err)
	}
	if d := cmp.Diff([]string{"aa.sock", "cc.lock", "cc.sock", "key", "key.lock"}, names(t, folder)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if err := owner.Tidy(t.Context(), filepath.Join(folder, "none")); err != nil {
		t.Errorf("without a folder: %v", err)
	}
}

// TestLeasesSayWhereTheOwnerListens, and who takes one removes the socket of the owner before
// it; a path that is not that of an owner is left alone.
func TestLeasesSayWhereTheOwnerListens(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		address string
		removed bool
	}{
		"its own socket":        {"bb.sock", true},
		"the socket of another": {"cc.sock", false},
	} {
		folder := private(t)
		store := hermestest.NewStore()
		if err := store.CreateSession(t.Context(), hermes.Session{ID: "s", Started: time.Unix(1, 0)}); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, tt.address)
		left(t, path)
		if _, err := store.Acquire(t.Context(), "s", hermes.Owner{Name: "host:2:bb", Address: path}, -time.Second); err != nil {
			t.Fatal(err)
		}
		o := owner.New(owner.Config{Folder: folder, Name: "host:1:aa", Log: slog.New(slog.DiscardHandler)})
		defer o.Close()
		if got := names(t, folder); len(got) != 1 {
			t.Errorf("%s: it listens before its first lease: %v", name, got)
		}
		l, err := o.Leasing(store).Acquire(t.Context(), "s", hermes.Owner{Name: "host:1:aa"}, time.Hour)
		if err != nil || l.Address != filepath.Join(folder, "aa.sock") {
			t.Errorf("%s: %+v, %v", name, l, err)
		}
		if info, err := os.Lstat(l.Address); err != nil || info.Mode() != fs.ModeSocket|0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
		if _, err := os.Lstat(path); (err != nil) != tt.removed {
			t.Errorf("%s: removed %v, want %v", name, err != nil, tt.removed)
		}
		if err := o.Close(); err != nil || o.Address() != "" {
			t.Errorf("%s: closed with %v, and listens at %q", name, err, o.Address())
		}
	}
}

// TestOwnerThatCannotListenHasNoAddress, and its sessions go on.
func TestOwnerThatCannotListenHasNoAddress(t *testing.T) {
	t.Parallel()
	o := owner.New(owner.Config{Folder: filepath.Join(t.TempDir(), "none"), Name: "host:1:aa", Log: slog.New(slog.DiscardHandler)})
	defer o.Close()
	if got := o.Address(); got != "" {
		t.Errorf("it listens at %q", got)
	}
}
