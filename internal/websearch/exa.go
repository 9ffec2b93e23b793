package websearch

import "context"

// exaText is how much of each page a search returns, in characters.
const exaText = 800

// exaResult is a page in the answers of Exa.
type exaResult struct{ ID, URL, Title, Text string }

// exaSearch asks Exa (POST /search).
func exaSearch(ctx context.Context, s *Service, q Query) ([]Hit, error) {
	var out struct{ Results []exaResult }
	in := map[string]any{"query": q.Text, "numResults": q.Count, "contents": map[string]any{"text": map[string]any{"maxCharacters": exaText}}}
	if s.Thorough {
		in["type"] = "deep"
	}
	if err := s.post(ctx, apiKey, "/search", in, &out); err != nil {
		return nil, err
	}
	hits := make([]Hit, len(out.Results))
	for i, r := range out.Results {
		hits[i] = Hit{r.Title, r.URL, r.Text}
	}
	return hits, nil
}

// exaExtract asks Exa for the text of pages (POST /contents).
func exaExtract(ctx context.Context, s *Service, urls []string) ([]Page, error) {
	var out struct {
		Results  []exaResult
		Statuses []struct {
			ID, Status string
			Error      struct{ Tag string }
		}
	}
	if err := s.post(ctx, apiKey, "/contents", map[string]any{"urls": urls, "text": true}, &out); err != nil {
		return nil, err
	}
	var pages []Page
	for _, r := range out.Results {
		pages = append(pages, Page{URL: r.URL, Title: r.Title, Text: r.Text})
	}
	for _, st := range out.Statuses {
		if st.Status == "error" {
			pages = append(pages, Page{URL: st.ID, Problem: "Exa could not read it: " + st.Error.Tag})
		}
	}
	return pages, nil
}
