package file

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes/internal/lru"
)

const (
	// maxSessions bounds the sessions that are remembered.
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

// A state is a file as a session last saw it. The content counts if it is known: clocks are coarse, and
// a time can be set back.
type state struct {
	stamp
	content sum   // of the whole file; zero if it is not known
	shown   lines // that the session has seen
}

// is reports whether a file is in this state. content is its text, nil if it could not be read.
func (s state) is(p location, content *string) bool {
	if content != nil && s.content != (sum{}) {
		return s.content == sumOf(*content)
	}
	return s.stamp == stampOf(p.info)
}

// lastWrite is a write of a session.
type lastWrite struct {
	session string
	at      time.Time
}

// A ledger remembers what each session has seen, so that no page is sent
// twice, loops are noticed, and writes to files that changed are reported. Its
// methods may be called concurrently.
type ledger struct {
	now      func() time.Time
	mu       sync.Mutex
	sessions *lru.Map[string, *record]
	writers  *lru.Map[string, lastWrite] // the last write of a path
}

// A sum identifies what a call gave to the model.
type sum [sha256.Size]byte

// sumOf hashes a text, which may be large, without a copy of it.
func sumOf(text string) sum {
	h := sha256.New()
	_, _ = io.Copy(h, struct{ io.Reader }{strings.NewReader(text)}) // neither can fail
	return sum(h.Sum(nil))
}

// A view is a page as the model saw it, and the file's state then.
type view struct {
	stamp
	sum
}

// A record is what is known of one session.
type record struct {
	files    *lru.Map[string, state] // by real path, as last read or written
	pages    *lru.Map[pageKey, view]
	last     string                  // the previous call, to notice equal ones in a row
	result   sum                     // what it gave
	row      int                     // number of equal calls in a row with that result
	reported bool                    // the last call was answered with the unchanged notice
	once     *lru.Map[string, bool]  // what is shown once a session
	named    *lru.Map[string, stamp] // file states that were reported to the model
	changed  *lru.Map[string, bool]  // the files that it wrote or removed, by real path
}

type pageKey struct {
	path          string
	offset, limit int
}

func newLedger(now func() time.Time) *ledger {
	return &ledger{now: now, sessions: lru.New[string, *record](maxSessions), writers: lru.New[string, lastWrite](maxRemembered)}
}

// of returns the session's record, making it if needed. The caller holds mu.
func (l *ledger) of(session string) *record {
	return l.sessions.Make(session, func() *record {
		return &record{
			files: lru.New[string, state](maxRemembered), pages: lru.New[pageKey, view](maxRemembered),
			once: lru.New[string, bool](maxRemembered), named: lru.New[string, stamp](maxRemembered),
			changed: lru.New[string, bool](maxRemembered),
		}
	})
}

// repeat counts equal calls in a row that give the same.
func (r *record) repeat(call string, result sum) int {
	if r.last != call || r.result != result {
		r.last, r.result, r.row, r.reported = call, result, 0, false
	}
	r.row++
	return r.row
}

// A sighting is the ledger's answer to a read.
type sighting struct {
	unchanged bool
	warning   string
	err       error
}

// read judges a read that gave a page, and records that the page is shown. A
// page that is unchanged is not sent a second time; asking a third time in a row
// is refused. Of equal reads that give the same although the file was written,
// the third gets a warning and the fourth is refused. A page that changed is
// always sent. So is what a script reads: it is recorded for later writes only.
func (l *ledger) read(session string, p location, w window, pg page, content sum, script bool) sighting {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, result := l.of(session), pg.sum()
	row := 0
	if !script {
		row = r.repeat(fmt.Sprintf("read %s %d %d", p.real, w.offset, w.limit), result)
	}
	key, now := pageKey{p.real, w.offset, w.limit}, view{stampOf(p.info), result}
	was, known := r.files.Get(p.real)
	if known && content == (sum{}) && was.stamp == now.stamp { // a page says nothing new of what was read whole
		content = was.content
	}
	shown := lines{}
	if known && was.content == content && (content != (sum{}) || was.stamp == now.stamp) {
		shown = was.shown
	}
	if script {
		r.files.Put(p.real, state{now.stamp, content, shown.with(pg, w.offset)})
		return sighting{}
	}
	if page, seen := r.pages.Get(key); seen && page == now && p.info.Mode().IsRegular() && p.info.Size() > 0 {
		if r.reported {
			return sighting{err: fmt.Errorf("BLOCKED: you already read this page of %s and it has not changed. Use what you have, read another page, or do something else", p.path)}
		}
		r.reported = true
		r.files.Put(p.real, state{now.stamp, content, shown.with(pg, w.offset)}) // the model has it
		return sighting{unchanged: true}
	}
	if row >= 4 {
		return sighting{err: fmt.Errorf("BLOCKED: the same read %d times in a row, with the same content. Use what you have or do something else", row)}
	}
	r.pages.Put(key, now)
	r.files.Put(p.real, state{now.stamp, content, shown.with(pg, w.offset)})
	if row == 3 {
		return sighting{warning: "This is the third identical read in a row. The next one is refused if nothing changes."}
	}
	return sighting{}
}

// search judges a search by what it gave, like any other repeated call.
func (l *ledger) search(session, call string, result sum) (warning string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch row := l.of(session).repeat("search "+call, result); {
	case row >= 4:
		return "", errors.New("BLOCKED: the same search four times in a row, with the same result. Use what you have, or change the pattern, path or offset")
	case row == 3:
		return "This is the third identical search in a row. The next one is refused if nothing changes.", nil
	}
	return "", nil
}

// stale says who changed a file since the session last saw it, or "". content is the file's
// text now, nil if it could not be read.
func (l *ledger) stale(session string, p location, content *string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	known, seen := l.of(session).files.Get(p.real)
	if !seen || p.info == nil || known.is(p, content) {
		return ""
	}
	if by, _ := l.writers.Get(p.real); by.session != "" && by.session != session {
		return fmt.Sprintf("another session (%s) changed %s since you last read it", by.session, p.path)
	}
	return fmt.Sprintf("%s changed on disk since you last read it", p.path)
}

// unseen says what a session has not seen of a file that is there, or "".
func (l *ledger) unseen(session string, p location) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch known, seen := l.of(session).files.Get(p.real); {
	case !seen:
		return fmt.Sprintf("%s exists with %d bytes that you have not read in this session. Read it first", p.path, p.info.Size())
	case !known.shown.all:
		return fmt.Sprintf("you have not read all of %s as it is now: %s. Read them first", p.path, known.shown.missing())
	}
	return ""
}

