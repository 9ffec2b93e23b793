package websearch_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/websearch"
	"hermes/internal/websearch/websearchtest"
)

// service returns a service of the local server.
func service(t *testing.T, s *websearchtest.Server, name string) *websearch.Service {
	t.Helper()
	b, ok := websearch.Find(name)
	if !ok {
		t.Fatalf("there is no %s", name)
	}
	return &websearch.Service{Backend: b, Key: key(websearchtest.Key), At: s.At(b.Name) + "/", HTTP: s.Client()}
}

func key(value string) func() string { return func() string { return value } }

func newServer(t *testing.T) *websearchtest.Server {
	t.Helper()
	s := websearchtest.New()
	t.Cleanup(s.Close)
	return s
}

// TestEveryServiceSearches asks each service, and looks at what it was sent and how its answer is read.
func TestEveryServiceSearches(t *testing.T) {
	t.Parallel()
	for _, b := range websearch.Backends() {
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			s.Hits = func(q string) []websearchtest.Hit {
				return []websearchtest.Hit{
					{Title: "First <b> & \n second", URL: "https://a.example/x?y=1&z=2", Text: "About " + q + "\nin two lines"},
					{Title: "No page", URL: "javascript:alert(1)", Text: "x"},
					{Title: "Tee", URL: "http://b.example/tee", Text: "Grün & süß"},
				}
			}
			got, err := service(t, s, b.Name).Search(t.Context(), websearch.Query{Text: "green tea & more", Count: 3})
			if err != nil {
				t.Fatal(err)
			}
			want := []websearch.Hit{
				{Title: "First <b> & second", URL: "https://a.example/x?y=1&z=2", Description: "About green tea & more in two lines"},
				{Title: "Tee", URL: "http://b.example/tee", Description: "Grün & süß"},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if got, err := service(t, s, b.Name).Search(t.Context(), websearch.Query{Text: "x", Count: 1}); err != nil || len(got) != 1 {
				t.Errorf("one result: %v, %v", got, err)
			}
		})
	}
}

// TestServicesExtract asks each service that reads pages for two of them, one of which is not there.
func TestServicesExtract(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("A long text. ", 100)
	for _, b := range websearch.Backends() {
		if !b.Extracts() {
			continue
		}
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			s.Pages = map[string]string{"https://a.example/x": long}
			pages, err := service(t, s, b.Name).Extract(t.Context(), []string{"https://gone.example/", "https://a.example/x"})
			if err != nil {
				t.Fatal(err)
			}
			if len(pages) != 2 || pages[0].URL != "https://gone.example/" || !strings.HasPrefix(pages[0].Problem, b.Title+" could not read it: ") || pages[0].Text != "" {
				t.Errorf("the missing page is %+v", pages)
			}
			if pages[1].URL != "https://a.example/x" || pages[1].Problem != "" || pages[1].Text != long {
				t.Errorf("the page is %+v", pages[1])
			}
			wrong := service(t, s, b.Name)
			wrong.Key = key("another")
			_, err = wrong.Extract(t.Context(), []string{"https://a.example/x"})
			if e, ok := errors.AsType[*websearch.Error](err); !ok || e.Class != websearch.BadKey {
				t.Errorf("with a wrong key: %v", err)
			}
		})
	}
}

