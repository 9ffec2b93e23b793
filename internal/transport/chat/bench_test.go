package chat_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"testing"

	"hermes"
	"hermes/internal/transport/chat"
)

// stream answers with n chunks.
type stream struct{ body []byte }

func (s *stream) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(bytes.NewReader(s.body))}, nil
}

func BenchmarkStream20000(b *testing.B) {
	var buf bytes.Buffer
	for i := range 20_000 {
		fmt.Fprintf(&buf, "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word%d \"},\"finish_reason\":null}]}\n\n", i)
	}
	buf.WriteString("data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	m := chat.New(config(&stream{buf.Bytes()}))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, err := range m.Stream(b.Context(), &hermes.Request{}) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != 20_001 {
			b.Fatal(n)
		}
	}
}
