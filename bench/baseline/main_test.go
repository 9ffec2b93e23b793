package main

import (
	"net/http/httptest"
	"strings"
	"testing"

	"hermes/bench/instant"
)

// TestBaselineDoesTheWork checks that the baseline really makes requests and runs commands.
func TestBaselineDoesTheWork(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		prompt        string
		requests      int
		text, results string
	}{
		{instant.Hello, 1, "Hello.", ""},
		{instant.Shell(4), 5, "Hello.", "done-1 done-2 done-3 done-4"},
		{instant.Parallel(3), 2, "Hello.", "done-1 done-2 done-3"},
		{instant.Chunks(500), 1, strings.Repeat("word ", 500), ""},
	} {
		var server instant.Server
		ts := httptest.NewServer(&server)
		got, err := run(ts.URL+"/v1", tt.prompt)
		ts.Close()
		if err != nil || got != tt.text {
			t.Errorf("%s: got %q, %v; want %q", tt.prompt, got, err, tt.text)
		}
		seen := server.Take()
		if len(seen) != tt.requests {
			t.Fatalf("%s: %d requests, want %d", tt.prompt, len(seen), tt.requests)
		}
		var results []string
		for _, m := range seen[len(seen)-1].Request.Messages {
			if m.Role == "tool" {
				results = append(results, strings.TrimSpace(m.Text()))
			}
		}
		if got := strings.Join(results, " "); got != tt.results {
			t.Errorf("%s: the commands printed %q, want %q", tt.prompt, got, tt.results)
		}
	}
}
