package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"hermes/internal/atomicfile"
	"hermes/internal/patch"
	"hermes/internal/text"
)

// approvals are the definitions of tools that the user approved: all that a server had when it
// was seen first, and later ones one by one. A definition that is not among them does not run
// before it is approved (spec/security.md, 15). Their hashes decide, and are read at the start;
// their texts are in a file of their own, which is read when there is a difference to show. It may
// be used concurrently, also by several processes.
type approvals struct {
	now func() time.Time

	mu      sync.Mutex
	hashes  keptFile[approval]
	texts   keptFile[definition]
	version int // counts what was read
}

// approval says that a definition is approved.
type approval struct {
	Hash string    `json:"hash"`
	At   time.Time `json:"at"`
	// Definition is in files of earlier versions, which had no file of texts. It moves there when
	// something is approved.
	Definition *definition `json:"definition,omitempty"`
}

// fits reports whether a definition is the one of a tool that is approved.
func (k approval) fits(tool string, d definition) bool {
	return k.Hash != "" && d.Name == tool && k.Hash == d.hash()
}

// newApprovals returns the approvals of a file; those of "" are not kept.
func newApprovals(path string, now func() time.Time) *approvals {
	a := &approvals{now: now, hashes: keptFile[approval]{path: path}}
	if path != "" {
		a.texts.path = textsPath(path)
	}
	return a
}

// textsPath is the file of the texts that belongs to one of hashes.
func textsPath(path string) string { return strings.TrimSuffix(path, ".json") + "-texts.json" }

// keptFile is a file with something for each tool. Its owner locks it.
type keptFile[T any] struct {
	path  string
	stamp fs.FileInfo
	kept  map[string]map[string]T // by server, by tool; nil if it cannot be read
	lists map[string]string       // by server: the hash of the list that is kept of it
}

type keptForm[T any] struct {
	Version int                     `json:"version"`
	Servers map[string]map[string]T `json:"servers"`
	Lists   map[string]string       `json:"lists,omitempty"`
}

// load reads the file if it has changed, and reports whether it did.
func (f *keptFile[T]) load() (read bool, err error) {
	none := map[string]map[string]T{}
	if f.path == "" {
		if f.kept == nil {
			f.kept = none
		}
		return false, nil
	}
	info, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		if read = f.kept == nil || f.stamp != nil; read {
			f.kept, f.lists, f.stamp = none, nil, nil
		}
		return read, nil
	}
	if err == nil && f.stamp != nil && os.SameFile(f.stamp, info) && f.stamp.ModTime().Equal(info.ModTime()) && f.stamp.Size() == info.Size() {
		return false, nil
	}
	f.reset()
	var data []byte
	if err == nil {
		data, err = os.ReadFile(f.path)
	}
	var form keptForm[T]
	if err == nil {
		err = json.Unmarshal(data, &form)
	}
	if err != nil {
		return true, fmt.Errorf("the approved tools of MCP servers in %s cannot be read: %w", f.path, err)
	}
	if f.kept, f.lists, f.stamp = form.Servers, form.Lists, info; f.kept == nil {
		f.kept = none
	}
	return true, nil
}

// write writes the file. The caller holds the lock between processes.
func (f *keptFile[T]) write() error {
	data, err := json.MarshalIndent(keptForm[T]{1, f.kept, f.lists}, "", " ")
	if err != nil || f.path == "" {
		return err
	}
	f.stamp = nil
	if err := atomicfile.Write(f.path, append(data, '\n'), atomicfile.Options{Mode: 0o600}); err != nil {
		return err
	}
	if info, err := os.Stat(f.path); err == nil { // no other process writes meanwhile
		f.stamp = info
	}
	return nil
}

// reset has the file read again.
func (f *keptFile[T]) reset() { f.kept, f.lists, f.stamp = nil, nil, nil }

// put keeps something for a tool.
func (f *keptFile[T]) put(server, tool string, v T) {
	if f.kept[server] == nil {
		f.kept[server] = map[string]T{}
	}
	f.kept[server][tool] = v
}

// load reads the hashes if they have changed. Call it with the lock held. A file that cannot be
// read approves nothing.
func (a *approvals) load() error {
	read, err := a.hashes.load()
	if read {
		a.version++
	}
	return err
}

// change changes what is approved, unless f returns false.
func (a *approvals) change(f func() bool) error {
	return a.locked(func() error {
		if _, err := a.texts.load(); err != nil { // they are only shown: a new file begins
			a.texts.kept = map[string]map[string]definition{}
		}
		if !f() {
			return nil
		}
		a.moveTexts()
		a.version++
		err := a.texts.write()
		if err == nil {
			err = a.hashes.write() // last: a text whose hash is not there counts for nothing
		}
		if err != nil { // what f changed is not approved; the files are read again
			a.texts.reset()
			a.hashes.reset()
		}
		return err
	})
}

// locked calls f with the hashes as they are. No other process changes them meanwhile.
func (a *approvals) locked(f func() error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if path := a.hashes.path; path != "" {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		lock, err := atomicfile.Acquire(context.Background(), path+".lock", "the list of approved tools", 10*time.Second)
		if err != nil {
			return err
		}
		defer lock.Release()
	}
	if err := a.load(); err != nil {
		return err
	}
	return f()
}

// moveTexts moves the texts of a file of an earlier version.
func (a *approvals) moveTexts() {
	for server, tools := range a.hashes.kept {
		for tool, k := range tools {
			if d := k.Definition; d != nil && k.fits(tool, *d) {
				a.texts.put(server, tool, *d)
			}
			k.Definition = nil
			tools[tool] = k
		}
	}
}

