package provider

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"os"
	"strings"
	"sync"

	"hermes"
	"hermes/internal/fault"
	"hermes/internal/lru"
)

// learnedBases remembers at which addresses below the configured ones servers have
// their API: a server at http://box:8000 often has it at http://box:8000/v1. Where its
// models were listed, it most likely answers chats too; where it has answered one, no
// listing moves it. It may be used concurrently.
type learnedBases struct {
	info *learnedInfo

	mu    sync.Mutex
	below *lru.Map[string, apiBase] // by address
}

func newLearnedBases(info *learnedInfo) *learnedBases {
	return &learnedBases{info: info, below: lru.New[string, apiBase](maxLearnedAddresses)}
}

// apiBase is where a server has its API.
type apiBase struct {
	path  string // below the address; "" is the address itself
	works bool   // a chat was answered there
}

// apiPath is the only path that is tried below an address.
const apiPath = "/v1"

// worksMark is the second line of the file of an address at which chats are answered.
const worksMark = "answers"

func (b *learnedBases) file(address string) string {
	return strings.TrimSuffix(b.info.file(address), ".tsv") + ".path"
}

// hasBelow reports whether an API may be below an address. One that ends in the path
// is the API's own.
func hasBelow(address string) bool {
	return !strings.HasSuffix(strings.TrimRight(address, "/"), apiPath)
}

// keep notes the path below an address at which its models were listed, unless chats
// are answered at another one.
func (b *learnedBases) keep(address, path string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if known := b.known(address); hasBelow(address) && !known.works && known.path != path {
		b.set(address, apiBase{path: path})
	}
}

// answered notes the path at which a chat was answered. The first one counts.
func (b *learnedBases) answered(address, path string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if hasBelow(address) && !b.known(address).works {
		b.set(address, apiBase{path, true})
	}
}

// gone notes that there is no longer an API at a path: the next listing may move it.
func (b *learnedBases) gone(address, path string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.known(address) == (apiBase{path, true}) {
		b.set(address, apiBase{path: path})
	}
}

// set changes what is known, in the file too. The caller holds the lock. An error of
// the disk only means that it is not known at the next start.
func (b *learnedBases) set(address string, base apiBase) {
	b.below.Put(address, base)
	switch {
	case b.info.dir == "":
	case base == apiBase{}:
		os.Remove(b.file(address))
	default:
		text := base.path + "\n"
		if base.works {
			text += worksMark + "\n"
		}
		b.info.store(b.file(address), text)
	}
}

// of returns the path below an address, "" for none.
func (b *learnedBases) of(address string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.known(address).path
}

// known returns what is known of an address. The caller holds the lock.
func (b *learnedBases) known(address string) apiBase {
	base, known := b.below.Get(address)
	if known {
		return base
	}
	if b.info.dir != "" {
		raw, _ := os.ReadFile(b.file(address))
		path, mark, _ := strings.Cut(string(raw), "\n")
		if path == apiPath || path == "" { // nothing else may become part of an address
			base = apiBase{path, strings.TrimSpace(mark) == worksMark}
		}
	}
	b.below.Put(address, base)
	return base
}

// noted returns a transport that notes whether the API of an address is at the path
// that the transport asks.
func (b *learnedBases) noted(m hermes.Model, address, path string) hermes.Model {
	return &notingBase{Model: m, bases: b, address: address, path: path}
}

type notingBase struct {
	hermes.Model
	bases         *learnedBases
	address, path string
}

func (m *notingBase) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) {
		for d, err := range m.Model.Stream(ctx, r) {
			switch {
			case err != nil && nothingThere(err):
				m.bases.gone(m.address, m.path)
			case err == nil && hasContent(d):
				m.bases.answered(m.address, m.path)
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// nothingThere reports that an address has no API.
func nothingThere(err error) bool {
	if errors.Is(err, fault.ErrNotAPI) {
		return true
	}
	e, ok := errors.AsType[*hermes.ModelError](err)
	return ok && (e.Status == http.StatusNotFound || e.Status == http.StatusMethodNotAllowed) && e.Class != hermes.ClassModelNotFound
}
