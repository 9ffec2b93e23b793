package remote_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/jsonrpc"
	"hermes/internal/protocol"
	"hermes/internal/protocol/protocoltest"
	"hermes/internal/protocol/remote"
)

// heap is what the process uses.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what pools kept
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// mustSocket serves a client over a socket of the system, which has buffers of its own.
func mustSocket(t *testing.T, lent protocol.Client) *raw {
	t.Helper()
	folder, err := os.MkdirTemp("", "s") // a short path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	l, err := net.Listen("unix", filepath.Join(folder, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	b, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	a, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	r := &raw{t, b, jsonrpc.NewLines(b, 1<<20), make(chan error, 1)}
	go func() {
		r.over <- remote.Serve(context.Background(), remote.NewStream(a), remote.Server{Client: lent, Admit: admit, Name: "test"})
	}()
	return r
}

// flood lets a session publish events in a turn while one frontend reads all of them, and, if
// stuck is set, another one over a socket reads none. It returns how much memory the process
// needs more then.
func flood(t *testing.T, events int, stuck bool) int64 {
	w := protocoltest.NewWorld(t, hermestest.CallTool("ask", "{}"), hermestest.Say("Done."))
	f := protocoltest.Open(t, w.Client, hermes.From{Client: "f", Attends: true})
	var r *raw
	attach := `{"jsonrpc":"2.0","id":1,"method":"attach","params":{"session":"` + f.ID + `"}}`
	if stuck {
		r = mustSocket(t, w.Client)
		r.ask(hello)
		r.ask(attach)
	}
	f.Say("go")
	asked := protocoltest.Next[hermes.Asked](f)
	before := heap()
	for i := range events {
		line := fmt.Sprint("/", i, strings.Repeat("x", i%300))
		if err := w.Client.Command(t.Context(), f.ID, f.From, line); err != nil {
			t.Fatal(err)
		}
		if e := protocoltest.Next[hermes.CommandDone](f); e.Line != line {
			t.Fatalf("event %d is of %q", i, e.Line)
		}
	}
	cost := heap() - before
	f.Do(hermes.Reply{ID: asked.ID, Answer: hermes.Answer{Texts: []string{"blue"}}})
	protocoltest.Next[hermes.TurnDone](f)
	if stuck {
		readsAgain(t, r, f.ID, attach)
	}
	return cost
}

// readsAgain reads what is left for a frontend, attaches it again and looks at what it has
// missed.
func readsAgain(t *testing.T, r *raw, id, attach string) {
	t.Helper()
	last, before := "", ""
	for !strings.Contains(last, `"method":"detached"`) {
		line, err := r.lines.Read()
		if err != nil {
			t.Fatal(err)
		}
		before, last = last, string(line)
	}
	if !strings.Contains(before, `"type":"lagged"`) {
		t.Errorf("before it was detached: %s", before)
	}
	if got := r.ask(attach); !strings.Contains(got, `"last":4`) {
		t.Errorf("attached again: %s", got)
	}
	got := r.ask(`{"jsonrpc":"2.0","id":2,"method":"history","params":{"session":"` + id + `"}}`)
	for _, part := range []string{`"text":"go"`, `"name":"ask"`, `"text":"blue"`, `"text":"Done."`} {
		if !strings.Contains(got, part) {
			t.Errorf("%s is missing in %s", part, got)
		}
	}
	_ = r.conn.Close()
	<-r.over
}

// TestAFrontendThatStopsReadingCostsLittle: 100,000 events (fewer with
// the race detector) take 2 MB at most in the process of the
// session, with all that its connection keeps, while another frontend sees each of them. Then
// it attaches again and misses nothing that is stored.
func TestAFrontendThatStopsReadingCostsLittle(t *testing.T) { // not parallel: it measures the memory of the process
	const some = 10_000   // more than what is kept
	flood(t, some, false) // what is allocated once
	without := flood(t, some, false)
	with := flood(t, manyEvents, true)
	t.Logf("%d KB without and %d KB with a frontend that does not read", without>>10, with>>10)
	if with-without > 2<<20 || with > 4<<20 {
		t.Errorf("%d KB, without that frontend %d KB", with>>10, without>>10)
	}
}
