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
	most  int
	order list.List // of *entry[K, V], the last one used first
	at    map[K]*list.Element
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

// New returns an empty map of at most this many entries, at least one.
func New[K comparable, V any](most int) *Map[K, V] {
	return &Map[K, V]{most: max(most, 1), at: map[K]*list.Element{}}
}

// Get returns the value of a key, and whether there is one. That counts as a use.
func (m *Map[K, V]) Get(key K) (value V, ok bool) {
	e, ok := m.at[key]
	if !ok {
		return value, false
	}
	m.order.MoveToFront(e)
	return e.Value.(*entry[K, V]).value, true
}

// Put sets the value of a key. A new key may replace the entry that was not used
// for longest.
func (m *Map[K, V]) Put(key K, value V) {
	if e, ok := m.at[key]; ok {
		e.Value.(*entry[K, V]).value = value
		m.order.MoveToFront(e)
		return
	}
	if m.order.Len() >= m.most {
		m.Delete(m.order.Back().Value.(*entry[K, V]).key)
	}
	m.at[key] = m.order.PushFront(&entry[K, V]{key, value})
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
func (m *Map[K, V]) Delete(key K) {
	if e, ok := m.at[key]; ok {
		m.order.Remove(e)
		delete(m.at, key)
	}
}

// Clear removes all entries.
func (m *Map[K, V]) Clear() {
	m.order.Init()
	clear(m.at)
}

// Len returns the number of entries.
func (m *Map[K, V]) Len() int { return m.order.Len() }

// All yields the entries, the last one used first. That does not count as a use.
// The map must not change meanwhile.
func (m *Map[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for e := m.order.Front(); e != nil; e = e.Next() {
			if at := e.Value.(*entry[K, V]); !yield(at.key, at.value) {
				return
			}
		}
	}
}
