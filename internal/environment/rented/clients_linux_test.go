//go:build slow

package rented_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestClientsOfTheVendors runs each vendor's own client against the server that the other
// tests use. What they get has to be right; so the server is what the vendor documents, and
// what works with it works with the vendor. Each client also runs a command in the sandbox
// that the program made.
func TestClientsOfTheVendors(t *testing.T) {
	folder := os.Getenv("HERMES_SLOW_PLACES")
	if folder == "" {
		t.Fatal("run .ci/slow places, which installs the clients and sets HERMES_SLOW_PLACES")
	}
	for _, c := range []struct {
		name string
		env  func(url string) []string
		want string
	}{
		{"daytona", func(url string) []string {
			return []string{"DAYTONA_API_KEY=key-1", "DAYTONA_API_URL=" + url + "/api"}
		}, `found hello
exec 7 ['out', 'err']
long 300000
session 3 'out\n' 'err\n'
stream 'one\ntwo\n' 'err\n' 5
logs 'one\ntwo\n' 'err\n'
files b'a\x00\xffb' two
kept two
left 1
`},
		{"e2b", func(url string) []string {
			return []string{"E2B_API_KEY=" + e2bKey, "E2B_API_URL=" + url, "E2B_SANDBOX_URL=" + url, "E2B_HTTP_VERSION=1.1"}
		}, `found hello
exec 7 'out\n' 'err\n'
long 300000
stream 'one\ntwo\n' 2
kill True
files b'a\x00\xffb'
list True
kept '4\n'
ended True 1
`},
		{"runloop", func(url string) []string {
			return []string{"RUNLOOP_API_KEY=key-1", "RUNLOOP_BASE_URL=" + url}
		}, `found hello
status running {'who': 'client'}
exec 7 'out\n' 'err\n'
stream 'one\ntwo\n' 300008 'err\n' completed 5
kill 137
files 4 hello
kept hello
ended shutdown
`},
		{"modal", func(url string) []string {
			return []string{"MODAL_SERVER_URL=" + url, "MODAL_TOKEN_ID=ak-1", "MODAL_TOKEN_SECRET=as-1", "MODAL_CONFIG_PATH=/dev/null"}
		}, `found hello
exec 7 'out\n' 'err\n'
long 300000 0
input b'a\x00\xffb' 0
killed 137
again None still
stored True
ended True
`},
		{"vercel", func(url string) []string { return []string{"SERVER_URL=" + url} }, `found hello
exec 7 "out\n" "err\n"
long 300000
detached 0 "one\ntwo\n"
kill 137
files 6100ff62
kept 4
left 1
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, url := startWithURL(t, c.name)
			r := mustOpen(t, s, config(t))
			defer r.Close()
			output(t, r, "echo hello >~/from-hermes", "")
			if got := runClient(t, folder, c.name, c.env(url)); got != c.want {
				t.Error(cmp.Diff(got, c.want))
			}
		})
	}
}

func startWithURL(t *testing.T, name string) (server, string) {
	t.Helper()
	for _, service := range services {
		if service.name == name {
			s := service.start(t)
			return s, s.address()
		}
	}
	t.Fatalf("no server %q", name)
	return nil, ""
}

// runClient runs the script of a client and returns what it printed.
func runClient(t *testing.T, folder, name string, env []string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	program, script := filepath.Join(folder, "python", "bin", "python"), "testdata/"+name+"_client.py"
	if _, err := os.Stat(script); err != nil {
		program, script = "node", "testdata/"+name+"_client.mjs"
	}
	c := exec.CommandContext(ctx, program, script)
	c.Env = append([]string{"PYTHONDONTWRITEBYTECODE=1", "PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "CLIENT_FOLDER=" + filepath.Join(folder, "node")}, env...)
	c.WaitDelay = 5 * time.Second
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
		t.Errorf("%v: %s", err, strings.Join(lines[max(0, len(lines)-25):], "\n"))
	}
	return out.String()
}
