// Package websearchtest is a server for tests that speaks the APIs of search services, each below a path with
// its name: Tavily, Exa, Firecrawl, Parallel, Brave Search, Perplexity, SearXNG and DuckDuckGo. The slow test of
// package websearch lets the vendors' own clients talk to it.
//
// It accepts the key [Key], and refuses requests with a field that the service does not know, or without one that it
// needs; fields.go lists both. A query such as
// "!429" is answered with that status in the service's own form. Start at New.
package websearchtest

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
)

// Key is the key that the services accept.
const Key = "key-canary-4711-websearch"

// Hit is a result of each search.
type Hit struct{ Title, URL, Text string }

// Request is one request that came.
type Request struct {
	Service, Method, Path string
	Query                 url.Values
	Header                http.Header
	Body                  map[string]any
	Raw                   string
}

// Server speaks the APIs. Its fields may be changed before the first request.
type Server struct {
	*httptest.Server
	// Hits are the results of every search, in order. Nil makes three that name the query.
	Hits func(query string) []Hit
	// Pages are the texts of pages. A page that is not here cannot be read.
	Pages map[string]string
	// Moved says where a page was found that is not at the address that was asked for.
	Moved map[string]string
	// Wait is called in each search before the answer; nil does not wait.
	Wait func(query string)

	mu       sync.Mutex
	requests []Request
}

// New starts a server. Close it at the end.
func New() *Server {
	s := &Server{}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	return s
}

// At is the base URL of a service.
func (s *Server) At(service string) string { return s.URL + "/" + service }

// Requests returns what came so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	name, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if name == "v2" { // Firecrawl's own client leaves out the path of its base URL
		name, path = "firecrawl", "v2/"+path
	}
	raw, _ := io.ReadAll(r.Body)
	req := Request{Service: name, Method: r.Method, Path: "/" + path, Query: r.URL.Query(), Header: r.Header.Clone(), Raw: string(raw)}
	_ = json.Unmarshal(raw, &req.Body) // a form is none
	s.mu.Lock()
	s.requests = append(s.requests, req)
	s.mu.Unlock()
	api, ok := apis[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	a := &answer{Server: s, w: w, api: api, Request: req}
	if sent := r.Header.Get(api.header); api.header != "" && sent != api.prefix+Key {
		a.fail(api.badKey, "the key is wrong: "+strings.TrimPrefix(sent, api.prefix)) // some services repeat it
		return
	}
	serve, ok := api.paths[r.Method+" "+req.Path]
	if !ok {
		a.fail(http.StatusNotFound, "there is no "+r.Method+" "+req.Path)
		return
	}
	if wrong := wrongField(name+" "+r.Method+" "+req.Path, req); wrong != "" {
		a.fail(http.StatusBadRequest, wrong)
		return
	}
	serve(a)
}

// api is how one service is spoken to.
type api struct {
	header, prefix string // of the key; empty needs none
	badKey         int
	failure        func(status int, text string) any
	paths          map[string]func(*answer)
}

// answer is one answer that is being made.
type answer struct {
	*Server
	Request
	w   http.ResponseWriter
	api api
}

func (a *answer) send(v any) {
	a.w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(a.w).Encode(v) // the client may be gone
}

func (a *answer) fail(status int, text string) {
	a.w.Header().Set("Content-Type", "application/json")
	if status == http.StatusTooManyRequests {
		a.w.Header().Set("Retry-After", "7")
	}
	a.w.WriteHeader(status)
	_ = json.NewEncoder(a.w).Encode(a.api.failure(status, text)) // the client may be gone
}

// text returns a field of the body that has to be a text.
func (a *answer) text(name string) string { v, _ := a.Body[name].(string); return v }

// number returns a field that has to be a number from 1 on, or the usual one if it is missing.
func (a *answer) number(v any, usual int) int {
	if n, ok := v.(float64); ok && n >= 1 {
		return int(n)
	}
	return usual
}

// at is where a page was found.
func (a *answer) at(page string) string {
	if to := a.Moved[page]; to != "" {
		return to
	}
	return page
}

// texts returns a field that is one text or a list of them.
func (a *answer) texts(name string) (list []string) {
	switch v := a.Body[name].(type) {
	case string:
		return []string{v}
	case []any:
		for _, e := range v {
			if t, ok := e.(string); ok {
				list = append(list, t)
			}
		}
	}
	return list
}

