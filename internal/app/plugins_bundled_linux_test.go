//go:build amd64 || arm64

package app_test

import (
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"hermes/internal/app"
)

// TestABundledPluginBehindWalls: the program starts where it can read neither a home nor a configuration,
// reaches its service through the proxy, and the service gets the key that it never sees.
func TestABundledPluginBehindWalls(t *testing.T) {
	var mu sync.Mutex
	var keys []string
	address, root := secureServer(t, "api.hindsight.vectorize.io", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		keys = append(keys, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization"))
		fmt.Fprintf(w, `{"results":[{"text":"The user likes green tea. %s"}]}`, r.Header.Get("Authorization")) // a service that tells the key
	})
	s := walled(t, address)
	add := s.options
	s.options = func(o *app.Options) {
		add(o)
		o.Sandbox.Roots = []*x509.Certificate{root}
		o.Environ = func() []string { return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")} }
	}
	const key = "hsk_0123456789abcdef"
	writeFile(t, filepath.Join(s.home, ".env"), "HINDSIGHT_API_KEY="+key+"\n")
	bring(t, s, "hindsight", "")
	s.config += "memory: {provider: hindsight}\n"
	s.enter()
	if w := s.app.HostWalls(t.Context()); w.Layer == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("no walls here: " + w.Why)
		}
		t.Skip("no walls here: " + w.Why)
	}
	s.say(`CALL hindsight_recall {"query":"what does the user drink?"}`)
	got := s.model.results()
	if !strings.Contains(got, "likes green tea") || strings.Contains(got, key) {
		t.Errorf("the model read %q", got)
	}
	s.quit()
	mu.Lock()
	defer mu.Unlock()
	if want := "POST /v1/default/banks/hermes/memories/recall Bearer " + key; !slices.Contains(keys, want) {
		t.Errorf("the service got %q, want %q", keys, want)
	}
	for _, k := range keys {
		if !strings.HasSuffix(k, " Bearer "+key) {
			t.Errorf("the service got %q", k)
		}
	}
}