// keep approves a definition. Call it within change.
func (a *approvals) keep(server string, d definition) {
	a.hashes.put(server, d.Name, approval{Hash: d.hash(), At: a.now().UTC()})
	a.texts.put(server, d.Name, d)
}

// first approves what a server has if it was never seen, and reports whether it was not.
func (a *approvals) first(server string, defs []definition) (first bool, err error) {
	if a.knows(server) {
		return false, nil
	}
	err = a.change(func() bool {
		if a.hashes.kept[server] != nil { // another process was faster
			return false
		}
		first = true
		a.hashes.kept[server], a.texts.kept[server] = map[string]approval{}, map[string]definition{}
		for _, d := range defs {
			a.keep(server, d)
		}
		return true
	})
	return first && err == nil, err
}

func (a *approvals) knows(server string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.load() == nil && a.hashes.kept[server] != nil
}

// approve approves one definition.
func (a *approvals) approve(server string, d definition) error {
	return a.change(func() bool {
		a.keep(server, d)
		return true
	})
}

// forget removes a server, so that the next time it is seen is the first.
func (a *approvals) forget(server string) error {
	return a.change(func() bool {
		had := a.hashes.kept[server] != nil || a.hashes.lists[server] != ""
		delete(a.hashes.kept, server)
		delete(a.texts.kept, server)
		delete(a.hashes.lists, server)
		return had
	})
}

// list returns the hash of the list that is kept of a server, "" if no list is kept.
func (a *approvals) list(server string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.load() != nil {
		return ""
	}
	return a.hashes.lists[server]
}

// keepList keeps the hash of a server's list; "" keeps none. No other process keeps one meanwhile: there sees
// to it that the list is there, and drop removes one that is kept no more.
func (a *approvals) keepList(server, hash string, there func() error, drop func(hash string) error) error {
	return a.locked(func() error {
		was := a.hashes.lists[server]
		err := there()
		if err == nil && hash != was {
			if a.hashes.lists == nil {
				a.hashes.lists = map[string]string{}
			}
			if a.hashes.lists[server] = hash; hash == "" {
				delete(a.hashes.lists, server)
			}
			err = a.hashes.write()
		}
		switch {
		case err != nil:
			a.hashes.reset()
			if hash != "" && hash != was {
				err = errors.Join(err, drop(hash))
			}
		case was != "" && hash != was:
			err = drop(was)
		}
		return err
	})
}

// read returns a number that changes when what is approved does.
func (a *approvals) read() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	_ = a.load() // then nothing is approved, which is another number
	return a.version
}

// of returns whether something was approved for a tool, and whether it is this definition.
func (a *approvals) of(server string, d definition) (known, same bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.load() != nil {
		return false, false
	}
	k, known := a.hashes.kept[server][d.Name]
	return known, k.fits(d.Name, d)
}

// all returns what was approved of a server, by tool. It looks at the file once.
func (a *approvals) all(server string) map[string]approval {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.load() != nil {
		return nil
	}
	return maps.Clone(a.hashes.kept[server])
}

// text returns the definition that was approved for a tool, or false if it is not kept as it was
// approved.
func (a *approvals) text(server, tool string) (definition, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.load() != nil {
		return definition{}, false
	}
	k := a.hashes.kept[server][tool]
	if d := k.Definition; d != nil && k.fits(tool, *d) {
		return *d, true
	}
	if _, err := a.texts.load(); err != nil {
		return definition{}, false
	}
	d := a.texts.kept[server][tool]
	return d, k.fits(tool, d)
}

// blocked says why a tool does not run before the user approves it, "" if it is approved.
func (o *Server) blocked(d definition) string {
	known, same := o.approved.of(o.set.ID(), d)
	switch {
	case same:
		return ""
	case !known:
		return fmt.Sprintf("the MCP server %s has added the tool %s since you approved its tools", o.set.Name, d.Name)
	}
	return fmt.Sprintf("the MCP server %s has changed the tool %s since you approved it", o.set.Name, d.Name)
}

// changed describes to the user what is new in a definition.
func (o *Server) changed(d definition) string {
	now := d.describe()
	if known, _ := o.approved.of(o.set.ID(), d); !known {
		return "New tool:\n" + now
	}
	was, ok := o.approved.text(o.set.ID(), d.Name)
	if !ok {
		return "The tool has changed, and how it was is not kept. It is now:\n" + now
	}
	return "Changes of the tool:\n" + patch.Unified("approved", "now", was.describe(), now)
}

// describe spells a definition out.
func (d definition) describe() string {
	s := fmt.Sprintf("name: %s\nreads only: %v\nidempotent: %v\ndescription: %s\narguments: %s\n", d.Name, d.ReadOnly, d.Idempotent, d.Description, indent(d.Schema))
	return text.Visible(s)
}

func indent(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	out, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return string(raw)
	}
	return string(out)
}

// Changed describes to the user what is not approved of a tool, by its original name.
func (o *Server) Changed(tool string) string {
	for _, t := range o.known() {
		if t.def.Name == tool {
			return o.changed(t.def)
		}
	}
	return ""
}

// Approve approves the definition of a tool, by its original name, if it is still the one of which
// [Server.Changed] said this.
func (o *Server) Approve(tool, shown string) error {
	for _, t := range o.known() {
		if t.def.Name != tool {
			continue
		}
		if o.changed(t.def) != shown {
			return fmt.Errorf("the MCP server %s has changed the tool %s again while you looked at it; nothing was approved", o.set.Name, text.VisibleName(tool))
		}
		err := o.approved.approve(o.set.ID(), t.def)
		signal(o.changes)
		return err
	}
	return fmt.Errorf("the MCP server %s has no tool %s now", o.set.Name, text.VisibleName(tool))
}
