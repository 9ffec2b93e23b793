package mcp

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes/internal/mcp/setting"
)

func someList() listing {
	return listing{resources: true, tools: []offered{
		{
			def: definition{Name: "add", Description: "Adds two numbers.", Schema: json.RawMessage(`{"type":"object"}`), ReadOnly: true}, hash: "abc",
			schema: json.RawMessage(`{"properties":{},"type":"object"}`),
		},
		{def: definition{Name: "ü", Schema: json.RawMessage(`{}`), Idempotent: true}, hash: strings.Repeat("f", 64), schema: json.RawMessage(`{}`)},
	}}
}

// FuzzKeptList: a file of a list that someone wrote is read whole or not at all, and what is read is what
// is written.
func FuzzKeptList(f *testing.F) {
	good := someList().encode("box")
	f.Add(good)
	for i := range good {
		f.Add(good[:i])
	}
	f.Add(append([]byte(listForm), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, ok := decodeList(data, "box")
		if !ok {
			return
		}
		again := l.encode("box")
		if _, ok := decodeList(again, "other"); ok {
			t.Error("the list of another server was read")
		}
		if m, ok := decodeList(again, "box"); !ok || !bytes.Equal(m.encode("box"), again) {
			t.Errorf("%q is read as %+v", again, m)
		}
	})
}

// TestAListIsReadAsItWasWritten: all that a session needs of it.
func TestAListIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	want := someList()
	data := want.encode("box")
	got, ok := decodeList(data, "box")
	if !ok || got.resources != want.resources || got.prompts != want.prompts || len(got.tools) != len(want.tools) {
		t.Fatalf("got %+v, want %+v", got, want)
	}
	for i, w := range want.tools {
		g := got.tools[i]
		if g.hash != w.hash || !bytes.Equal(g.schema, w.schema) || g.def.Name != w.def.Name || g.def.Description != w.def.Description ||
			!bytes.Equal(g.def.Schema, w.def.Schema) || g.def.ReadOnly != w.def.ReadOnly || g.def.Idempotent != w.def.Idempotent {
			t.Errorf("got %+v, want %+v", g, w)
		}
	}
	for i := range data {
		if l, ok := decodeList(data[:i], "box"); ok && len(l.tools) == len(want.tools) {
			t.Errorf("the first %d of %d bytes are read whole", i, len(data))
		}
	}
}

// TestOneListOfAServerIsKept, whoever writes it: what is kept fits its hash, and nothing else is left.
func TestOneListOfAServerIsKept(t *testing.T) {
	t.Parallel()
	c := Config{Cache: t.TempDir(), Approvals: filepath.Join(t.TempDir(), "mcp-tools.json"), Now: time.Now}
	var writing sync.WaitGroup
	for i := range 3 { // as processes of their own
		o := &Server{cfg: c, set: setting.Server{Name: "box"}, approved: newApprovals(c.Approvals, c.Now)}
		writing.Go(func() {
			for n := range 10 {
				l := someList()
				l.tools[0].def.Description = strings.Repeat("x", (i+n)%4)
				if err := o.keep(l); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writing.Wait()
	o := &Server{cfg: c, set: setting.Server{Name: "box"}}
	left, err := filepath.Glob(filepath.Join(c.Cache, "*.list"))
	if want := o.listPath(newApprovals(c.Approvals, c.Now).list("box")); err != nil || len(left) != 1 || left[0] != want {
		t.Errorf("left are %v, %v; kept is %s", left, err, want)
	}
	if err := o.forgetLists(); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(c.Cache, "*")); len(left) != 0 {
		t.Errorf("after it was forgotten there are %v", left)
	}
}
