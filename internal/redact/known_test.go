package redact

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

// TestKnownValuesAreBounded gives more and longer values than any home has.
func TestKnownValuesAreBounded(t *testing.T) {
	t.Parallel()
	size := func(values []string) (n, bytes int) {
		x := newSpeller(values)
		for _, f := range x.sorted {
			bytes += len(f.folded) + len(f.skeleton) + len(f.exact)
		}
		n = len(x.sorted)
		for _, list := range newIndex(values).long {
			if n < len(list) {
				t.Errorf("%d strings beside %d spellings", len(list), n)
			}
		}
		return n, bytes
	}
	if n, _ := size([]string{strings.Repeat("a1", longest)}); n > 0 {
		t.Errorf("%d forms of a value that is too long", n)
	}
	var many, large []string
	for i := range 2000 {
		many = append(many, fmt.Sprintf("many-values-%06d", i))
		large = append(large, fmt.Sprintf("%06d", i)+strings.Repeat("x", longest-6))
	}
	if n, _ := size(many); n < mostForms || n > mostForms+20 {
		t.Errorf("%d forms of many values, want %d", n, mostForms)
	}
	if _, bytes := size(large); bytes < mostBytes || bytes > mostBytes+20*longest {
		t.Errorf("forms of %d bytes, want about %d", bytes, mostBytes)
	}
}

// TestALineMayBreakAnywhereInAnEncodedKnownValue as the width of the lines decides.
func TestALineMayBreakAnywhereInAnEncodedKnownValue(t *testing.T) {
	t.Parallel()
	const secret = "not-a-key-by-its-form/not-a-key-by-its-form"
	r := New(Options{Known: []string{secret}})
	encoded := base64.RawStdEncoding.EncodeToString([]byte(secret))
	for at := 1; at < len(encoded)-1; at++ {
		got := r.Text("x\n" + encoded[:at] + "\n" + encoded[at:] + "\ny")
		if shown := strings.ReplaceAll(got, "\n", ""); strings.Contains(shown, encoded[24:40]) {
			t.Errorf("broken at %d: got %q", at, got)
		}
	}
}

// TestAStreamDoesNotWaitForeverForAKnownValue begins one that never ends.
func TestAStreamDoesNotWaitForeverForAKnownValue(t *testing.T) {
	t.Parallel()
	const secret = "not-a-key-by-its-form/not-a-key-by-its-form"
	s := New(Options{Known: []string{secret}}).Stream()
	sent := base64.RawStdEncoding.EncodeToString([]byte(secret))[:40]
	shown := len(s.Write(sent))
	for lines := strings.Repeat("\n", 1<<10); len(sent) < 4*streamHold; sent += lines {
		shown += len(s.Write(lines))
		if held := len(sent) + len(lines) - shown; held > 2*streamHold {
			t.Fatalf("%d bytes are held back", held)
		}
	}
}
