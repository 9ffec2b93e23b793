package message_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	wire "github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"hermes/internal/mcp/message"
)

// TestBounds: a seventeenth question and those that are too large together are refused until others are
// answered; what is too deep is refused, or dropped.
func TestBounds(t *testing.T) {
	t.Parallel()
	var b message.Bounds
	ask := func(id int, more string) bool {
		t.Helper()
		j, err := b.Received(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"ping","params":{"a":%q}}`, id, more))
		if err != nil || (j.Refused == nil) != (j.Message != nil) {
			t.Fatalf("%+v, %v", j, err)
		}
		return j.Refused == nil
	}
	answer := func(id float64) {
		t.Helper()
		n, err := wire.MakeID(id)
		if err != nil {
			t.Fatal(err)
		}
		b.Sent(&wire.Response{ID: n})
	}
	for i := range 17 {
		if got := ask(i, ""); got != (i < 16) {
			t.Errorf("question %d is handed on: %v", i, got)
		}
	}
	if answer(3); !ask(17, "") || ask(18, "") {
		t.Error("an answer makes room for one question")
	}
	for i := range 18 {
		answer(float64(i))
	}
	large := strings.Repeat("x", 5<<20)
	if !ask(20, large) || ask(21, large) {
		t.Error("two large questions at the same time")
	}
	deep := strings.Repeat("[", 65) + strings.Repeat("]", 65)
	for in, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"result":{"a":` + deep + `}}`:                                                    "error",
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":` + deep + `}}`:                                    "refused",
		`{"jsonrpc":"2.0","method":"x","params":{"a":` + deep + `}}`:                                              "dropped",
		`{"jsonrpc":"2.0","id":1,"result":{"a":"` + deep + `"}}`:                                                  "same",
		`{"jsonrpc":"2.0","id":1,"result":{"inputRequests":{` + strings.TrimSuffix(manyRequests(17), ",") + `}}}`: "error",
		`{"jsonrpc":"2.0","id":1,"result":{"inputRequests":{` + strings.TrimSuffix(manyRequests(16), ",") + `}}}`: "changed",
	} {
		j, err := b.Received([]byte(in))
		got := "changed"
		r, _ := j.Message.(*wire.Response)
		switch {
		case err != nil:
			got = err.Error()
		case j.Refused != nil:
			got = "refused"
		case j.Message == nil:
			got = "dropped"
		case j.Same:
			got = "same"
		case r != nil && r.Error != nil:
			got = "error"
		}
		if got != want {
			t.Errorf("%.100s: %s, want %s", in, got, want)
		}
	}
}

func manyRequests(n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, `"a%d":{"method":"roots/list"},`, i)
	}
	return s.String()
}

// TestEventsArePutRight: wherever their lines break, and whatever stands between them.
func TestEventsArePutRight(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"data: {\"jsonrpc\":\"2.0\",\"id\":1,\ndata: \"result\":{\"inputRequests\":{\"a\":\ndata:null}}}\n\n":                       "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"inputRequests\":{}}}\n\n",
		"data: {\"jsonrpc\":\"2.0\",\"id\":1,\r\nid: 7\r\ndata: \"result\":{\"inputRequests\":{\"a\":null}}}\r\n\r\n":               "id: 7\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"inputRequests\":{}}}\n\n",
		"data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"inputRequests\":{\"a\":null}}}":                                          "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"inputRequests\":{}}}\n\n",
		"event: endpoint\ndata: /messages\n\n: nothing\n\nid: 3\ndata:\n\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"method\":\"x\"}\n\n": "",
	} {
		if want == "" {
			want = in
		}
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "Text/Event-Stream; charset=utf-8")
			_, _ = io.WriteString(w, in)
		}))
		resp, err := new(message.Bounds).Answers(srv.Client()).Post(srv.URL, "application/json", bytes.NewReader(nil))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		srv.Close()
		if string(got) != want || err != nil {
			t.Errorf("%q\ngot  %q, %v\nwant %q", in, got, err, want)
		}
	}
}

// TestWhatHasNoEndIsNotRead: not even line ends that end no event, and without a bound of the body.
func TestWhatHasNoEndIsNotRead(t *testing.T) {
	t.Parallel()
	const most = 32 << 20
	for name, piece := range map[string]string{"returns": "\r", "lines": "data: x\n", "a line": "x", "JSON": " "} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			more := []byte(strings.Repeat(piece, 1<<20/len(piece)))
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", map[bool]string{true: "application/json", false: "text/event-stream"}[name == "JSON"])
				for range 2 * most >> 20 {
					if _, err := w.Write(more); err != nil {
						return
					}
				}
			}))
			defer srv.Close()
			resp, err := new(message.Bounds).Answers(srv.Client()).Post(srv.URL, "application/json", bytes.NewReader(nil))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if n, err := io.Copy(io.Discard, resp.Body); n > 0 || err == nil || !strings.Contains(err.Error(), "32 MiB") {
				t.Errorf("%d bytes, %v", n, err)
			}
		})
	}
}
