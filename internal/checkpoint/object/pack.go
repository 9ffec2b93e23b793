package object

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
)

// Hash is the SHA-256 of a content.
type Hash [sha256.Size]byte

// String returns the hash in hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText writes the hash in hexadecimal.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (h *Hash) UnmarshalText(text []byte) error {
	if len(text) != 2*len(h) {
		return errors.New("it is not a SHA-256 in hexadecimal")
	}
	_, err := hex.Decode(h[:], text)
	return err
}

// HashOf returns the hash of a content.
func HashOf(data []byte) Hash { return sha256.Sum256(data) }

// A pack is: packMagic, the contents, the index, the end. The index has entrySize bytes for
// each content, sorted by hash. The end has the number of contents, where the index begins,
// the SHA-256 of the index, and endMagic.
const (
	packMagic = "hermes pack 1\n"
	endMagic  = "packends"
	entrySize = sha256.Size + 8*3 + 1
	endSize   = 8 + 8 + sha256.Size + 8
	packExt   = ".pack"
)

// An entry says where a content is in its pack.
type entry struct {
	hash         Hash
	at           int64
	stored, size int64 // bytes in the pack, bytes of the content
	method       byte
}

// How a content is stored.
const (
	asIs byte = iota
	deflated
)

// A pack is an open pack.
type pack struct {
	file  *os.File
	path  string
	size  int64
	index []byte
	from  [257]int32 // where the hashes with a first byte begin in the index, and its end
}

// openPack opens a pack and reads its index.
func openPack(path string) (*pack, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	p := &pack{file: f, path: path}
	info, err := f.Stat()
	if err == nil {
		p.size = info.Size()
		p.index, err = readIndex(f, p.size)
	}
	p.from = beginnings(p.index)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("pack %s: %w", filepath.Base(path), err)
	}
	return p, nil
}

// readIndex reads the index of a pack of a size and checks that every entry is within it.
func readIndex(r io.ReaderAt, size int64) ([]byte, error) {
	if size < int64(len(packMagic)+endSize) {
		return nil, ErrDamaged
	}
	var begin [len(packMagic)]byte
	var end [endSize]byte
	if _, err := r.ReadAt(begin[:], 0); err != nil {
		return nil, err
	}
	if _, err := r.ReadAt(end[:], size-endSize); err != nil {
		return nil, err
	}
	count, at := binary.LittleEndian.Uint64(end[:]), binary.LittleEndian.Uint64(end[8:])
	room := size - endSize - int64(len(packMagic))
	if string(begin[:]) != packMagic || string(end[endSize-len(endMagic):]) != endMagic ||
		count > uint64(room)/entrySize || at != uint64(size-endSize)-count*entrySize {
		return nil, ErrDamaged
	}
	index := make([]byte, count*entrySize)
	if _, err := r.ReadAt(index, int64(at)); err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(index); !bytes.Equal(sum[:], end[16:16+sha256.Size]) {
		return nil, ErrDamaged
	}
	for i := range int(count) {
		e := entryAt(index, i)
		if e.at < int64(len(packMagic)) || e.stored < 0 || e.size < 0 || e.at > int64(at) || e.stored > int64(at)-e.at ||
			e.method > deflated || e.method == asIs && e.stored != e.size {
			return nil, ErrDamaged
		}
	}
	return index, nil
}

func entryAt(index []byte, i int) entry {
	b := index[i*entrySize : (i+1)*entrySize]
	n := func(i int) int64 { return int64(binary.LittleEndian.Uint64(b[sha256.Size+8*i:])) }
	return entry{hash: Hash(b[:sha256.Size]), at: n(0), stored: n(1), size: n(2), method: b[entrySize-1]}
}

func (e entry) append(b []byte) []byte {
	b = append(b, e.hash[:]...)
	for _, n := range [...]int64{e.at, e.stored, e.size} {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	return append(b, e.method)
}

// count returns the number of contents in the pack.
func (p *pack) count() int { return len(p.index) / entrySize }

// beginnings returns where the hashes with each first byte begin in an index, and at last its end.
func beginnings(index []byte) (from [257]int32) {
	for at := 0; at < len(index); at += entrySize {
		from[int(index[at])+1]++
	}
	for i := range 256 {
		from[i+1] += from[i]
	}
	return from
}

// find looks a content up.
func (p *pack) find(h Hash) (entry, bool) {
	from, end := int(p.from[h[0]]), int(p.from[int(h[0])+1])
	i := from + sort.Search(end-from, func(i int) bool {
		at := (from + i) * entrySize
		return bytes.Compare(p.index[at:at+sha256.Size], h[:]) >= 0
	})
	if i == end || !bytes.Equal(p.index[i*entrySize:i*entrySize+sha256.Size], h[:]) {
		return entry{}, false
	}
	return entryAt(p.index, i), true
}
