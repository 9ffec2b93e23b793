package login

import (
	"context"
	"sync"
)

// Unsaved are logins that were renewed and could not be written, as on a full disk: the service has
// spent the old token, so that they are all there is. They are used, and written as soon as that is
// possible. The zero value has none. It may be used concurrently; each [Login] of a program that has the
// same file should have the same Unsaved.
type Unsaved struct {
	mu  sync.Mutex
	all map[string]renewed // by file and address
}

// renewed is a record that is not in its file, and the one that was there when it was made.
type renewed struct{ was, is record }

func (l *Login) key() string { return l.cfg.Path + "\x00" + l.cfg.URL }

// newer returns the record to use, where r is in the file. What is not written is forgotten once the
// file is gone or has another login: then the user logged out or in. A file without tokens is one
// of which another process found the old token to be spent.
func (u *Unsaved) newer(key string, r record, of owner) record {
	u.mu.Lock()
	defer u.mu.Unlock()
	n, ok := u.all[key]
	switch {
	case !ok:
		return r
	case of == ours && (r.Access == n.was.Access && r.Refresh == n.was.Refresh || r.Access == "" && r.Refresh == ""):
		n.is.Wanted = union(n.is.Wanted, r.Wanted)
		return n.is
	}
	delete(u.all, key)
	return r
}

// hold keeps a renewed record, and reports whether it is the first since the last was written.
func (u *Unsaved) hold(key string, was, is record) (first bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.all == nil {
		u.all = map[string]renewed{}
	}
	_, there := u.all[key]
	u.all[key] = renewed{was, is}
	return !there
}

func (u *Unsaved) drop(key string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.all, key)
}

func (u *Unsaved) has(key string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	_, ok := u.all[key]
	return ok
}

// keep writes a record that was renewed. If that fails it is held in memory, and the user is told once.
// The caller has the lock.
func (l *Login) keep(r record) {
	err := l.write(r)
	if err == nil {
		return
	}
	was, _, loadErr := l.load()
	if loadErr != nil {
		was = record{}
	}
	if l.cfg.Unsaved.hold(l.key(), was, r) && l.cfg.Log != nil {
		l.cfg.Log.Warn("the renewed login of an MCP server is not kept: it holds until the program ends, and is written as soon as that is possible", "server", l.cfg.Server, "err", err)
	}
}

// save writes what could not be written before. It waits for no other process.
func (l *Login) save(ctx context.Context) {
	if !l.cfg.Unsaved.has(l.key()) {
		return
	}
	_ = l.lockedWithin(ctx, 0, func() error { // the next use tries again
		r, err := l.read()
		if err != nil || !l.cfg.Unsaved.has(l.key()) {
			return err
		}
		return l.write(r)
	})
}
