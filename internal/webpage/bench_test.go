package webpage_test

import (
	"os"
	"strings"
	"testing"

	"hermes/internal/webpage"
)

// BenchmarkConvert converts a page of 1 MB: the blocks of a real article, many times.
func BenchmarkConvert(b *testing.B) {
	raw, err := os.ReadFile("testdata/page.html")
	if err != nil {
		b.Fatal(err)
	}
	_, body, _ := strings.Cut(string(raw), "<body>")
	body = strings.TrimSuffix(strings.TrimSpace(body), "</body></html>") + "<div class='share'><a href=/a>Share</a></div><p>" + strings.Repeat("A sentence of an article, with a <a href='/x'>link</a>. ", 8) + "</p>"
	source := "<title>x</title><h1>Head</h1><div class=c1><div class=c2>" + strings.Repeat("<div class='block b-12'>"+body+"</div>", 1<<20/len(body)) + "</div></div>"
	b.SetBytes(int64(len(source)))
	for b.Loop() {
		if p := webpage.Convert(source, nil, 4<<20); len(p.Text) < 1000 {
			b.Fatal(p.Text)
		}
	}
}
