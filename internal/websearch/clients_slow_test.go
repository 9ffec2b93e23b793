//go:build slow

package websearch_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/websearch"
	"hermes/internal/websearch/websearchtest"
)

// installed returns a program below the folder in HERMES_SLOW_WEB.
func installed(t *testing.T, path ...string) string {
	t.Helper()
	dir := os.Getenv("HERMES_SLOW_WEB")
	if dir == "" {
		t.Fatal("set HERMES_SLOW_WEB to the folder with the clients; .ci/slow web does that")
	}
	return filepath.Join(append([]string{dir}, path...)...)
}

// asked is what of a request, besides its body, both clients have to send alike.
func asked(r websearchtest.Request) string {
	return fmt.Sprintf("%s %s key %s%s", r.Method, r.Path, r.Header.Get("Authorization"), r.Header.Get("X-Api-Key"))
}

// has reports whether a body has all fields of another one, with the same values. A client may send more.
func has(body, fields map[string]any) bool {
	for name, v := range fields {
		inner, ok := v.(map[string]any)
		if there, both := body[name].(map[string]any); ok && both {
			if !has(there, inner) {
				return false
			}
		} else if !reflect.DeepEqual(body[name], v) {
			return false
		}
	}
	return true
}

// TestClientsOfTheVendorsReadTheSame: the vendors' own clients talk to the server of the tests, so that it is
// shown to speak the API; what they read, where and with which key they ask, and each field that this package sends, is the same.
func TestClientsOfTheVendorsReadTheSame(t *testing.T) {
	const page = "https://a.example/x"
	s := newServer(t)
	s.Pages = map[string]string{page: strings.Repeat("Tea is hot. ", 50)}
	program := exec.CommandContext(t.Context(), installed(t, "python", "bin", "python"), "testdata/clients.py", s.URL, websearchtest.Key, page)
	program.Env = append(os.Environ(), "NO_PROXY=*", "HOME="+t.TempDir())
	var complaints bytes.Buffer
	program.Stderr = &complaints
	out, err := program.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, complaints.String())
	}
	theirs := s.Requests()
	read, calls := map[string][][]string{}, 0
	for line := range bytes.Lines(out) {
		var v struct {
			Name, Error string
			Read        [][]string
		}
		if err := json.Unmarshal(line, &v); err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		calls++
		if wrong := strings.HasSuffix(v.Name, "wrong key"); wrong != (v.Error != "") {
			t.Errorf("%s: %s", v.Name, line)
		}
		read[v.Name] = v.Read
	}
	if calls != 15 {
		t.Errorf("%d calls, want 15:\n%s", calls, out)
	}
	for _, name := range []string{"exa", "tavily", "firecrawl", "parallel", "perplexity"} {
		before := len(s.Requests())
		service := service(t, s, name)
		hits, err := service.Search(t.Context(), websearch.Query{Text: "green tea", Count: 2})
		if err != nil {
			t.Fatal(err)
		}
		var found [][]string
		for _, h := range hits {
			found = append(found, []string{h.Title, h.URL, h.Description})
		}
		if diff := cmp.Diff(read[name+" search"], found); diff != "" {
			t.Errorf("%s search: %s", name, diff)
		}
		if thorough := *service; name == "exa" || name == "parallel" {
			thorough.Thorough = true
			if _, err := thorough.Search(t.Context(), websearch.Query{Text: "green tea", Count: 2}); err != nil {
				t.Error(err)
			}
		}
		if service.Extracts() {
			pages, err := service.Extract(t.Context(), []string{page})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(read[name+" extract"], [][]string{{pages[0].URL, pages[0].Text}}); diff != "" {
				t.Errorf("%s extract: %s", name, diff)
			}
		}
		for _, ours := range s.Requests()[before:] {
			same := slices.ContainsFunc(theirs, func(r websearchtest.Request) bool {
				return r.Service == name && asked(r) == asked(ours) && has(r.Body, ours.Body)
			})
			if !same {
				t.Errorf("%s: its client never sends %s %s", name, asked(ours), ours.Raw)
				for _, r := range theirs {
					t.Log(asked(r), r.Raw)
				}
			}
		}
	}
}

// TestSearXNGAnswers starts SearXNG with an engine of its own, and searches with it.
func TestSearXNGAnswers(t *testing.T) {
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		results := []map[string]string{}
		if r.URL.Query().Get("p") != "3" {
			for i := range 10 {
				n := r.URL.Query().Get("p") + fmt.Sprint(i)
				results = append(results, map[string]string{"url": "https://site" + n + ".example/", "title": r.URL.Query().Get("q") + " " + n, "content": "About it."})
			}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"results": results}) // the client may be gone
	}))
	defer engine.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, formats := range []string{"[html, json]", "[html]"} {
		settings := filepath.Join(t.TempDir(), "settings.yml")
		text := fmt.Sprintf(`use_default_settings: {engines: {keep_only: []}}
general: {debug: false}
search: {formats: %s}
server: {secret_key: "test-secret-key", bind_address: "127.0.0.1", port: %d, limiter: false, public_instance: false}
engines:
  - {name: own, engine: json_engine, shortcut: o, categories: [general], search_url: "%s/s?q={query}&p={pageno}", results_query: results, url_query: url, title_query: title, content_query: content, paging: true, enable_http: true}
`, formats, port, engine.URL)
		if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		program := exec.CommandContext(t.Context(), installed(t, "searxng", "bin", "python"), "-m", "searx.webapp")
		program.Env = append(os.Environ(), "SEARXNG_SETTINGS_PATH="+settings, "HOME="+t.TempDir())
		var log bytes.Buffer
		program.Stdout, program.Stderr = &log, &log
		if err := program.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- program.Wait() }()
		base := fmt.Sprintf("http://127.0.0.1:%d", port)
		if !up(t, base+"/healthz", ended) {
			t.Fatalf("SearXNG does not start: %s", log.String())
		}
		b, _ := websearch.Find("searxng")
		s := &websearch.Service{Backend: b, At: base, HTTP: http.DefaultClient}
		hits, err := s.Search(t.Context(), websearch.Query{Text: "green tea & more", Count: 15})
		if formats == "[html]" {
			if err == nil || !strings.Contains(err.Error(), "add json to search.formats") {
				t.Errorf("without JSON: %v", err)
			}
		} else if err != nil || len(hits) != 15 || !strings.HasPrefix(hits[0].Title, "green tea & more ") || hits[0].Description != "About it." {
			t.Errorf("found %+v, %v", hits, err)
		}
		// A query that names another search engine must not take the words there.
		if _, err := s.Search(t.Context(), websearch.Query{Text: "!!g green tea", Count: 5}); err == nil {
			t.Error("a query that leads to another server has results")
		}
		_ = program.Process.Kill() // it may have ended
		<-ended
	}
}

// up waits until a server answers.
func up(t *testing.T, address string, ended <-chan error) bool {
	t.Helper()
	late := time.After(time.Minute)
	for {
		resp, err := http.Get(address)
		if err == nil {
			_, _ = io.Copy(io.Discard, resp.Body) // only that it answers counts
			_ = resp.Body.Close()
			return true
		}
		select {
		case <-ended:
			return false
		case <-late:
			return false
		case <-time.After(200 * time.Millisecond):
		}
	}
}
