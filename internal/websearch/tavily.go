package websearch

import "context"

// tavilySearch asks Tavily (POST /search).
func tavilySearch(ctx context.Context, s *Service, q Query) ([]Hit, error) {
	var out struct {
		Results []struct{ Title, URL, Content string }
	}
	if err := s.post(ctx, bearer, "/search", map[string]any{"query": q.Text, "max_results": q.Count}, &out); err != nil {
		return nil, err
	}
	hits := make([]Hit, len(out.Results))
	for i, r := range out.Results {
		hits[i] = Hit{r.Title, r.URL, r.Content}
	}
	return hits, nil
}

// tavilyExtract asks Tavily for the text of pages (POST /extract).
func tavilyExtract(ctx context.Context, s *Service, urls []string) ([]Page, error) {
	var out struct {
		Results []struct {
			URL, Title string
			Content    string `json:"raw_content"`
		}
		Failed []struct{ URL, Error string } `json:"failed_results"`
	}
	if err := s.post(ctx, bearer, "/extract", map[string]any{"urls": urls, "format": "markdown"}, &out); err != nil {
		return nil, err
	}
	var pages []Page
	for _, r := range out.Results {
		pages = append(pages, Page{URL: r.URL, Title: r.Title, Text: r.Content})
	}
	for _, f := range out.Failed {
		pages = append(pages, Page{URL: f.URL, Problem: "Tavily could not read it: " + f.Error})
	}
	return pages, nil
}
