package ratelimit

import (
	"cmp"
	"net/http"
	"slices"
	"sync"
	"time"

	"hermes/internal/lru"
	"hermes/internal/order"
)

// Status is what a service said last about one credential.
type Status struct {
	Service string // as the user names it
	Key     string // the label of the credential; empty if there is none
	Seen    time.Time
	Windows []Window
}

// Book keeps the newest statuses while the program runs. It may be used concurrently.
type Book struct {
	mu   sync.Mutex
	list *lru.Map[credential, Status]
}

type credential struct{ service, key string }

// mostStatuses bounds a book; the oldest are dropped.
const mostStatuses = 64

// NewBook returns an empty book.
func NewBook() *Book { return &Book{list: lru.New[credential, Status](mostStatuses)} }

// Read keeps what the headers of an answer say. Headers without a limit change
// nothing: an answer of a proxy says nothing about the service.
func (b *Book) Read(service, key string, h http.Header, now time.Time) {
	windows := Parse(h, now)
	if len(windows) == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.list.Put(credential{service, key}, Status{Service: service, Key: key, Seen: now, Windows: windows})
}

// Now returns the statuses by service and key. Windows that have been reset since
// are left out, because nothing is known about them.
func (b *Book) Now(now time.Time) []Status {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []Status
	for _, s := range b.list.All() {
		s.Windows = slices.DeleteFunc(slices.Clone(s.Windows), func(w Window) bool { return !w.Reset.IsZero() && !w.Reset.After(now) })
		if len(s.Windows) > 0 {
			list = append(list, s)
		}
	}
	order.By(list, func(a, b Status) int { return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Key, b.Key)) })
	return list
}
