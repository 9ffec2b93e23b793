package input

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// maxHistory is how many entries are kept; maxEntry is the longest, in bytes.
const (
	maxHistory = 1000
	maxEntry   = 32 << 10
)

// history is what was sent before, oldest first, and the user's position in
// it. Entries are kept in a file, one JSON string per line. Other chats append
// to the same file.
type history struct {
	path    string
	loaded  bool
	entries []string
	at      int    // index shown; len(entries) is the draft
	draft   string // the unsent text before going back
}

// load reads the file once. An unreadable file counts as empty, since the
// chat does not depend on it.
func (h *history) load() {
	if h.loaded {
		return
	}
	h.loaded = true
	if h.path == "" {
		return
	}
	raw, err := os.ReadFile(h.path)
	if err != nil {
		return
	}
	var old []string
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, 8*maxEntry)
	for lines.Scan() {
		var entry string
		if json.Unmarshal(lines.Bytes(), &entry) == nil && entry != "" {
			old = append(old, entry)
		}
	}
	if len(old) > 2*maxHistory {
		h.rewrite(old[len(old)-maxHistory:])
	}
	old = old[max(len(old)-maxHistory, 0):]
	h.entries = append(old, h.entries...)
	h.at = len(h.entries)
}

func (h *history) rewrite(entries []string) {
	var b bytes.Buffer
	for _, e := range entries {
		b.Write(encodeEntry(e))
	}
	tmp := h.path + ".new"
	if os.WriteFile(tmp, b.Bytes(), 0o600) == nil {
		_ = os.Rename(tmp, h.path) // on failure the long file stays in use
	}
}

// add appends an entry, here and in the file. A repetition of the last one is
// skipped.
func (h *history) add(entry string) error {
	h.load()
	entry = strings.TrimSpace(entry)
	h.at = len(h.entries)
	h.draft = ""
	if entry == "" || len(entry) > maxEntry || len(h.entries) > 0 && h.entries[len(h.entries)-1] == entry {
		return nil
	}
	h.entries = append(h.entries, entry)
	h.at = len(h.entries)
	if h.path == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(h.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(encodeEntry(entry))
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

func encodeEntry(entry string) []byte {
	line, err := json.Marshal(entry)
	if err != nil { // a string always has a JSON form
		return nil
	}
	return append(line, '\n')
}

// step goes back (-1) or forward (+1) and returns the text to show.
func (h *history) step(by int, now string) (string, bool) {
	h.load()
	to := h.at + by
	if to < 0 || to > len(h.entries) {
		return "", false
	}
	if h.at == len(h.entries) {
		h.draft = now
	}
	h.at = to
	if to == len(h.entries) {
		return h.draft, true
	}
	return h.entries[to], true
}

// search finds the newest entry before index from that contains a text.
func (h *history) search(text string, from int) (string, int, bool) {
	h.load()
	text = strings.ToLower(text)
	for i := min(from, len(h.entries)) - 1; i >= 0; i-- {
		if strings.Contains(strings.ToLower(h.entries[i]), text) {
			return h.entries[i], i, true
		}
	}
	return "", from, false
}
