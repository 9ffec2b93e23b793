// Package sqlitefile reads the rows of a damaged SQLite file without SQLite:
// page by page, also where the schema or the pages above them are lost, as far
// as the write-ahead log has committed changes. The format is that of
// https://sqlite.org/fileformat2.html. It does not know which table a row is of.
package sqlitefile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
)

// File is an open database file. It must not be used concurrently.
type File struct {
	file     *os.File
	size     int64           // of a page
	usable   int             // bytes of a page that are not reserved
	count    int64           // pages of the file
	more     []int64         // pages that only the log has, ascending
	log      *os.File        // nil if there is none
	logged   map[int64]int64 // where the newest committed version of a page is in the log
	vacuumed bool            // pages say what they are in a map
	followed int64           // pages on which rows were continued
}

const (
	magic           = "SQLite format 3\x00"
	logVersion      = 3007000
	defaultPageSize = 4096
	leafPage        = 0x0d
	leastUsable     = 480      // bytes of a page, by the format
	maxRow          = 64 << 20 // bytes of a row that is salvaged
	// maxFollowed limits the pages on which rows are continued, for each page that there
	// is: each belongs to one row, and to copies of it that were not erased.
	maxFollowed = 4
	// maxOverlap limits the bytes that the rows of a leaf have there, for each byte that
	// there is. Only damage makes them overlap.
	maxOverlap = 16
	maxColumns = 32767 // by SQLite
)

var errPage = errors.New("the page is damaged")

// Open opens a file, with its log if there is one. It guesses what a damaged first page does
// not say. The caller closes it.
func Open(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	p := &File{file: f, size: defaultPageSize, usable: defaultPageSize, vacuumed: true, logged: map[int64]int64{}}
	head := make([]byte, 100)
	if n, _ := f.ReadAt(head, 0); n == len(head) && string(head[:16]) == magic {
		size := int64(binary.BigEndian.Uint16(head[16:]))
		if size == 1 {
			size = 65536
		}
		if size >= 512 && size&(size-1) == 0 && int(size)-int(head[20]) >= leastUsable {
			p.size, p.usable = size, int(size)-int(head[20])
			p.vacuumed = binary.BigEndian.Uint32(head[52:]) != 0
		}
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	p.count = info.Size() / p.size
	if p.log, err = os.Open(path + "-wal"); err == nil {
		p.readLog()
	}
	for n := range p.logged {
		if n > p.count {
			p.more = append(p.more, n)
		}
	}
	slices.Sort(p.more)
	return p, nil
}

// Close closes the file and its log. It also drops the locks that this process has on them.
func (p *File) Close() {
	p.file.Close()
	if p.log != nil {
		p.log.Close()
	}
}

// readLog finds the committed pages of the write-ahead log, up to the first frame that is
// not of this log or not whole.
func (p *File) readLog() {
	head := make([]byte, 32)
	if _, err := io.ReadFull(p.log, head); err != nil {
		return
	}
	kind := binary.BigEndian.Uint32(head)
	if kind&^1 != 0x377f0682 || binary.BigEndian.Uint32(head[4:]) != logVersion || int64(binary.BigEndian.Uint32(head[8:])) != p.size {
		return
	}
	var order binary.ByteOrder = binary.LittleEndian
	if kind&1 == 1 {
		order = binary.BigEndian
	}
	a, b := checksum(order, head[:24], 0, 0)
	if a != binary.BigEndian.Uint32(head[24:]) || b != binary.BigEndian.Uint32(head[28:]) {
		return
	}
	open := map[int64]int64{} // not committed yet; no larger than the log
	frame := make([]byte, 24+p.size)
	for at := int64(32); ; at += int64(len(frame)) {
		if _, err := io.ReadFull(p.log, frame); err != nil || !bytes.Equal(frame[8:16], head[16:24]) {
			return
		}
		a, b = checksum(order, frame[:8], a, b)
		a, b = checksum(order, frame[24:], a, b)
		if a != binary.BigEndian.Uint32(frame[16:]) || b != binary.BigEndian.Uint32(frame[20:]) {
			return
		}
		n := int64(binary.BigEndian.Uint32(frame))
		if n == 0 {
			return
		}
		open[n] = at + 24
		if count := int64(binary.BigEndian.Uint32(frame[4:])); count > 0 { // the pages of the file, from now on
			for page, at := range open {
				if page <= count {
					p.logged[page] = at
				}
			}
			clear(open)
		}
	}
}

// checksum continues that of the log.
func checksum(order binary.ByteOrder, b []byte, s0, s1 uint32) (uint32, uint32) {
	for ; len(b) >= 8; b = b[8:] {
		s0 += order.Uint32(b) + s1
		s1 += order.Uint32(b[4:]) + s0
	}
	return s0, s1
}

// page reads a page; the first has number 1.
func (p *File) page(n int64) ([]byte, error) {
	at, logged := p.logged[n]
	if n < 1 || n > p.count && !logged {
		return nil, errPage
	}
	b := make([]byte, p.size)
	if logged {
		_, err := p.log.ReadAt(b, at)
		return b, err
	}
	_, err := p.file.ReadAt(b, (n-1)*p.size)
	return b, err
}

// free reports whether a page is certainly not part of a tree: what it holds was deleted.
func (p *File) free(n int64) bool {
	if !p.vacuumed || n < 3 {
		return false
	}
	each := int64(p.usable/5) + 1 // pages of a map and the map itself
	mapAt := (n-2)/each*each + 2
	if mapAt == n {
		return true
	}
	b, err := p.page(mapAt)
	if err != nil {
		return false
	}
	entry := b[5*(n-mapAt-1):]
	// 1 and 5 are pages of trees; 2 is free, 3 and 4 belong to a long row. Others are damage.
	return entry[0] >= 2 && entry[0] <= 4
}

// Rows calls each with the rows of every leaf of a table that can be read, the same row
// several times if old copies of it were not erased. Values are nil, int64, float64, string
// or []byte. It reads a multiple of the file at most, also if rows share pages, which is
// damage. An error of each ends it and is returned.
func (p *File) Rows(each func(key int64, values []any) error) error {
	for n := range p.all {
		b, err := p.page(n)
		if err != nil || p.free(n) {
			continue
		}
		start := 0
		if n == 1 {
			start = 100
		}
		if b[start] != leafPage {
			continue
		}
		cells := int(binary.BigEndian.Uint16(b[start+3:]))
		if start+8+2*cells > p.usable {
			continue
		}
		room := maxOverlap * p.usable
		for i := range cells {
			key, values, size, err := p.cell(b, int(binary.BigEndian.Uint16(b[start+8+2*i:])))
			if room -= size; room < 0 {
				break
			}
			if err != nil {
				continue
			}
			if err := each(key, values); err != nil {
				return err
			}
		}
	}
	return nil
}

// total is the number of pages.
func (p *File) total() int64 { return p.count + int64(len(p.more)) }

// all lists the numbers of the pages.
func (p *File) all(yield func(int64) bool) {
	for n := range p.count {
		if !yield(n + 1) {
			return
		}
	}
	for _, n := range p.more {
		if !yield(n) {
			return
		}
	}
}
