package checkpoint

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"hermes/internal/checkpoint/object"
)

// Kind is what is at a path.
type Kind byte

// The kinds. LeftOut is something that a rule keeps out of snapshots: it is known to be
// there, but not what is in it, so no restore changes or removes it.
const (
	None    Kind = 0
	File    Kind = 'f'
	Folder  Kind = 'd'
	Link    Kind = 'l'
	LeftOut Kind = 'x'
)

// State is what is at a path at one time. States can be compared with ==; the zero value is
// that of a path where nothing is.
type State struct {
	Kind   Kind        `json:"kind,omitempty"`
	Mode   fs.FileMode `json:"mode,omitempty"` // rights only; 0 for links
	Size   int64       `json:"size,omitempty"` // of a file
	Hash   object.Hash `json:"hash"`           // of a file's content; zero for all others
	Target string      `json:"target,omitempty"`
	Why    Reason      `json:"why,omitempty"` // of what is left out
}

// Reason is the rule by which something is left out.
type Reason byte

// The rules.
const (
	Ignored    Reason = iota + 1 // a .gitignore file says so
	TooLarge                     // the file is over the limit
	Repository                   // the data of git or another version control system
	Special                      // a socket, a pipe, a device
	Unreadable                   // the system refuses to read it
	Unstable                     // it changed each time it was read
	OwnStore                     // the folder of the checkpoints itself
)

// String returns the reason in a few words.
func (r Reason) String() string {
	switch r {
	case Ignored:
		return "ignored by .gitignore"
	case TooLarge:
		return "too large"
	case Repository:
		return "data of version control"
	case Special:
		return "not a file, folder or link"
	case Unreadable:
		return "not readable"
	case Unstable:
		return "changed while it was read"
	case OwnStore:
		return "the checkpoints themselves"
	}
	return "unknown"
}

// modeBits are the bits of a mode that are kept.
const modeBits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// A child is one name in a folder. Below a folder, state.Hash is that of its tree.
type child struct {
	name  string
	state State
}

// treeVersion is the first byte of a tree, the object that a folder's names are stored as.
const treeVersion = 1

var errTree = errors.New("the list of a folder is damaged")

// encodeTree writes the names of a folder, which are sorted.
func encodeTree(children []child) []byte {
	b := binary.AppendUvarint([]byte{treeVersion}, uint64(len(children)))
	for _, c := range children {
		b = append(b, byte(c.state.Kind))
		b = appendText(b, c.name)
		b = binary.AppendUvarint(b, uint64(c.state.Mode))
		switch c.state.Kind {
		case File:
			b = binary.AppendUvarint(b, uint64(c.state.Size))
			b = append(b, c.state.Hash[:]...)
		case Folder:
			b = append(b, c.state.Hash[:]...)
		case Link:
			b = appendText(b, c.state.Target)
		case LeftOut:
			b = append(b, byte(c.state.Why))
		}
	}
	return b
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// decodeTree reads what encodeTree wrote. It refuses names that are no names, such as "..".
func decodeTree(data []byte) ([]child, error) {
	r := &reader{rest: data}
	if r.byte() != treeVersion {
		return nil, errTree
	}
	n := r.number()
	if n > uint64(len(data)) {
		return nil, errTree
	}
	children := make([]child, 0, n)
	last := ""
	for range n {
		c := child{state: State{Kind: Kind(r.byte())}, name: r.text()}
		c.state.Mode = fs.FileMode(r.number())
		switch c.state.Kind {
		case File:
			c.state.Size = int64(r.number())
			r.hash(&c.state.Hash)
		case Folder:
			r.hash(&c.state.Hash)
		case Link:
			c.state.Target = r.text()
		case LeftOut:
			c.state.Why = Reason(r.byte())
		default:
			return nil, errTree
		}
		if r.failed || !isName(c.name) || c.name <= last || c.state.Mode&^modeBits != 0 || c.state.Size < 0 {
			return nil, errTree
		}
		last = c.name
		children = append(children, c)
	}
	if r.failed || len(r.rest) > 0 {
		return nil, errTree
	}
	return children, nil
}

// isName reports whether a name can be that of something in a folder.
func isName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\x00")
}

// A reader takes parts off the front of what was encoded. After a failure it gives zeros.
type reader struct {
	rest   []byte
	failed bool
}

func (r *reader) take(n uint64) []byte {
	if r.failed || n > uint64(len(r.rest)) {
		r.failed, r.rest = true, nil
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) number() uint64 {
	n, size := binary.Uvarint(r.rest)
	if r.failed || size <= 0 {
		r.failed, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *reader) text() string { return string(r.take(r.number())) }

func (r *reader) hash(h *object.Hash) { copy(h[:], r.take(uint64(len(h)))) }

// readTree reads the names of a folder from the store.
func readTree(objects contents, tree object.Hash) ([]child, error) {
	data, err := objects.Read(tree)
	if err != nil {
		return nil, fmt.Errorf("the list of a folder: %w", err)
	}
	return decodeTree(data)
}
