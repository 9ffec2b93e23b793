package app_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hermes"
)

// TestAStatedCostCountsUnlessThePriceIsSet: what a service says that an answer costs
// goes before what the program knows, and the user's own price before both.
func TestAStatedCostCountsUnlessThePriceIsSet(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, `data: {"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}`+"\n\n"+
			`data: {"choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":100,"cost":0.25}}`+"\n\ndata: [DONE]\n\n")
	}))
	defer server.Close()
	for settings, want := range map[string]hermes.Money{
		"":                  250_000,
		"spend: {PRICES}\n": 3000 + 1500,
		"spend: {prices: {\"custom:played\": {input: 1, output: 1}}}\n": 1100,
		"spend: {prices: {other: {input: 1, output: 1}}}\n":             250_000,
		"spend: {flat_rate: [custom]}\n":                                0,
	} {
		a := openHome(t, dear(t, server.URL, "auxiliary: {title_generation: {enabled: false}}\n"+settings))
		if _, done := say(t, a, "", "hello"); done.Text != "ok" {
			t.Errorf("%q: %+v", settings, done)
		}
		if all := booked(t, a); all.Money != want || all.Unpriced > 0 {
			t.Errorf("%q: booked is %+v, want %v", settings, all, want)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}
