package browser_test

import (
	"fmt"
	"strings"
	"testing"

	"hermes/internal/browser"
)

// rows is a page with about 4 nodes for each of n rows.
func rows(n int) string {
	var b strings.Builder
	b.WriteString("<title>Rows</title><h1>Rows</h1><ul>")
	for i := range n {
		fmt.Fprintf(&b, "<li>Item %d <a href='/item/%d'>Details of %d</a></li>", i, i, i)
	}
	return b.String() + "</ul>"
}

// BenchmarkSnapshot reads a page of about 1,000 nodes of the accessibility tree: the aim is 30 ms.
func BenchmarkSnapshot(b *testing.B) {
	p := mustOpen(b, rows(160))
	for b.Loop() {
		if _, err := p.Snapshot(p.ctx, browser.SnapshotOptions{Query: "details"}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkClick clicks a button that does nothing: the aim is 20 ms.
func BenchmarkClick(b *testing.B) {
	p := mustOpen(b, "<button onclick='n=(window.n||0)+1'>Go</button>")
	ref := p.ref("Go")
	for b.Loop() {
		if _, err := p.Click(p.ctx, ref); err != nil {
			b.Fatal(err)
		}
	}
}
