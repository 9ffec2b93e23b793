package sqlite

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
)

// pages reads a database file page by page, without its schema, as far as its log has
// committed changes. The format is that of https://sqlite.org/fileformat2.html.
type pages struct {
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
	sqliteMagic     = "SQLite format 3\x00"
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

// openPages opens a file for salvage. It guesses what the damaged first page does not say.
func openPages(path string) (*pages, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	p := &pages{file: f, size: defaultPageSize, usable: defaultPageSize, vacuumed: true, logged: map[int64]int64{}}
	head := make([]byte, 100)
	if n, _ := f.ReadAt(head, 0); n == len(head) && string(head[:16]) == sqliteMagic {
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

func (p *pages) close() {
	p.file.Close()
	if p.log != nil {
		p.log.Close()
	}
}

// readLog finds the committed pages of the write-ahead log, up to the first frame that is
// not of this log or not whole.
func (p *pages) readLog() {
	head := make([]byte, 32)
	if _, err := io.ReadFull(p.log, head); err != nil {
		return
	}
	magic := binary.BigEndian.Uint32(head)
	if magic&^1 != 0x377f0682 || binary.BigEndian.Uint32(head[4:]) != logVersion || int64(binary.BigEndian.Uint32(head[8:])) != p.size {
		return
	}
	var order binary.ByteOrder = binary.LittleEndian
	if magic&1 == 1 {
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
func (p *pages) page(n int64) ([]byte, error) {
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
func (p *pages) free(n int64) bool {
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

// rows calls each with the rows of every leaf of a table that can be read. Values are nil,
// int64, float64, string or []byte. It reads a multiple of the file at most, also if rows
// share pages, which is damage.
func (p *pages) rows(each func(key int64, values []any) error) error {
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
func (p *pages) total() int64 { return p.count + int64(len(p.more)) }

// all lists the numbers of the pages.
func (p *pages) all(yield func(int64) bool) {
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

// cell reads a row of a leaf. It also returns the bytes that the row has on the leaf, as far
// as they were read.
func (p *pages) cell(b []byte, at int) (key int64, values []any, onLeaf int, err error) {
	b = b[:p.usable]
	if at < 8 || at >= len(b) {
		return 0, nil, 0, errPage
	}
	b = b[at:]
	size, n := varint(b)
	if n == 0 || size < 0 || size > min(maxRow, p.total()*int64(p.usable)) {
		return 0, nil, 0, errPage
	}
	b = b[n:]
	key, k := varint(b)
	if k == 0 {
		return 0, nil, 0, errPage
	}
	payload, local, err := p.payload(b[k:], int(size))
	if err == nil {
		values, err = record2values(payload)
	}
	return key, values, n + k + local, err
}

// payload joins the part of a row that is on its leaf with those on other pages. It also
// returns the size of the first.
func (p *pages) payload(b []byte, size int) (whole []byte, local int, err error) {
	most := p.usable - 35
	if size <= most {
		if size > len(b) {
			return nil, 0, errPage
		}
		return b[:size], size, nil
	}
	least := (p.usable-12)*32/255 - 23
	local = least + (size-least)%(p.usable-4)
	if local > most {
		local = least
	}
	if local+4 > len(b) {
		return nil, 0, errPage
	}
	whole = append(whole, b[:local]...)
	next := int64(binary.BigEndian.Uint32(b[local:]))
	for len(whole) < size {
		if p.followed >= maxFollowed*p.total() {
			return nil, local, errPage
		}
		p.followed++
		page, err := p.page(next)
		if err != nil {
			return nil, local, err
		}
		next = int64(binary.BigEndian.Uint32(page))
		whole = append(whole, page[4:4+min(p.usable-4, size-len(whole))]...)
	}
	return whole, local, nil
}

// varint reads a number of up to 9 bytes; n is 0 if it is not complete.
func varint(b []byte) (v int64, n int) {
	for n < 8 {
		if n >= len(b) {
			return 0, 0
		}
		v = v<<7 | int64(b[n]&0x7f)
		n++
		if b[n-1] < 0x80 {
			return v, n
		}
	}
	if n >= len(b) {
		return 0, 0
	}
	return v<<8 | int64(b[n]), n + 1
}

// record2values reads the values of a record.
func record2values(b []byte) ([]any, error) {
	head, n := varint(b)
	if n == 0 || head < int64(n) || head > int64(len(b)) {
		return nil, errPage
	}
	kinds, body := b[n:head], b[head:]
	var values []any
	for len(kinds) > 0 {
		kind, n := varint(kinds)
		if n == 0 {
			return nil, errPage
		}
		kinds = kinds[n:]
		size, ok := sizeOf(kind)
		if !ok || size > int64(len(body)) || len(values) == maxColumns {
			return nil, errPage
		}
		values = append(values, valueOf(kind, body[:size]))
		body = body[size:]
	}
	if len(body) > 0 {
		return nil, fmt.Errorf("%w: a row is longer than its values", errPage)
	}
	return values, nil
}

// sizeOf returns the bytes of a value by its serial type.
func sizeOf(kind int64) (int64, bool) {
	switch {
	case kind < 0 || kind == 10 || kind == 11:
		return 0, false
	case kind >= 12:
		return (kind - 12) / 2, true
	}
	return [...]int64{0, 1, 2, 3, 4, 6, 8, 8, 0, 0}[kind], true
}

func valueOf(kind int64, b []byte) any {
	switch {
	case kind == 0:
		return nil
	case kind == 7:
		return math.Float64frombits(binary.BigEndian.Uint64(b))
	case kind >= 12 && kind%2 == 0:
		return bytes.Clone(b)
	case kind >= 12:
		return string(b)
	case kind >= 8:
		return kind - 8
	}
	v := int64(int8(b[0]))
	for _, x := range b[1:] {
		v = v<<8 | int64(x)
	}
	return v
}
