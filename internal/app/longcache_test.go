package app_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
)

// TestWritingToTheCacheOfAnHourIsBooked at its own rate, which is twice that of
// input, whether the price is the catalogue's or one that the user has set with a
// single rate for writing.
func TestWritingToTheCacheOfAnHourIsBooked(t *testing.T) {
	t.Parallel()
	const haiku = "claude-haiku-4-5" // 1, 1.25 and 2 dollars
	for _, c := range []struct {
		name, provider, ttl, set string
		want                     hermes.Money // of 100,000 tokens
		estimated                int64
	}{
		{"the catalogue, five minutes", "anthropic", "5m", "", 125_000, 0},
		{"the catalogue, an hour", "anthropic", "1h", "", 200_000, 0},
		{"where somebody is asked", "anthropic", "auto", "", 200_000, 0},
		{"set, five minutes", "anthropic", "5m", "{input: 10, output: 0, cache_write: 12.5}", 1_250_000, 0},
		{"set, an hour", "anthropic", "1h", "{input: 10, output: 0, cache_write: 12.5}", 2_000_000, 1},
		{"set, an hour, dear", "anthropic", "1h", "{input: 10, output: 0, cache_write: 30}", 3_000_000, 1},
		{"set without the cache, five minutes", "anthropic", "5m", "{input: 10, output: 0}", 1_250_000, 1},
		{"set without the cache, an hour", "anthropic", "1h", "{input: 10, output: 0}", 2_000_000, 1},
		{"free", "anthropic", "1h", "{input: 0, output: 0}", 0, 1},
	} {
		marked := make(chan bool, 9)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil || !strings.HasSuffix(r.URL.Path, "/messages") {
				http.NotFound(w, r)
				return
			}
			marked <- strings.Contains(string(body), `"ttl":"1h"`)
			w.Header().Set("Content-Type", "text/event-stream")
			write := `"cache_creation":{"ephemeral_5m_input_tokens":100000,"ephemeral_1h_input_tokens":0}`
			if strings.Contains(string(body), `"ttl":"1h"`) {
				write = `"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":100000}`
			}
			for _, e := range []string{
				`{"type":"message_start","message":{"usage":{"input_tokens":0,"cache_creation_input_tokens":100000,"cache_read_input_tokens":0,"output_tokens":1,` + write + `}}}`,
				`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ok"}}`,
				`{"type":"content_block_stop","index":0}`,
				`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}`,
				`{"type":"message_stop"}`,
			} {
				fmt.Fprintf(w, "data: %s\n\n", e)
			}
		}))
		home := t.TempDir()
		config := "model: {default: " + haiku + ", provider: " + c.provider + "}\nproviders: {anthropic: {base_url: '" + server.URL + "', api_key: k}}\n" +
			"prompt_caching: {cache_ttl: " + c.ttl + "}\nauxiliary: {title_generation: {enabled: false}}\n"
		if c.set != "" {
			config += "spend: {prices: {" + haiku + ": " + c.set + "}}\n"
		}
		writeFile(t, filepath.Join(home, "config.yaml"), config)
		a := openHome(t, home)
		if _, done := say(t, a, "", "hello"); done.Text != "ok" {
			t.Fatalf("%s: %+v", c.name, done)
		}
		long := c.ttl != "5m"
		if all := booked(t, a); all.Money < c.want || all.Money > c.want+50 || all.Estimated != c.estimated || all.Unpriced > 0 || <-marked != long {
			t.Errorf("%s: booked is %+v, want %v", c.name, all, c.want)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		server.Close()
	}
}