// hits makes the results of a query, or answers with a failure.
func (a *answer) hits(query string, count int) ([]Hit, bool) {
	if a.Wait != nil {
		a.Wait(query)
	}
	if strings.TrimSpace(query) == "" {
		a.fail(http.StatusBadRequest, "the query is empty")
		return nil, false
	}
	if status, ok := strings.CutPrefix(query, "!"); ok {
		n, err := strconv.Atoi(status)
		if err == nil {
			a.fail(n, "as you wish")
			return nil, false
		}
		a.w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(a.w, `{"results": [`) // cut off
		return nil, false
	}
	list := []Hit{}
	if a.Server.Hits != nil {
		list = append(list, a.Server.Hits(query)...)
	} else {
		for i := range 3 {
			list = append(list, Hit{fmt.Sprintf("%s, result %d", query, i+1), fmt.Sprintf("https://site%d.example/page", i+1), "About " + query + "."})
		}
	}
	return list[:min(len(list), count)], true
}

type object = map[string]any

// results writes hits as objects, with the text below a name.
func results(list []Hit, name string, form func(string) any) []object {
	out := []object{}
	for i, h := range list {
		out = append(out, object{"title": h.Title, "url": h.URL, name: form(h.Text), "id": h.URL, "score": 1 / float64(i+1)})
	}
	return out
}

func plain(s string) any { return s }

func list(s string) any { return []string{s} }

var apis = map[string]api{
	"tavily": {"Authorization", "Bearer ", 401, func(_ int, text string) any { return object{"detail": object{"error": text}} }, map[string]func(*answer){
		"POST /search": func(a *answer) {
			if hits, ok := a.hits(a.text("query"), a.number(a.Body["max_results"], 5)); ok {
				a.send(object{"query": a.text("query"), "answer": nil, "images": []any{}, "results": results(hits, "content", plain), "response_time": 0.1, "request_id": "r"})
			}
		},
		"POST /extract": func(a *answer) {
			good, bad := []object{}, []object{}
			for _, u := range a.texts("urls") {
				if text, ok := a.Pages[u]; ok {
					good = append(good, object{"url": a.at(u), "raw_content": text, "images": []any{}})
				} else {
					bad = append(bad, object{"url": u, "error": "no such page"})
				}
			}
			a.send(object{"results": good, "failed_results": bad, "response_time": 0.1, "request_id": "r"})
		},
	}},
	"exa": {"X-Api-Key", "", 401, func(_ int, text string) any { return object{"error": text, "requestId": "r"} }, map[string]func(*answer){
		"POST /search": func(a *answer) {
			if hits, ok := a.hits(a.text("query"), a.number(a.Body["numResults"], 10)); ok {
				a.send(object{"requestId": "r", "resolvedSearchType": "neural", "results": results(hits, "text", plain), "costDollars": object{"total": 0.005}})
			}
		},
		"POST /contents": func(a *answer) {
			good, states := []object{}, []object{}
			for _, u := range a.texts("urls") {
				if text, ok := a.Pages[u]; ok {
					good = append(good, object{"id": u, "url": a.at(u), "title": "A page", "text": text})
					states = append(states, object{"id": u, "status": "success", "source": "cached"})
				} else {
					states = append(states, object{"id": u, "status": "error", "error": object{"tag": "CRAWL_NOT_FOUND", "httpStatusCode": 404}})
				}
			}
			a.send(object{"requestId": "r", "results": good, "statuses": states, "costDollars": object{"total": 0.001}})
		},
	}},
	"firecrawl": {"Authorization", "Bearer ", 401, func(_ int, text string) any { return object{"success": false, "error": text} }, map[string]func(*answer){
		"POST /v2/search": func(a *answer) {
			if hits, ok := a.hits(a.text("query"), a.number(a.Body["limit"], 5)); ok {
				web := []object{}
				for _, h := range hits { // its clients refuse fields that they do not know
					web = append(web, object{"title": h.Title, "url": h.URL, "description": h.Text})
				}
				a.send(object{"success": true, "data": object{"web": web}, "creditsUsed": 2})
			}
		},
		"POST /v2/scrape": func(a *answer) {
			u := a.text("url")
			text, ok := a.Pages[u]
			if !ok {
				a.fail(500, "no such page")
				return
			}
			a.send(object{"success": true, "data": object{"markdown": text, "metadata": object{"title": "A page", "sourceURL": u, "url": a.at(u), "statusCode": 200}}})
		},
	}},
	"parallel": {"X-Api-Key", "", 401, func(_ int, text string) any {
		return object{"type": "error", "error": object{"ref_id": "r", "message": text}}
	}, map[string]func(*answer){
		"POST /v1/search": func(a *answer) {
			settings, _ := a.Body["advanced_settings"].(object)
			if hits, ok := a.hits(strings.Join(a.texts("search_queries"), " "), a.number(settings["max_results"], 10)); ok {
				a.send(object{"search_id": "s", "session_id": "t", "results": results(hits, "excerpts", list)})
			}
		},
		"POST /v1/extract": func(a *answer) {
			settings, _ := a.Body["advanced_settings"].(object)
			good, bad := []object{}, []object{}
			for _, u := range a.texts("urls") {
				text, ok := a.Pages[u]
				if !ok {
					bad = append(bad, object{"url": u, "error_type": "fetch_error", "http_status_code": 404, "content": nil})
					continue
				}
				page := object{"url": a.at(u), "title": "A page", "excerpts": []string{text[:min(len(text), 100)]}}
				if settings["full_content"] != nil && settings["full_content"] != false {
					page["full_content"] = text
				}
				good = append(good, page)
			}
			a.send(object{"extract_id": "e", "session_id": "t", "results": good, "errors": bad})
		},
	}},
	"brave": {"X-Subscription-Token", "", 422, func(status int, text string) any {
		code := "ERROR"
		if status == 422 {
			code, text = "SUBSCRIPTION_TOKEN_INVALID", "The provided subscription token is invalid."
		}
		return object{"type": "ErrorResponse", "error": object{"id": "i", "status": status, "code": code, "detail": text}, "time": 1}
	}, map[string]func(*answer){
		"GET /res/v1/web/search": func(a *answer) {
			count, err := strconv.Atoi(a.Query.Get("count"))
			if err != nil || count < 1 || count > 20 {
				a.fail(400, "count has to be 1 to 20")
				return
			}
			if hits, ok := a.hits(a.Query.Get("q"), count); ok {
				list := results(hits, "description", func(s string) any { return html.EscapeString(s) })
				a.send(object{"type": "search", "query": object{"original": a.Query.Get("q")}, "web": object{"type": "search", "results": list}})
			}
		},
	}},
	"perplexity": {"Authorization", "Bearer ", 401, func(status int, text string) any {
		return object{"error": object{"message": text, "type": "error", "code": status}}
	}, map[string]func(*answer){
		"POST /search": func(a *answer) {
			if hits, ok := a.hits(a.text("query"), a.number(a.Body["max_results"], 10)); ok {
				a.send(object{"id": "i", "results": results(hits, "snippet", plain)})
			}
		},
	}},
	"searxng": {"", "", 0, func(_ int, text string) any { return object{"error": text} }, map[string]func(*answer){
		"GET /search": func(a *answer) {
			if a.Query.Get("format") != "json" {
				a.fail(http.StatusForbidden, "")
				return
			}
			hits, ok := a.hits(a.Query.Get("q"), 100)
			if !ok {
				return
			}
			if page, _ := strconv.Atoi(a.Query.Get("pageno")); page > 1 {
				hits = hits[:0]
			}
			a.send(object{"query": a.Query.Get("q"), "number_of_results": 0, "results": results(hits, "content", plain), "answers": []any{}, "unresponsive_engines": []any{}})
		},
	}},
	"duckduckgo": {"", "", 0, func(int, string) any { return "no" }, map[string]func(*answer){
		"POST /html/": func(a *answer) {
			form, _ := url.ParseQuery(a.Raw)
			hits, ok := a.hits(form.Get("q"), 30)
			if !ok {
				return
			}
			a.w.Header().Set("Content-Type", "text/html; charset=UTF-8")
			_, _ = io.WriteString(a.w, Page(hits))
		},
	}},
}

