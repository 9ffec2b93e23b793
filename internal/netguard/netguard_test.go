package netguard_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"hermes/internal/netguard"
)

// names is a resolver with a table; what is not in it does not resolve.
func names(table map[string]string) func(context.Context, string) ([]netip.Addr, error) {
	return func(_ context.Context, host string) ([]netip.Addr, error) {
		var list []netip.Addr
		for f := range strings.FieldsSeq(table[host]) {
			list = append(list, netip.MustParseAddr(f))
		}
		if len(list) == 0 {
			return nil, fmt.Errorf("no such host: %s", host)
		}
		return list, nil
	}
}

// verdict is what becomes of a URL: admitted always, with the switch, or never.
type verdict int

const (
	always verdict = iota
	switched
	never
)

func judged(t *testing.T, g netguard.Guard, raw string) verdict {
	t.Helper()
	_, err := g.Judge(t.Context(), raw)
	g.Private = true
	_, open := g.Judge(t.Context(), raw)
	switch {
	case err == nil && open == nil:
		return always
	case err == nil:
		t.Errorf("%q: the switch refuses it: %v", raw, open)
	case open == nil:
		if r, ok := errors.AsType[*netguard.Refused](err); !ok || !r.Private {
			t.Errorf("%q: the refusal does not mention the switch: %#v", raw, err)
		}
		return switched
	}
	for _, e := range []error{err, open} {
		if _, ok := errors.AsType[*netguard.Refused](e); e != nil && !ok {
			t.Errorf("%q: %v is no refusal", raw, e)
		}
	}
	return never
}

func TestJudge(t *testing.T) {
	t.Parallel()
	g := netguard.Guard{Resolve: names(map[string]string{
		"example.org": "93.184.216.34 2606:2800:220:1:248:1893:25c8:1946", "rebind.example": "93.184.216.34 10.0.0.1",
		"rebind6.example": "2606:2800::1 ::1", "intern.example": "192.168.1.1", "meta.example": "169.254.169.254", "bücher.example": "93.184.216.34",
		"xn--bcher-kva.example": "93.184.216.34", "xn--fsq.example": "93.184.216.34", "localhost": "127.0.0.1", "a.localhost": "93.184.216.34", "my_host.example": "93.184.216.34",
		"metadata.google.internal": "93.184.216.34", "mapped.example": "::ffff:10.0.0.1", "metadata.example": "93.184.216.34", "pples": "93.184.216.34",
	})}
	for raw, want := range map[string]verdict{
		"https://example.org/a?b=c": always, "http://example.org:8080": always, "HTTPS://EXAMPLE.ORG.": always, "http://93.184.216.34/": always,
		"http://[2606:2800::1]/": always, "https://user:pw@example.org": always, "https://bücher.example/": always, "https://xn--bcher-kva.example/": always,
		"https://例.example/": always, "https://my_host.example/": always, "https://metadata.example/": always,

		// Only http and https, with a host.
		"": never, "example.org": never, "//example.org": never, "ftp://example.org": never, "file:///etc/passwd": never, "javascript:alert(1)": never,
		"http:": never, "http://": never, "http:///path": never, "http:example.org": never, "http://:80/": never, "https://.": never, "https://..": never,
		"https://a..example/": never, "http://example.org:0/": never, "http://example.org:99999/": never, "http://exa mple.org/": never, "http://example.org\\@127.0.0.1/": never,
		"http://example.org\n/": never, "http://%31%32%37.0.0.1.example/": never, "gopher://example.org": never, "http://[::1": never, "http://" + strings.Repeat("a", 300) + ".example/": never,
		"http://example.org/" + strings.Repeat("a", 9000): never,

		// Addresses that are not public.
		"http://127.0.0.1/": switched, "http://127.8.8.8:11434/v1": switched, "http://localhost/": switched, "http://LOCALHOST.:80/": switched, "http://a.localhost/": switched, "http://[::1]/": switched,
		"http://10.1.2.3/": switched, "http://172.16.0.1/": switched, "http://172.31.255.255/": switched, "http://172.32.0.1/": always, "http://192.168.0.1/": switched,
		"http://169.254.1.1/": switched, "http://[fe80::1]/": switched, "http://100.64.0.1/": switched, "http://100.127.255.255/": switched, "http://100.128.0.1/": always,
		"http://198.18.0.1/": switched, "http://198.19.255.255/": switched, "http://[fc00::1]/": switched, "http://[fd12:3456::1]/": switched, "http://[fec0::1]/": switched,
		"http://0.0.0.0/": never, "http://0.1.2.3/": never, "http://[::]/": never, "http://224.0.0.1/": never, "http://239.255.255.250/": never, "http://[ff02::1]/": never,
		"http://255.255.255.255/": never, "http://240.0.0.1/": never, "http://192.0.2.1/": never, "http://[2001:db8::1]/": never, "http://[4000::1]/": never, "http://[fe80::1%25eth0]/": never,
		"http://[2001::1]/": never, "http://[100::1]/": never,

		// IPv4 inside IPv6.
		"http://[::ffff:127.0.0.1]/": switched, "http://[::ffff:10.0.0.1]/": switched, "http://[::ffff:93.184.216.34]/": never, "http://[::ffff:169.254.169.254]/": never,
		"http://[::127.0.0.1]/": never, "http://[64:ff9b::7f00:1]/": switched, "http://[64:ff9b::a9fe:a9fe]/": never, "http://[64:ff9b::5db8:d822]/": always, "http://[64:ff9b:1::1]/": switched,
		"http://[2002:7f00:1::]/": switched, "http://[2002:a00:1::]/": switched, "http://[2002:a9fe:a9fe::]/": never, "http://[2002:5db8:d822::1]/": always,
		"http://[2606:2800::5efe:10.0.0.1]/": switched, "http://[2606:2800::200:5efe:a9fe:a9fe]/": never,

		// Every address that a name has.
		"http://rebind.example/": switched, "http://rebind6.example/": switched, "http://intern.example/": switched, "http://mapped.example/": switched,
		"http://unknown.example/": never,

		// Addresses written as numbers.
		"http://2130706433/": never, "http://0x7f000001/": never, "http://127.1/": never, "http://0177.0.0.1/": never, "http://0x7f.0.0.1/": never, "http://127.0.0.1.": switched,
		"http://①②⑦.0.0.1/": never, "http://１２７.0.0.1/": never, "http://example.0x1/": never,

		// Metadata services, by name and by address.
		"http://169.254.169.254/latest/meta-data": never, "http://169.254.170.2/": never, "http://100.100.100.200/": never, "http://168.63.129.16/": never, "http://[fd00:ec2::254]/": never,
		"http://metadata.google.internal/": never, "http://METADATA.GOOGLE.INTERNAL./": never, "http://x.metadata.google.internal/": never, "http://metadata/": never, "http://instance-data/": never,
		"http://meta.example/": never,

		// Names that imitate others.
		"https://аррӏе.example/": never, "https://exаmple.org/": never, "https://xn--80ak6aa92e.com/": never, "https://ｅxample.org/": never, "https://ex\u200bample.org/": never, "https://𝐞xample.org/": never,
		"https://xn--a/": never,
	} {
		if got := judged(t, g, raw); got != want {
			_, err := g.Judge(t.Context(), raw)
			t.Errorf("%q: verdict %d, want %d (%v)", raw, got, want, err)
		}
	}
}

