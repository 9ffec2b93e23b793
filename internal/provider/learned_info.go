package provider

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"hermes"
	"hermes/internal/atomicfile"
	"hermes/internal/lru"
)

// The bounds of the cached answers of servers.
const (
	maxLearnedModels    = 2000      // models of one address
	maxLearnedBytes     = 512 << 10 // of one file
	maxLearnedAddresses = 64        // addresses
)

// learnedInfo is what servers reported about their models: a small file for each
// address, a line for each model. A missing or damaged file counts as empty. It
// may be used concurrently.
type learnedInfo struct {
	dir string // "" keeps nothing on disk

	mu    sync.Mutex
	texts *lru.Map[string, string] // by address; "" means there is no file
	// guesses are context lengths that no service named; see windowFinder. They
	// are never written to a file, because they may be too small.
	guesses *lru.Map[string, int] // by address and model
	listed  map[string]bool       // addresses that were asked for their list in this run
}

func newLearnedInfo(dir string) *learnedInfo {
	return &learnedInfo{
		dir: dir, texts: lru.New[string, string](maxLearnedAddresses), guesses: lru.New[string, int](maxLearnedModels), listed: map[string]bool{},
	}
}

// guess returns the context length that was guessed for a model, 0 for none.
func (h *learnedInfo) guess(address, model string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	window, _ := h.guesses.Get(address + "\n" + model)
	return window
}

func (h *learnedInfo) setGuess(address, model string, window int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.guesses.Put(address+"\n"+model, window)
}

// mayList reports, once for each address, that it was not asked yet. again says that
// it was, but askAgain followed.
func (h *learnedInfo) mayList(address string) (ok, again bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	asked, again := h.listed[address]
	if asked {
		return false, again
	}
	h.listed[address] = true
	return true, again
}

// askAgain lets mayList report an address once more.
func (h *learnedInfo) askAgain(address string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.listed[address] = false
}

func (h *learnedInfo) file(address string) string {
	sum := sha256.Sum256([]byte(address))
	return filepath.Join(h.dir, hex.EncodeToString(sum[:8])+".tsv")
}

// of returns what was reported about a model.
func (h *learnedInfo) of(address, model string) (hermes.ModelInfo, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	text := h.text(address)
	_, rest, ok := strings.Cut(text, "\n"+model+"\t")
	if !ok || model == "" {
		return hermes.ModelInfo{}, false
	}
	line, _, _ := strings.Cut(rest, "\n")
	return parseInfo(model, line), true
}

// text returns the file of an address with a line break before it. The caller
// holds the lock.
func (h *learnedInfo) text(address string) string {
	text, known := h.texts.Get(address)
	if known || h.dir == "" {
		return text
	}
	raw, err := os.ReadFile(h.file(address))
	if err == nil && len(raw) <= maxLearnedBytes {
		text = "\n" + string(raw)
	}
	h.texts.Put(address, text)
	return text
}

// keep replaces the cached answer of a server with its newest one. A context length
// that a refusal named stays until the server lists another one than it did then, since
// some list what a model could have, or nothing.
func (h *learnedInfo) keep(address string, list []hermes.ModelInfo) {
	h.mu.Lock()
	defer h.mu.Unlock()
	refused := refusals(h.text(address))
	var b strings.Builder
	put := func(line string) bool {
		fits := b.Len()+len(line) < maxLearnedBytes
		if fits {
			b.WriteString(line)
		}
		return fits
	}
	for _, m := range list[:min(len(list), maxLearnedModels)] {
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
	if text := "\n" + b.String(); text != h.text(address) {
		h.texts.Put(address, text)
		h.write(address, b.String())
	}
}

// refusal is a context length that a refusal named.
type refusal struct {
	window, listed int // listed is what the list said then
	line           string
}

// refusals returns the models whose context length a refusal named.
func refusals(text string) map[string]refusal {
	out := map[string]refusal{}
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) < 4 {
			continue
		}
		_, listed, refused := strings.Cut(f[3], refusedMark)
		window, _ := strconv.Atoi(f[1])
		if n, err := strconv.Atoi(listed); refused && err == nil && window > 0 {
			out[f[0]] = refusal{window, n, line}
		}
	}
	return out
}

// refusedMark comes before what was listed when a refusal named a smaller window.
const refusedMark = "!"

// lower sets the context length of a model to one that a refusal named, if it is
// smaller than what is known.
func (h *learnedInfo) lower(address, model string, limit int) {
	h.change(address, model, limit, true)
}

// set sets the context length that a server said a model has.
func (h *learnedInfo) set(address, model string, length int) {
	h.change(address, model, length, false)
}

func (h *learnedInfo) change(address, model string, length int, refused bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	text := h.text(address)
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
	if line == "" || len(text)+len(line) > maxLearnedBytes {
		return
	}
	text = "\n" + line + strings.TrimPrefix(text, "\n")
	h.texts.Put(address, text)
	h.write(address, text[1:])
}

func (h *learnedInfo) write(address, text string) {
	if h.dir != "" {
		h.store(h.file(address), text)
	}
}

// store writes a file. It is only a cache, so errors are ignored.
func (h *learnedInfo) store(file, text string) {
	if err := os.MkdirAll(h.dir, 0o700); err != nil {
		return
	}
	if files, err := os.ReadDir(h.dir); err == nil && len(files) >= maxLearnedAddresses {
		for _, f := range files {
			_ = os.Remove(filepath.Join(h.dir, f.Name()))
		}
	}
	_ = atomicfile.Write(file, []byte(text), atomicfile.Options{})
}

// infoText returns the line of a model; empty if its name does not fit in one. If a
// refusal named the context length, listed is what the list said then.
func infoText(m hermes.ModelInfo, listed *int) string {
	if m.ID == "" || strings.ContainsAny(m.ID, "\t\n\r") {
		return ""
	}
	can := ""
	for _, a := range []struct {
		yes  bool
		mark string
	}{{m.Vision, "v"}, {m.Reasoning, "r"}, {m.Tools, "t"}} {
		if a.yes {
			can += a.mark
		}
	}
	if listed != nil {
		can += refusedMark + strconv.Itoa(*listed)
	}
	line := fmt.Sprintf("%s\t%d\t%d\t%s", m.ID, m.ContextLength, m.OutputLimit, can)
	if p := m.Price; p != nil {
		line += fmt.Sprintf("\t%d\t%d\t%d\t%d", p.Input, p.Output, p.CacheRead, p.CacheWrite)
	}
	return line + "\n"
}

// parseInfo reads the fields after the name of a model.
func parseInfo(model, line string) hermes.ModelInfo {
	m, f := hermes.ModelInfo{ID: model}, strings.Split(line, "\t")
	number := func(i int) int64 {
		if i >= len(f) {
			return 0
		}
		n, err := strconv.ParseInt(f[i], 10, 64)
		if err != nil {
			return 0
		}
		return n
	}
	m.ContextLength, m.OutputLimit = int(max(0, number(0))), int(max(0, number(1)))
	if len(f) > 2 {
		m.Vision, m.Reasoning, m.Tools = strings.Contains(f[2], "v"), strings.Contains(f[2], "r"), strings.Contains(f[2], "t")
	}
	if len(f) >= 7 {
		m.Price = &hermes.Price{
			Input: hermes.Money(number(3)), Output: hermes.Money(number(4)), CacheRead: hermes.Money(number(5)),
			CacheWrite: hermes.Money(number(6)), CacheWriteLong: longWrite(model, hermes.Money(number(6))),
		}
	}
	return m
}
