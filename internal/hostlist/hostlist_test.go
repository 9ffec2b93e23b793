package hostlist_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"hermes/internal/hostlist"
)

func TestPatterns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, host string
		port          uint16
		want          bool
	}{
		{"example.org", "example.org", 443, true},
		{"example.org", "www.example.org", 443, false},
		{"example.org", "notexample.org", 443, false},
		{"EXAMPLE.org.", "example.org", 80, true},
		{"*.example.org", "a.b.example.org", 443, true},
		{"*.example.org", "example.org", 443, false},
		{"*.example.org", "aexample.org", 443, false},
		{"*.zip", "a.zip", 443, true},
		{"*.zip", "zip", 443, false},
		{"*", "anything.example", 1, true},
		{"*:22", "anything.example", 1, false},
		{"example.org:22", "example.org", 22, true},
		{"example.org:22", "example.org", 443, false},
		{"bücher.example", "xn--bcher-kva.example", 443, true},
		{"0x7f.1", "127.0.0.1", 80, true},
		{"93.184.216.34", "64:ff9b::5db8:d822", 80, true},
		{"[::1]:8080", "::1", 8080, true},
		{"[::1]:8080", "::1", 80, false},
		{"::1", "::1", 80, true},
		{"*", "::1", 80, true},
		{"*.0.0.1x", "127.0.0.1", 80, false},
	} {
		p, err := hostlist.Parse(c.pattern)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		var l hostlist.List
		l.Add(p)
		found, ok := l.Match(c.host, c.port)
		if p.Match(c.host, c.port) != c.want || ok != c.want || ok && found.String() != p.String() {
			t.Errorf("%s and %s:%d: %t, found %v %t; want %t", c.pattern, c.host, c.port, p.Match(c.host, c.port), found, ok, c.want)
		}
		if again, err := hostlist.Parse(p.String()); err != nil || again != p {
			t.Errorf("%s is written as %s, which reads as %v, %v", c.pattern, p, again, err)
		}
	}
	for _, bad := range []string{"", "*.", "a b", "a@b", "x:0", "x:70000", "x:y", "[::1", "[a]:1", "*.127.0.0.1", "a.*.b", "**", "https://x", "fe80::1%e", "[::1]x:1"} {
		if p, err := hostlist.Parse(bad); err == nil {
			t.Errorf("%q became %v", bad, p)
		}
	}
	if (hostlist.Pattern{}).Match("", 0) || (hostlist.Pattern{Below: true}).Match("", 0) {
		t.Error("nothing matched")
	}
}

func TestFilesAreReadEvery30Seconds(t *testing.T) {
	t.Parallel()
	now, text, failing, reads := time.Unix(0, 0), "# sites\n\nhttps://bad.example/path # why\n*.zip\nnot a host\n", error(nil), 0
	s := &hostlist.Source{
		Entries: []string{"own.example", "also bad"}, Files: []string{"list.txt"}, Now: func() time.Time { return now },
		ReadFile: func(string) ([]byte, error) { reads++; return []byte(text), failing },
	}
	match := func(host string, want bool) {
		t.Helper()
		if rule, got := s.Match(host, 443); got != want || got && rule == "" {
			t.Errorf("%s: %q, %t", host, rule, got)
		}
	}
	match("own.example", true)
	match("bad.example", true)
	match("x.zip", true)
	match("new.example", false)
	if err := s.Err(); err == nil || !strings.Contains(err.Error(), "not a host") || !strings.Contains(err.Error(), "also bad") || reads != 1 {
		t.Errorf("%v after %d reads", err, reads)
	}
	text = "new.example"
	now = now.Add(29 * time.Second)
	match("new.example", false)
	now = now.Add(time.Second)
	match("new.example", true)
	match("bad.example", false)
	failing, now = errors.New("gone"), now.Add(time.Minute)
	match("new.example", true) // the last reading counts
	if err := s.Err(); err == nil || !strings.Contains(err.Error(), "gone") {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"example.org", "*.zip:22", "[::1]:8", "0x7f.1", "*", "bücher.example", "fe80::1%e", "a:b:c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := hostlist.Parse(text)
		if err != nil {
			return
		}
		if again, err := hostlist.Parse(p.String()); err != nil || again != p {
			t.Errorf("%q: %+v is written as %q, which reads as %+v, %v", text, p, p.String(), again, err)
		}
	})
}
