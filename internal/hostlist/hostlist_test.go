package hostlist_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/internal/hostlist"
)

func mustParse(t *testing.T, lines ...string) hostlist.List {
	t.Helper()
	l, err := hostlist.Parse(lines)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestARuleMatchesWhatItSays(t *testing.T) {
	t.Parallel()
	tests := []struct {
		rule, host string
		port       uint16
		want       bool
	}{
		{"example.org", "example.org", 443, true},
		{"Example.ORG.", "eXample.org", 443, true},
		{"example.org", "example.org.", 443, true},
		{"example.org", "www.example.org", 443, false},
		{"example.org", "badexample.org", 443, false},
		{"example.org", "example.org.evil.test", 443, false},
		{"*.example.org", "www.example.org", 443, true},
		{"*.example.org", "a.b.example.org", 443, true},
		{"*.example.org", "example.org", 443, false},
		{"*.example.org", "wwwexample.org", 443, false},
		{"*.ru", "shop.ru", 80, true},
		{"*.ru", "ru", 80, false},
		{"*.ru", "x.peru", 80, false},
		{"*", "anything.test", 1, true},
		{"*", "10.0.0.1", 1, true},
		{"*:22", "anything.test", 22, true},
		{"*:22", "anything.test", 23, false},
		{"example.org:8443", "example.org", 8443, true},
		{"example.org:8443", "example.org", 443, false},
		{"example.org:8443", "example.org", 0, false},
		{"bücher.example", "xn--bcher-kva.example", 443, true},
		{"xn--bcher-kva.example", "BÜCHER.example", 443, true},
		{"under_score.example", "UNDER_score.example", 443, true},
		{"127.0.0.1", "0x7f.1", 80, true},
		{"127.0.0.1", "2130706433", 80, true},
		{"127.0.0.1", "0177.0.0.1", 80, true},
		{"127.0.0.1", "::ffff:127.0.0.1", 80, true},
		{"127.0.0.1", "64:ff9b::7f00:1", 80, true},
		{"[2001:db8::1]", "2001:0DB8:0:0::1", 80, true},
		{"[2001:db8::1]:81", "[2001:db8::1]", 81, true},
		{"[2001:db8::1]:81", "2001:db8::1", 80, false},
		{"*.0.0.1", "10.0.0.1", 80, false},
		{"example.org # of a friend", "example.org", 80, true},
		{"example.org", "example.org\x00.evil.test", 80, false},
	}
	for _, tt := range tests {
		l, err := hostlist.Parse([]string{tt.rule})
		if err != nil {
			t.Error(err)
			continue
		}
		if got := l.Match(tt.host, tt.port); got != tt.want {
			t.Errorf("%s, %s, port %d: got %v", tt.rule, tt.host, tt.port, got)
		}
	}
}

func TestLinesThatAreNoRulesSwitchNothingOff(t *testing.T) {
	t.Parallel()
	bad := []string{"https://example.org/x", "a..b", "exa mple.org", "a.*.org", "*example.org", "example.org:0", "example.org:x", "[::1", "fe80::1%eth0", "256.1.1.1", "1.2.3.4.5"}
	l, err := hostlist.Parse(append(bad, "", "# nothing", "good.example"))
	if !l.Match("good.example", 80) || l.Len() != 1 {
		t.Errorf("%d rules", l.Len())
	}
	for _, line := range bad {
		if err == nil || !strings.Contains(err.Error(), line) {
			t.Errorf("%s is not named: %v", line, err)
		}
	}
}

func TestCanonicalRefusesWhatIsNoHost(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"", ".", "a b", "a\x00b", "a/b", "a@b", "a..b", "1.2.3.4.5", "0xfffffffff", "0xffffffffffffffffffff", "09.1", "0x1ff.0.0.1", "999.1", "::1%lo", "1::2::3", strings.Repeat("a.", 200) + "b"} {
		if got, err := hostlist.Canonical(host); err == nil {
			t.Errorf("%q is %q", host, got)
		}
	}
}

func FuzzCanonical(f *testing.F) {
	for _, host := range []string{"example.org", "0x7f.1", "::ffff:1.2.3.4", "bücher.example", "a_b.example", "１２７.0.0.1", "*.x"} {
		f.Add(host)
	}
	f.Fuzz(func(t *testing.T, host string) {
		once, err := hostlist.Canonical(host)
		if err != nil {
			return
		}
		if twice, err := hostlist.Canonical(once); err != nil || twice != once {
			t.Errorf("%q is %q, which is %q, %v", host, once, twice, err)
		}
	})
}

func TestFilesAreReadAgainAfterAWhile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "hosts")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("# ours\none.example\nno rule\n")
	now := time.Unix(1_700_000_000, 0)
	l := hostlist.NewFiles(func() time.Time { return now }, path)
	find := func(host string, want bool) hostlist.Rule {
		t.Helper()
		r, ok, err := l.Find(host, 443)
		if err != nil || ok != want {
			t.Errorf("%s: %v, %v", host, ok, err)
		}
		return r
	}
	if r := find("one.example", true); r.String() != `"one.example" (`+path+`, line 2)` {
		t.Errorf("got %s", r)
	}
	if err := l.Check(); err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("got %v", err)
	}
	write("two.example\n")
	now = now.Add(hostlist.Fresh - time.Second)
	find("two.example", false)
	now = now.Add(time.Second)
	find("two.example", true)
	find("one.example", false)
	if err := l.Check(); err != nil {
		t.Error(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	now = now.Add(hostlist.Fresh)
	if _, _, err := l.Find("one.example", 443); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without the file: %v", err)
	}
}

func TestAListHasAllItsLines(t *testing.T) {
	t.Parallel()
	l := mustParse(t, "a.example", "*.b.example", "a.example:80")
	if l.Len() != 3 || !l.Match("a.example", 80) || !l.Match("x.b.example", 1) {
		t.Errorf("%d rules", l.Len())
	}
}
