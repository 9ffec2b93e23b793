package provider_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hermes"
	"hermes/internal/provider"
)

// TestTheWindowIsListedBesideTheFirstAnswer: over Chat and Responses, the first
// request comes first, the list is asked for once with the entry's key, and the second
// request has a limit. A window that was set, and a server without a list, change nothing.
func TestTheWindowIsListedBesideTheFirstAnswer(t *testing.T) {
	t.Parallel()
	const list = `{"data":[{"id":"m","meta":{"n_ctx":8192}}]}`
	for _, tt := range []struct {
		name, path, list string
		set              int
		limits           []int // of the three requests
		lists            int
	}{
		{"Chat", "/v1", list, 0, []int{0, 4096, 4096}, 1},
		{"Responses", "/v1/responses", list, 0, []int{0, 4096, 4096}, 1},
		{"a window that was set", "/v1", list, 4096, []int{2048, 2048, 2048}, 0},
		{"no list", "/v1", "", 0, []int{0, 0, 0}, 2}, // two addresses, once
		{"no list of models", "/v1", "<html>", 0, []int{0, 0, 0}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var limits []int
			lists := 0
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				if r.Header.Get("Authorization") != "Bearer own" { // the key of the call, and no other of the pool
					t.Errorf("%s %s with the key %q", r.Method, r.URL, r.Header.Get("Authorization"))
				}
				if r.Method == http.MethodGet {
					if lists++; len(limits) != 1 {
						t.Errorf("listed after %d requests", len(limits))
					}
					if tt.list == "" {
						w.WriteHeader(http.StatusNotFound)
					}
					fmt.Fprint(w, tt.list)
					return
				}
				raw, _ := io.ReadAll(r.Body)
				var sent struct {
					Max       int `json:"max_tokens"`
					MaxOutput int `json:"max_output_tokens"`
				}
				if err := json.Unmarshal(raw, &sent); err != nil {
					t.Error(err)
				}
				limits = append(limits, max(sent.Max, sent.MaxOutput))
				if tt.path != "/v1" {
					fmt.Fprint(w, "data: {\"type\":\"response.output_text.delta\",\"delta\":\"ok\"}\n\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"ok\"}]}]}}\n\n")
					return
				}
				says("ok")(w, r)
			}))
			t.Cleanup(s.Close)
			c, _ := patient(t, "", func(cfg *provider.Config) {
				cfg.Model, cfg.BaseURL, cfg.AskWindows = "box:m", "", true
				cfg.Custom = map[string]provider.Custom{"box": {BaseURL: s.URL + tt.path, Key: "own", Limits: provider.Limits{ContextLength: tt.set}}}
			})
			m, err := c.Model(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				if _, err := hermes.Collect(m.Stream(t.Context(), sized(100))); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Equal(limits, tt.limits) || lists != tt.lists {
				t.Errorf("limits %v, listed %d times; want %v, %d", limits, lists, tt.limits, tt.lists)
			}
		})
	}
}

// TestTheListTakesNoTurnInAPool: a round-robin pool gives its keys to the calls in their
// order, also to the one after the list.
func TestTheListTakesNoTurnInAPool(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.Method+" "+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		if r.Method == http.MethodGet {
			fmt.Fprint(w, `{"data":[{"id":"m","max_model_len":8192}]}`)
			return
		}
		says("ok")(w, r)
	}))
	t.Cleanup(s.Close)
	c, _ := patient(t, "", func(cfg *provider.Config) {
		cfg.Model, cfg.BaseURL, cfg.AskWindows = "box:m", "", true
		cfg.Custom = map[string]provider.Custom{"box": {BaseURL: s.URL + "/v1"}}
		keys := &turns{ring: newRing("a", "b", "c")}
		cfg.Keys = func(string, []hermes.Key) hermes.Keys { return keys }
	})
	for range 3 {
		mustAnswer(t, c)
	}
	want := []string{"POST canary-a", "GET canary-a", "POST canary-b", "POST canary-c"}
	if !slices.Equal(asked, want) || c.Window("box:m") != 8192 {
		t.Errorf("asked %q, want %q; window %d", asked, want, c.Window("box:m"))
	}
}

// turns is a ring that lends another key each time.
type turns struct{ *ring }

func (r *turns) Next(ctx context.Context, session string) (hermes.Key, error) {
	k, err := r.ring.Next(ctx, session)
	r.at++
	return k, err
}

// mustAnswer asks the configured model for an answer.
func mustAnswer(t *testing.T, c *provider.Catalogue) {
	t.Helper()
	m, err := c.Model(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := hermes.Collect(m.Stream(t.Context(), sized(100))); err != nil {
		t.Fatal(err)
	}
}

// slowList is a server that takes its time to list its models.
type slowList struct {
	takes time.Duration
	lists int
	cut   int
}

func (s *slowList) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	if r.Method != http.MethodGet {
		says("ok")(w, r)
		return w.Result(), nil
	}
	s.lists++
	select {
	case <-time.After(s.takes):
		fmt.Fprint(w, `{"data":[{"id":"m","max_model_len":8192}]}`)
		return w.Result(), nil
	case <-r.Context().Done():
		s.cut++
		return nil, r.Context().Err()
	}
}

