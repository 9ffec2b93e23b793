package websearch

import "context"

// perplexitySearch asks the search API of Perplexity (POST /search).
func perplexitySearch(ctx context.Context, s *Service, q Query) ([]Hit, error) {
	var out struct {
		Results []struct{ Title, URL, Snippet string }
	}
	if err := s.post(ctx, bearer, "/search", map[string]any{"query": q.Text, "max_results": q.Count}, &out); err != nil {
		return nil, err
	}
	hits := make([]Hit, len(out.Results))
	for i, r := range out.Results {
		hits[i] = Hit{r.Title, r.URL, r.Snippet}
	}
	return hits, nil
}