// knows reports whether a session has seen all of a file as it is. content is its text, nil if it
// could not be read.
func (l *ledger) knows(session string, p location, content *string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	known, seen := l.of(session).files.Get(p.real)
	return seen && known.shown.all && known.is(p, content)
}

// shared says which other session wrote a file lately, or "". Its work goes on beside this session's.
func (l *ledger) shared(session string, p location) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	by, _ := l.writers.Get(p.real)
	now := l.now()
	if _, live := l.sessions.Get(by.session); !live || by.session == session || now.Sub(by.at) > sharedFor {
		return ""
	}
	return fmt.Sprintf("another session (%s) wrote %s %s ago, and may go on: keep its changes", by.session, p.path, max(now.Sub(by.at).Round(time.Second), time.Second))
}

// sharedFor is how long a write of another session is mentioned.
const sharedFor = 10 * time.Minute

// wrote records a file's new state, its text if there is one, and whether the session knows all of
// it. info is nil if the file is gone.
func (l *ledger) wrote(session, real string, info fs.FileInfo, content *string, all bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.of(session)
	r.repeat("write "+real, sum{})
	l.writers.Put(real, lastWrite{session, l.now()})
	r.changed.Put(real, true)
	if info == nil {
		r.files.Delete(real)
		return
	}
	s := state{stamp: stampOf(info), shown: lines{all: all}}
	if content != nil {
		s.content = sumOf(*content)
	}
	r.files.Put(real, s)
}

// replaced records that a session changed a file whose content it does not know.
func (l *ledger) replaced(session, real string, now stamp) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.of(session)
	r.repeat("write "+real, sum{})
	l.writers.Put(real, lastWrite{session, l.now()})
	r.changed.Put(real, true)
	r.named.Put(real, now) // the session knows of the change itself
}

// first reports whether a session meets something for the first time.
func (l *ledger) first(session, what string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.of(session)
	if _, known := r.once.Get(what); known {
		return false
	}
	r.once.Put(what, true)
	return true
}

// shown reports whether first was called with the same.
func (l *ledger) shown(session, what string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, known := l.of(session).once.Get(what)
	return known
}

// otherCall ends a run of equal calls.
func (l *ledger) otherCall(session string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r, ok := l.sessions.Get(session); ok {
		r.repeat("other", sum{})
	}
}

// compressed forgets which pages were shown and keeps the known file states.
func (l *ledger) compressed(session string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r, ok := l.sessions.Get(session); ok {
		r.pages.Clear()
		r.once.Clear()
		r.repeat("compressed", sum{})
	}
}

func (l *ledger) forget(session string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sessions.Delete(session)
}

// maxNamed bounds the files named at once.
const maxNamed = 10

// noise lists the suffixes of files that programs write next to others. They
// are never reported.
var noise = []string{".swp", ".swo", ".tmp", "~", ".pyc", ".lock", ".log", "4913"}

// Changed names the files that a session has read or written and that were
// changed or removed by something else since, each state once. It looks only
// at files of this machine. With more than ten, the last item counts the rest.
func (t *Toolset) Changed(session string) []string {
	seen := t.ledger.seen(session)
	var out []string
	for path, s := range seen {
		if noisy(path) {
			continue
		}
		info, err := os.Stat(path)
		now := stamp{}
		if err == nil {
			now = stampOf(info)
		}
		if now != s && t.ledger.news(session, path, now) {
			if err != nil {
				path += " (removed)"
			}
			out = append(out, path)
		}
	}
	slices.Sort(out)
	if more := len(out) - maxNamed; more > 0 {
		out = append(out[:maxNamed], fmt.Sprintf("and %d more", more))
	}
	return out
}

// Wrote lists the files that a session was the last to write, by their real paths, sorted.
func (t *Toolset) Wrote(session string) []string {
	l := t.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for path, by := range l.writers.All() {
		if by.session == session {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}

// ChangedBy lists the files that a session changed or removed, by their real paths, sorted, as far as this
// program remembers.
func (t *Toolset) ChangedBy(session string) []string {
	l := t.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	if r, ok := l.sessions.Get(session); ok {
		for path := range r.changed.All() {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}

func noisy(path string) bool {
	return slices.ContainsFunc(noise, func(n string) bool { return strings.HasSuffix(path, n) }) ||
		strings.Contains(path, "/.git/") || strings.Contains(path, "/node_modules/") || strings.Contains(path, "/__pycache__/")
}

// seen returns a copy of the file states that a session knows.
func (l *ledger) seen(session string) map[string]stamp {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[string]stamp{}
	if r, ok := l.sessions.Get(session); ok {
		for path, s := range r.files.All() {
			out[path] = s.stamp
		}
	}
	return out
}

// news reports whether this state is new to a session, and remembers it as
// reported.
func (l *ledger) news(session, path string, now stamp) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.of(session)
	if was, ok := r.named.Get(path); ok && was == now {
		return false
	}
	r.named.Put(path, now)
	return true
}
