package ratelimit

import (
	"cmp"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Status is what a service said last about one credential.
type Status struct {
	Service string // as the user names it
	Key     string // the label of the credential; empty if there is none
	Seen    time.Time
	Windows []Window
}

// Book keeps the newest statuses while the program runs. The zero value is ready
// to use; it may be used concurrently.
type Book struct {
	mu   sync.Mutex
	list []Status // at most one of each service and key
}

// mostStatuses bounds a book; the oldest are dropped.
const mostStatuses = 64

// Read keeps what the headers of an answer say. Headers without a limit change
// nothing: an answer of a proxy says nothing about the service.
func (b *Book) Read(service, key string, h http.Header, now time.Time) {
	windows := Parse(h, now)
	if len(windows) == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.list = slices.DeleteFunc(b.list, func(s Status) bool { return s.Service == service && s.Key == key })
	b.list = append(b.list, Status{Service: service, Key: key, Seen: now, Windows: windows})
	if n := len(b.list) - mostStatuses; n > 0 {
		b.list = slices.Delete(b.list, 0, n)
	}
}

// Now returns the statuses by service and key. Windows that have been reset since
// are left out, because nothing is known about them.
func (b *Book) Now(now time.Time) []Status {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []Status
	for _, s := range b.list {
		s.Windows = slices.DeleteFunc(slices.Clone(s.Windows), func(w Window) bool { return !w.Reset.IsZero() && !w.Reset.After(now) })
		if len(s.Windows) > 0 {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b Status) int { return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Key, b.Key)) })
	return list
}
