package egress

import (
	"encoding/binary"
	"errors"
)

// maxHello bounds the first message of TLS, and the records that carry it.
const maxHello = 16 << 10

// errHello is returned for bytes that do not begin a TLS connection.
var errHello = errors.New("the connection does not begin with a valid ClientHello of TLS")

// hello is what the first message of TLS shows.
type hello struct {
	name  string // of the server, as sent
	named bool
}

// readHello reads the first message of TLS from records. peek returns the next n bytes
// without taking them.
func readHello(peek func(n int) ([]byte, error)) (hello, error) {
	var message []byte
	for at := 0; ; {
		head, err := peek(at + 5)
		if err != nil {
			return hello{}, errHello
		}
		size := int(binary.BigEndian.Uint16(head[at+3:]))
		if head[at] != 22 || head[at+1] != 3 || size == 0 || at+5+size > maxHello {
			return hello{}, errHello
		}
		record, err := peek(at + 5 + size)
		if err != nil {
			return hello{}, errHello
		}
		message = append(message, record[at+5:]...)
		at += 5 + size
		if len(message) < 4 {
			continue
		}
		want := 4 + int(message[1])<<16 + int(message[2])<<8 + int(message[3])
		switch {
		case message[0] != 1 || want > maxHello || len(message) > want:
			return hello{}, errHello
		case len(message) == want:
			return parseHello(message[4:])
		}
	}
}

// parseHello reads a ClientHello. Everything is strict: what two programs could read in two
// ways is not valid.
func parseHello(body []byte) (hello, error) {
	r := reader{left: body}
	r.take(2 + 32) // version and random
	r.vector(1)    // session
	r.vector(2)    // cipher suites
	r.vector(1)    // compression
	if r.bad || len(r.left) == 0 {
		return hello{}, r.err()
	}
	list := reader{left: r.vector(2)}
	if r.bad || len(r.left) > 0 {
		return hello{}, errHello
	}
	h, seen := hello{}, map[uint16]bool{}
	for len(list.left) > 0 {
		kind, body := list.number(), list.vector(2)
		if list.bad || seen[kind] {
			return hello{}, errHello
		}
		seen[kind] = true
		if kind == 0 {
			name, err := serverName(body)
			if err != nil {
				return hello{}, err
			}
			h = hello{name, true}
		}
	}
	return h, nil
}

// serverName reads the extension with the name of the server: a list of one.
func serverName(body []byte) (string, error) {
	r := reader{left: body}
	list := reader{left: r.vector(2)}
	kind := list.take(1)
	name := list.vector(2)
	if r.bad || list.bad || len(r.left) > 0 || len(list.left) > 0 || kind[0] != 0 || len(name) == 0 {
		return "", errHello
	}
	return string(name), nil
}

// reader takes parts off the front of bytes, and remembers if there were too few.
type reader struct {
	left []byte
	bad  bool
}

func (r *reader) take(n int) []byte {
	if r.bad || len(r.left) < n {
		r.bad, r.left = true, nil
		return make([]byte, min(n, 64))
	}
	part := r.left[:n]
	r.left = r.left[n:]
	return part
}

func (r *reader) number() uint16 { return binary.BigEndian.Uint16(r.take(2)) }

// vector takes bytes that follow their length, which has a size of one or two bytes.
func (r *reader) vector(size int) []byte {
	n := 0
	for _, b := range r.take(size) {
		n = n<<8 | int(b)
	}
	if r.bad {
		return nil
	}
	part := r.take(n)
	if r.bad {
		return nil
	}
	return part
}

func (r *reader) err() error {
	if r.bad {
		return errHello
	}
	return nil
}
