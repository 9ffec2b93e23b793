package file

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"
)

const (
	// maxSessions bounds the sessions that are remembered. The one unused for
	// longest is dropped first.
	maxSessions = 256
	// maxRemembered bounds the files, and the pages, remembered per session.
	maxRemembered = 1024
)

// noticeUnchanged replaces a page that the model already has. It must never
// end up in a file, see checkContent.
const noticeUnchanged = "This page is unchanged since you read it: the content is above in this conversation. Do not read it again."

type unchangedResult struct {
	Path      string `json:"path"`
	Unchanged bool   `json:"unchanged"`
	Note      string `json:"note"`
}

// A stamp identifies one state of a file.
type stamp struct {
	size int64
	mod  time.Time
}

func stampOf(info fs.FileInfo) stamp {
	if info == nil {
		return stamp{}
	}
	return stamp{info.Size(), info.ModTime()}
}

// A ledger remembers what each session has seen, so that no page is sent
// twice, loops are noticed, and writes to files that changed are reported. Its
// methods may be called concurrently.
type ledger struct {
	mu       sync.Mutex
	sessions map[string]*record
	clock    int64
	writers  map[string]string // last session to write a path
}

// A record is what is known of one session.
type record struct {
	used     int64            // ledger's clock at the last use
	files    map[string]stamp // by real path, as last read or written
	pages    map[pageKey]stamp
	last     string           // the previous call, to notice equal ones in a row
	row      int              // number of equal calls in a row
	reported bool             // the last call was answered with the unchanged notice
	once     map[string]bool  // what is shown once a session
	named    map[string]stamp // file states that were reported to the model
}

type pageKey struct {
	path          string
	offset, limit int
}

func newLedger() *ledger {
	return &ledger{sessions: map[string]*record{}, writers: map[string]string{}}
}

// of returns the session's record, making it if needed. The caller holds mu.
func (l *ledger) of(session string) *record {
	l.clock++
	r := l.sessions[session]
	if r == nil {
		if len(l.sessions) >= maxSessions {
			l.dropOldest()
		}
		r = &record{files: map[string]stamp{}, pages: map[pageKey]stamp{}, once: map[string]bool{}}
		l.sessions[session] = r
	}
	r.used = l.clock
	return r
}

func (l *ledger) dropOldest() {
	oldest, at := "", l.clock+1
	for id, r := range l.sessions {
		if r.used < at {
			oldest, at = id, r.used
		}
	}
	delete(l.sessions, oldest)
}

// put stores in a bounded map. A full map is cleared; at worst a page is shown
// twice.
func put[K comparable](m map[K]stamp, k K, s stamp) {
	if len(m) >= maxRemembered {
		clear(m)
	}
	m[k] = s
}

// repeat counts equal calls in a row.
func (r *record) repeat(call string) int {
	if r.last != call {
		r.last, r.row, r.reported = call, 0, false
	}
	r.row++
	return r.row
}

// A sighting is the ledger's answer to a read that is about to happen.
type sighting struct {
	unchanged bool
	warning   string
	err       error
}

// read judges a read. An unchanged page is not sent a second time; asking a
// third time in a row is refused. Of equal reads of a changing file the third
// gets a warning and the fourth is refused.
func (l *ledger) read(session string, p location, w window) sighting {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.of(session)
	row := r.repeat(fmt.Sprintf("read %s %d %d", p.real, w.offset, w.limit))
	known, seen := r.pages[pageKey{p.real, w.offset, w.limit}]
	if seen && known == stampOf(p.info) && p.info.Mode().IsRegular() && p.info.Size() > 0 {
		if r.reported {
			return sighting{err: fmt.Errorf("BLOCKED: you already read this page of %s and it has not changed. Use what you have, read another page, or do something else", p.path)}
		}
		r.reported = true
		return sighting{unchanged: true}
	}
	switch {
	case row >= 4:
		return sighting{err: fmt.Errorf("BLOCKED: the same read %d times in a row. Use what you have or do something else", row)}
	case row == 3:
		return sighting{warning: "This is the third identical read in a row. The next one is refused."}
	}
	return sighting{}
}

// shown records that a page was sent.
func (l *ledger) shown(session string, p location, w window) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.of(session)
	put(r.pages, pageKey{p.real, w.offset, w.limit}, stampOf(p.info))
	put(r.files, p.real, stampOf(p.info))
}

// search judges a search like any other repeated call.
func (l *ledger) search(session, call string) (warning string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch row := l.of(session).repeat("search " + call); {
	case row >= 4:
		return "", errors.New("BLOCKED: the same search four times in a row, with the same result. Use what you have, or change the pattern, path or offset")
	case row == 3:
		return "This is the third identical search in a row. The next one is refused.", nil
	}
	return "", nil
}

// stale says who changed a file since the session last saw it, or "".
func (l *ledger) stale(session string, p location) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	known, seen := l.of(session).files[p.real]
	if !seen || p.info == nil || known == stampOf(p.info) {
		return ""
	}
	if by := l.writers[p.real]; by != "" && by != session {
		return fmt.Sprintf("another session changed %s since you last read it; read it and check that its changes are not lost", p.path)
	}
	return fmt.Sprintf("%s changed on disk since you last read it; read it and check that no change is lost", p.path)
}

// wrote records a file's new state. info is nil if the file is gone.
func (l *ledger) wrote(session, real string, info fs.FileInfo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.of(session)
	r.repeat("write " + real)
	for k := range r.pages {
		if k.path == real {
			delete(r.pages, k)
		}
	}
	if len(l.writers) >= maxRemembered {
		clear(l.writers)
	}
	l.writers[real] = session
	if info == nil {
		delete(r.files, real)
		return
	}
	put(r.files, real, stampOf(info))
}

// first reports whether a session meets something for the first time.
func (l *ledger) first(session, what string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.of(session)
	if r.once[what] {
		return false
	}
	if len(r.once) >= maxRemembered {
		clear(r.once)
	}
	r.once[what] = true
	return true
}

// otherCall ends a run of equal calls.
func (l *ledger) otherCall(session string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.sessions[session]; r != nil {
		r.repeat("other")
	}
}

// compressed forgets which pages were shown and keeps the known file states.
func (l *ledger) compressed(session string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.sessions[session]; r != nil {
		clear(r.pages)
		clear(r.once)
		r.repeat("compressed")
	}
}

func (l *ledger) forget(session string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.sessions, session)
}
