package websearch

import (
	"context"
	"html"
	"net/url"
	"strconv"
)

// braveSearch asks the web search of Brave (GET /res/v1/web/search).
func braveSearch(ctx context.Context, s *Service, q Query) ([]Hit, error) {
	var out struct {
		Web struct {
			Results []Hit `json:"results"`
		} `json:"web"`
	}
	query := url.Values{"q": {q.Text}, "count": {strconv.Itoa(q.Count)}, "text_decorations": {"false"}}
	if err := s.get(ctx, subscriptionToken, "/res/v1/web/search", query, &out); err != nil {
		return nil, err
	}
	for i, h := range out.Web.Results { // its texts are HTML
		out.Web.Results[i].Title, out.Web.Results[i].Description = html.UnescapeString(h.Title), html.UnescapeString(h.Description)
	}
	return out.Web.Results, nil
}
