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

// TestWhatEachServiceIsSent: the fields by which it is asked, word for word.
func TestWhatEachServiceIsSent(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"tavily":            `POST /search {"max_results":7,"query":"green tea"}`,
		"tavily page":       `POST /extract {"format":"markdown","urls":["https://a.example/x"]}`,
		"exa":               `POST /search {"contents":{"text":{"maxCharacters":800}},"numResults":7,"query":"green tea"}`,
		"exa thorough":      `POST /search {"contents":{"text":{"maxCharacters":800}},"numResults":7,"query":"green tea","type":"deep"}`,
		"exa page":          `POST /contents {"text":true,"urls":["https://a.example/x"]}`,
		"firecrawl":         `POST /v2/search {"limit":7,"query":"green tea"}`,
		"firecrawl page":    `POST /v2/scrape {"formats":["markdown"],"onlyMainContent":true,"url":"https://a.example/x"}`,
		"parallel":          `POST /v1/search {"advanced_settings":{"max_results":7},"mode":"basic","objective":"green tea","search_queries":["green tea"]}`,
		"parallel thorough": `POST /v1/search {"advanced_settings":{"max_results":7},"mode":"advanced","objective":"green tea","search_queries":["green tea"]}`,
		"parallel page":     `POST /v1/extract {"advanced_settings":{"full_content":true},"urls":["https://a.example/x"]}`,
		"brave":             `GET /res/v1/web/search?count=7&q=green+tea&text_decorations=false `,
		"perplexity":        `POST /search {"max_results":7,"query":"green tea"}`,
		"searxng":           `GET /search?format=json&pageno=1&q=green+tea `,
		"duckduckgo":        `POST /html/ q=green+tea`,
	}
	got := map[string]string{}
	for _, b := range websearch.Backends() {
		for _, how := range []string{"", " thorough", " page"} {
			s := newServer(t)
			one := service(t, s, b.Name)
			one.Thorough = how == " thorough"
			var err error
			if how != " page" {
				_, err = one.Search(t.Context(), websearch.Query{Text: "green tea", Count: 7})
			} else if b.Extracts() {
				_, err = one.Extract(t.Context(), []string{"https://a.example/x"})
			} else {
				continue
			}
			if err != nil {
				t.Errorf("%s%s: %v", b.Name, how, err)
			}
			r := s.Requests()[0]
			sent := r.Method + " " + r.Path
			if len(r.Query) > 0 {
				sent += "?" + r.Query.Encode()
			}
			if sent += " " + r.Raw; how == "" || sent != got[b.Name] {
				got[b.Name+how] = sent
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestAQueryThatIsTooLongIsNotSent: each service has its own bound.
func TestAQueryThatIsTooLongIsNotSent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ fits, long, why string }{
		"brave":  {strings.TrimSpace(strings.Repeat("word ", 50)), strings.Repeat("word ", 51), "more than 50 words"},
		"tavily": {strings.Repeat("ä", 400), strings.Repeat("ä", 401), "more than 400 characters"},
		"exa":    {strings.Repeat("word ", 200), "", ""},
	} {
		s := newServer(t)
		if _, err := service(t, s, name).Search(t.Context(), websearch.Query{Text: c.fits, Count: 5}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if c.long == "" {
			continue
		}
		_, err := service(t, s, name).Search(t.Context(), websearch.Query{Text: c.long, Count: 5})
		if e, ok := errors.AsType[*websearch.Error](err); !ok || e.Class != websearch.Rejected || !strings.Contains(err.Error(), c.why) || len(s.Requests()) != 1 {
			t.Errorf("%s: %v after %d requests", name, err, len(s.Requests()))
		}
	}
}

// TestARefusalIsAboutTheKeyOnlyIfItSaysSo: a page, a country or a robot may be refused as well.
func TestARefusalIsAboutTheKeyOnlyIfItSaysSo(t *testing.T) {
	t.Parallel()
	status, said := 0, ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"error":%q}`, said)
	}))
	defer server.Close()
	ask := func(name, secret string) error {
		b, _ := websearch.Find(name)
		s := &websearch.Service{Backend: b, Key: key(secret), At: server.URL, HTTP: server.Client()}
		_, err := s.Search(t.Context(), websearch.Query{Text: "x", Count: 5})
		return err
	}
	for _, c := range []struct {
		name, key string
		status    int
		said      string
		want      websearch.Class
	}{
		{"tavily", "k", 401, "", websearch.BadKey},
		{"tavily", "k", 403, "Your API key has no right to this", websearch.BadKey},
		{"tavily", "k", 403, "Unauthorized", websearch.BadKey},
		{"tavily", "k", 403, "Your country is not served", websearch.Rejected},
		{"firecrawl", "", 403, "API key missing", websearch.Rejected},
		{"firecrawl", "", 401, "", websearch.BadKey},
		{"duckduckgo", "", 403, "no key", websearch.Rejected},
		{"duckduckgo", "", 401, "", websearch.Rejected},
	} {
		status, said = c.status, c.said
		err := ask(c.name, c.key)
		if e, ok := errors.AsType[*websearch.Error](err); !ok || e.Class != c.want {
			t.Errorf("%s, %d %s: %v", c.name, c.status, c.said, err)
		}
	}
	status, said = 403, "the site wants authentication"
	b, _ := websearch.Find("firecrawl")
	s := &websearch.Service{Backend: b, Key: key("k"), At: server.URL, HTTP: server.Client()}
	pages, err := s.Extract(t.Context(), []string{"https://a.example/"})
	if err != nil || len(pages) != 1 || !strings.Contains(pages[0].Problem, said) {
		t.Errorf("a page that is forbidden: %+v, %v", pages, err)
	}
}

// TestAPageNamesWhereItCameFrom, which may be another address than was asked for.
func TestAPageNamesWhereItCameFrom(t *testing.T) {
	t.Parallel()
	for _, b := range websearch.Backends() {
		if !b.Extracts() {
			continue
		}
		s := newServer(t)
		s.Pages = map[string]string{"https://a.example/x": "Text.", "https://a.example/y": "Text."}
		s.Moved = map[string]string{"https://a.example/x": "https://b.example/z"}
		for asked, from := range map[string]string{"https://a.example/x": "https://b.example/z", "https://a.example/y": "https://a.example/y"} {
			pages, err := service(t, s, b.Name).Extract(t.Context(), []string{asked})
			if err != nil || pages[0].URL != asked || pages[0].From != from || pages[0].Text != "Text." {
				t.Errorf("%s: %+v, %v", b.Name, pages, err)
			}
		}
	}
}

// TestSearXNGKeepsWhatItFound if a later page fails.
func TestSearXNGKeepsWhatItFound(t *testing.T) {
	t.Parallel()
	for _, status := range []int{403, 429, 500} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("pageno") != "1" {
				w.WriteHeader(status)
				return
			}
			_, _ = io.WriteString(w, `{"results":[{"title":"One","url":"https://a.example/","content":"x"}]}`)
		}))
		b, _ := websearch.Find("searxng")
		s := &websearch.Service{Backend: b, At: server.URL, HTTP: server.Client()}
		if hits, err := s.Search(t.Context(), websearch.Query{Text: "x", Count: 20}); err != nil || len(hits) != 1 {
			t.Errorf("%d: %v, %v", status, hits, err)
		}
		server.Close()
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
		own := "key-of-" + b.Name
		one := service(t, s, b.Name)
		one.Key = key(own)
		_, _ = one.Search(t.Context(), websearch.Query{Text: "x", Count: 1}) // the server knows another key
		if b.Extracts() {
			_, _ = one.Extract(t.Context(), []string{"https://a.example/"})
		}
		requests, gets := 0, b.Name != "searxng" && b.Name != "duckduckgo"
		for _, r := range s.Requests() {
			sent := strings.Contains(fmt.Sprint(r.Header, r.Raw, r.Query, r.Path), own)
			if sent != (r.Service == b.Name && gets) || strings.Contains(r.Raw+r.Path+r.Query.Encode(), own) {
				t.Errorf("the key of %s: %s got it: %v", b.Name, r.Service, sent)
			}
			if r.Service == b.Name {
				requests++
			}
		}
		if requests == 0 {
			t.Errorf("%s was not asked", b.Name)
		}
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
