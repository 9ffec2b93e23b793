package provider

import (
	"os"
	"path/filepath"
	"strings"
	"sync"

	"hermes/internal/atomicfile"
)

// learnedBases remembers at which addresses below the configured ones servers listed
// their models, because they answer chats there too: a server at http://box:8000 often
// has its API at http://box:8000/v1. It may be used concurrently.
type learnedBases struct {
	info *learnedInfo

	mu    sync.Mutex
	below map[string]string // by address; "" is the address itself
}

// apiPath is the only path that is tried below an address.
const apiPath = "/v1"

func (b *learnedBases) file(address string) string {
	return strings.TrimSuffix(b.info.file(address), ".tsv") + ".path"
}

// keep notes the path below an address at which its models were listed. An error of
// the disk only means that it is not known at the next start.
func (b *learnedBases) keep(address, path string) {
	if b.of(address) == path {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.below[address] = path
	if b.info.dir == "" {
		return
	}
	if path == "" {
		os.Remove(b.file(address))
		return
	}
	if os.MkdirAll(filepath.Dir(b.file(address)), 0o700) == nil {
		_ = atomicfile.Write(b.file(address), []byte(path+"\n"), atomicfile.Options{Mode: 0o600})
	}
}

// of returns the path below an address, "" for none.
func (b *learnedBases) of(address string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	path, known := b.below[address]
	if known {
		return path
	}
	if b.below == nil || len(b.below) >= maxLearnedAddresses {
		b.below = map[string]string{}
	}
	if b.info.dir != "" {
		raw, err := os.ReadFile(b.file(address))
		if err == nil && strings.TrimSpace(string(raw)) == apiPath { // nothing else may become part of an address
			path = apiPath
		}
	}
	b.below[address] = path
	return path
}
