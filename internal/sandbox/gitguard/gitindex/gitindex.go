// Package gitindex reads the index of a git repository for the folders in which git would
// look for another repository. It opens no file, and believes nothing that it reads: the
// index may have been written by a hostile program.
package gitindex

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"
)

// Listing is what an index says about folders that may hold another repository. Names are
// relative to the work tree, with slashes, sorted.
type Listing struct {
	Links  []string // submodules: entries of mode 160000
	Sparse []string // folders that are not written out; what is in them is in a tree
	Shared string   // the name of the index that this one builds on; "" if there is none
}

// ErrUnknown is returned for what is not an index that is understood.
var ErrUnknown = errors.New("not an index that is understood")

// Parse reads an index of version 2, 3 or 4. It lists at least what git would read, and
// refuses what could mean something else to git.
//
// The size of object names is a setting of the repository, which a command may change:
// both are tried, and what either finds counts.
func Parse(text []byte) (Listing, error) {
	var out Listing
	understood := false
	for _, size := range [...]int{sha1.Size, sha256.Size} {
		p := parser{text: text, hash: size}
		if err := p.parse(); err != nil {
			continue
		}
		if p.Shared != "" && out.Shared != "" {
			return Listing{}, ErrUnknown
		}
		understood = true
		out.Links = append(out.Links, p.Links...)
		out.Sparse = append(out.Sparse, p.Sparse...)
		out.Shared += p.Shared
	}
	if !understood {
		return Listing{}, ErrUnknown
	}
	slices.Sort(out.Links)
	slices.Sort(out.Sparse)
	out.Links, out.Sparse = slices.Compact(out.Links), slices.Compact(out.Sparse)
	return out, nil
}

const (
	statSize     = 40 // times, device, inode, mode, owner, group and size of an entry
	modeAt       = 24 // in them
	typeMask     = 0o170000
	typeLink     = 0o160000
	typeFolder   = 0o040000
	longName     = 0xfff  // the length of a name that is longer than this has no place
	extendedFlag = 0x4000 // two more bytes follow
)

// parser reads an index with object names of one size.
type parser struct {
	Listing
	text    []byte
	hash    int
	version uint32
	end     int      // of entries and extensions: a checksum follows
	starts  []uint32 // of entries; 0 for one whose name needs the one before
}

func (p *parser) parse() error {
	p.end = len(p.text) - p.hash
	if p.end < 12 || string(p.text[:4]) != "DIRC" {
		return ErrUnknown
	}
	p.version = binary.BigEndian.Uint32(p.text[4:])
	count := binary.BigEndian.Uint32(p.text[8:])
	if p.version < 2 || p.version > 4 {
		return ErrUnknown
	}
	at, err := p.entries(12, count)
	if err != nil {
		return err
	}
	// git may take the extensions from where the last one says that they begin.
	if begin, ok := p.extensionsBegin(); ok && begin != at {
		return ErrUnknown
	}
	return p.extensions(at)
}

// entries reads all entries and returns where they end.
func (p *parser) entries(at int, count uint32) (int, error) {
	p.starts = make([]uint32, 0, min(int(count), len(p.text)/statSize))
	var name []byte // of the entry before, for version 4
	for range count {
		var err error
		if at, name, err = p.entry(at, name); err != nil {
			return at, err
		}
	}
	return at, nil
}

// entry reads one entry as git does: a short name has the length that the entry says.
func (p *parser) entry(start int, before []byte) (next int, name []byte, err error) {
	at := start + statSize + p.hash + 2
	if start < 0 || at > p.end {
		return 0, nil, ErrUnknown
	}
	mode := binary.BigEndian.Uint32(p.text[start+modeAt:])
	flags := binary.BigEndian.Uint16(p.text[at-2:])
	if flags&extendedFlag != 0 {
		at += 2
	}
	kept := 0 // bytes of the name before
	if p.version == 4 {
		cut, n := varint(p.text[min(at, p.end):p.end])
		if n == 0 || cut > len(before) {
			return 0, nil, ErrUnknown
		}
		at, kept = at+n, len(before)-cut
	}
	rest := p.text[min(at, p.end):p.end]
	length := bytes.IndexByte(rest, 0)
	if want := int(flags & longName); length < 0 || want < longName && kept+length != want || want == longName && kept+length < longName {
		return 0, nil, ErrUnknown
	}
	if p.version == 4 {
		name = append(before[:kept], rest[:length]...) // the one before is not needed any more
		next = at + length + 1
	} else {
		name = rest[:length]
		next = start + (at-start+length+8)&^7
	}
	if next > p.end {
		return 0, nil, ErrUnknown
	}
	if p.starts = append(p.starts, 0); kept == 0 {
		p.starts[len(p.starts)-1] = uint32(start)
	}
	switch mode & typeMask {
	case typeLink:
		if len(name) == 0 { // an entry of the shared index that is replaced
			return 0, nil, ErrUnknown
		}
		p.Links = append(p.Links, string(name))
	case typeFolder:
		p.Sparse = append(p.Sparse, string(name))
	}
	return next, name, nil
}

// varint reads a number as git writes those of version 4. It returns 0 bytes for one
// that is too large or cut off.
func varint(text []byte) (value, size int) {
	for size < len(text) && value < 1<<24 {
		c := text[size]
		size++
		value += int(c & 0x7f)
		if c&0x80 == 0 {
			return value, size
		}
		value = (value + 1) << 7
	}
	return 0, 0
}

// extensionsBegin returns what the extension at the end says, if there is one.
func (p *parser) extensionsBegin() (int, bool) {
	at := p.end - 8 - 4 - p.hash
	if at < 12 || string(p.text[at:at+4]) != "EOIE" {
		return 0, false
	}
	return int(binary.BigEndian.Uint32(p.text[at+8:])), true
}

// extensions reads those that change which entries there are.
func (p *parser) extensions(at int) error {
	for at < p.end {
		if at+8 > p.end {
			return ErrUnknown
		}
		size := int(binary.BigEndian.Uint32(p.text[at+4:]))
		if size > p.end-at-8 {
			return ErrUnknown
		}
		body := p.text[at+8 : at+8+size]
		var err error
		switch string(p.text[at : at+4]) {
		case "link":
			err = p.link(body)
		case "IEOT":
			err = p.blocks(body)
		}
		if err != nil {
			return err
		}
		at += 8 + size
	}
	return nil
}

// link reads the name of the shared index. All its entries count, also those that this
// index deletes.
func (p *parser) link(body []byte) error {
	if len(body) < p.hash || p.Shared != "" {
		return ErrUnknown
	}
	if sum := body[:p.hash]; !bytes.Equal(sum, make([]byte, p.hash)) {
		p.Shared = "sharedindex." + hex.EncodeToString(sum)
	}
	return nil
}

// blocks checks a table of where blocks of entries begin. git reads them in parallel, each
// without the one before: they must be those that were read here.
func (p *parser) blocks(body []byte) error {
	if len(body)%8 != 4 {
		return ErrUnknown
	}
	next := uint64(0)
	for body = body[4:]; len(body) > 0; body = body[8:] {
		if next >= uint64(len(p.starts)) || p.starts[next] == 0 || p.starts[next] != binary.BigEndian.Uint32(body) {
			return ErrUnknown
		}
		next += uint64(binary.BigEndian.Uint32(body[4:]))
	}
	if next != uint64(len(p.starts)) {
		return ErrUnknown
	}
	return nil
}
