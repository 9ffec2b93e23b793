package config_test

import (
	"slices"
	"strings"
	"testing"
)

// TestUnknownServicesOfTheWebAreReported: the web tools refuse them, so that `hermes config check` says so before.
func TestUnknownServicesOfTheWebAreReported(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]string{
		"web: {search_backend: ddgs, extract_backend: Local}\n": "",
		"web: {backend: tavily}\n":                              "",
		"web: {search_backend: bing}\n":                         "Use one of tavily, exa, firecrawl, parallel, brave, perplexity, searxng, duckduckgo",
		"web: {search_backend: local}\n":                        "web.search_backend is \"local\"",
		"web: {extract_backend: brave}\n":                       "Use one of tavily, exa, firecrawl, parallel, local",
	} {
		var got []string
		for _, p := range load(setup(t, settings, "")).Check() {
			got = append(got, p.String())
		}
		if want == "" && len(got) > 0 || want != "" && !slices.ContainsFunc(got, func(p string) bool { return strings.Contains(p, want) }) {
			t.Errorf("%s: %q, want %q", settings, got, want)
		}
	}
}