// TestASlowListDelaysNothing: the words of an answer never, and only the end of the
// first one, by a moment. A list that was cut is asked for beside a later answer.
func TestASlowListDelaysNothing(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		takes  time.Duration
		ends   []time.Duration // of the answers, after their words
		reads  time.Duration   // that the reader takes for each answer
		window int
		lists  int
	}{
		{"quick", 100 * time.Millisecond, []time.Duration{100 * time.Millisecond, 0}, 0, 8192, 1},
		{"it hangs", time.Hour, []time.Duration{time.Second, 0, 0}, 0, 0, 3},
		{"slow, beside long answers", 5 * time.Second, []time.Duration{0, 0}, 6 * time.Second, 8192, 1},
		{"it hangs beside long answers", time.Hour, []time.Duration{0, 0}, time.Minute, 0, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &slowList{takes: tt.takes}
				c, _ := patient(t, "", func(cfg *provider.Config) {
					cfg.Model, cfg.BaseURL, cfg.AskWindows, cfg.Client = "box:m", "", true, &http.Client{Transport: s}
					cfg.Custom = map[string]provider.Custom{"box": {BaseURL: "http://10.0.0.9/v1"}}
				})
				m, err := c.Model(t.Context(), "")
				if err != nil {
					t.Fatal(err)
				}
				for i, want := range tt.ends {
					begun, word := time.Now(), time.Time{}
					for d, err := range m.Stream(t.Context(), sized(100)) {
						if err != nil {
							t.Fatal(err)
						}
						if d.Text != "" {
							if waited := time.Since(begun); waited > 0 {
								t.Errorf("answer %d: the words came after %v", i, waited)
							}
							time.Sleep(tt.reads)
							word = time.Now()
						}
					}
					if got := time.Since(word); got != want {
						t.Errorf("answer %d ended after %v, want %v", i, got, want)
					}
				}
				if got := c.Window("box:m"); got != tt.window || s.lists != tt.lists {
					t.Errorf("window %d after %d lists; want %d, %d", got, s.lists, tt.window, tt.lists)
				}
			})
		})
	}
}

// TestAnInterruptedAnswerEndsItsList: at once, and the next answer asks again.
func TestAnInterruptedAnswerEndsItsList(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &slowList{takes: 100 * time.Millisecond}
		c, _ := patient(t, "", func(cfg *provider.Config) {
			cfg.Model, cfg.BaseURL, cfg.AskWindows, cfg.Client = "box:m", "", true, &http.Client{Transport: s}
			cfg.Custom = map[string]provider.Custom{"box": {BaseURL: "http://10.0.0.9/v1"}}
		})
		m, err := c.Model(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		for range m.Stream(t.Context(), sized(100)) {
			break
		}
		if took := time.Since(begun); took > 0 || s.cut != 1 {
			t.Errorf("it took %v, %d lists were cut", took, s.cut)
		}
		for range m.Stream(t.Context(), sized(100)) {
			time.Sleep(time.Second) // the list takes less
		}
		if c.Window("box:m") != 8192 {
			t.Errorf("the window is %d after %d lists", c.Window("box:m"), s.lists)
		}
	})
}

// TestAnotherWindowIsNoticed by the next run, if the server was started with another one
// since. What a refusal named holds until the server lists something else.
func TestAnotherWindowIsNoticed(t *testing.T) {
	t.Parallel()
	const none = `{"data":[{"id":"m"}]}`
	has := func(n int) string { return fmt.Sprintf(`{"data":[{"id":"x"},{"id":"m","max_model_len":%d}]}`, n) }
	refusal := func(n int) string { return said(fmt.Sprintf("maximum context length is %d tokens", n)) }
	type run struct {
		list, refusal string
		want          int // the window after the run
	}
	for name, runs := range map[string][]run{
		"larger":                           {{has(8192), "", 8192}, {has(16_384), "", 16_384}},
		"smaller":                          {{has(8192), "", 8192}, {has(4096), "", 4096}},
		"no longer listed":                 {{has(8192), "", 8192}, {none, "", 0}},
		"refused":                          {{has(65_536), refusal(8192), 8192}, {has(65_536), "", 8192}, {has(65_536), "", 8192}, {has(16_384), "", 16_384}},
		"refused twice":                    {{has(65_536), refusal(8192), 8192}, {has(65_536), refusal(4096), 4096}, {has(65_536), "", 4096}, {has(8192), "", 8192}},
		"refused, and listed with nothing": {{none, refusal(8192), 8192}, {none, "", 8192}, {has(16_384), "", 16_384}, {none, "", 0}},
		"refused, and not listed":          {{`{"data":[{"id":"x"}]}`, refusal(8192), 8192}, {`{"data":[{"id":"x"}]}`, "", 8192}, {has(16_384), "", 16_384}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for i, r := range runs {
				refuses := false
				s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
					switch {
					case req.Method == http.MethodGet:
						fmt.Fprint(w, r.list)
					case refuses:
						w.WriteHeader(http.StatusBadRequest)
						fmt.Fprint(w, r.refusal)
					default:
						says("ok")(w, req)
					}
				}))
				t.Cleanup(s.Close)
				c, _ := patient(t, "", func(cfg *provider.Config) {
					cfg.Model, cfg.BaseURL, cfg.AskWindows, cfg.Answers = "box:m", "", true, dir
					cfg.Client = &http.Client{Transport: towards(s.Listener.Addr().String())}
					cfg.Custom = map[string]provider.Custom{"box": {BaseURL: "http://10.0.0.9/v1"}}
				})
				mustAnswer(t, c)
				if refuses = r.refusal != ""; refuses {
					m, err := c.Model(t.Context(), "")
					if err != nil {
						t.Fatal(err)
					}
					if _, err := hermes.Collect(m.Stream(t.Context(), sized(70_000))); hermes.ClassOf(err) != hermes.ClassOverflow {
						t.Fatal(err)
					}
				}
				if got := c.Window("box:m"); got != r.want {
					t.Errorf("after run %d the window is %d, want %d", i, got, r.want)
				}
			}
		})
	}
}

// towards sends every request to one server.
type towards string

func (to towards) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Host = string(to)
	return http.DefaultTransport.RoundTrip(r)
}