// Page is a page of results as DuckDuckGo writes it, with an advertisement before them.
func Page(hits []Hit) string {
	var b strings.Builder
	b.WriteString(`<!DOCTYPE html><html><body><div id="links" class="results">
<div class="result results_links results_links_deep result--ad"><h2 class="result__title"><a rel="nofollow" class="result__a" href="https://duckduckgo.com/y.js?ad_domain=shop.example&amp;u3=x">Buy it</a></h2><a class="result__snippet" href="#">Cheap.</a></div>
`)
	for _, h := range hits {
		fmt.Fprintf(&b, `<div class="result results_links results_links_deep web-result "><div class="links_main links_deep result__body"><h2 class="result__title">
<a rel="nofollow" class="result__a" href="//duckduckgo.com/l/?uddg=%s&amp;rut=abc">%s</a></h2>
<div class="result__extras"><a class="result__url" href="#">  site  </a></div>
<a class="result__snippet" href="#">%s</a><div class="clear"></div></div></div>
`, url.QueryEscape(h.URL), html.EscapeString(h.Title), "<b>"+html.EscapeString(h.Text)+"</b>")
	}
	if len(hits) == 0 {
		b.WriteString(`<div class="result results_links results_links_deep result--no-result"><div class="no-results">No results.</div></div>`)
	}
	return b.String() + `</div></body></html>`
}
