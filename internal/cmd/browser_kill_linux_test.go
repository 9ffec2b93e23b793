package cmd_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hermes/internal/browser"
	"hermes/internal/chatserver"
)

// TestAKilledProgramLeavesNoBrowser, with a sandbox and without: all processes of its browser end, and the next run
// removes what it stored.
func TestAKilledProgramLeavesNoBrowser(t *testing.T) {
	t.Parallel()
	if _, err := browser.Find(""); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "<!doctype html><h1>Hats</h1>")
	}))
	t.Cleanup(site.Close)
	for _, sandbox := range []string{"off", "auto"} {
		t.Run(sandbox, func(t *testing.T) {
			t.Parallel()
			p := newUser(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
				switch {
				case lastIs(r, "tool") && strings.Contains(r.Messages[len(r.Messages)-1].Text(), "Hats"):
					return chatserver.Answer{Text: "It sells hats."}, nil
				case r.Offers("browser_navigate") && strings.Contains(r.Messages[len(r.Messages)-1].Text(), "look at"):
					return call("browser_navigate", map[string]string{"url": site.URL}), nil
				}
				return chatserver.Answer{Text: "Hello."}, nil
			})...)
			p.writeConfig("model: {provider: custom, default: played}\napprovals: {mode: 'off'}\nsecurity: {allow_private_urls: true}\nterminal: {sandbox: '" + sandbox + "'}\n")
			s := p.sit("xterm-256color", "-t", "browser", "-q", "look at "+site.URL)
			s.shows("It sells hats.")
			folder := filepath.Join(p.home, "cache", "browser")
			if found := processesIn(t, folder); len(found) < 3 {
				t.Fatalf("the processes of the browser are not found, only %q", found)
			}
			s.signal(syscall.SIGKILL)
			s.left()
			for late := time.Now().Add(time.Minute); len(processesIn(t, folder)) > 0; time.Sleep(10 * time.Millisecond) { // nothing tells of their end
				if time.Now().After(late) {
					t.Fatalf("still running: %q", processesIn(t, folder))
				}
			}
			if out, errs, status := p.run("-z", "hello"); status != 0 || !strings.Contains(out, "Hello.") {
				t.Fatalf("status %d: %s%s", status, out, errs)
			}
			if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
				t.Errorf("left: %v, %v", left, err)
			}
		})
	}
}

// processesIn lists the processes whose command line names a folder, or that work in it.
func processesIn(t *testing.T, folder string) (found []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range all {
		if line, cwd := commandLine(dir); strings.Contains(line, folder) || strings.Contains(cwd, folder) {
			found = append(found, filepath.Base(dir)+": "+line[:min(len(line), 100)])
		}
	}
	return found
}
