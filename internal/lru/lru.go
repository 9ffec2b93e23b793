// Package lru holds a bounded map: when it is full, it forgets the entry that was
// not used for longest. It is for what a process remembers and can do without:
// caches, and small records of sessions.
package lru

import (
	"container/list"
	"iter"
)

// Map is a map of at most so many entries. It must not be used concurrently.
type Map[K comparable, V any] struct {
	all entries
}

// entries does the work for maps of all types, so that the program has it once.
type entries struct {
	most  int
	order list.List // of *entry, the last one used first
	at    map[any]*list.Element
}

type entry struct{ key, value any }

// New returns an empty map of at most this many entries, at least one.
func New[K comparable, V any](most int) *Map[K, V] {
	return &Map[K, V]{entries{most: max(most, 1), at: map[any]*list.Element{}}}
}

// Get returns the value of a key, and whether there is one. That counts as a use.
func (m *Map[K, V]) Get(key K) (value V, ok bool) {
	found, ok := m.all.get(key)
	if ok {
		value, _ = found.(V) // a nil interface is the zero value
	}
	return value, ok
}

func (a *entries) get(key any) (value any, ok bool) {
	e, ok := a.at[key]
	if !ok {
		return nil, false
	}
	a.order.MoveToFront(e)
	return e.Value.(*entry).value, true
}

// Put sets the value of a key. A new key may replace the entry that was not used
// for longest.
func (m *Map[K, V]) Put(key K, value V) { m.all.put(key, value) }

func (a *entries) put(key, value any) {
	if e, ok := a.at[key]; ok {
		e.Value.(*entry).value = value
		a.order.MoveToFront(e)
		return
	}
	if a.order.Len() >= a.most {
		a.remove(a.order.Back().Value.(*entry).key)
	}
	a.at[key] = a.order.PushFront(&entry{key, value})
}

// Make returns the value of a key; if there is none, it sets the one that fresh
// returns.
func (m *Map[K, V]) Make(key K, fresh func() V) V {
	v, ok := m.Get(key)
	if !ok {
		v = fresh()
		m.Put(key, v)
	}
	return v
}

// Delete removes a key, if it is there.
func (m *Map[K, V]) Delete(key K) { m.all.remove(key) }

func (a *entries) remove(key any) {
	if e, ok := a.at[key]; ok {
		a.order.Remove(e)
		delete(a.at, key)
	}
}

// Clear removes all entries.
func (m *Map[K, V]) Clear() {
	m.all.order.Init()
	clear(m.all.at)
}

// Len returns the number of entries.
func (m *Map[K, V]) Len() int { return m.all.order.Len() }

// All yields the entries, the last one used first. That does not count as a use.
// The map must not change meanwhile.
func (m *Map[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for e := m.all.order.Front(); e != nil; e = e.Next() {
			at := e.Value.(*entry)
			if value, _ := at.value.(V); !yield(at.key.(K), value) {
				return
			}
		}
	}
}
