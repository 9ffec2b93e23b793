package provider

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"hermes"
	"hermes/internal/atomicfile"
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
	texts map[string]string // by address; "" means there is no file
	// guesses are context lengths that no service named; see windowFinder. They
	// are never written to a file, because they may be too small.
	guesses map[string]int  // by address and model
	listed  map[string]bool // addresses that were asked for their list in this run
}

// guess returns the context length that was guessed for a model, 0 for none.
func (h *learnedInfo) guess(address, model string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.guesses[address+"\n"+model]
}

func (h *learnedInfo) setGuess(address, model string, window int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.guesses == nil || len(h.guesses) >= maxLearnedModels {
		h.guesses = map[string]int{}
	}
	h.guesses[address+"\n"+model] = window
}

// firstListing reports, once for each address, that it was not asked yet.
func (h *learnedInfo) firstListing(address string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.listed[address] {
		return false
	}
	if h.listed == nil {
		h.listed = map[string]bool{}
	}
	h.listed[address] = true
	return true
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
	text, known := h.texts[address]
	if known || h.dir == "" {
		return text
	}
	raw, err := os.ReadFile(h.file(address))
	if err == nil && len(raw) <= maxLearnedBytes {
		text = "\n" + string(raw)
	}
	h.put(address, text)
	return text
}

func (h *learnedInfo) put(address, text string) {
	if len(h.texts) >= maxLearnedAddresses {
		clear(h.texts)
	}
	if h.texts == nil {
		h.texts = map[string]string{}
	}
	h.texts[address] = text
}

// keep replaces the cached answer of a server with its newest one.
func (h *learnedInfo) keep(address string, list []hermes.ModelInfo) {
	var b strings.Builder
	for i, m := range list {
		if line := infoText(m); line != "" && i < maxLearnedModels && b.Len()+len(line) < maxLearnedBytes {
			b.WriteString(line)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if text := "\n" + b.String(); text != h.text(address) {
		h.put(address, text)
		h.write(address, b.String())
	}
}

// learn sets the limit of one model.
func (h *learnedInfo) learn(address, model string, limit int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	text := h.text(address)
	m := hermes.ModelInfo{ID: model}
	if before, rest, ok := strings.Cut(text, "\n"+model+"\t"); ok {
		line, after, _ := strings.Cut(rest, "\n")
		if m = parseInfo(model, line); m.ContextLength > 0 && m.ContextLength <= limit {
			return
		}
		text = before + "\n" + after
	}
	m.ContextLength = limit
	line := infoText(m)
	if line == "" || len(text)+len(line) > maxLearnedBytes {
		return
	}
	text = "\n" + line + strings.TrimPrefix(text, "\n")
	h.put(address, text)
	h.write(address, text[1:])
}

// write stores a file. It is only a cache, so errors are ignored.
func (h *learnedInfo) write(address, text string) {
	if h.dir == "" {
		return
	}
	if err := os.MkdirAll(h.dir, 0o700); err != nil {
		return
	}
	if files, err := os.ReadDir(h.dir); err == nil && len(files) >= maxLearnedAddresses {
		for _, f := range files {
			_ = os.Remove(filepath.Join(h.dir, f.Name()))
		}
	}
	_ = atomicfile.Write(h.file(address), []byte(text), atomicfile.Options{})
}

// infoText returns the line of a model; empty if its name does not fit in one.
func infoText(m hermes.ModelInfo) string {
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
			CacheWrite: hermes.Money(number(6)), CacheWriteLong: hermes.Money(number(6)),
		}
	}
	return m
}
