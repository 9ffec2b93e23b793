//go:build linux || darwin

package localsocket_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"hermes/internal/localsocket"
)

// TestAllGetTheSameKey also if none is there yet and they ask at once.
func TestAllGetTheSameKey(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	keys := make([]string, 16)
	var all sync.WaitGroup
	for i := range keys {
		all.Go(func() {
			key, err := localsocket.Key(t.Context(), dir)
			if err != nil {
				t.Error(err)
			}
			keys[i] = key
		})
	}
	all.Wait()
	for _, k := range keys {
		if len(k) != 64 || !localsocket.SameKey(k, keys[0]) {
			t.Errorf("keys %q and %q", k, keys[0])
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "key")); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v, want a file for its owner only", info, err)
	}
	other, err := localsocket.Key(t.Context(), folder(t))
	if err != nil || localsocket.SameKey(other, keys[0]) {
		t.Errorf("another folder has the same key, %v", err)
	}
}

func TestOnlyEqualKeysAreTheSame(t *testing.T) {
	t.Parallel()
	key := strings.Repeat("a1", 32)
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{key, key, true}, {key, key[:63] + "2", false}, {key, key[:63], false}, {key, "", false}, {"", "", false}, {key[:8], key[:8], false},
	} {
		if got := localsocket.SameKey(tt.a, tt.b); got != tt.want {
			t.Errorf("%q and %q: %v", tt.a, tt.b, got)
		}
	}
}

// TestKeysThatOthersCouldHaveMadeAreRefused, and damaged ones.
func TestKeysThatOthersCouldHaveMadeAreRefused(t *testing.T) {
	t.Parallel()
	key := strings.Repeat("a1", 32)
	for name, tt := range map[string]struct {
		make func(path string) error
		want string
	}{
		"readable by others": {func(p string) error { return os.WriteFile(p, []byte(key), 0o644) }, "open to other users"},
		"a link": {func(p string) error {
			if err := os.WriteFile(p+"2", []byte(key), 0o600); err != nil {
				return err
			}
			return os.Symlink(p+"2", p)
		}, "no regular file"},
		"empty":      {func(p string) error { return os.WriteFile(p, nil, 0o600) }, "is damaged"},
		"short":      {func(p string) error { return os.WriteFile(p, []byte(key[:10]), 0o600) }, "is damaged"},
		"long":       {func(p string) error { return os.WriteFile(p, []byte(key+"\n"), 0o600) }, "is damaged"},
		"other text": {func(p string) error { return os.WriteFile(p, []byte(strings.Repeat("x", 64)), 0o600) }, "is damaged"},
	} {
		dir := folder(t)
		path := filepath.Join(dir, "key")
		if err := tt.make(path); err != nil {
			t.Fatal(err)
		}
		if name == "readable by others" {
			if err := os.Chmod(path, 0o644); err != nil { // whatever the umask is
				t.Fatal(err)
			}
		}
		if got, err := localsocket.Key(t.Context(), dir); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, tt.want)
		}
	}
}
