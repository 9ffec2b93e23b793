package chain

import (
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"

	"hermes"
	"hermes/internal/lru"
	"hermes/internal/schema"
)

// Table holds what was learned about endpoints while the program runs.
type Table struct {
	mu  sync.Mutex
	all *lru.Map[string, *Quirks]
}

// maxEndpoints bounds the endpoints of which something is remembered.
const maxEndpoints = 256

func (l *Table) Of(endpoint string) *Quirks {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = lru.New[string, *Quirks](maxEndpoints)
	}
	return l.all.Make(endpoint, newQuirks)
}

// refusal is something that an endpoint refuses, so that it is changed or left out.
type refusal int

const (
	smallImages   refusal = iota // large images
	textResults                  // images in results
	plainSchemas                 // patterns in schemas
	mustThink                    // an answer without thinking
	noLongContext                // the beta header of the long context
	noTools
	noThinking
	noImages
	refusals // their number
)

// Quirks is what one endpoint refuses, and what is therefore changed before
// each call. It may be used concurrently. Its methods return false if they
// learned nothing new.
type Quirks struct {
	seed   maphash.Seed // of the fingerprints below
	any    atomic.Bool  // something was learned
	stalls atomic.Int32 // answers in a row that stalled
	taken  atomic.Int64 // the size of the largest request that was answered, in bytes

	mu        sync.Mutex
	refused   [refusals]bool
	fields    []string // body fields to leave out
	forgotten *lru.Map[uint64, bool]
	shrunk    *lru.Map[uint64, *hermes.Image] // nil: it cannot be made smaller
	tools     []hermes.Spec                   // the last list
	plain     []hermes.Spec                   // and its plain form
}

// The bounds of what is remembered about an endpoint.
const (
	maxForgotten = 4096
	maxShrunk    = 64
	maxFields    = 16
)

func newQuirks() *Quirks {
	return &Quirks{
		seed:      maphash.MakeSeed(),
		forgotten: lru.New[uint64, bool](maxForgotten), shrunk: lru.New[uint64, *hermes.Image](maxShrunk),
	}
}

// accept records the size of a request that was answered.
func (k *Quirks) accept(size int) {
	for {
		old := k.taken.Load()
		if int64(size) <= old || k.taken.CompareAndSwap(old, int64(size)) {
			return
		}
	}
}

// accepts reports whether a request of about this size was answered before.
func (k *Quirks) accepts(size int) bool {
	taken := k.taken.Load()
	return taken > 0 && int64(size) <= taken+taken/8
}

// learn records a refusal. It returns false if it was known already and thus did
// not help.
func (k *Quirks) learn(what refusal) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.refused[what] {
		return false
	}
	k.refused[what] = true
	k.any.Store(true)
	return true
}

// drop adds a field that is left out from now on.
func (k *Quirks) drop(field string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.fields) >= maxFields || slices.Contains(k.fields, field) {
		return false
	}
	k.fields = append(slices.Clone(k.fields), field) // readers keep the old list
	k.any.Store(true)
	return true
}

// forget records the reasoning of these messages as refused. Newer reasoning is
// still sent.
func (k *Quirks) forget(messages []hermes.Message) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	news := false
	for _, msg := range messages {
		for _, b := range msg.Reasoning {
			id := k.blockID(b)
			if known, _ := k.forgotten.Get(id); !known {
				k.forgotten.Put(id, true)
				news = true
			}
		}
	}
	if news {
		k.any.Store(true)
	}
	return news
}

func (k *Quirks) blockID(b hermes.Reasoning) uint64 { return maphash.Comparable(k.seed, b) }

// unsent returns what is left out of the HTTP request: body fields, and the
// header of the long context.
func (k *Quirks) unsent() (fields []string, shortContext bool) {
	if !k.any.Load() {
		return nil, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.fields, k.refused[noLongContext]
}

// apply returns the request as this endpoint takes it; r itself if nothing has
// to change.
func (k *Quirks) apply(r *hermes.Request, withoutImages bool) *hermes.Request {
	if !withoutImages && !k.any.Load() {
		return r
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	out := *r
	if k.refused[mustThink] && (r.Effort == "" || r.Effort == hermes.EffortNone) {
		out.Effort = hermes.EffortMinimal
	}
	if k.refused[noThinking] {
		out.Effort = ""
	}
	if k.refused[plainSchemas] {
		out.Tools = k.plainTools(r.Tools)
	}
	if k.refused[noTools] {
		out.Tools = nil
	}
	if k.refused[smallImages] || k.refused[noImages] || withoutImages || k.refused[textResults] || k.forgotten.Len() > 0 {
		out.Messages = k.messages(r.Messages, withoutImages)
	}
	return &out
}

// plainTools removes the schema keywords that llama.cpp cannot turn into a
// grammar. The last list is kept, since a session sends the same one each time.
func (k *Quirks) plainTools(tools []hermes.Spec) []hermes.Spec {
	same := func(a, b hermes.Spec) bool { return a.Name == b.Name && string(a.Schema) == string(b.Schema) }
	if len(tools) == len(k.tools) && slices.EqualFunc(tools, k.tools, same) {
		return k.plain
	}
	plain := slices.Clone(tools)
	for i := range plain {
		plain[i].Schema = schema.Strip(plain[i].Schema, "pattern", "format")
	}
	k.tools, k.plain = slices.Clone(tools), plain
	return plain
}
