package pdf

import (
	"bytes"
	"compress/flate"
	"encoding/ascii85"
	"io"
)

// decode returns the bytes of a stream without its filters, as far as they can be read. It is
// empty for pictures, and once the file has unpacked to too much.
func (f *file) decode(s *stream) []byte {
	if s == nil || f.over(f.decoded > maxDecoded) || !f.bytes(len(s.raw)>>2) {
		return nil
	}
	data := s.raw
	if f.key != nil && !f.bytes(len(data)) {
		return nil
	}
	if s.dict["Type"] != name("XRef") {
		data = f.key.decrypt(data, s.id)
	}
	filters, parms := f.resolve(s.dict["Filter"]), f.resolve(s.dict["DecodeParms"])
	names, ok := filters.([]any)
	if !ok && filters != nil {
		names = []any{filters}
	}
	list, ok := parms.([]any)
	if !ok {
		list = []any{parms}
	}
	if len(names) > 8 {
		return nil
	}
	for i, n := range names {
		if !f.spend(100 + len(data)>>5) { // making a decoder is a lot of work, even if it returns nothing
			return nil
		}
		var p dict
		if i < len(list) {
			p = f.dict(list[i])
		}
		switch f.resolve(n) {
		case name("FlateDecode"), name("Fl"):
			data = f.predict(inflate(data), p)
		case name("LZWDecode"), name("LZW"):
			early := 1
			if v, ok := f.resolve(p["EarlyChange"]).(float64); ok {
				early = whole(v)
			}
			data = f.predict(unlzw(data, early), p)
		case name("ASCIIHexDecode"), name("AHx"):
			end := bytes.IndexByte(data, '>')
			if end < 0 {
				end = len(data)
			}
			data = unhex(data[:end])
		case name("ASCII85Decode"), name("A85"):
			const most = maxStream / 4 // a sign may become four bytes
			f.over(len(data) > most)
			data = unascii85(data[:min(len(data), most)])
		case name("RunLengthDecode"), name("RL"):
			data = unrun(data)
		case name("Crypt"):
		default:
			return nil
		}
		f.decoded += len(data)
		if !f.bytes(len(data)) || f.over(f.decoded > maxDecoded) {
			return nil
		}
	}
	return data
}

// inflate returns what can be read of zlib data, without a check of its sum.
func inflate(data []byte) []byte {
	if len(data) < 2 {
		return nil
	}
	if data[0]&0x0f == 8 && (int(data[0])<<8|int(data[1]))%31 == 0 {
		data = data[2:]
	}
	out, _ := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(data)), maxStream))
	return out
}

func unascii85(data []byte) []byte {
	data = bytes.TrimPrefix(bytes.TrimSpace(data), []byte("<~"))
	if end := bytes.IndexByte(data, '~'); end >= 0 {
		data = data[:end]
	}
	out := make([]byte, len(data)*4+8)
	n, _, _ := ascii85.Decode(out, data, true)
	return out[:n]
}

func unrun(data []byte) []byte {
	var out []byte
	for i := 0; i < len(data) && len(out) < maxStream; {
		n := int(data[i])
		i++
		switch {
		case n == 128:
			return out
		case n < 128:
			end := min(i+n+1, len(data))
			out = append(out, data[i:end]...)
			i = end
		case i < len(data):
			out = append(out, bytes.Repeat(data[i:i+1], 257-n)...)
			i++
		}
	}
	return out
}

// unlzw decodes LZW, whose codes grow by one bit one code early or not.
func unlzw(data []byte, early int) []byte {
	const clear, end = 256, 257
	var out []byte
	type entry struct{ from, length int } // in out
	table := make([]entry, 258, 4096)
	var bits, have uint
	width := uint(9)
	last := entry{}
	for _, c := range data {
		bits = bits<<8 | uint(c)
		have += 8
		if have < width {
			continue
		}
		have -= width
		code := int(bits >> have & (1<<width - 1))
		switch {
		case code == clear:
			table, width, last = table[:258], 9, entry{}
			continue
		case code == end || len(out) > maxStream:
			return out
		}
		from := len(out)
		switch {
		case code < 256:
			out = append(out, byte(code))
		case code < len(table):
			e := table[code]
			out = append(out, out[e.from:e.from+e.length]...)
		case code == len(table) && last.length > 0:
			out = append(out, out[last.from:last.from+last.length]...)
			out = append(out, out[last.from])
		default:
			return out
		}
		if last.length > 0 && len(table) < 4096 {
			table = append(table, entry{last.from, last.length + 1})
		}
		last = entry{from, len(out) - from}
		if len(table)+early >= 1<<width && width < 12 {
			width++
		}
	}
	return out
}

// predict undoes what a predictor did.
func (f *file) predict(data []byte, p dict) []byte {
	kind := whole(f.resolve(p["Predictor"]))
	if kind < 2 {
		return data
	}
	value := func(key name, otherwise int) int {
		if v, ok := f.resolve(p[key]).(float64); ok {
			return whole(v)
		}
		return otherwise
	}
	colors, depth, columns := value("Colors", 1), value("BitsPerComponent", 8), value("Columns", 1)
	if colors < 1 || colors > 32 || depth < 1 || depth > 16 || columns < 1 || columns > 1<<20 {
		return nil
	}
	unit := max(colors*depth/8, 1)
	size := (colors*depth*columns + 7) / 8
	if size > 1<<22 {
		return nil
	}
	if kind == 2 {
		if depth != 8 {
			return nil
		}
		for row := 0; row+size <= len(data); row += size {
			for i := unit; i < size; i++ {
				data[row+i] += data[row+i-unit]
			}
		}
		return data
	}
	out := make([]byte, 0, len(data))
	above := make([]byte, size)
	for len(data) > 1 {
		tag := data[0]
		row := append([]byte(nil), data[1:min(1+size, len(data))]...)
		data = data[min(1+size, len(data)):]
		for i := range row {
			left, up, corner := 0, int(above[i]), 0
			if i >= unit {
				left, corner = int(row[i-unit]), int(above[i-unit])
			}
			switch tag {
			case 1:
				row[i] += byte(left)
			case 2:
				row[i] += byte(up)
			case 3:
				row[i] += byte((left + up) / 2)
			case 4:
				row[i] += byte(paeth(left, up, corner))
			}
		}
		out = append(out, row...)
		copy(above, row)
	}
	return out
}

func paeth(a, b, c int) int {
	p := a + b - c
	x, y, z := max(p-a, a-p), max(p-b, b-p), max(p-c, c-p)
	switch {
	case x <= y && x <= z:
		return a
	case y <= z:
		return b
	}
	return c
}
