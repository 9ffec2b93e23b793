package seatbelt_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"hermes/internal/sandbox"
	"hermes/internal/sandbox/seatbelt"
)

var update = flag.Bool("update", false, "renew testdata")

func policy() sandbox.Policy {
	return sandbox.Policy{
		Read: []string{"/usr/bin", "/opt/homebrew"}, Write: []string{"/Users/u/project"},
		Protected: []string{"/Users/u/project/.git/hooks", "/Users/u/project/.git/config"},
		Hidden:    []string{"/Users/u/project/app/.env"},
		Temp:      "/Users/u/Library/Caches/hermes/t", Home: "/Users/u", PrivateHome: "/Users/u/Library/Caches/hermes/home",
		Network: sandbox.Proxied,
	}
}

func TestProfileGolden(t *testing.T) {
	t.Parallel()
	offline := policy()
	offline.Network = sandbox.Offline
	for name, p := range map[string]sandbox.Policy{"proxied": policy(), "offline": offline, "nothing": {}} {
		got, err := seatbelt.Profile(p, seatbelt.Options{ProxyPort: 3128})
		if err != nil {
			t.Fatal(err)
		}
		file := "testdata/" + name + ".sb"
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil || got != string(want) {
			t.Errorf("%s is not what the profile is now (%v); renew it with -update:\n%s", file, err, got)
		}
	}
}

// TestDenialsComeLast: the last rule that matches decides, so no allow may follow a denial of a
// protected or hidden path.
func TestDenialsComeLast(t *testing.T) {
	t.Parallel()
	got, err := seatbelt.Profile(policy(), seatbelt.Options{ProxyPort: 3128})
	if err != nil {
		t.Fatal(err)
	}
	body := strings.TrimPrefix(got, "(version 1)\n(deny default)\n")
	if first := strings.Index(body, "(deny "); first < 0 || strings.Contains(body[first:], "(allow ") {
		t.Errorf("an allow follows a denial:\n%s", got)
	}
	for _, want := range []string{
		`(literal "/Users/u/project/.git")`, `(literal "/Users/u/project/app")`, `(literal "/Users/u/project")`, // cannot be moved away
		`(subpath "/Users/u/Library/Keychains")`, `(deny network-outbound (remote unix-socket))`,
	} {
		if !strings.Contains(body[strings.Index(body, "(deny "):], want) {
			t.Errorf("%s is not denied", want)
		}
	}
	if n := strings.Count(got, "(allow network"); n != 1 {
		t.Errorf("%d rules allow something of the network", n)
	}
}

func TestPathsThatCannotBeNamedAreRefused(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"", "relative", "/a/../b", "/a/", "/a\nb", "/a\x00b", "/\xff"} {
		for _, p := range []sandbox.Policy{{Read: []string{path}}, {Write: []string{path}}, {Hidden: []string{path}}, {Protected: []string{path}}, {Devices: []string{path}}} {
			if _, err := seatbelt.Profile(p, seatbelt.Options{}); err == nil {
				t.Errorf("%q was accepted", path)
			}
		}
	}
}

// FuzzPathsStayStrings: a path ends no string, and so no rule, of the profile. What is left of a
// profile without its strings and the text around a path is the same for every path.
func FuzzPathsStayStrings(f *testing.F) {
	for _, path := range []string{`/a"b`, `/a\`, `/a\"b`, `/a") (allow default) ("`, "/a;b", "/a|b|", "/#\"x\"", "/ä b"} {
		f.Add(path)
	}
	plain, err := seatbelt.Profile(sandbox.Policy{Write: []string{"/x"}, Hidden: []string{"/x"}}, seatbelt.Options{})
	if err != nil {
		f.Fatal(err)
	}
	want, _ := outside(plain)
	f.Fuzz(func(t *testing.T, path string) {
		if strings.Count(path, "/") != 1 {
			return // folders above would be more strings
		}
		got, err := seatbelt.Profile(sandbox.Policy{Write: []string{path}, Hidden: []string{path}}, seatbelt.Options{})
		if err != nil || path == "/" {
			return
		}
		text, closed := outside(got)
		if !closed || text != want {
			t.Errorf("%q changes the profile:\n%s", path, got)
		}
	})
}

// outside returns a profile without the content of its strings, read as its parser does.
func outside(profile string) (text string, closed bool) {
	var out strings.Builder
	in := false
	for i := 0; i < len(profile); i++ {
		switch c := profile[i]; {
		case in && c == '\\':
			i++
		case c == '"':
			in = !in
			out.WriteByte(c)
		case !in:
			out.WriteByte(c)
		}
	}
	return out.String(), !in
}