func TestJudgeReturnsWhatItJudged(t *testing.T) {
	t.Parallel()
	g := netguard.Guard{Resolve: names(map[string]string{"example.org": "93.184.216.34"})}
	list, err := g.Judge(t.Context(), "https://example.org/")
	if err != nil || len(list) != 1 || list[0].String() != "93.184.216.34" {
		t.Errorf("%v, %v", list, err)
	}
}

func TestAProxyResolves(t *testing.T) {
	t.Parallel()
	proxy := &url.URL{Scheme: "http", Host: "proxy.example:3128"}
	g := netguard.Guard{
		Proxy:   func(*http.Request) (*url.URL, error) { return proxy, nil },
		Resolve: names(map[string]string{"intern.example": "10.0.0.1"}),
	}
	for raw, want := range map[string]verdict{
		"https://only-the-proxy-knows.example/": always, "http://10.0.0.1/": switched, "http://intern.example/": switched,
		"http://metadata.google.internal/": never, "http://localhost/": switched, "http://169.254.169.254/": never,
	} {
		if got := judged(t, g, raw); got != want {
			t.Errorf("%q: verdict %d, want %d", raw, got, want)
		}
	}
}

func TestAnInterruptIsNoRefusal(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	g := netguard.Guard{Resolve: func(ctx context.Context, _ string) ([]netip.Addr, error) { cancel(); return nil, ctx.Err() }}
	if _, err := g.Judge(ctx, "https://example.org"); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

func TestTheSwitch(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{"true": true, "1": true, "yes": true, " YES ": true, "True": true,
		"": false, "false": false, "0": false, "no": false, "on": false, `"true"`: false, "truely": false} {
		if got := netguard.On(value); got != want {
			t.Errorf("%q is %v", value, got)
		}
	}
}

// What the judge admits is what net/http connects to: no spelling of a host
// may mean a private place to it.
func FuzzJudge(f *testing.F) {
	for _, s := range []string{"http://127.0.0.1", "http://[::ffff:7f00:1]", "http://①②⑦.0.0.1", "http://0x7f.1", "https://exаmple.org", "http://a@b:1/c?d#e", "http://xn--a", "http://LOCALHOST%2e", "http://[fe80::1%25a]"} {
		f.Add(s)
	}
	g := netguard.Guard{Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
		if strings.ContainsAny(host, ":/@%\\ []") || host != strings.ToLower(host) || strings.HasSuffix(host, ".") {
			panic("looked up: " + host)
		}
		return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
	}}
	f.Fuzz(func(t *testing.T, raw string) {
		list, err := g.Judge(t.Context(), raw)
		if err != nil {
			return
		}
		u, err := url.Parse(raw)
		if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
			t.Fatalf("%q was admitted", raw)
		}
		for _, a := range list {
			if a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || a.IsMulticast() || a.IsUnspecified() || a.Is4In6() {
				t.Fatalf("%q was admitted with %v", raw, a)
			}
		}
	})
}

// TestBlocksLooksNothingUp: the rules of the user are asked about the host as it is written, and what cannot be
// read counts as forbidden.
func TestBlocksLooksNothingUp(t *testing.T) {
	t.Parallel()
	g := netguard.Guard{
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			t.Error("a name was looked up")
			return nil, nil
		},
		Blocked: func(host string, port uint16) (string, bool) {
			return "bad.example", host == "bad.example" && port == 443
		},
	}
	for address, want := range map[string]bool{
		"https://BAD.example./x": true, "https://good.example/": false, "http://bad.example/": false, "ftp://good.example/": true, "https://good..example/": true,
	} {
		if rule, got := g.Blocks(address); got != want || got && rule == "" {
			t.Errorf("%s: %q, %v", address, rule, got)
		}
	}
	if _, blocked := (&netguard.Guard{}).Blocks("nonsense"); blocked {
		t.Error("without rules something is forbidden")
	}
}
