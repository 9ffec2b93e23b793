package file

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"
)

const (
	// maxSessions bounds the sessions that are remembered; the one unused for
	// longest goes first.
	maxSessions = 256
	// maxRemembered bounds the files, and the pages, remembered per session.
	maxRemembered = 1024
)

// noticeUnchanged stands in the place of a page the model has already. It must
// never end up in a file, see checkContent.
const noticeUnchanged = "This page is unchanged since you read it: the content is above in this conversation. Do not read it again."

type unchangedResult struct {
	Path      string `json:"path"`
	Unchanged bool   `json:"unchanged"`
	Note      string `json:"note"`
}

// A stamp tells one state of a file from another.
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

// A ledger remembers what each session has seen, so that pages are not sent
// twice, circles are noticed and writes on old knowledge are told. Its methods
// may be called concurrently.
type ledger struct {
	mu       sync.Mutex
	sessions map[string]*record
	clock    int64
	writers  map[string]string // session that wrote a path last
}

// A record is what is known of one session.
type record struct {
	used     int64            // ledger's clock at the last use
	files    map[string]stamp // by real path, as last read or written
	pages    map[pageKey]stamp
	last     string           // the call before, to notice equal ones in a row
	row      int              // how many equal calls came in a row
	reported bool             // the last call was answered with the unchanged notice
	once     map[string]bool  // what is shown once in a session
	named    map[string]stamp // states of files that the model was told of
}

type pageKey struct {
	path          string
	offset, limit int
}

func newLedger() *ledger {
	return &ledger{sessions: map[string]*record{}, writers: map[string]string{}}
}

// of gives the session's record, making it if needed. Hold mu.
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

// put stores in a map that must not grow past its bound; when it is full it
// starts anew, which costs a page shown twice at worst.
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

// A sighting is what the ledger says to a read that is about to happen.
type sighting struct {
	unchanged bool
	warning   string
	err       error
}

// read judges a read: the second of an unchanged page is not sent again, the
// third in a row is refused; of equal reads of a changing file the third is
// warned about and the fourth refused.
func (l *ledger) read(session string, p location, w window) sighting {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.of(session)
	row := r.repeat(fmt.Sprintf("read %s %d %d", p.real, w.offset, w.limit))
	known, seen := r.pages[pageKey{p.real, w.offset, w.limit}]
	if seen && known == stampOf(p.info) && p.info.Mode().IsRegular() && p.info.Size() > 0 {
		if r.reported {
			return sighting{err: fmt.Errorf("BLOCKED: you read this page of %s before and it has not changed. Use what you have, read another page, or do something else", p.path)}
		}
		r.reported = true
		return sighting{unchanged: true}
	}
	switch {
	case row >= 4:
		return sighting{err: fmt.Errorf("BLOCKED: this is the same read for the %dth time in a row. Use what you have or do something else", row)}
	case row == 3:
		return sighting{warning: "This is the third equal read in a row; the next one will be refused."}
	}
	return sighting{}
}

// shown notes that a page was sent.
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
		return "", errors.New("BLOCKED: this is the same search for the fourth time in a row and it found the same. Use what you have, or change the pattern, path or offset")
	case row == 3:
		return "This is the third equal search in a row; the next one will be refused.", nil
	}
	return "", nil
}

// stale says what happened to a file since the session last saw it, or "".
func (l *ledger) stale(session string, p location) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	known, seen := l.of(session).files[p.real]
	if !seen || p.info == nil || known == stampOf(p.info) {
		return ""
	}
	if by := l.writers[p.real]; by != "" && by != session {
		return fmt.Sprintf("%s was changed by another session since you last read it; read it and check that nothing of theirs is lost", p.path)
	}
	return fmt.Sprintf("%s changed on disk since you last read it; read it and check that nothing is lost", p.path)
}

// wrote notes a file's new state. info is nil when it is gone.
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

// first reports whether a session comes across something for the first time.
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

// otherCall ends a row of equal calls.
func (l *ledger) otherCall(session string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.sessions[session]; r != nil {
		r.repeat("other")
	}
}

// compressed forgets which pages were shown, and keeps what is known of files.
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
