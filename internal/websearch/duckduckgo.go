package websearch

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// duckduckgoSearch asks the page of DuckDuckGo for browsers without scripts (POST /html/). It needs no
// key, and stops answering clients that ask too often.
func duckduckgoSearch(ctx context.Context, s *Service, q Query) ([]Hit, error) {
	form := url.Values{"q": {q.Text}}.Encode()
	raw, err := s.send(ctx, bearer, http.MethodPost, "/html/", "application/x-www-form-urlencoded", []byte(form))
	if err != nil {
		return nil, err
	}
	doc, err := html.Parse(strings.NewReader(string(raw)))
	if err != nil {
		return nil, failure(BadAnswer, "it is not the page that was expected")
	}
	var hits []Hit
	known := false // whether this is a page of results
	for n := range doc.Descendants() {
		switch {
		case n.Type != html.ElementNode:
		case hasClass(n, "anomaly-modal"), attribute(n, "id") == "challenge-form":
			return nil, failure(RateLimit, "it asks whether a person is searching; wait a while, or set up another backend")
		case hasClass(n, "no-results"), attribute(n, "id") == "links":
			known = true
		case hasClass(n, "result") && !hasClass(n, "result--ad") && !hasClass(n, "result--no-result"):
			if h := duckduckgoHit(n); h.URL != "" {
				hits = append(hits, h)
			}
		}
	}
	if len(hits) == 0 && !known {
		return nil, failure(BadAnswer, "it is not the page that was expected")
	}
	return hits, nil
}

// duckduckgoHit reads one result of the page.
func duckduckgoHit(result *html.Node) (h Hit) {
	for n := range result.Descendants() {
		switch {
		case n.Type != html.ElementNode:
		case n.DataAtom == atom.A && hasClass(n, "result__a"):
			h.Title, h.URL = words(n), target(attribute(n, "href"))
		case hasClass(n, "result__snippet"):
			h.Description = words(n)
		}
	}
	return h
}

// target returns where a link of the page leads, which may go through a counter of DuckDuckGo.
func target(href string) string {
	u, err := url.Parse(href)
	if err != nil {
		return ""
	}
	host := strings.ToLower(u.Hostname())
	if (host == "" || host == "duckduckgo.com" || strings.HasSuffix(host, ".duckduckgo.com")) && strings.HasPrefix(u.Path, "/l/") {
		return u.Query().Get("uddg")
	}
	if host == "duckduckgo.com" && u.Path == "/y.js" { // an advertisement
		return ""
	}
	return href
}

func hasClass(n *html.Node, class string) bool {
	return slices.Contains(strings.Fields(attribute(n, "class")), class)
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// words returns the text of an element.
func words(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}
