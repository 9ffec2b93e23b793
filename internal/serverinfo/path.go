package serverinfo

import (
	"os"
	"strings"
)

// path is where a server has its API: a server at http://box:8000 often has it at
// http://box:8000/v1. Where its models were listed, it most likely answers chats too;
// where it has answered one, no listing moves it.
type path struct {
	below string // the address; "" is the address itself
	works bool   // a chat was answered there
}

// APIPath is the only path that is tried below an address.
const APIPath = "/v1"

// worksMark is the second line of the file of an address at which chats are answered.
const worksMark = "answers"

// HasPath reports whether an API may be below an address. One that ends in the path
// is the API's own.
func HasPath(address string) bool {
	return !strings.HasSuffix(strings.TrimRight(address, "/"), APIPath)
}

// Path returns the path of the API below an address, "" for none.
func (b *Book) Path(address string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.path(address).below
}

// Listed notes the path below an address at which its models were listed, unless chats
// are answered at another one.
func (b *Book) Listed(address, below string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if known := b.path(address); HasPath(address) && !known.works && known.below != below {
		b.setPath(address, path{below: below})
	}
}

// Answered notes the path at which a chat was answered. The first one counts.
func (b *Book) Answered(address, below string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if HasPath(address) && !b.path(address).works {
		b.setPath(address, path{below, true})
	}
}

// Gone notes that there is no longer an API at a path: the next listing may move it.
func (b *Book) Gone(address, below string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.path(address) == (path{below, true}) {
		b.setPath(address, path{below: below})
	}
}

// path returns what is known of an address. The caller holds the lock.
func (b *Book) path(address string) path {
	p, known := b.paths.Get(address)
	if known {
		return p
	}
	if b.dir != "" {
		raw, _ := os.ReadFile(b.file(address, ".path"))
		below, mark, _ := strings.Cut(string(raw), "\n")
		if below == APIPath || below == "" { // nothing else may become part of an address
			p = path{below, strings.TrimSpace(mark) == worksMark}
		}
	}
	b.paths.Put(address, p)
	return p
}

// setPath changes what is known, in the file too. The caller holds the lock.
func (b *Book) setPath(address string, p path) {
	b.paths.Put(address, p)
	file := b.file(address, ".path")
	switch {
	case p.works:
		b.store(file, p.below+"\n"+worksMark+"\n")
	case p.below != "":
		b.store(file, p.below+"\n")
	case b.dir != "":
		os.Remove(file)
	}
}
