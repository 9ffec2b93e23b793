package swap

import (
	"bytes"
	"encoding/base64"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const (
	realKey = "ghp_C4naryValue0123456789abcdefGHIJKLMN"
	fakeKey = "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
)

func keyPatterns() *patterns { return newPatterns(formsOf(realKey, fakeKey)) }

// scanAll feeds a text in pieces; times says after which of them nothing followed for a while.
func scanAll(p *patterns, text []byte, piece int, late bool) []byte {
	s := scanner{patterns: p}
	var out []byte
	for len(text) > 0 {
		n := min(piece, len(text))
		out = append(out, s.feed(text[:n])...)
		if late {
			out = append(out, s.release()...)
		}
		text = text[n:]
	}
	return append(out, s.rest()...)
}

func TestScannerReplacesAcrossPieces(t *testing.T) {
	t.Parallel()
	p := keyPatterns()
	code := base64.StdEncoding.EncodeToString([]byte(":" + realKey + ":"))
	text := "a " + realKey + " g gh ghp_ " + code + realKey + realKey + " end"
	for piece := 1; piece <= len(text); piece++ {
		got := string(scanAll(p, []byte(text), piece, false))
		if len(got) != len(text) || strings.Contains(got, realKey) || strings.Contains(got, code[3:len(code)-4]) || strings.Count(got, fakeKey) != 3 {
			t.Errorf("pieces of %d: %q", piece, got)
		}
		late := string(scanAll(p, []byte(text), piece, true))
		if len(late) != len(text) || strings.Contains(late, realKey[:len(realKey)/4+1]) {
			t.Errorf("late pieces of %d: %q", piece, late)
		}
	}
}

func TestAValueThatHoldsAnotherIsReplacedAsAWhole(t *testing.T) {
	t.Parallel()
	const short, long = "tok_abcdef12", "tok_abcdef12.SIGNATURE0987654321"
	const putShort, putLong = "rol_px5v1r6k", "zzz_zzzzzz99.PLACEHOLDER99999999"
	const inner, putInner = "user:tok_abcdef12", "xxxx:rol_yyyyyyyy"
	list := append(formsOf(short, putShort), formsOf(long, putLong)...)
	p := newPatterns(append(list, formsOf(inner, putInner)...))
	for text, want := range map[string]string{
		"a " + long + " b":                   "a " + putLong + " b",
		"a " + short + " b":                  "a " + putShort + " b",
		short:                                putShort,
		"a " + short + ".SI b":               "a " + putShort + ".SI b",
		"a " + short + ".SI":                 "a " + putShort + ".SI",
		"a " + inner + " b " + short + short: "a " + putInner + " b " + putShort + putShort,
	} {
		if got := p.clean(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		for piece := 1; piece <= len(text); piece++ {
			if got := string(scanAll(p, []byte(text), piece, false)); got != want {
				t.Errorf("%q in pieces of %d: %q, want %q", text, piece, got, want)
			}
		}
	}
}

func TestScannerKeepsBackOnlyBeginnings(t *testing.T) {
	t.Parallel()
	s := scanner{patterns: keyPatterns()}
	for _, c := range []struct{ in, out string }{
		{"hello\n\n", "hello\n\n"}, {"xgh", "x"}, {"p", ""}, {"!", "ghp!"}, {"ghghp_C4naryV", "gh"}, {"x", "ghp_C4naryVx"},
	} {
		if got := string(s.feed([]byte(c.in))); got != c.out {
			t.Errorf("%q: %q, want %q", c.in, got, c.out)
		}
	}
}

// TestCutValueIsReplaced: a host that shows all but the end of the value shows too much.
func TestCutValueIsReplaced(t *testing.T) {
	t.Parallel()
	p := keyPatterns()
	for n := range len(realKey) {
		got := string(scanAll(p, []byte("key "+realKey[:n]), 7, false))
		want := "key " + realKey[:n]
		if 2*n > len(realKey) {
			want = "key " + fakeKey[:n]
		}
		if got != want {
			t.Errorf("%d bytes: %q", n, got)
		}
	}
}

// TestSlowHostShowsAtMostAQuarter: bytes that wait for long are released, but never so many that
// the rest could be guessed.
func TestSlowHostShowsAtMostAQuarter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		from, to := io.Pipe()
		var got bytes.Buffer
		done := make(chan error)
		go func() { done <- newRelay(keyPatterns(), &got, func() error { return nil }).copy(from) }()
		for i := range len(realKey) {
			_, _ = to.Write([]byte(realKey[i : i+1]))
			time.Sleep(time.Second)
			synctest.Wait()
			if want := min(i+1, len(realKey)/4); i < len(realKey)-1 && got.Len() != want {
				t.Fatalf("after %d bytes %d are out, want %d", i+1, got.Len(), want)
			}
		}
		to.Close()
		if err := <-done; err != nil || len(got.String()) != len(realKey) || strings.Contains(got.String(), realKey[:len(realKey)/4+1]) {
			t.Errorf("%q, %v", got.String(), err)
		}
	})
}

func TestFormsAreAsLongAsTheirReplacement(t *testing.T) {
	t.Parallel()
	for _, value := range []string{realKey, "p/a+s s\"w<ö>r&d1", "sk-ant-api03-" + strings.Repeat("aB-3", 20), "12345678"} {
		one := &secret{value: value}
		if err := one.choosePlaceholder(""); err != nil {
			t.Fatal(err)
		}
		forms := map[string]bool{}
		for _, f := range formsOf(value, one.placeholder) {
			forms[f.find] = true
		}
		for _, write := range writings {
			if len(write(value)) != len(write(one.placeholder)) || !forms[write(value)] {
				t.Errorf("no form for %q", write(value))
			}
		}
		for at := range 3 {
			if !forms[within(base64.RawStdEncoding, value, at)] || len(within(base64.RawStdEncoding, value, at)) < len(value)*8/6-3 {
				t.Errorf("no form for base64 at %d of %q", at, value)
			}
		}
	}
}

func FuzzScanner(f *testing.F) {
	p := keyPatterns()
	code := base64.StdEncoding.EncodeToString([]byte("u:" + realKey))
	for _, seed := range []string{"", realKey, "x" + realKey + "y", realKey[:20] + realKey, strings.Repeat("ghp_", 20) + realKey[4:], code, "ghp_C4naryghp_C4naryValue", realKey[:38]} {
		for _, piece := range []uint8{1, 3, 40} {
			f.Add([]byte(seed), piece, piece == 3)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, piece uint8, late bool) {
		// The fuzzer finds the long value hardly by itself: $ is the value, % its base64.
		text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("$"), []byte(realKey)), []byte("%"), []byte(code))
		got := scanAll(p, bytes.Clone(text), max(int(piece), 1), late)
		if len(got) != len(text) {
			t.Fatalf("%d bytes became %d", len(text), len(got))
		}
		for _, form := range p.list {
			if bytes.Contains(got, []byte(form.find)) {
				t.Fatalf("%q shows %q", got, form.find)
			}
		}
		holds := bytes.ContainsFunc(text, func(r rune) bool { return p.first[byte(r)] })
		if !holds && !bytes.Equal(got, text) {
			t.Fatalf("%q became %q", text, got)
		}
		if whole := scanAll(p, bytes.Clone(text), len(text)+1, false); !late && !bytes.Equal(whole, got) {
			t.Fatalf("in pieces of %d: %q, as a whole: %q", piece, got, whole)
		}
	})
}
