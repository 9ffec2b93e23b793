// Package redact takes secrets out of text: by what announces them (names of
// variables, fields, headers, options of commands, addresses with a password, files
// such as .netrc and .npmrc), by their form (keys of known vendors, JWTs, private
// keys, also in base64 and hex), and by value (a set of live secrets). It works on
// whole strings and on streams whose chunks may cut a secret anywhere.
//
// A known value is found as it is and as spelling.go, escape.go and dump.go list: in base64 (all
// alphabets, alignments and line lengths, also reversed, and twice), base32, hex, hex and base64 of
// each other, and lists of bytes, in dumps of xxd, hexdump and od over the ends of lines, with any
// mixture of escapes (percent, also several times, JSON, C, HTML, quoted-printable, of a shell),
// reversed, with anything of at most 16 bytes between its letters and digits, and over the line
// numbers of read_file. Reversed and spaced forms are looked for only if they cannot be ordinary
// text: a value of at least 8 letters and digits of two kinds (small, large, digit), or of 20 of
// any kind, with 5 different ones. Under 16, there must be something between all of them. All
// letters large or small is looked for if such a value has a digit or 16 letters. Values of fewer
// than 6 letters and digits are found as they are and in URL and JSON form. A stream may show the
// first 3 letters of a spaced value before it knows more. Not found: parts of a value, sums of
// several forms but those above, ciphers.
//
// One hand-written pass does everything, since it runs on every tool result, and
// these are long: it uses no regular expressions, hardly allocates if nothing is
// found, and its work grows as the text does, whatever the text is. Strings and
// streams share that pass, so a stream gives the same result as the whole text.
//
// Start with Redactor.Text. pass.go is the pass, pair.go finds names with their
// values, name.go and judge.go decide about them; the other files have the rules for
// single forms. A rule reads ahead through methods of pass, which note when the text
// ended (touched) and count the work (steps). testdata has lines with secrets and
// honest lines: add one when a rule changes. The package must not know tools or
// sessions.
package redact

import (
	"strings"
	"sync"
	"sync/atomic"
)

// Options choose what a Redactor masks beyond the shapes that are always masked.
type Options struct {
	// Known are live secret values. Those under 6 bytes are ignored: they
	// would mask ordinary words.
	Known []string
	// URLCredentials also masks parameters such as token and key in the query of a
	// web address. If off, only those that announce a secret beyond doubt are
	// masked, as api_key and access_token, since ordinary addresses must stay whole.
	URLCredentials bool
}

// Redactor masks secrets in text. It may be used by many goroutines at once.
// A nil Redactor masks by shape only.
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

// Add adds live secrets, for example after a token was refreshed. Texts that are
// being scanned at the same time may miss them.
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

// Hidden is a part of a text that is masked, and what is shown in its place.
type Hidden struct {
	From, To int
	Mask     string
}

// Hidden lists what Text masks, in order.
func (r *Redactor) Hidden(s string) []Hidden {
	var out []Hidden
	for _, sp := range r.find(s, 0, true).spans {
		out = append(out, Hidden{sp.from, sp.to, sp.mask})
	}
	return out
}

// Text masks by shape only; see Redactor.Text.
func Text(s string) string { return (*Redactor)(nil).Text(s) }

// Mask shortens one secret value for display: a head of six and a tail of four
// bytes around dots if it is long enough, else three stars.
func Mask(value string) string {
	const long = 18
	if len(value) < long {
		return hidden
	}
	return value[:6] + "..." + value[len(value)-4:]
}

const hidden = "***"

// span is a part of the text and its replacement.
type span struct {
	from, to int
	mask     string
}

// found is the result of one pass over a text, in offsets of that text.
type found struct {
	spans   []span // in order, not overlapping
	settled int    // what follows may become (part of) a secret when more text comes
	resume  int    // where to read on then, at most settled
	steps   int    // bytes that were read, for tests
}

// find reads s from offset from on; the part before was settled earlier and is
// only context. If final is set, all of s is settled.
func (r *Redactor) find(s string, from int, final bool) found {
	v := newView(s, final)
	p := pass{s: v.text, final: final, settled: len(v.text), back: len(v.text)}
	if r != nil {
		p.urls = r.urls
		p.known = r.known.Load()
	}
	start := v.into(from)
	p.run(start)
	for i := range p.spans {
		p.spans[i].from = v.back(p.spans[i].from)
		p.spans[i].to = v.end(p.spans[i].to)
	}
	return found{
		spans:   p.spans,
		settled: v.back(p.settled),
		resume:  v.back(p.resume(start)),
		steps:   v.steps + p.steps,
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
