package jsonrpc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/jsonrpc"
)

// input is a peer that says a text and takes everything.
type input struct {
	io.Reader
	got bytes.Buffer
}

func (i *input) Write(p []byte) (int, error) { return i.got.Write(p) }
func (*input) Close() error                  { return nil }

func TestLinesAreMessages(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 40<<10)
	for name, tt := range map[string]struct {
		in       string
		tolerant bool
		want     []string
		end      error
	}{
		"plain":            {in: "{\"a\":1}\n\r\n  {\"b\":2}\r\n", want: []string{`{"a":1}`, `{"b":2}`}, end: io.EOF},
		"no newline":       {in: `{"a":1}`, want: []string{`{"a":1}`}, end: io.EOF},
		"cut":              {in: "{}\n{\"a\":", want: []string{`{}`}, end: io.ErrUnexpectedEOF},
		"long":             {in: `"` + long + "\"\n1\n", want: []string{`"` + long + `"`, "1"}, end: io.EOF},
		"too long":         {in: `"` + long + long + "\"\n1\n", end: jsonrpc.ErrTooLarge},
		"too long, no end": {in: strings.Repeat("y", 1<<20), end: jsonrpc.ErrTooLarge},
		"log":              {in: "warning\n{\"a\":1}\n[1]\n{no\n", tolerant: true, want: []string{`{"a":1}`}, end: io.EOF},
	} {
		for _, slow := range []bool{false, true} {
			var r io.Reader = strings.NewReader(tt.in)
			if slow {
				r = iotest.OneByteReader(r)
			}
			l := jsonrpc.NewLines(&input{Reader: r}, 50<<10)
			if tt.tolerant {
				l.Tolerant()
			}
			var got []string
			var err error
			for {
				var line []byte
				if line, err = l.Read(); err != nil {
					break
				}
				got = append(got, string(line))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || !errors.Is(err, tt.end) {
				t.Errorf("%s: %v %s", name, err, diff)
			}
		}
	}
}

// endless repeats a text without end.
type endless struct{ text string }

func (e endless) Read(p []byte) (int, error) {
	n := 0
	for n+len(e.text) <= len(p) {
		n += copy(p[n:], e.text)
	}
	return n, nil
}

// TestSkippingEnds: a program that only writes what is no message is not read for ever. What it
// writes between messages may be long.
func TestSkippingEnds(t *testing.T) {
	t.Parallel()
	for _, noise := range []string{strings.Repeat("x", 2000) + "\n", "\n"} {
		if line, err := jsonrpc.NewLines(&input{Reader: endless{noise}}, 50<<10).Tolerant().Read(); !errors.Is(err, jsonrpc.ErrGarbage) {
			t.Errorf("%q, %v", line, err)
		}
	}
	log := strings.NewReader(strings.Repeat(strings.Repeat("x", 2000)+"\n", 20_000) + "{}\n" + strings.Repeat(strings.Repeat("x", 2000)+"\n", 20_000) + "{}\n")
	l := jsonrpc.NewLines(&input{Reader: log}, 50<<10).Tolerant()
	for range 2 {
		if line, err := l.Read(); err != nil || string(line) != "{}" {
			t.Errorf("%q, %v", line, err)
		}
	}
}

// FuzzReader reads anything: it ends, without a panic, and everything that is written is a
// message for each line.
func FuzzReader(f *testing.F) {
	for _, s := range []string{
		"", "\n", `{"id":1,"method":"echo","params":{}}`, `{"id":[],"method":"echo"}` + "\n", "[]\n[{}]\n", `{"id":"1","result":7}` + "\n{\"error\":null}\n",
		`{"method":"panic"}` + "\n" + `{"id":1,"method":"panic"}` + "\n", "\xff\xfe\n", `{"id":1,"id":2,"method":"fail"}` + "\n", `{"id":1e999,"method":"fail"}` + "\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		peer := &input{Reader: bytes.NewReader(in)}
		c := jsonrpc.New(context.Background(), jsonrpc.NewLines(peer, 1<<10), handle(echo), jsonrpc.Options{})
		if c.Wait() == nil {
			t.Error("it ended without a reason")
		}
		for line := range bytes.Lines(peer.got.Bytes()) {
			if !bytes.HasPrefix(line, []byte(`{"jsonrpc":"2.0","id":`)) || !bytes.HasSuffix(line, []byte("}\n")) {
				t.Errorf("it wrote %q", line)
			}
		}
	})
}

// FuzzMembers compares the members of valid objects with those that a decoder finds.
func FuzzMembers(f *testing.F) {
	for _, s := range []string{
		`{}`, ` { } `, `{"a":1}`, `{"a":"\\\"","b":[{"c":"}]"},2],"d":null}`, `{"a":1,}`, `{"a"}`, `[]`, `{"a":"b`, `{"a\n":1}`, `{"a":{"b":[}`, `{"a":1 2}`, `{"":{}}`, `{"a":}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got := map[string]json.RawMessage{}
		ok := jsonrpc.Members(raw, func(name, value []byte) { got[string(name)] = value })
		want := map[string]json.RawMessage{}
		if json.Unmarshal(raw, &want) != nil || want == nil || !utf8.Valid(raw) {
			return // it need not notice
		}
		if !ok {
			if !bytes.Contains(raw, []byte(`\`)) {
				t.Error("an object was refused")
			}
			return
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}
