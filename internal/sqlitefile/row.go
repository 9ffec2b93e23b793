package sqlitefile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
)

// cell reads a row of a leaf. It also returns the bytes that the row has on the leaf, as far
// as they were read.
func (p *File) cell(b []byte, at int) (key int64, row []any, onLeaf int, err error) {
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
		row, err = values(payload)
	}
	return key, row, n + k + local, err
}

// payload joins the part of a row that is on its leaf with those on other pages. It also
// returns the size of the first.
func (p *File) payload(b []byte, size int) (whole []byte, local int, err error) {
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

// values reads the values of a record.
func values(b []byte) ([]any, error) {
	head, n := varint(b)
	if n == 0 || head < int64(n) || head > int64(len(b)) {
		return nil, errPage
	}
	kinds, body := b[n:head], b[head:]
	var list []any
	for len(kinds) > 0 {
		kind, n := varint(kinds)
		if n == 0 {
			return nil, errPage
		}
		kinds = kinds[n:]
		size, ok := sizeOf(kind)
		if !ok || size > int64(len(body)) || len(list) == maxColumns {
			return nil, errPage
		}
		list = append(list, valueOf(kind, body[:size]))
		body = body[size:]
	}
	if len(body) > 0 {
		return nil, fmt.Errorf("%w: a row is longer than its values", errPage)
	}
	return list, nil
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
