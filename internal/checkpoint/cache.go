package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"

	"hermes/internal/checkpoint/object"
	"hermes/internal/filestamp"
)

// The scan cache remembers what each file's content was by the file's stamp, so that the next
// snapshot reads only files that changed. It has only files whose stamp was settled when they
// were read: others are read again. It is a cache: without it, or with a damaged one, all
// files are read.
const cacheMagic = "hermes scan 1\n"

type cached struct {
	stamp filestamp.Stamp
	hash  object.Hash
	seen  bool // a scan has found the file as it was
}

// encodeCache writes the entries with a checksum at the end.
func encodeCache(entries map[string]*cached) []byte {
	b := make([]byte, 0, len(entries)*120)
	b = append(b, cacheMagic...)
	b = binary.AppendUvarint(b, uint64(len(entries)))
	for path, c := range entries {
		b = appendText(b, path)
		b, _ = c.stamp.AppendBinary(b) // never fails
		b = append(b, c.hash[:]...)
	}
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
}

var errCache = errors.New("the scan cache is damaged")

func decodeCache(data []byte) (map[string]*cached, error) {
	n := len(data) - sha256.Size
	if n < 0 {
		return nil, errCache
	}
	if sum := sha256.Sum256(data[:n]); !bytes.Equal(sum[:], data[n:]) {
		return nil, errCache
	}
	r := &reader{rest: data[:n]}
	if string(r.take(uint64(len(cacheMagic)))) != cacheMagic {
		return nil, errCache
	}
	count := r.number()
	if count > uint64(n) {
		return nil, errCache
	}
	entries, all := make(map[string]*cached, count), make([]cached, count)
	text := string(data[:n]) // paths are parts of it
	for i := range all {
		size := len(r.take(r.number()))
		at := n - len(r.rest)
		path, c, ok := text[at-size:at], &all[i], false
		if c.stamp, r.rest, ok = filestamp.Decode(r.rest); !ok {
			return nil, errCache
		}
		r.hash(&c.hash)
		entries[path] = c
	}
	if r.failed || len(r.rest) > 0 {
		return nil, errCache
	}
	return entries, nil
}

// loadCache reads the cache at a path; if that fails, there is none.
func loadCache(path string) map[string]*cached {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	entries, err := decodeCache(data)
	if err != nil {
		return nil
	}
	return entries
}

// saveCache replaces the cache. It does not sync: a cache that a crash of the machine damages
// is not used.
func saveCache(path string, entries map[string]*cached) error {
	tmp := path + ".tmp"
	if err := os.WriteFile(tmp, encodeCache(entries), 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

// rights returns the bits of a mode that are kept.
func rights(mode fs.FileMode) fs.FileMode { return mode & modeBits }
