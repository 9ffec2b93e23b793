package skill

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"sync"

	"hermes"
	"hermes/internal/home"
)

// stamp distinguishes two states of a file without reading it, by the time of
// its last change in nanoseconds and its size.
type stamp struct{ time, size int64 }

// entry is a parsed SKILL.md.
type entry struct {
	at    stamp
	meta  Meta
	fault string // what is wrong with it, for the user
}

// memory caches the parsed skills, in this process and in a file for the next
// one, so that a start parses only what has changed.
type memory struct {
	mu      sync.Mutex
	entries map[string]*entry // by path; an entry is never changed
	loaded  bool
	dirty   bool
	lock    Lock
	lockAt  stamp
}

// entry returns the cached entry of a file, or reads it. The caller holds mu.
func (m *memory) entry(path string, at stamp, read func() ([]byte, error)) *entry {
	if e, ok := m.entries[path]; ok && e.at == at {
		return e
	}
	e := &entry{at: at}
	raw, err := read()
	if err == nil {
		e.meta, _, err = Parse(raw)
	}
	if err != nil {
		e.fault = err.Error()
	}
	m.entries[path] = e
	m.dirty = true
	return e
}

// indexFile is the file that keeps the cache between processes.
func (l *Library) indexFile() string { return filepath.Join(l.cfg.Home.Cache("skills"), "index") }

// indexMark begins the file. A change of the layout needs another mark.
const indexMark = "hermes-skills-1\n"

// load reads the cache of an earlier process. A file that is broken or of
// another layout is ignored. The caller holds mu.
func (m *memory) load(file string) {
	if m.loaded {
		return
	}
	m.loaded = true
	raw, err := os.ReadFile(file)
	if err != nil {
		return
	}
	if entries, err := decodeIndex(raw); err == nil {
		m.entries = entries
	}
}

// save writes the cache for the next process. Errors are ignored, since the next
// process can parse the skills again. The caller holds mu.
func (m *memory) save(file string, h home.Dir) {
	if !m.dirty || !h.Exists() || h.Make(filepath.Dir(file)) != nil {
		return
	}
	m.dirty = false
	tmp, err := os.CreateTemp(filepath.Dir(file), "index-*")
	if err != nil {
		return
	}
	_, err = tmp.Write(encodeIndex(m.entries))
	if errors.Join(err, tmp.Close()) != nil || os.Rename(tmp.Name(), file) != nil {
		_ = os.Remove(tmp.Name())
	}
}

func encodeIndex(entries map[string]*entry) []byte {
	w := &writer{}
	w.number(int64(len(entries)))
	for path, e := range entries {
		w.text(path)
		w.number(e.at.time)
		w.number(e.at.size)
		w.text(e.fault)
		for _, s := range e.meta.texts() {
			w.text(*s)
		}
		for _, list := range e.meta.lists() {
			w.number(int64(len(*list)))
			for _, s := range *list {
				w.text(s)
			}
		}
		w.number(int64(len(e.meta.Env)))
		for _, v := range e.meta.Env {
			w.text(v.Name)
			w.text(v.Prompt)
			w.text(v.Help)
			w.text(v.For)
		}
	}
	sum := binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(w.Bytes()))
	return append(append([]byte(indexMark), sum...), w.Bytes()...)
}

// minEntry is the minimum size of an entry in bytes, one for each field.
const minEntry = 20

func decodeIndex(raw []byte) (map[string]*entry, error) {
	rest, ok := bytes.CutPrefix(raw, []byte(indexMark))
	if !ok || len(rest) < 4 || crc32.ChecksumIEEE(rest[4:]) != binary.LittleEndian.Uint32(rest) {
		return nil, errBroken
	}
	r := &reader{rest: string(rest[4:])}
	n := min(r.count(), len(r.rest)/minEntry)
	entries := make(map[string]*entry, n)
	all := make([]entry, n) // one allocation
	for i := range all {
		path, e := r.text(), &all[i]
		e.at = stamp{r.number(), r.number()}
		e.fault = r.text()
		for _, s := range e.meta.texts() {
			*s = r.text()
		}
		for _, list := range e.meta.lists() {
			if n := r.count(); n > 0 {
				*list = make([]string, n)
			}
			for k := range *list {
				(*list)[k] = r.text()
			}
		}
		for range r.count() {
			e.meta.Env = append(e.meta.Env, hermes.SkillVariable{Name: r.text(), Prompt: r.text(), Help: r.text(), For: r.text()})
		}
		entries[path] = e
	}
	return entries, r.err
}

// texts and lists return the stored fields in their order.
func (m *Meta) texts() [6]*string {
	return [...]*string{&m.Name, &m.Description, &m.Version, &m.Author, &m.License, &m.Category}
}

func (m *Meta) lists() [9]*[]string {
	return [...]*[]string{
		&m.Tags, &m.Related, &m.Platforms, &m.RequiresTools, &m.RequiresToolsets, &m.FallbackTools, &m.FallbackToolsets,
		&m.Credentials, &m.AllowedTools,
	}
}

var errBroken = errors.New("the skill index is damaged")

// writer and reader encode and decode the file: numbers as varints, strings
// after their length.
type writer struct{ bytes.Buffer }

func (w *writer) number(n int64) { w.Write(binary.AppendVarint(w.AvailableBuffer(), n)) }

func (w *writer) text(s string) {
	w.number(int64(len(s)))
	w.WriteString(s)
}

type reader struct {
	rest string
	err  error
}

func (r *reader) number() int64 {
	if len(r.rest) > 0 && r.rest[0] < 0x80 { // nearly all are one byte
		n := uint64(r.rest[0])
		r.rest = r.rest[1:]
		return int64(n>>1) ^ -int64(n&1)
	}
	return r.long()
}

func (r *reader) long() int64 {
	var n uint64
	for i := 0; i < len(r.rest) && i < binary.MaxVarintLen64; i++ {
		b := r.rest[i]
		n |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			r.rest = r.rest[i+1:]
			return int64(n>>1) ^ -int64(n&1)
		}
	}
	r.fail()
	return 0
}

// count reads the number of items that follow, each at least one byte long.
func (r *reader) count() int {
	n := r.number()
	if n < 0 || n > int64(len(r.rest)) {
		r.fail()
		return 0
	}
	return int(n)
}

func (r *reader) text() string {
	n := r.count()
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}

func (r *reader) fail() { r.err, r.rest = errBroken, "" }
