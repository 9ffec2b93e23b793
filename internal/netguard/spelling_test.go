package netguard_test

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"hermes/internal/httpc"
	"hermes/internal/netguard"
)

func TestEverySpellingHasOnePlainForm(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"Example.ORG": "example.org", "example.org.": "example.org", "bücher.example": "xn--bcher-kva.example", "_x.example": "_x.example",
		"127.0.0.1": "127.0.0.1", "127.1": "127.0.0.1", "0x7f.1": "127.0.0.1", "0X7F.0.0.1": "127.0.0.1", "2130706433": "127.0.0.1",
		"0x7f000001": "127.0.0.1", "017700000001": "127.0.0.1", "0177.0.0.01": "127.0.0.1", "127.0.1.": "127.0.0.1", "169.254.43518": "169.254.169.254",
		"::1": "::1", "0:0::1": "::1", "::ffff:169.254.169.254": "169.254.169.254", "::FFFF:7f00:1": "127.0.0.1", "64:ff9b::7f00:1": "64:ff9b::7f00:1",
	} {
		if got, err := netguard.Canonical(host); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", host, got, err, want)
		}
	}
	for _, host := range []string{
		"", ".", "..", "a..b", "a b", "a\x00b", "a\nb", "a/b", "a@b", "a%62", "fe80::1%eth0", "256.1.1.1", "1.2.3.4.5", "08.1", "0x1ffffffff",
		"1..2", "[::1]", "exаmple.org", "ｅxample.org", "a:b", strings.Repeat("a.", 200) + "org", "1.2.3.256", "4294967296",
	} {
		if got, err := netguard.Canonical(host); err == nil {
			t.Errorf("%q became %q", host, got)
		}
	}
}

func TestClasses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]netguard.Class{
		"93.184.216.34": netguard.Public, "127.0.0.1": netguard.Private, "224.0.0.1": netguard.Unusable, "169.254.169.254": netguard.Metadata,
		"64:ff9b::169.254.169.254": netguard.Metadata, "2002:7f00:1::": netguard.Private, "64:ff9b::5db8:d822": netguard.Public,
	} {
		if got, what := netguard.Classify(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: %v (%s), want %v", text, got, what, want)
		}
	}
	if got, ok := netguard.Embedded(netip.MustParseAddr("64:ff9b::5db8:d822")); !ok || got.String() != "93.184.216.34" {
		t.Errorf("%v, %v", got, ok)
	}
	if _, ok := netguard.Embedded(netip.MustParseAddr("1.2.3.4")); ok {
		t.Error("an IPv4 address holds another")
	}
}

func TestABlockedHostIsNeitherResolvedNorFetched(t *testing.T) {
	t.Parallel()
	w := newWeb(t, map[string]http.HandlerFunc{"a.example/": to("http://bad.example/")})
	g := &netguard.Guard{
		Connect: w.connect,
		Blocked: func(host string, port uint16) (string, bool) {
			return "bad.example:80", host == "bad.example" && port == 80
		},
		Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
			if host == "bad.example" {
				t.Error("it was looked up")
			}
			return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
		},
	}
	c := client(t, g, netguard.Limits{Redirect: httpc.Pages.Check})
	for _, address := range []string{"http://bad.example/", "http://BAD.example.:80/", "http://a.example/"} {
		if _, err := get(t, c, address); !refused(err) || !strings.Contains(err.Error(), "bad.example:80") {
			t.Errorf("%s: %v", address, err)
		}
	}
	if _, err := g.Judge(t.Context(), "http://bad.example/x"); !refused(err) {
		t.Errorf("judged: %v", err)
	}
}
