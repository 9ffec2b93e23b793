package source

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"hermes/internal/atomicfile"
)

// keyName is the file with the key of a [Sealer], in the folder of plugins.
const keyName = ".source-key"

// Sealer seals records of sources with a key of the folder of plugins, which no plugin has: files that were
// put there by hand cannot say that a command installed them. The zero value accepts no seal.
type Sealer struct{ key []byte }

// SealerOf reads the key of a folder of plugins. Without one it is the zero value.
func SealerOf(folder string) (Sealer, error) {
	path := filepath.Join(folder, keyName)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Sealer{}, nil
	}
	if err != nil {
		return Sealer{}, err
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(data)))
	if err != nil || len(key) != sha256.Size {
		return Sealer{}, fmt.Errorf("%s is damaged; remove it, then install your plugins again with `hermes plugins install SOURCE --replace`", path)
	}
	return Sealer{key}, nil
}

// NewSealer is SealerOf, and makes a key if the folder has no key yet. One process at a time calls it for a folder.
func NewSealer(folder string) (Sealer, error) {
	s, err := SealerOf(folder)
	if err != nil || s.key != nil {
		return s, err
	}
	s.key = make([]byte, sha256.Size)
	rand.Read(s.key) // it never fails
	return s, atomicfile.Write(filepath.Join(folder, keyName), []byte(hex.EncodeToString(s.key)+"\n"), atomicfile.Options{Mode: 0o600})
}

// seal is that of a plugin from a source.
func (s Sealer) seal(plugin string, from Source) (string, error) {
	data, err := json.Marshal(from)
	if err != nil {
		return "", err
	}
	sum := hmac.New(sha256.New, s.key)
	fmt.Fprintf(sum, "%s\n%s", plugin, data)
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Sealed reports whether the record of a plugin has the seal of this folder.
func (s Sealer) Sealed(plugin string, r Record) bool {
	want, err := s.seal(plugin, r.Source)
	return err == nil && s.key != nil && hmac.Equal([]byte(want), []byte(r.Seal))
}
