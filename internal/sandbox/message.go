package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// kind says what a message is about.
type kind byte

// The messages to the keeper.
const (
	build  kind = iota + 1 // List etc.: a Policy; answered by ready or failed
	launch                 // files, Text program, Dir, List arguments, Env, Slots, Limits; answered by started or failed
	end                    // ID child, Flag force
	left                   // ID child; answered by answer
	forget                 // ID child
	freeze                 // answered by answer or failed
	thaw                   // answered by answer
	dial                   // N port; answered by answer with a file, or failed
	ports                  // answered by answer with Slots
)

// The messages from the keeper.
const (
	ready   kind = iota + 64 // files: the proxy's listener, the notifications of seccomp; List what is missing
	started                  // N process id
	failed                   // N errno or 0, Text
	exited                   // ID child, N code, Flag left
	answer                   // Flag, Slots
)

// Limits of what is read. What the keeper sends is from behind the walls.
const (
	maxToKeeper   = 8 << 20
	maxFromKeeper = 64 << 10
	maxFiles      = 64
	maxList       = 1 << 16
)

// message is what travels on the control socket, in both directions. ID ties an answer
// to its question. Which fields are used depends on Kind.
type message struct {
	Kind   kind
	ID     uint32
	N      int64
	Flag   bool
	Text   string
	Dir    string
	List   []string
	Env    []string
	Slots  []int64
	Limits [5]uint64
}

var errMessage = errors.New("the message is malformed")

// encode returns the message with its length before it.
func (m *message) encode() []byte {
	n := 72 + len(m.Text) + len(m.Dir) + 8*len(m.Slots)
	for _, list := range [][]string{m.List, m.Env} {
		for _, s := range list {
			n += 4 + len(s)
		}
	}
	b := make([]byte, 4, n+8)
	b = append(b, byte(m.Kind), flagByte(m.Flag))
	b = binary.LittleEndian.AppendUint32(b, m.ID)
	b = binary.LittleEndian.AppendUint64(b, uint64(m.N))
	for _, l := range m.Limits {
		b = binary.LittleEndian.AppendUint64(b, l)
	}
	b = appendText(b, m.Text)
	b = appendText(b, m.Dir)
	b = appendList(b, m.List)
	b = appendList(b, m.Env)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(m.Slots)))
	for _, s := range m.Slots {
		b = binary.LittleEndian.AppendUint64(b, uint64(s))
	}
	binary.LittleEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

func flagByte(f bool) byte {
	if f {
		return 1
	}
	return 0
}

func appendText(b []byte, s string) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(s)))
	return append(b, s...)
}

func appendList(b []byte, list []string) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(list)))
	for _, s := range list {
		b = appendText(b, s)
	}
	return b
}

// decode reads what encode wrote, without the length. Everything after the fields is an
// error, as is a field that is too long.
func decode(b []byte) (message, error) {
	d := decoder{rest: b}
	var m message
	m.Kind = kind(d.byte())
	m.Flag = d.byte() == 1
	m.ID = d.uint32()
	m.N = int64(d.uint64())
	for i := range m.Limits {
		m.Limits[i] = d.uint64()
	}
	m.Text = d.text()
	m.Dir = d.text()
	m.List = d.list()
	m.Env = d.list()
	for range d.count(8) {
		m.Slots = append(m.Slots, int64(d.uint64()))
	}
	if d.bad || len(d.rest) > 0 {
		return message{}, errMessage
	}
	return m, nil
}

// decoder reads fields. After the first that does not fit, all are zero.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) take(n uint32) []byte {
	if d.bad || uint64(n) > uint64(len(d.rest)) {
		d.bad = true
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) byte() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) uint32() uint32 {
	if b := d.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (d *decoder) uint64() uint64 {
	if b := d.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// count reads the length of a list whose items take at least so many bytes.
func (d *decoder) count(each int) uint32 {
	n := d.uint32()
	if n > maxList || int(n)*each > len(d.rest) {
		d.bad = true
		return 0
	}
	return n
}

func (d *decoder) text() string { return string(d.take(d.uint32())) }

func (d *decoder) list() []string {
	n := d.count(4)
	if n == 0 {
		return nil
	}
	list := make([]string, 0, n)
	for range n {
		list = append(list, d.text())
	}
	return list
}

// readMessage reads one message of at most so many bytes.
func readMessage(r io.Reader, most uint32) (message, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return message{}, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n > most {
		return message{}, fmt.Errorf("%w: %d bytes", errMessage, n)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return message{}, err
	}
	return decode(b)
}
