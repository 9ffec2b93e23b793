// Package serverinfo is what model servers say about their models: it reads the lists
// that they answer with (list.go), and remembers these for the next run, with the
// context lengths that refusals named (book.go) and with the path below an address at
// which the API is (path.go).
//
// It asks no server and must not know services or their settings; package provider
// does. Facts that are built in are in package modelinfo; complete.go adds them to what
// a server said. Start reading at Book.
package serverinfo

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"hermes"
	"hermes/internal/atomicfile"
	"hermes/internal/lru"
)

// The bounds of what is remembered.
const (
	maxModels    = 2000      // models of one address
	maxBytes     = 512 << 10 // of one file
	maxAddresses = 64        // addresses
)

// Book remembers what servers said about their models: a small file for each
// address, a line for each model. A missing or damaged file counts as empty, and
// errors of the disk only mean that the next run does not know it. It may be used
// concurrently.
type Book struct {
	dir     string // "" keeps nothing on disk
	edition atomic.Int64

	mu    sync.Mutex
	texts *lru.Map[string, string] // by address; "" means there is no file
	// guesses are context lengths that no service named; see SetGuess. They
	// are never written to a file, because they may be too small.
	guesses *lru.Map[string, int]  // by address and model
	listed  map[string]bool        // addresses that were asked for their list in this run
	paths   *lru.Map[string, path] // by address
}

// NewBook returns a book with its files in dir, which is created when it is needed.
// Without one it remembers for this run only.
func NewBook(dir string) *Book {
	return &Book{
		dir: dir, texts: lru.New[string, string](maxAddresses), guesses: lru.New[string, int](maxModels),
		listed: map[string]bool{}, paths: lru.New[string, path](maxAddresses),
	}
}

// Edition counts the changes of what Of and Guess return.
func (b *Book) Edition() int64 { return b.edition.Load() }

// Guess returns the context length that was guessed for a model, 0 for none.
func (b *Book) Guess(address, model string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	window, _ := b.guesses.Get(address + "\n" + model)
	return window
}

// SetGuess remembers, for this run only, a context length that no service named.
func (b *Book) SetGuess(address, model string, window int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.guesses.Put(address+"\n"+model, window)
	b.edition.Add(1)
}

// MayList reports, once for each address, that it was not asked yet. again says that
// it was, but AskAgain followed.
func (b *Book) MayList(address string) (ok, again bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	asked, again := b.listed[address]
	if asked {
		return false, again
	}
	b.listed[address] = true
	return true, again
}

// AskAgain lets MayList report an address once more.
func (b *Book) AskAgain(address string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.listed[address] = false
}

// Of returns what was reported about a model.
func (b *Book) Of(address, model string) (hermes.ModelInfo, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := b.text(address)
	_, rest, ok := strings.Cut(text, "\n"+model+"\t")
	if !ok || model == "" {
		return hermes.ModelInfo{}, false
	}
	line, _, _ := strings.Cut(rest, "\n")
	return parseInfo(model, line), true
}

// text returns the file of an address with a line break before it. The caller
// holds the lock.
func (b *Book) text(address string) string {
	text, known := b.texts.Get(address)
	if known || b.dir == "" {
		return text
	}
	raw, err := os.ReadFile(b.file(address, ".tsv"))
	if err == nil && len(raw) <= maxBytes {
		text = "\n" + string(raw)
	}
	b.texts.Put(address, text)
	return text
}

// setText replaces it.
func (b *Book) setText(address, text string) {
	b.texts.Put(address, text)
	b.edition.Add(1)
	b.store(b.file(address, ".tsv"), text[1:])
}

// Keep replaces the cached answer of a server with its newest one. A context length
// that a refusal named stays until the server lists another one than it did then, since
// some list what a model could have, or nothing.
func (b *Book) Keep(address string, list []hermes.ModelInfo) {
	b.mu.Lock()
	defer b.mu.Unlock()
	refused := refusals(b.text(address))
	var lines strings.Builder
	put := func(line string) {
		if lines.Len()+len(line) < maxBytes {
			lines.WriteString(line)
		}
	}
	for _, m := range list[:min(len(list), maxModels)] {
		was, ok := refused[m.ID]
		delete(refused, m.ID)
		if ok && (m.ContextLength == 0 || m.ContextLength == was.listed) {
			m.ContextLength = was.window
			put(infoText(m, &was.listed))
			continue
		}
		put(infoText(m, nil))
	}
	for _, id := range slices.Sorted(maps.Keys(refused)) { // models that are not listed, such as aliases
		put(refused[id].line)
	}
	if text := "\n" + lines.String(); text != b.text(address) {
		b.setText(address, text)
	}
}

// Lower sets the context length of a model to one that a refusal named, if it is
// smaller than what is known.
func (b *Book) Lower(address, model string, limit int) {
	b.change(address, model, limit, true)
}

// Set sets the context length that a server said a model has.
func (b *Book) Set(address, model string, length int) {
	b.change(address, model, length, false)
}

func (b *Book) change(address, model string, length int, refused bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := b.text(address)
	m := hermes.ModelInfo{ID: model}
	var listed *int
	if before, rest, ok := strings.Cut(text, "\n"+model+"\t"); ok {
		line, after, _ := strings.Cut(rest, "\n")
		m = parseInfo(model, line)
		if m.ContextLength == length || refused && m.ContextLength > 0 && m.ContextLength < length {
			return
		}
		text = before + "\n" + after
		if was, again := refusals(model + "\t" + line)[model]; again {
			listed = &was.listed
		}
	}
	if refused && listed == nil {
		listed = new(m.ContextLength)
	} else if !refused {
		listed = nil
	}
	m.ContextLength = length
	line := infoText(m, listed)
	if line == "" || len(text)+len(line) > maxBytes {
		return
	}
	text = "\n" + line + strings.TrimPrefix(text, "\n")
	b.setText(address, text)
}

// file is the file of an address with what the extension names.
func (b *Book) file(address, extension string) string {
	sum := sha256.Sum256([]byte(address))
	return filepath.Join(b.dir, hex.EncodeToString(sum[:8])+extension)
}

// store writes a file. It is only a cache, so errors are ignored.
func (b *Book) store(file, text string) {
	if b.dir == "" || os.MkdirAll(b.dir, 0o700) != nil {
		return
	}
	if files, err := os.ReadDir(b.dir); err == nil && len(files) >= maxAddresses {
		for _, f := range files {
			_ = os.Remove(filepath.Join(b.dir, f.Name()))
		}
	}
	_ = atomicfile.Write(file, []byte(text), atomicfile.Options{})
}
