package modal

import (
	"encoding/binary"
	"errors"
	"math"
)

// The messages of Modal are Protocol Buffers. The few that are sent are written field by
// field, and of the answers a few fields are read; so their numbers are here as numbers, as
// in the descriptors of Modal's own client.

// The wire types that occur.
const (
	varintType = 0
	fixed64    = 1
	bytesType  = 2
	fixed32    = 5
)

// fields is a message that is being written. Empty values are left out, as the format wants.
type fields []byte

func (f *fields) number(field int, v uint64) *fields {
	if v != 0 {
		*f = binary.AppendUvarint(binary.AppendUvarint(*f, uint64(field)<<3|varintType), v)
	}
	return f
}

func (f *fields) text(field int, v string) *fields {
	if v != "" {
		f.message(field, fields(v))
	}
	return f
}

// message writes a message, or one text of several, also if it is empty.
func (f *fields) message(field int, v fields) *fields {
	*f = binary.AppendUvarint(*f, uint64(field)<<3|bytesType)
	*f = append(binary.AppendUvarint(*f, uint64(len(v))), v...)
	return f
}

// float writes a float of 32 bits.
func (f *fields) float(field int, v float32) *fields {
	*f = binary.AppendUvarint(*f, uint64(field)<<3|fixed32)
	*f = binary.LittleEndian.AppendUint32(*f, math.Float32bits(v))
	return f
}

// message is a message that was read: the numbers and the bytes of each field, in order.
type message struct {
	numbers map[int][]uint64
	parts   map[int][][]byte
}

var errWire = errors.New("the answer of Modal cannot be read")

// parse reads the fields of a message. The bytes belong to data.
func parse(data []byte) (message, error) {
	m := message{map[int][]uint64{}, map[int][][]byte{}}
	for len(data) > 0 {
		tag, n := binary.Uvarint(data)
		if n <= 0 {
			return m, errWire
		}
		data = data[n:]
		field := int(tag >> 3)
		switch tag & 7 {
		case varintType:
			v, n := binary.Uvarint(data)
			if n <= 0 {
				return m, errWire
			}
			m.numbers[field] = append(m.numbers[field], v)
			data = data[n:]
		case bytesType:
			size, n := binary.Uvarint(data)
			if n <= 0 || size > uint64(len(data)-n) {
				return m, errWire
			}
			m.parts[field] = append(m.parts[field], data[n:n+int(size)])
			data = data[n+int(size):]
		case fixed64, fixed32:
			size := 8
			if tag&7 == fixed32 {
				size = 4
			}
			if len(data) < size {
				return m, errWire
			}
			data = data[size:] // none of these is used
		default:
			return m, errWire
		}
	}
	return m, nil
}

func (m message) has(field int) bool { return len(m.numbers[field])+len(m.parts[field]) > 0 }

func (m message) number(field int) int64 {
	if list := m.numbers[field]; len(list) > 0 {
		return int64(list[len(list)-1])
	}
	return 0
}

func (m message) bytes(field int) []byte {
	if list := m.parts[field]; len(list) > 0 {
		return list[len(list)-1]
	}
	return nil
}

func (m message) text(field int) string { return string(m.bytes(field)) }

// message reads a message within; one that is missing is empty.
func (m message) message(field int) (message, error) { return parse(m.bytes(field)) }
