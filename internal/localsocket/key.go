package localsocket

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"hermes/internal/atomicfile"
)

const (
	keyBytes = 32
	keyWait  = 5 * time.Second
)

// Key returns the secret of a folder, which is the content of the file "key" in it. It is made
// once: processes that ask at the same time get the same one. The folder must exist, belong to
// this user and be closed to all others.
func Key(ctx context.Context, folder string) (string, error) {
	path := filepath.Join(folder, "key")
	key, err := readKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		key, err = makeKey(ctx, path)
	}
	if err != nil {
		return "", fmt.Errorf("the key of running sessions: %w", err)
	}
	return key, nil
}

// SameKey compares two keys in a time that does not depend on their content.
func SameKey(a, b string) bool {
	return len(a) == 2*keyBytes && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}

func readKey(path string) (string, error) {
	folder, err := openFolder(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	defer folder.Close()
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is no regular file; remove it, and it is made again", path)
	}
	if err := private(path, info); err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, 2*keyBytes+1))
	if err != nil {
		return "", err
	}
	if b, err := hex.DecodeString(string(raw)); err != nil || len(b) != keyBytes {
		return "", fmt.Errorf("%s is damaged; remove it, and it is made again when the running sessions have ended", path)
	}
	return string(raw), nil
}

// makeKey makes the key unless another process does it meanwhile.
func makeKey(ctx context.Context, path string) (string, error) {
	lock, err := atomicfile.Acquire(ctx, path, "hermes", keyWait)
	if err != nil {
		return "", err
	}
	defer func() { _ = lock.Release() }()
	if key, err := readKey(path); !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	var b [keyBytes]byte
	_, _ = rand.Read(b[:]) // never fails, by its contract
	key := hex.EncodeToString(b[:])
	return key, atomicfile.Write(path, []byte(key), atomicfile.Options{})
}
