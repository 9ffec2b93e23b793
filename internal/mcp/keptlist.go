package mcp

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"hermes/internal/atomicfile"
	"hermes/internal/mcp/setting"
)

// A server's list of tools is kept between runs with all that the first prompt needs of it: hashes of
// the definitions and canonical schemas. To read it is to cut it at the lengths that it has. Nothing in
// it is checked one by one; the approvals have the hash of the whole file, so that one that
// someone changed offers nothing.

// listForm begins the file of a list. A file of another form offers nothing, and is replaced when the
// server answers.
const listForm = "hermes mcp list 1\n"

// What a server offers, and what a definition claims, as bits.
const (
	listResources = 1 << iota
	listPrompts
)

const (
	toolReadOnly = 1 << iota
	toolIdempotent
)

func bitIf(on bool, bit byte) byte {
	if on {
		return bit
	}
	return 0
}

// listPath is the file of a list with a hash. Each content has a file of its own, so that a file and the
// hash that is kept of it always fit, whoever else writes.
func (o *Server) listPath(hash string) string {
	return filepath.Join(o.cfg.Cache, o.listName()+"-"+hash[:min(len(hash), 16)]+".list")
}

func (o *Server) listName() string {
	sum := sha256.Sum256([]byte(o.set.ID()))
	return setting.Slug(o.set.Name) + "-" + hex.EncodeToString(sum[:4])
}

// keep writes the list for the next start, unless it is there. One that is too large is not kept.
func (o *Server) keep(l listing) error {
	if o.cfg.Cache == "" {
		return nil
	}
	data, hash := l.encode(o.set.ID()), ""
	if len(data) <= maxList {
		hash = hashOf(data)
	}
	there := func() error {
		if hash == "" {
			return nil
		}
		if now, err := os.ReadFile(o.listPath(hash)); err == nil && bytes.Equal(now, data) {
			return nil
		}
		if err := os.MkdirAll(o.cfg.Cache, 0o700); err != nil {
			return err
		}
		return atomicfile.Write(o.listPath(hash), data, atomicfile.Options{Mode: 0o600})
	}
	if err := there(); err != nil || hash == o.approved.list(o.set.ID()) { // before anyone else has to wait
		return err
	}
	return o.approved.keepList(o.set.ID(), hash, there, func(was string) error { return removed(o.listPath(was)) })
}

// forgetLists removes all files with a list of the server, also that of an earlier form.
func (o *Server) forgetLists() error {
	if o.cfg.Cache == "" {
		return nil
	}
	entries, err := os.ReadDir(o.cfg.Cache)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if name := e.Name(); name == o.listName()+".json" || strings.HasPrefix(name, o.listName()+"-") && strings.HasSuffix(name, ".list") {
			err = errors.Join(err, removed(filepath.Join(o.cfg.Cache, name)))
		}
	}
	return err
}

// kept returns the list of the last run, without what the user did not approve.
func (o *Server) kept() listing {
	l := listing{made: &lists{}}
	if o.cfg.Cache == "" {
		return l
	}
	hash := o.approved.list(o.set.ID())
	if hash == "" {
		return l
	}
	data, err := os.ReadFile(o.listPath(hash))
	if err != nil || hashOf(data) != hash {
		return l
	}
	was, ok := decodeList(data, o.set.ID())
	if !ok {
		return l
	}
	approved := o.approved.all(o.set.ID())
	var all []offered
	for _, t := range was.tools {
		if approved[t.def.Name].Hash == t.hash {
			all = append(all, t)
		}
	}
	l.tools, l.resources, l.prompts = o.offer(all), was.resources, was.prompts
	return l
}

// encode writes what a server offers. Equal lists give equal bytes.
func (l listing) encode(server string) []byte {
	b := []byte(listForm)
	text := func(s string) {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	text(server)
	b = append(b, bitIf(l.resources, listResources)|bitIf(l.prompts, listPrompts))
	for _, t := range l.tools {
		text(t.def.Name)
		text(t.hash)
		b = append(b, bitIf(t.def.ReadOnly, toolReadOnly)|bitIf(t.def.Idempotent, toolIdempotent))
		text(t.def.Description)
		text(string(t.def.Schema))
		text(string(t.schema))
	}
	return b
}

// decodeList reads what encode wrote for a server, or returns false. The texts share the memory of data.
func decodeList(data []byte, server string) (l listing, ok bool) {
	data, ok = bytes.CutPrefix(data, []byte(listForm))
	text := func() []byte {
		n, size := binary.Uvarint(data)
		if size <= 0 || n > uint64(len(data)-size) {
			ok = false
			return nil
		}
		t := data[size : size+int(n) : size+int(n)]
		data = data[size+int(n):]
		return t
	}
	flags := func() (b byte) {
		if len(data) == 0 {
			ok = false
			return 0
		}
		b, data = data[0], data[1:]
		return b
	}
	if !ok || string(text()) != server {
		return l, false
	}
	f := flags()
	l.resources, l.prompts = f&listResources != 0, f&listPrompts != 0
	for ok && len(data) > 0 {
		t := offered{def: definition{Name: string(text())}, hash: string(text())}
		f := flags()
		t.def.ReadOnly, t.def.Idempotent = f&toolReadOnly != 0, f&toolIdempotent != 0
		t.def.Description, t.def.Schema, t.schema = string(text()), json.RawMessage(text()), json.RawMessage(text())
		l.tools = append(l.tools, t)
	}
	return l, ok
}
