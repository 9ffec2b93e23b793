//go:build unix && !linux

package localsocket

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
)

// maxPath is how long the path of a socket may be, in bytes.
const maxPath = 103

// shortPrefix begins the names of folders for sockets in the temporary folder.
const shortPrefix = "hermes-run-"

// Address is the address of a name in a folder: a socket there, or if its path would be too
// long, one in a folder of this user in the temporary folder.
func Address(folder, name string) string {
	path := filepath.Join(folder, name+suffix)
	if len(path) <= maxPath {
		return path
	}
	sum := sha256.Sum256([]byte(folder))
	return filepath.Join(os.TempDir(), shortPrefix+hex.EncodeToString(sum[:8]), name+suffix)
}

// makeFolder makes the folder of an address in the temporary folder.
func makeFolder(address string) error {
	folder := filepath.Dir(address)
	if filepath.Dir(folder) != filepath.Clean(os.TempDir()) || !strings.HasPrefix(filepath.Base(folder), shortPrefix) {
		return nil
	}
	if err := os.Mkdir(folder, 0o700); err != nil && !os.IsExist(err) {
		return err
	}
	return nil
}

func within(_ *os.File, address string) string { return address }