// TestErrorsHaveAClass: each failure says what it is, in words, and never holds the key.
func TestErrorsHaveAClass(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, b := range websearch.Backends() {
		for query, want := range map[string]websearch.Class{
			"!429": websearch.RateLimit, "!402": websearch.Quota, "!500": websearch.Down, "!503": websearch.Down, "!400": websearch.Rejected, "!cut": websearch.BadAnswer,
		} {
			_, err := service(t, s, b.Name).Search(t.Context(), websearch.Query{Text: query, Count: 5})
			e, ok := errors.AsType[*websearch.Error](err)
			if !ok || e.Class != want || !strings.HasPrefix(err.Error(), b.Title+" ") {
				t.Errorf("%s, %s: %v", b.Name, query, err)
				continue
			}
			if want == websearch.RateLimit && (e.After != 7*time.Second || !strings.Contains(err.Error(), "in 7 s")) {
				t.Errorf("%s says to wait %v: %v", b.Name, e.After, err)
			}
		}
		if len(b.Keys) == 0 {
			continue
		}
		wrong := service(t, s, b.Name)
		wrong.Key = key("a-wrong-key-0815")
		_, err := wrong.Search(t.Context(), websearch.Query{Text: "x", Count: 5})
		if e, ok := errors.AsType[*websearch.Error](err); !ok || e.Class != websearch.BadKey || !strings.Contains(err.Error(), b.Keys[0]) || strings.Contains(err.Error(), "0815") {
			t.Errorf("%s with a wrong key: %v", b.Name, err)
		}
	}
	down := service(t, s, "tavily")
	down.At = "http://127.0.0.1:1"
	if _, err := down.Search(t.Context(), websearch.Query{Text: "x", Count: 5}); err == nil || !strings.Contains(err.Error(), "Tavily cannot be reached") {
		t.Errorf("without a server: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := service(t, s, "tavily").Search(ctx, websearch.Query{Text: "x", Count: 5}); !errors.Is(err, context.Canceled) {
		t.Errorf("after an interrupt: %v", err)
	}
}

// TestAKeyIsSentToItsServiceOnly: no redirect takes it along, and a service of another kind never gets it.
func TestAKeyIsSentToItsServiceOnly(t *testing.T) {
	t.Parallel()
	var came []string
	thief := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		came = append(came, fmt.Sprint(r.Header))
		_, _ = io.WriteString(w, `{"results":[],"success":true}`)
	}))
	defer thief.Close()
	moved := httptest.NewServer(http.RedirectHandler(thief.URL+"/search", http.StatusTemporaryRedirect))
	defer moved.Close()
	s := newServer(t)
	for _, b := range websearch.Backends() {
		one := service(t, s, b.Name)
		one.At = moved.URL
		if _, err := one.Search(t.Context(), websearch.Query{Text: "x", Count: 1}); err == nil || !strings.Contains(err.Error(), "redirects") {
			t.Errorf("%s follows a redirect: %v", b.Name, err)
		}
	}
	if len(came) > 0 {
		t.Errorf("another server got %q", came)
	}
}

// TestDuckDuckGoSaysThatItAsksForAPerson, so that the next service is asked, and tells a page without
// results from one that it does not know.
func TestDuckDuckGoSaysThatItAsksForAPerson(t *testing.T) {
	t.Parallel()
	var status int
	var page string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, page)
	}))
	defer server.Close()
	b, _ := websearch.Find("ddgs")
	s := &websearch.Service{Backend: b, At: server.URL, HTTP: server.Client()}
	for _, c := range []struct {
		status int
		page   string
		class  websearch.Class
	}{
		{202, "<html>", websearch.RateLimit},
		{200, `<form id="challenge-form"><div class="anomaly-modal__title">Bots use DuckDuckGo too</div></form>`, websearch.RateLimit},
		{200, `<div class="anomaly-modal">x</div>`, websearch.RateLimit},
		{200, `<html><body>Welcome</body></html>`, websearch.BadAnswer},
	} {
		status, page = c.status, c.page
		_, err := s.Search(t.Context(), websearch.Query{Text: "x", Count: 5})
		if e, ok := errors.AsType[*websearch.Error](err); !ok || e.Class != c.class {
			t.Errorf("%d %s: %v", c.status, c.page, err)
		}
	}
	status, page = 200, websearchtest.Page(nil)
	if got, err := s.Search(t.Context(), websearch.Query{Text: "x", Count: 5}); err != nil || len(got) != 0 {
		t.Errorf("without results: %v, %v", got, err)
	}
}

// TestSearXNGSaysThatJSONIsOff, with what to do.
func TestSearXNGSaysThatJSONIsOff(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("q") == "json" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		_, _ = io.WriteString(w, `{"results":[],"unresponsive_engines":[["brave","too many requests"],["qwant","access denied"]]}`)
	}))
	defer server.Close()
	b, _ := websearch.Find("searxng")
	s := &websearch.Service{Backend: b, At: server.URL, HTTP: server.Client()}
	for query, want := range map[string]string{"json": "add json to search.formats", "engines": "brave: too many requests, qwant: access denied"} {
		if _, err := s.Search(t.Context(), websearch.Query{Text: query, Count: 5}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", query, err)
		}
	}
}

// TestTheManualListsTheServices in their order, with their variables.
func TestTheManualListsTheServices(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/web.md")
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for _, b := range websearch.Backends() {
		reads := "no"
		if b.Extracts() {
			reads = "yes"
		}
		var keys []string
		for _, k := range b.Keys {
			keys = append(keys, "`"+k+"`")
		}
		variables := "`" + b.Address + "`"
		if len(keys) > 0 {
			variables = strings.Join(keys, " or ") + ", " + variables
		}
		fmt.Fprintf(&want, "| `%s` | %s | %s | %s |\n", b.Name, b.Title, variables, reads)
	}
	if !strings.Contains(string(page), want.String()) {
		t.Errorf("docs/web.md does not have these lines:\n%s", want.String())
	}
}
