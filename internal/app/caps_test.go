package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"hermes"
	"hermes/internal/app"
)

// torrent is a model server whose answers have up to six million tokens, which
// would cost 90 dollars, and never say what they used.
type torrent struct {
	obeys bool // it keeps to max_tokens
	half  int  // it breaks off after so many tokens
	// together is how many answers must be asked for before the first begins.
	together int
	all      chan struct{} // closed when they are

	mu     sync.Mutex
	limits []int // of the requests that were answered in words
	ended  int   // answers that were sent to their end
}

func (s *torrent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q struct {
		MaxTokens  int `json:"max_tokens"`
		Completion int `json:"max_completion_tokens"`
		Messages   []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if !strings.HasSuffix(r.URL.Path, "/chat/completions") || json.NewDecoder(r.Body).Decode(&q) != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if last := q.Messages[len(q.Messages)-1]; last.Role == "user" && strings.Contains(string(last.Content), "fan out") {
		fmt.Fprint(w, `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"fan","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":9,"completion_tokens":9}}`+"\n\ndata: [DONE]\n\n")
		return
	}
	limit := max(q.MaxTokens, q.Completion)
	s.mu.Lock()
	s.limits = append(s.limits, limit)
	if len(s.limits) == s.together {
		close(s.all)
	}
	s.mu.Unlock()
	if s.together > 0 {
		select {
		case <-s.all:
		case <-r.Context().Done():
			return
		}
	}
	most := 6_000_000
	if s.obeys && limit > 0 {
		most = limit
	}
	if s.half > 0 {
		most = s.half
	}
	const piece = 10 // tokens
	line := `data: {"choices":[{"delta":{"content":"` + strings.Repeat("word", piece) + `"}}]}` + "\n\n"
	for sent := piece; sent <= most; sent += piece {
		if _, err := fmt.Fprint(w, line); err != nil || r.Context().Err() != nil {
			return
		}
	}
	s.mu.Lock()
	s.ended++
	s.mu.Unlock()
	if s.half == 0 {
		fmt.Fprint(w, `data: {"choices":[{"delta":{},"finish_reason":"length"}]}`+"\n\ndata: [DONE]\n\n")
	}
}

func (s *torrent) asked() (limits []int, ended int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.limits), s.ended
}

// dear makes a home whose model costs 15 dollars for a million tokens of output.
func dear(t *testing.T, url, rest string) string {
	t.Helper()
	home := t.TempDir()
	writeFile(t, filepath.Join(home, "config.yaml"), `
delegation: {max_concurrent_children: 8}
model: {default: played, provider: custom, base_url: "`+url+`/v1", context_length: 200000}
agent: {max_turns: none, api_max_retries: 0}
compression: {enabled: false}
`+strings.ReplaceAll(rest, "PRICES", "prices: {played: {input: 3, output: 15, cache_read: 0.3, cache_write: 3.75}}"))
	return home
}

// booked is what the ledger of a home has of its only day.
func booked(t *testing.T, a *app.App) hermes.Spending {
	t.Helper()
	g, err := a.Spend()
	if err != nil {
		t.Fatal(err)
	}
	all, err := g.Spent(t.Context(), hermes.SpendQuery{})
	if err != nil || len(all) != 1 || all[0].Reserved != (hermes.Amount{}) {
		t.Fatalf("the ledger has %+v, %v", all, err)
	}
	return all[0]
}

// within checks an amount of dollars.
func within(t *testing.T, got hermes.Money, least, most float64) {
	t.Helper()
	if got < hermes.USD(least) || got > hermes.USD(most) {
		t.Errorf("%v were spent, want %v to %v dollars", got, least, most)
	}
}

