// Package websearch asks services on the web for search results and for the text of pages.
//
// It owns the list of services ([Backends]), what each is sent, how its answer is read, and what its errors
// mean ([Error]). It must not know settings, sessions or caches, and does not decide which addresses may be
// reached: that is the HTTP client's part. A key is sent to the address of its [Service] only, and no
// redirect leads it away. Start at Backends; each service has a file of its own.
package websearch

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// Query is what is searched for.
type Query struct {
	Text  string
	Count int // of results, at least 1; a service may return fewer
}

// Hit is one result of a search. Its texts have no line breaks.
type Hit struct {
	Title       string `json:"title"`
	URL         string `json:"url"`
	Description string `json:"description"`
}

// Page is the text of a page. Problem says in words why there is none. URL is the address that was asked for, From the one
// that the service says it read, which may be another; "" if it does not say.
type Page struct {
	URL, From, Title, Text, Problem string
}

// Backend is one kind of service.
type Backend struct {
	Name  string   // in settings
	Also  []string // other names that settings may use
	Title string   // for people
	// Keys are the variables that hold a key, the first that is set counts.
	Keys []string
	// Address is the variable with another base URL, Base the usual one. Without a usual one the
	// service is used only if the variable is set.
	Address, Base string
	// KeyOptional says that a service at an address of the user needs no key.
	KeyOptional bool
	// Most is how many results one search can return.
	Most int
	// MaxText and MaxWords bound a query, in characters and words; 0 is no limit.
	MaxText, MaxWords int

	search  func(ctx context.Context, s *Service, q Query) ([]Hit, error)
	extract func(ctx context.Context, s *Service, urls []string) ([]Page, error)
}

// Backends lists all services in the order in which they are chosen: those with a key, the user's own
// server, those that need nothing.
func Backends() []Backend {
	return []Backend{
		{Name: "tavily", Title: "Tavily", Keys: []string{"TAVILY_API_KEY"}, Address: "TAVILY_BASE_URL", Base: "https://api.tavily.com", Most: 20, MaxText: 400, search: tavilySearch, extract: tavilyExtract},
		{Name: "exa", Title: "Exa", Keys: []string{"EXA_API_KEY"}, Address: "EXA_BASE_URL", Base: "https://api.exa.ai", Most: 100, search: exaSearch, extract: exaExtract},
		{Name: "firecrawl", Title: "Firecrawl", Keys: []string{"FIRECRAWL_API_KEY"}, Address: "FIRECRAWL_API_URL", Base: "https://api.firecrawl.dev", KeyOptional: true, Most: 100, search: firecrawlSearch, extract: firecrawlExtract},
		{Name: "parallel", Title: "Parallel", Keys: []string{"PARALLEL_API_KEY"}, Address: "PARALLEL_BASE_URL", Base: "https://api.parallel.ai", Most: 20, search: parallelSearch, extract: parallelExtract},
		{Name: "brave", Also: []string{"brave-free"}, Title: "Brave Search", Keys: []string{"BRAVE_SEARCH_API_KEY", "BRAVE_API_KEY"}, Address: "BRAVE_BASE_URL", Base: "https://api.search.brave.com", Most: 20, MaxText: 400, MaxWords: 50, search: braveSearch},
		{Name: "perplexity", Title: "Perplexity", Keys: []string{"PERPLEXITY_API_KEY", "PPLX_API_KEY"}, Address: "PERPLEXITY_BASE_URL", Base: "https://api.perplexity.ai", Most: 20, search: perplexitySearch},
		{Name: "searxng", Title: "SearXNG", Address: "SEARXNG_URL", KeyOptional: true, Most: 100, search: searxngSearch},
		{Name: "duckduckgo", Also: []string{"ddgs", "ddg"}, Title: "DuckDuckGo", Address: "DUCKDUCKGO_URL", Base: "https://html.duckduckgo.com", KeyOptional: true, Most: 30, search: duckduckgoSearch},
	}
}

// Find returns a backend by one of its names.
func Find(name string) (Backend, bool) {
	name = strings.ToLower(strings.TrimSpace(name))
	for _, b := range Backends() {
		if b.Name == name || slices.Contains(b.Also, name) {
			return b, true
		}
	}
	return Backend{}, false
}

