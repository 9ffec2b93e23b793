// Package filestamp tells whether a file is still the one that was read, from what the
// system says of it. So a small file that many calls depend on is read again only if it
// changed.
//
// A stamp has the device, the inode, the size and the times of a file; on Linux and macOS
// one of the times is that of the last change, which no program can set. A time that is
// nearly that of the reading says nothing, since clocks of file systems are coarse, and
// neither do times on other systems: see [Stamp.Settled].
package filestamp

import (
	"encoding/binary"
	"io/fs"
	"time"
)

// Stamp is what the system says of a file. The zero value is that of a missing file.
// Stamps can be compared with ==.
type Stamp struct {
	there    bool
	device   uint64
	inode    uint64
	size     int64
	mode     fs.FileMode
	modified int64 // in nanoseconds since 1970
	changed  int64 // as modified; the same where the system does not say
}

// coarse is more than the step of the clock of any file system in use; FAT has two seconds.
const coarse = 3 * time.Second

// Of returns the stamp of a file; nil is a missing one.
func Of(info fs.FileInfo) Stamp {
	if info == nil {
		return Stamp{}
	}
	s := Stamp{there: true, size: info.Size(), mode: info.Mode(), modified: info.ModTime().UnixNano()}
	s.changed = s.modified
	s.fill(info)
	return s
}

// Place is the stamp without what changes with the content: two are equal if the same file or
// folder is there, whatever is in it.
func (s Stamp) Place() Stamp {
	return Stamp{there: s.there, device: s.device, inode: s.inode, mode: s.mode.Type()}
}

// ChangedSince reports whether a file with this stamp was changed, made or moved at a time or after it, as the system says.
func (s Stamp) ChangedSince(t time.Time) bool { return s.there && s.changed >= t.UnixNano() }

// Settled reports whether a file with this stamp, read at a time, cannot have changed since
// without another stamp. A missing file is settled; where the system does not say when a file
// was changed, no other is.
func (s Stamp) Settled(read time.Time) bool {
	return !s.there || tellsChanges && s.modified < read.Add(-coarse).UnixNano() && s.changed < read.Add(-coarse).UnixNano()
}

// encoded is the size of a stamp that is kept, in bytes.
const encoded = 1 + 8*5 + 4

// AppendBinary appends the stamp in a fixed number of bytes, so that it can be kept for the
// next run of the program. It never fails.
func (s Stamp) AppendBinary(b []byte) ([]byte, error) {
	there := byte(0)
	if s.there {
		there = 1
	}
	b = append(b, there)
	for _, n := range [...]uint64{s.device, s.inode, uint64(s.size), uint64(s.modified), uint64(s.changed)} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return binary.LittleEndian.AppendUint32(b, uint32(s.mode)), nil
}

// Decode reads a stamp from the beginning of what AppendBinary made and returns the bytes
// behind it. ok is false if b is too short or is not a stamp.
func Decode(b []byte) (s Stamp, rest []byte, ok bool) {
	if len(b) < encoded || b[0] > 1 {
		return Stamp{}, b, false
	}
	n := func(i int) uint64 { return binary.LittleEndian.Uint64(b[1+8*i:]) }
	return Stamp{
		there: b[0] == 1, device: n(0), inode: n(1), size: int64(n(2)), modified: int64(n(3)), changed: int64(n(4)),
		mode: fs.FileMode(binary.LittleEndian.Uint32(b[encoded-4:])),
	}, b[encoded:], true
}
