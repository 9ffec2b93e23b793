package audit

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"hermes/internal/atomicfile"
)

// keySize is the size of a key in bytes.
const keySize = 32

// errKey means that the file of the key has something else.
var errKey = errors.New("is not a key of an audit log; restore it from a backup, or move it and the folder audit away to begin a new record")

// readKey reads the key. A missing one is fs.ErrNotExist.
func readKey(path string) (*keys, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() != 2*keySize+1 {
		return nil, fmt.Errorf("%s %w", path, errKey)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	key := make([]byte, keySize)
	if n, err := hex.Decode(key, content[:min(2*keySize, len(content))]); err != nil || n != keySize || content[2*keySize] != '\n' {
		return nil, fmt.Errorf("%s %w", path, errKey)
	}
	return newKeys(key), nil
}

// makeKey makes the key of a home that has no record yet, readable by its owner only.
func makeKey(path string) error {
	key := make([]byte, keySize)
	_, _ = rand.Read(key) // it never fails
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(path, []byte(hex.EncodeToString(key)+"\n"), atomicfile.Options{})
}

// findKey reads the key, and makes one if there is no record yet; old says that it was there
// before. Without the key of an existing record nothing may be added to it.
func (l *Log) findKey(anyFile bool) (k *keys, old bool, err error) {
	k, err = readKey(l.o.Key)
	if !errors.Is(err, fs.ErrNotExist) {
		return k, true, err
	}
	if anyFile {
		return nil, false, fmt.Errorf("the key %s of this record is missing; restore it from a backup, or move %s away to begin a new record", l.o.Key, l.o.Folder)
	}
	if err := makeKey(l.o.Key); err != nil {
		return nil, false, err
	}
	k, err = readKey(l.o.Key)
	return k, false, err
}