// Keyless reports whether the service needs neither a key nor an address of the user.
func (b Backend) Keyless() bool { return len(b.Keys) == 0 && b.Base != "" }

// Extracts reports whether the service also returns the text of pages.
func (b Backend) Extracts() bool { return b.extract != nil }

// Service is a backend that can be asked. It may be used concurrently.
type Service struct {
	Backend
	// Key returns the key, "" if there is none. It is a function so that no text of a service
	// shows it. Nil is none.
	Key func() string
	// At is the base URL that the user chose; "" is the usual one.
	At string
	// Thorough asks for the better and slower search, where a service has one.
	Thorough bool
	// HTTP sends the requests. It decides which addresses may be reached.
	HTTP *http.Client
}

// Missing says which variable is not set that the service needs; "" if none is.
func (s *Service) Missing() string {
	switch {
	case s.URL() == "":
		return s.Address
	case len(s.Keys) > 0 && s.key() == "" && !(s.KeyOptional && s.At != ""):
		return s.Keys[0]
	}
	return ""
}

func (s *Service) key() string {
	if s.Key == nil || len(s.Keys) == 0 {
		return ""
	}
	return s.Key()
}

// URL returns the base URL, without a final slash.
func (s *Service) URL() string {
	if s.At != "" {
		return strings.TrimRight(s.At, "/")
	}
	return s.Base
}

// Search returns at most q.Count results. Results without a web address are left out. An error is an
// *Error, or the end of ctx. A query that is too long for the service is not sent.
func (s *Service) Search(ctx context.Context, q Query) ([]Hit, error) {
	if s.MaxText > 0 && utf8.RuneCountInString(q.Text) > s.MaxText {
		return nil, s.wrap(ctx, failure(Rejected, "the query has more than %d characters; use a few words", s.MaxText))
	}
	if s.MaxWords > 0 && len(strings.Fields(q.Text)) > s.MaxWords {
		return nil, s.wrap(ctx, failure(Rejected, "the query has more than %d words; use fewer", s.MaxWords))
	}
	q.Count = min(max(q.Count, 1), s.Most)
	found, err := s.search(ctx, s, q)
	if err != nil {
		return nil, s.wrap(ctx, err)
	}
	hits := make([]Hit, 0, min(len(found), q.Count))
	for _, h := range found {
		if len(hits) == q.Count {
			break
		}
		if h.URL = strings.TrimSpace(h.URL); !isWeb(h.URL) {
			continue
		}
		h.Title, h.Description = line(h.Title, maxTitle), line(h.Description, maxDescription)
		hits = append(hits, h)
	}
	return hits, nil
}

// Extract returns a page for each URL, in their order. An error is as from Search, and then there is no page.
func (s *Service) Extract(ctx context.Context, urls []string) ([]Page, error) {
	found, err := s.extract(ctx, s, urls)
	if err != nil {
		return nil, s.wrap(ctx, err)
	}
	pages := make([]Page, len(urls))
	for i, u := range urls {
		at := slices.IndexFunc(found, func(p Page) bool { return same(p.URL, u) })
		if at < 0 && len(found) == 1 && len(urls) == 1 { // a service may return the address it was led to
			at = 0
		}
		pages[i] = Page{Problem: s.Title + " returned nothing for it"}
		if at >= 0 {
			pages[i] = found[at]
			if strings.TrimSpace(pages[i].Text) == "" && pages[i].Problem == "" {
				pages[i].Problem = s.Title + " found no text in it"
			}
		}
		if pages[i].From == "" {
			pages[i].From = pages[i].URL
		}
		if pages[i].Problem != "" {
			pages[i].From = ""
		}
		pages[i].URL, pages[i].Title, pages[i].Problem = u, line(pages[i].Title, maxTitle), line(pages[i].Problem, maxDescription)
	}
	return pages, nil
}

const (
	maxTitle       = 300   // characters
	maxDescription = 1_000 // characters
)

func isWeb(address string) bool {
	lower := strings.ToLower(address)
	return strings.HasPrefix(lower, "https://") || strings.HasPrefix(lower, "http://")
}

// same reports whether two addresses are those of one page, for a service that writes them in its own way.
func same(a, b string) bool {
	plain := func(s string) string {
		s, _, _ = strings.Cut(s, "#")
		return strings.TrimRight(s, "/")
	}
	return plain(a) == plain(b)
}
