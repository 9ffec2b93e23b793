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
	"sync"
	"time"

	"hermes/internal/atomicfile"
	"hermes/internal/patch"
	"hermes/internal/text"
)

// approvals are the definitions of tools that the user approved: all that a server had when it
// was seen first, and later ones one by one. A definition that is not among them does not run
// before it is approved (spec/security.md, 15). It may be used concurrently, also by several
// processes.
type approvals struct {
	path string
	now  func() time.Time

	mu      sync.Mutex
	stamp   fs.FileInfo
	kept    map[string]map[string]approval // by server, by tool
	version int                            // counts what was read
}

// approval is an approved definition.
type approval struct {
	Hash       string     `json:"hash"`
	At         time.Time  `json:"at"`
	Definition definition `json:"definition"`
}

type approvalsFile struct {
	Version int                            `json:"version"`
	Servers map[string]map[string]approval `json:"servers"`
}

// load reads the file if it has changed. Call it with the lock held. A file that cannot be read
// approves nothing.
func (a *approvals) load() error {
	if a.path == "" {
		if a.kept == nil {
			a.kept = map[string]map[string]approval{}
		}
		return nil
	}
	info, err := os.Stat(a.path)
	if errors.Is(err, fs.ErrNotExist) {
		if a.kept == nil || a.stamp != nil {
			a.kept, a.stamp = map[string]map[string]approval{}, nil
			a.version++
		}
		return nil
	}
	if err == nil && a.stamp != nil && os.SameFile(a.stamp, info) && a.stamp.ModTime().Equal(info.ModTime()) && a.stamp.Size() == info.Size() {
		return nil
	}
	a.kept, a.stamp = nil, nil
	a.version++
	var data []byte
	if err == nil {
		data, err = os.ReadFile(a.path)
	}
	var f approvalsFile
	if err == nil {
		err = json.Unmarshal(data, &f)
	}
	if err != nil {
		return fmt.Errorf("the approved tools of MCP servers in %s cannot be read: %w", a.path, err)
	}
	a.kept, a.stamp = f.Servers, info
	if a.kept == nil {
		a.kept = map[string]map[string]approval{}
	}
	return nil
}

// change changes the file.
func (a *approvals) change(f func(kept map[string]map[string]approval) bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.path != "" {
		if err := os.MkdirAll(filepath.Dir(a.path), 0o700); err != nil {
			return err
		}
		lock, err := atomicfile.Acquire(context.Background(), a.path+".lock", "the list of approved tools", 10*time.Second)
		if err != nil {
			return err
		}
		defer lock.Release()
	}
	if err := a.load(); err != nil {
		return err
	}
	if !f(a.kept) {
		return nil
	}
	if a.version++; a.path == "" {
		return nil
	}
	data, err := json.MarshalIndent(approvalsFile{1, a.kept}, "", " ")
	if err != nil {
		return err
	}
	a.stamp = nil
	return atomicfile.Write(a.path, append(data, '\n'), atomicfile.Options{Mode: 0o600})
}

// first approves what a server has if it was never seen, and reports whether it was not.
func (a *approvals) first(server string, defs []definition) (first bool, err error) {
	if a.knows(server) {
		return false, nil
	}
	err = a.change(func(kept map[string]map[string]approval) bool {
		if kept[server] != nil { // another process was faster
			return false
		}
		first = true
		kept[server] = map[string]approval{}
		for _, d := range defs {
			kept[server][d.Name] = approval{d.hash(), a.now().UTC(), d}
		}
		return true
	})
	return first && err == nil, err
}

func (a *approvals) knows(server string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.load() == nil && a.kept[server] != nil
}

// approve approves one definition.
func (a *approvals) approve(server string, d definition) error {
	return a.change(func(kept map[string]map[string]approval) bool {
		if kept[server] == nil {
			kept[server] = map[string]approval{}
		}
		kept[server][d.Name] = approval{d.hash(), a.now().UTC(), d}
		return true
	})
}

// forget removes a server, so that the next time it is seen is the first.
func (a *approvals) forget(server string) error {
	return a.change(func(kept map[string]map[string]approval) bool {
		_, had := kept[server]
		delete(kept, server)
		return had
	})
}

// read returns a number that changes when what is approved does.
func (a *approvals) read() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	_ = a.load() // then nothing is approved, which is another number
	return a.version
}

// of returns what was approved for a tool, and whether it is this definition.
func (a *approvals) of(server string, d definition) (was *approval, same bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.load() != nil {
		return nil, false
	}
	k, ok := a.kept[server][d.Name]
	if !ok {
		return nil, false
	}
	return &k, k.Hash == d.hash()
}

// all returns what was approved of a server, by tool. It looks at the file once.
func (a *approvals) all(server string) map[string]approval {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.load() != nil {
		return nil
	}
	return maps.Clone(a.kept[server])
}

// blocked says why a tool does not run before the user approves it, "" if it is approved.
func (o *Server) blocked(d definition) string {
	was, same := o.approved.of(o.set.ID(), d)
	switch {
	case same:
		return ""
	case was == nil:
		return fmt.Sprintf("the MCP server %s has added the tool %s since you approved its tools", o.set.Name, d.Name)
	}
	return fmt.Sprintf("the MCP server %s has changed the tool %s since you approved it", o.set.Name, d.Name)
}

// changed describes to the user what is new in a definition.
func (o *Server) changed(d definition) string {
	was, _ := o.approved.of(o.set.ID(), d)
	now := d.describe()
	if was == nil {
		return "New tool:\n" + now
	}
	return "Changes of the tool:\n" + patch.Unified("approved", "now", was.Definition.describe(), now)
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
