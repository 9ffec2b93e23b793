//go:build slow

package cloudbrowser_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hermes/internal/cloudbrowser/cloudbrowsertest"
)

// TestClientsOfTheVendorsSendTheSame: the vendors' own clients talk to the server of the tests, so that it is shown to
// speak the APIs. Each request of this package is one that they send, too.
func TestClientsOfTheVendorsSendTheSame(t *testing.T) {
	dir := os.Getenv("HERMES_SLOW_WEB")
	if dir == "" {
		t.Fatal("set HERMES_SLOW_WEB to the folder with the clients; .ci/slow web does that")
	}
	s := newServer(t)
	program := exec.CommandContext(t.Context(), filepath.Join(dir, "python", "bin", "python"), "testdata/clients.py", s.URL, cloudbrowsertest.Key)
	program.Env = append(os.Environ(), "NO_PROXY=*", "HOME="+t.TempDir())
	var complaints bytes.Buffer
	program.Stderr = &complaints
	out, err := program.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, complaints.String())
	}
	calls := 0
	for line := range bytes.Lines(out) {
		var v struct {
			Name, Error string
			Read        []string
		}
		if err := json.Unmarshal(line, &v); err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		calls++
		fits := v.Error == "" && len(v.Read) == 2
		switch {
		case strings.HasSuffix(v.Name, "wrong key"):
			fits = v.Error != ""
		case strings.Contains(v.Name, " open"):
			fits = fits && strings.Contains(v.Read[1], cloudbrowsertest.Signing)
		default:
			fits = fits && v.Read[0] == v.Read[1] && slices.Contains([]string{"COMPLETED", "stopped"}, v.Read[0])
		}
		if !fits {
			t.Errorf("%s", line)
		}
	}
	if calls != 7 {
		t.Errorf("%d calls, want 7:\n%s", calls, out)
	}
	theirs := s.Requests()
	for _, name := range []string{"browserbase", "browser_use"} {
		for _, proxies := range []bool{true, false} {
			if name == "browserbase" && !proxies {
				continue // the clients send the same field with another value
			}
			before := len(s.Requests())
			c := client(t, s, name)
			c.Proxies = proxies
			if name == "browserbase" {
				c.ProjectID = "p"
			}
			made, err := c.Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Release(t.Context(), made.ID); err != nil {
				t.Fatal(err)
			}
			for _, ours := range s.Requests()[before:] {
				same := slices.ContainsFunc(theirs, func(r cloudbrowsertest.Request) bool {
					return r.Method == ours.Method && r.Key == ours.Key && filepath.Dir(r.Path) == filepath.Dir(ours.Path) && reflect.DeepEqual(r.Body, ours.Body)
				})
				if !same {
					t.Errorf("%s: its client never sends %+v, but %+v", name, ours, theirs)
				}
			}
		}
	}
}
