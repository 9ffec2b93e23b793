package websearch

import (
	"context"
	"errors"
	"net/http"
	"sync"
)

// firecrawlSearch asks Firecrawl (POST /v2/search).
func firecrawlSearch(ctx context.Context, s *Service, q Query) ([]Hit, error) {
	var out struct {
		Success bool
		Error   string
		Data    struct{ Web []Hit }
	}
	if err := s.post(ctx, bearer, "/v2/search", map[string]any{"query": q.Text, "limit": q.Count}, &out); err != nil {
		return nil, err
	}
	if !out.Success {
		return nil, failure(Rejected, "%s", out.Error)
	}
	return out.Data.Web, nil
}

// firecrawlExtract asks Firecrawl for each page (POST /v2/scrape), at the same time.
func firecrawlExtract(ctx context.Context, s *Service, urls []string) ([]Page, error) {
	pages, errs := make([]Page, len(urls)), make([]error, len(urls))
	var wait sync.WaitGroup
	for i, u := range urls {
		wait.Go(func() { pages[i], errs[i] = firecrawlPage(ctx, s, u) })
	}
	wait.Wait()
	for i, err := range errs {
		if err == nil {
			continue
		}
		// The service answers with 4xx and 5xx also for a page that it cannot read.
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Class != Rejected && e.Class != Down && e.status != http.StatusForbidden {
			return nil, err
		}
		pages[i] = Page{URL: urls[i], Problem: "Firecrawl could not read it: " + e.Detail}
	}
	return pages, nil
}

func firecrawlPage(ctx context.Context, s *Service, address string) (Page, error) {
	var out struct {
		Success bool
		Error   string
		Data    struct {
			Markdown string
			Metadata struct {
				Title any    // a text, or a list of them
				URL   string // where it was led to
			}
		}
	}
	in := map[string]any{"url": address, "formats": []string{"markdown"}, "onlyMainContent": true}
	if err := s.post(ctx, bearer, "/v2/scrape", in, &out); err != nil {
		return Page{}, err
	}
	if !out.Success {
		return Page{}, failure(Rejected, "%s", out.Error)
	}
	title, _ := out.Data.Metadata.Title.(string)
	return Page{URL: address, From: out.Data.Metadata.URL, Title: title, Text: out.Data.Markdown}, nil
}