// TestOneAnswerCannotPassACap: an answer of 90 dollars is stopped at 50 cents,
// although the service neither counts nor keeps to max_tokens.
func TestOneAnswerCannotPassACap(t *testing.T) {
	t.Parallel()
	model := &torrent{}
	server := httptest.NewServer(model)
	defer server.Close()
	a := openHome(t, dear(t, server.URL, "spend: {turn: {usd: 0.50}, PRICES}\n"))
	defer a.Close()
	id, done := say(t, a, "", "tell me everything")
	mustStop(t, done, "the answer was stopped there")
	mustStop(t, done, "this turn")
	limits, ended := model.asked()
	if len(limits) != 1 || limits[0] < 20_000 || limits[0] > 33_334 || ended != 0 {
		t.Errorf("the service was asked for answers of %v tokens, %d came to their end", limits, ended)
	}
	within(t, booked(t, a).Money, 0.48, 0.501)
	if !strings.HasPrefix(done.Text, "wordword") {
		t.Errorf("what had arrived is lost: %.80q", done.Text)
	}
	store, err := a.Database(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	stored, err := store.Messages(t.Context(), id, hermes.Range{})
	if err != nil || !strings.HasPrefix(stored[len(stored)-1].Text(), "wordword") {
		t.Errorf("what had arrived is not stored (%v)", err)
	}
}

// TestAnAnswerCutByItsLimitIsNotContinuedPastTheCap: the service keeps to
// max_tokens, and there is nothing left to go on with.
func TestAnAnswerCutByItsLimitIsNotContinuedPastTheCap(t *testing.T) {
	t.Parallel()
	model := &torrent{obeys: true}
	server := httptest.NewServer(model)
	defer server.Close()
	a := openHome(t, dear(t, server.URL, "spend: {turn: {usd: 0.50}, PRICES}\n"))
	defer a.Close()
	_, done := say(t, a, "", "tell me everything")
	mustStop(t, done, "this turn")
	if limits, _ := model.asked(); len(limits) != 1 {
		t.Errorf("the service was asked for answers of %v tokens", limits)
	}
	within(t, booked(t, a).Money, 0.45, 0.501)
}

// TestHalfAnswersAreBooked: each model of the chain breaks off, and each half
// costs; when the cap has no room for another one, it is not asked for.
func TestHalfAnswersAreBooked(t *testing.T) {
	t.Parallel()
	model := &torrent{half: 2000}
	server := httptest.NewServer(model)
	defer server.Close()
	rest := "fallback_providers:\n"
	for i := range 6 {
		rest += fmt.Sprintf("  - {provider: other%d, model: played, base_url: %q}\n", i, server.URL+fmt.Sprintf("/%d/v1", i))
	}
	a := openHome(t, dear(t, server.URL, rest+"spend: {turn: {usd: 0.15}, PRICES}\n"))
	defer a.Close()
	_, done := say(t, a, "", "tell me everything")
	mustStop(t, done, "this turn")
	if strings.Contains(done.Text, "none of") {
		t.Errorf("the text is %q", done.Text)
	}
	limits, _ := model.asked()
	all := booked(t, a)
	if n := int64(len(limits)); n < 2 || n > 6 || all.Calls != n || all.Usage.Output != 2000*n {
		t.Errorf("%d attempts were made, the ledger has %+v", n, all)
	}
	within(t, all.Money, 0.09, 0.15)
}

// TestChildrenAndProcessesShareACapInAnswers: ten answers that would cost 90
// dollars each arrive at once, in two processes, and together they cost 50 cents.
func TestChildrenAndProcessesShareACapInAnswers(t *testing.T) {
	t.Parallel()
	model := &torrent{together: 6, all: make(chan struct{})}
	server := httptest.NewServer(model)
	defer server.Close()
	home := dear(t, server.URL, "spend: {day: {usd: 0.50}, PRICES}\n")
	a := openHome(t, home)
	defer a.Close()
	if _, err := a.Database(t.Context()); err != nil { // the schema, once
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	other := exec.Command(self)
	other.Env = append(os.Environ(), spendChild+"="+home)
	other.Stderr = os.Stderr
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	_, done := say(t, a, "", "fan out")
	mustStop(t, done, "today")
	if err := other.Wait(); err != nil {
		t.Error(err)
	}
	limits, ended := model.asked()
	if len(limits) < 6 || slices.Max(limits) > 33_334 || slices.Min(limits) == 0 || ended > 0 {
		t.Errorf("the service was asked for answers of %v tokens, %d came to their end", limits, ended)
	}
	within(t, booked(t, a).Money, 0.45, 0.505)
}

// TestTheLimitsOfAServiceReachTheUser as its headers say them.
func TestTheLimitsOfAServiceReachTheUser(t *testing.T) {
	t.Parallel()
	model := &torrent{half: 20}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("x-ratelimit-limit-requests", "60")
		w.Header().Set("x-ratelimit-remaining-requests", "59")
		model.ServeHTTP(w, r)
	}))
	defer server.Close()
	a := openHome(t, dear(t, server.URL, ""))
	defer a.Close()
	_, _ = say(t, a, "", "hello") // breaks off, and was answered all the same
	list, now := a.Models().Limits()
	if len(list) != 1 || list[0].Service != "custom" || list[0].Windows[0].Left != 59 || !now.Equal(noon()) {
		t.Errorf("the limits are %+v at %v", list, now)
	}
}

// TestZerosDoNotMakeACallFree, unless a router says that no model was called.
func TestZerosDoNotMakeACallFree(t *testing.T) {
	t.Parallel()
	const zeros = `"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0,"cost":0}`
	for _, c := range []struct {
		name, cache, usage string
		least              int64 // tokens
	}{
		{"zeros", "", zeros, 100},
		{"zeros, and the cache had no answer", "MISS", zeros, 100},
		{"from a cache", "HIT", zeros, 0},
		{"from a cache that counts", "HIT", `"usage":{"prompt_tokens":900,"completion_tokens":9}`, 909},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
				http.NotFound(w, r)
				return
			}
			if c.cache != "" {
				w.Header().Set("X-OpenRouter-Cache-Status", c.cache)
			}
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: %s\n\ndata: %s\n\ndata: [DONE]\n\n", `{"choices":[{"delta":{"content":"a word"},"finish_reason":"stop"}]}`, `{"choices":[],`+c.usage+`}`)
		}))
		a := openHome(t, dear(t, server.URL, "auxiliary: {title_generation: {enabled: false}}\nspend: {PRICES}\n"))
		if _, done := say(t, a, "", "hello"); done.Text != "a word" {
			t.Errorf("%s: the answer is %q", c.name, done.Text)
		}
		all := booked(t, a)
		if n := all.Usage.Total(); n < c.least || c.least == 0 && n > 0 || (all.Money > 0) != (c.least > 0) {
			t.Errorf("%s: booked is %+v", c.name, all)
		}
		a.Close()
		server.Close()
	}
}
