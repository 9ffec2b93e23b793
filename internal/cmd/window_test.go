package cmd_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"hermes/internal/chatserver"
)

// TestTheWindowOfAnOwnServerIsLearned from its list of models, beside the first answer,
// and again by a later run after the server was started with another one.
func TestTheWindowOfAnOwnServerIsLearned(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var limits []int
	window := 65_536
	h := &chatserver.Handler{Model: "m", Decide: func(r *chatserver.Request) (chatserver.Answer, error) {
		var sent struct {
			Limit int `json:"max_tokens"`
		}
		if err := json.Unmarshal(r.Body, &sent); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		limits = append(limits, sent.Limit)
		return chatserver.Answer{Text: "here"}, nil
	}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			mu.Lock()
			defer mu.Unlock()
			fmt.Fprintf(w, `{"data":[{"id":"m","meta":{"n_ctx":%d,"n_ctx_train":131072}}]}`, window)
			return
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	p := newUser(t)
	p.writeConfig("model: {default: 'box:m'}\nproviders: {box: {base_url: '" + s.URL + "/v1'}}\nauxiliary: {title_generation: {enabled: false}, background_review: {enabled: false}}\n")
	say := func() {
		t.Helper()
		if out, errs, status := p.run("-z", "hello"); status != 0 || out != "here\n" {
			t.Fatalf("status %d, out %q, errs %q", status, out, errs)
		}
	}
	say()
	say()
	mu.Lock()
	window = 131_072
	mu.Unlock()
	say()
	say()
	if want := []int{0, 32_768, 32_768, 65_536}; !slices.Equal(limits, want) {
		t.Errorf("limits %v, want %v", limits, want)
	}
}
