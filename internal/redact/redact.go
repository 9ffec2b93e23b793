// Package redact takes secrets out of text: by shape (key prefixes, JWTs,
// Authorization headers, assignments whose name says secret, form bodies, bot
// tokens, URL passwords, private key blocks) and by value (a set of live
// secrets, also in base64, hex and URL form). It works on whole strings and on
// streams whose chunks may cut a secret anywhere.
//
// One hand-written pass does all of it, since tool results are long and the
// pass runs on each of them: no regular expression, and no allocation where
// nothing is found. Both forms share that pass, so a stream yields what the
// whole text would have yielded.
//
// Start with Redactor.Text; scan.go is the pass, assign.go the rules for
// name-and-value pairs. The package knows nothing of tools or sessions.
package redact

import (
	"strings"
	"sync"
	"sync/atomic"
)

// Options choose what a Redactor masks beyond the shapes that are always masked.
type Options struct {
	// Known are live secret values. Those under 6 bytes are ignored: they
	// would blank ordinary words.
	Known []string
	// URLCredentials also masks user:password in web addresses and secret
	// looking query parameters. Off, ordinary URLs pass as they are.
	URLCredentials bool
}

// Redactor masks secrets in text. It may be used by many goroutines at once.
// A nil Redactor masks by shape alone.
type Redactor struct {
	urls bool

	mu     sync.Mutex // guards values and the building of known
	values []string
	known  atomic.Pointer[index]
}

// New returns a Redactor with the given options.
func New(o Options) *Redactor {
	r := &Redactor{urls: o.URLCredentials}
	r.Add(o.Known...)
	return r
}

// Add makes further live secrets known, as when a token was refreshed. Texts
// that are being scanned at this moment may miss them.
func (r *Redactor) Add(values ...string) {
	if len(values) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.values = append(r.values, values...)
	r.known.Store(newIndex(r.values))
}

// Text returns s with its secrets masked. Text around them, quotes and key
// names stay; s itself is returned when there is nothing to mask.
func (r *Redactor) Text(s string) string {
	return apply(s, r.find(s, 0, true).spans)
}

// Text masks by shape alone; see Redactor.Text.
func Text(s string) string { return (*Redactor)(nil).Text(s) }

// Mask shortens one secret value for display: a head of six and a tail of four
// bytes round dots when it is long enough to spare them, else three stars.
func Mask(value string) string {
	const long = 18
	if len(value) < long {
		return hidden
	}
	return value[:6] + "..." + value[len(value)-4:]
}

const hidden = "***"

// span is a stretch of the text and what stands in its place.
type span struct {
	from, to int
	mask     string
}

// found is what one reading of a text says, in offsets of that text.
type found struct {
	spans   []span // in order, not overlapping
	settled int    // what follows may still be (part of) a secret when more comes
	resume  int    // where to read on then, at most settled
}

// find reads s from offset from on; what lies before was settled earlier and
// is context. With final set all of s is settled.
func (r *Redactor) find(s string, from int, final bool) found {
	v := newView(s, final)
	p := pass{s: v.text, final: final, settled: len(v.text), resume: len(v.text)}
	if r != nil {
		p.urls = r.urls
		p.known = r.known.Load()
	}
	p.run(v.into(from))
	for i := range p.spans {
		p.spans[i].from = v.back(p.spans[i].from)
		p.spans[i].to = v.back(p.spans[i].to-1) + 1
	}
	return found{
		spans:   p.spans,
		settled: min(v.back(p.settled), v.held),
		resume:  min(v.back(p.resume), v.held),
	}
}

func apply(s string, spans []span) string {
	if len(spans) == 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	at := 0
	for _, sp := range spans {
		b.WriteString(s[at:sp.from])
		b.WriteString(sp.mask)
		at = sp.to
	}
	b.WriteString(s[at:])
	return b.String()
}
