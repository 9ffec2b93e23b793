package websearch

import (
	"context"
	"strings"
)

// parallelResult is a page in the answers of Parallel.
type parallelResult struct {
	URL, Title string
	Excerpts   []string
	Content    string `json:"full_content"`
}

// parallelSearch asks Parallel (POST /v1/search).
func parallelSearch(ctx context.Context, s *Service, q Query) ([]Hit, error) {
	mode := "basic"
	if s.Thorough {
		mode = "advanced"
	}
	var out struct{ Results []parallelResult }
	in := map[string]any{
		"search_queries": []string{q.Text}, "objective": q.Text, "mode": mode, "advanced_settings": map[string]any{"max_results": q.Count},
	}
	if err := s.post(ctx, apiKey, "/v1/search", in, &out); err != nil {
		return nil, err
	}
	hits := make([]Hit, len(out.Results))
	for i, r := range out.Results {
		hits[i] = Hit{r.Title, r.URL, strings.Join(r.Excerpts, " … ")}
	}
	return hits, nil
}

// parallelExtract asks Parallel for the text of pages (POST /v1/extract).
func parallelExtract(ctx context.Context, s *Service, urls []string) ([]Page, error) {
	var out struct {
		Results []parallelResult
		Errors  []struct {
			URL  string
			Kind string `json:"error_type"`
		}
	}
	in := map[string]any{"urls": urls, "advanced_settings": map[string]any{"full_content": true}}
	if err := s.post(ctx, apiKey, "/v1/extract", in, &out); err != nil {
		return nil, err
	}
	var pages []Page
	for _, r := range out.Results {
		text := r.Content
		if text == "" {
			text = strings.Join(r.Excerpts, "\n\n")
		}
		pages = append(pages, Page{URL: r.URL, Title: r.Title, Text: text})
	}
	for _, e := range out.Errors {
		pages = append(pages, Page{URL: e.URL, Problem: "Parallel could not read it: " + e.Kind})
	}
	return pages, nil
}
