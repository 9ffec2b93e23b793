package sse_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/sse"
)

type event struct {
	Name, Data string
	Cut        bool
}

func readAll(r *sse.Reader) (got []event, err error) {
	for {
		ev, err := r.Next()
		if err != nil {
			return got, err
		}
		got = append(got, event{ev.Name, string(ev.Data), ev.Cut})
	}
}

func TestNext(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in   string
		want []event
	}{
		"two events":           {"data: a\n\ndata: b\n\n", []event{{Data: "a"}, {Data: "b"}}},
		"no blank after colon": {"data:a\n\n", []event{{Data: "a"}}},
		"only one blank goes":  {"data:  a\n\n", []event{{Data: " a"}}},
		"crlf":                 {"event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n", []event{{"x", "a", false}, {"", "b", false}}},
		"cr":                   {"data: a\r\rdata: b\r\r", []event{{Data: "a"}, {Data: "b"}}},
		"mixed line ends":      {"data: a\r\n\ndata: b\n\r\n", []event{{Data: "a"}, {Data: "b"}}},
		"byte order mark":      {"\xEF\xBB\xBFdata: a\n\n", []event{{Data: "a"}}},
		"several data lines":   {"data: a\ndata:\ndata: b\n\n", []event{{Data: "a\n\nb"}}},
		"keepalives":           {": keepalive\n\n:\n\ndata: a\n\n: bye\n\n", []event{{Data: "a"}}},
		"keepalive inside":     {"data: a\n: OPENROUTER PROCESSING\ndata: b\n\n", []event{{Data: "a\nb"}}},
		"unknown fields":       {"id: 1\nretry: 5\nfoo\ndata: a\n\n", []event{{Data: "a"}}},
		"event without data":   {"event: ping\n\ndata: a\n\n", []event{{Data: "a"}}},
		"empty data":           {"data\n\n", []event{{}}},
		"no final blank line":  {"data: a\n\ndata: [DONE]\n", []event{{Data: "a"}, {Data: "[DONE]", Cut: true}}},
		"no final line end":    {"data: a\n\ndata: {\"x", []event{{Data: "a"}, {Data: `{"x`, Cut: true}}},
		"nothing":              {"", nil},
		"blank lines only":     {"\n\r\n\r", nil},
		"short like a mark":    {"\xEF", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for kind, src := range map[string]io.Reader{
				"whole":         strings.NewReader(tt.in),
				"byte by byte":  iotest.OneByteReader(strings.NewReader(tt.in)),
				"data with EOF": iotest.DataErrReader(strings.NewReader(tt.in)),
			} {
				got, err := readAll(sse.NewReader(src, sse.Limits{}))
				if err != io.EOF {
					t.Errorf("%s: error %v, want io.EOF", kind, err)
				}
				if diff := cmp.Diff(got, tt.want); diff != "" {
					t.Errorf("%s (-got +want):\n%s", kind, diff)
				}
			}
		})
	}
}

func TestLineReader(t *testing.T) {
	t.Parallel()
	got, err := readAll(sse.NewLineReader(strings.NewReader("{\"a\":1}\r\n\n  {\"b\":2}\n{\"c\":3}"), sse.Limits{}))
	if err != io.EOF {
		t.Errorf("error %v, want io.EOF", err)
	}
	want := []event{{Data: `{"a":1}`}, {Data: `{"b":2}`}, {Data: `{"c":3}`, Cut: true}}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Error(diff)
	}
}

func TestFailedReadIsNotACleanEnd(t *testing.T) {
	t.Parallel()
	src := io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(io.ErrUnexpectedEOF))
	r := sse.NewReader(src, sse.Limits{})
	got, err := readAll(r)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v, want io.ErrUnexpectedEOF", err)
	}
	if diff := cmp.Diff(got, []event{{Data: "a"}}); diff != "" {
		t.Error(diff)
	}
	if _, again := r.Next(); again != err {
		t.Errorf("second error %v, want %v", again, err)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<17)
	tests := map[string]struct {
		in  string
		lim sse.Limits
	}{
		"one long line":       {"data: " + long + "\n\n", sse.Limits{MaxEvent: 1 << 16}},
		"many lines":          {strings.Repeat("data: xxxxxxxxxx\n", 1<<10), sse.Limits{MaxEvent: 1 << 10}},
		"line without an end": {long, sse.Limits{MaxEvent: 1 << 16}},
		"endless comments":    {strings.Repeat(": x\n", 1<<10), sse.Limits{MaxTotal: 1 << 10}},
		"endless events":      {strings.Repeat("data: x\n\n", 1<<10), sse.Limits{MaxTotal: 1 << 10}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := readAll(sse.NewReader(strings.NewReader(tt.in), tt.lim)); !errors.Is(err, sse.ErrTooLarge) {
				t.Errorf("error %v, want ErrTooLarge", err)
			}
		})
	}
}

func TestLongLineAcrossBuffers(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", 20_000)
	got, err := readAll(sse.NewReader(strings.NewReader("data: "+long+"\n\ndata: b\n\n"), sse.Limits{}))
	if err != io.EOF || len(got) != 2 || got[0].Data != long || got[1].Data != "b" {
		t.Errorf("got %d events, error %v", len(got), err)
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("event: a\r\ndata: b\r\n\r\n"), 3)
	f.Add([]byte("\xEF\xBB\xBFdata: [DONE]"), 1)
	f.Add([]byte("data\n:\ndata\r\rdata"), 2)
	f.Fuzz(func(t *testing.T, in []byte, step int) {
		lim := sse.Limits{MaxEvent: 1 << 10, MaxTotal: 1 << 12}
		whole, werr := readAll(sse.NewReader(bytes.NewReader(in), lim))
		parts, perr := readAll(sse.NewReader(iotest.OneByteReader(bytes.NewReader(in)), lim))
		if werr == io.EOF && perr == io.EOF {
			if diff := cmp.Diff(whole, parts); diff != "" {
				t.Errorf("events depend on how the bytes arrive:\n%s", diff)
			}
		}
		if n, _ := readAll(sse.NewLineReader(bytes.NewReader(in), lim)); len(n) > len(in) {
			t.Errorf("%d events out of %d bytes", len(n), len(in))
		}
	})
}

func BenchmarkReader(b *testing.B) {
	const chunk = "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word %d\"},\"finish_reason\":null}]}\n\n"
	var buf bytes.Buffer
	for i := range 20_000 {
		fmt.Fprintf(&buf, chunk, i)
	}
	b.SetBytes(int64(buf.Len()))
	b.ReportAllocs()
	for b.Loop() {
		r := sse.NewReader(bytes.NewReader(buf.Bytes()), sse.Limits{})
		for {
			if _, err := r.Next(); err != nil {
				break
			}
		}
	}
}
