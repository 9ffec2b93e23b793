package websearch

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// searxngPages bounds how many pages of results one search reads.
const searxngPages = 5

// searxngSearch asks an instance of SearXNG (GET /search with format=json), page by page.
func searxngSearch(ctx context.Context, s *Service, q Query) ([]Hit, error) {
	var hits []Hit
	for page := 1; page <= searxngPages && len(hits) < q.Count; page++ {
		var out struct {
			Results      []struct{ Title, URL, Content string }
			Unresponsive [][]string `json:"unresponsive_engines"`
		}
		query := url.Values{"q": {q.Text}, "format": {"json"}, "pageno": {strconv.Itoa(page)}}
		err := s.get(ctx, bearer, "/search", query, &out)
		if len(hits) > 0 && err != nil && ctx.Err() == nil { // what the pages before had is worth something
			break
		}
		if e, ok := errors.AsType[*Error](err); ok && e.status == http.StatusForbidden {
			return nil, failure(Rejected, "it forbids answers in JSON; add json to search.formats in its settings")
		}
		if err != nil {
			return nil, err
		}
		before := len(hits)
		for _, r := range out.Results {
			if !slices.ContainsFunc(hits, func(h Hit) bool { return h.URL == r.URL }) {
				hits = append(hits, Hit{r.Title, r.URL, r.Content})
			}
		}
		if len(hits) == 0 && len(out.Unresponsive) > 0 {
			return nil, failure(Down, "its engines gave no answer: %s", engines(out.Unresponsive))
		}
		if len(hits) == before {
			break
		}
	}
	return hits, nil
}

// engines names search engines with why they gave no answer.
func engines(list [][]string) string {
	var all []string
	for _, e := range list {
		all = append(all, strings.Join(e, ": "))
	}
	return strings.Join(all, ", ")
}
