package provider_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"hermes"
	"hermes/internal/provider"
)

// sized is a request of about so many tokens.
func sized(tokens int) *hermes.Request {
	return &hermes.Request{Messages: []hermes.Message{hermes.UserText(strings.Repeat("word", tokens))}}
}

// resetting is a service whose connections break so many times before it answers.
type resetting struct {
	drops int
	asked int
}

func (d *resetting) RoundTrip(r *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, r.Body)
	if d.asked++; d.drops > 0 {
		d.drops--
		return nil, fmt.Errorf("read tcp: %w", syscall.ECONNRESET)
	}
	w := httptest.NewRecorder()
	says("ok")(w, r)
	return w.Result(), nil
}

// TestDroppedConnectionsDoNotCostTheContext: a connection that breaks is a guess
// about the length only if the request is large for the window that is known, no
// request of its size was answered, and all retries ended like that.
func TestDroppedConnectionsDoNotCostTheContext(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		ref    string
		window int // that the user set
		tokens int
		before bool // a request of the size was answered
		drops  int
		class  hermes.Class // of the error; "" is an answer
	}{
		{"two drops, nothing is known", "box:m", 0, 130_000, false, 2, ""},
		{"a large window that was set", "box:m", 1_000_000, 130_000, false, 4, hermes.ClassTimeout},
		{"a large window of the snapshot", "far:claude-sonnet-4-6", 0, 130_000, false, 4, hermes.ClassTimeout},
		{"well within a small window", "box:m", 262_144, 140_000, false, 4, hermes.ClassTimeout},
		{"its size was taken before", "box:m", 0, 130_000, true, 4, hermes.ClassTimeout},
		{"large and unknown", "box:m", 0, 130_000, false, 4, hermes.ClassOverflow},
		{"large for the window", "box:m", 100_000, 90_000, false, 4, hermes.ClassOverflow},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := &resetting{}
			c, _ := patient(t, "", func(cfg *provider.Config) {
				cfg.Model, cfg.ContextLength, cfg.Client = tt.ref, tt.window, &http.Client{Transport: d}
				cfg.BaseURL = ""
				cfg.Custom = map[string]provider.Custom{"box": {BaseURL: "http://10.0.0.9/v1"}, "far": {BaseURL: "https://models.example/v1", Key: "k"}}
			})
			m, err := c.Model(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			if tt.before {
				if _, err := hermes.Collect(m.Stream(t.Context(), sized(tt.tokens-2000))); err != nil {
					t.Fatal(err)
				}
			}
			d.drops, d.asked = tt.drops, 0
			_, err = hermes.Collect(m.Stream(t.Context(), sized(tt.tokens)))
			if tt.class == "" && err != nil || tt.class != "" && (err == nil || hermes.ClassOf(err) != tt.class) {
				t.Errorf("after %d requests: %v of class %s, want %q", d.asked, err, hermes.ClassOf(err), tt.class)
			}
		})
	}
}

// refusing answers requests over a number of bytes with an error body.
func refusing(t *testing.T, most int, body string) (*httptest.Server, *[]int) {
	t.Helper()
	var sizes []int
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		sizes = append(sizes, len(raw))
		if len(raw) > most {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, body)
			return
		}
		says("ok")(w, r)
	}))
	t.Cleanup(s.Close)
	return s, &sizes
}

// TestTheWindowIsFound: from a field, from the text, and by smaller sizes where
// nothing names it.
func TestTheWindowIsFound(t *testing.T) {
	t.Parallel()
	const silent = `{"error":{"message":"prompt is too long"}}`
	for _, tt := range []struct {
		name, body string
		set        int
		tokens     []int // of the requests
		want       []int // the window after each
		lasting    bool  // known to the next run
	}{
		{"a field", `{"error":{"message":"the request is too long: prompt is too long","n_prompt_tokens":20031,"n_ctx":8192}}`, 0, []int{20_000}, []int{8192}, true},
		{"a text", said("This model's maximum prompt length is 16000 but the request contains 20031 tokens."), 0, []int{20_000}, []int{16_000}, true},
		{"sizes", silent, 0, []int{300_000, 200_000, 90_000, 50_000, 24_000, 12_000, 6_000}, []int{256 << 10, 128 << 10, 64 << 10, 32 << 10, 16 << 10, 8 << 10, 8 << 10}, false},
		{"a size in the middle", silent, 0, []int{40_000}, []int{32 << 10}, false},
		{"what the user set stays", silent, 100_000, []int{90_000}, []int{100_000}, false},
		{"a tiny request teaches nothing", silent, 0, []int{500}, []int{0}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, _ := refusing(t, 100, tt.body)
			dir := t.TempDir()
			change := func(cfg *provider.Config) {
				cfg.Model, cfg.BaseURL, cfg.Answers = "box:m", "", dir
				cfg.Custom = map[string]provider.Custom{"box": {BaseURL: s.URL + "/v1", Limits: provider.Limits{ContextLength: tt.set}}}
			}
			c, _ := patient(t, "", change)
			m, err := c.Model(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			if got := c.Window("box:m"); got != tt.set {
				t.Errorf("before the first request the window is %d", got)
			}
			for i, n := range tt.tokens {
				if _, err := hermes.Collect(m.Stream(t.Context(), sized(n))); hermes.ClassOf(err) != hermes.ClassOverflow {
					t.Fatalf("%v", err)
				}
				if got := c.Window("box:m"); got != tt.want[i] {
					t.Errorf("after %d tokens the window is %d, want %d", n, got, tt.want[i])
				}
			}
			next, _ := patient(t, "", change)
			if got := next.Window("box:m"); (got == tt.want[len(tt.want)-1]) != (tt.lasting || tt.set > 0 || tt.want[0] == 0) {
				t.Errorf("the next run knows %d", got)
			}
		})
	}
}

// said is an error body with this message.
func said(message string) string { return fmt.Sprintf(`{"error":{"message":%q}}`, message) }

// TestTooLongIsDoubted: of a request far below the window it is asked again once;
// of others it is believed.
func TestTooLongIsDoubted(t *testing.T) {
	t.Parallel()
	refuses := func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, said("prompt is too long"))
	}
	tier := func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTooManyRequests)
		fmt.Fprint(w, said("Extra usage is required for long context requests"))
	}
	for _, tt := range []struct {
		name           string
		window, tokens int
		steps          []http.HandlerFunc
		failed         bool
	}{
		{"a small body that is too large, of an unknown window", 0, 5000, []http.HandlerFunc{fails(413, ""), says("ok")}, false},
		{"the tier of long requests, of an unknown window", 0, 5000, []http.HandlerFunc{tier, says("ok")}, false},
		{"it passes", 100_000, 10_000, []http.HandlerFunc{refuses, says("ok")}, false},
		{"it stays", 100_000, 10_000, []http.HandlerFunc{refuses, refuses}, true},
		{"tiny, of an unknown window", 0, 1000, []http.HandlerFunc{refuses, says("ok")}, false},
		{"near the window", 100_000, 80_000, []http.HandlerFunc{refuses}, true},
		{"large, of an unknown window", 0, 80_000, []http.HandlerFunc{refuses}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv, asked := scripted(t, tt.steps...)
			c, _ := patient(t, srv.URL+"/v1", func(cfg *provider.Config) { cfg.ContextLength = tt.window })
			m, err := c.Model(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			_, err = hermes.Collect(m.Stream(t.Context(), sized(tt.tokens)))
			if (err != nil) != tt.failed || len(*asked) != len(tt.steps) || tt.failed && hermes.ClassOf(err) != hermes.ClassOverflow {
				t.Errorf("asked %d times: %v", len(*asked), err)
			}
		})
	}
}

// TestAnErrorSaysHowOftenItWasMet counts only the attempts that ended with it.
func TestAnErrorSaysHowOftenItWasMet(t *testing.T) {
	t.Parallel()
	cut := func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }
	for name, tt := range map[string]struct {
		steps []http.HandlerFunc
		words string
	}{
		"a 402":              {[]http.HandlerFunc{fails(402, "")}, ""},
		"a 402 after a drop": {[]http.HandlerFunc{cut, fails(402, "")}, ""},
		"a 402 after a 503":  {[]http.HandlerFunc{fails(503, ""), fails(402, "")}, ""},
		"a 503 four times":   {[]http.HandlerFunc{fails(503, ""), fails(503, ""), fails(503, ""), fails(503, "")}, "(tried 4 times)"},
		"a 503 after a 429":  {[]http.HandlerFunc{fails(429, ""), fails(503, ""), fails(503, ""), fails(503, "")}, "(tried 3 times)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv, _ := scripted(t, tt.steps...)
			c, _ := patient(t, srv.URL+"/v1", nil)
			_, _, err := collect(t, c)
			if err == nil || strings.Contains(err.Error(), "times") != (tt.words != "") || !strings.Contains(err.Error(), tt.words) {
				t.Errorf("got %v, want %q", err, tt.words)
			}
		})
	}
}

// TestWhatAServerListsOfItsModels are rows of real servers.
func TestWhatAServerListsOfItsModels(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		list           string
		window, output int
	}{
		"llama.cpp":            {`{"models":[{"name":"smollm2"}],"data":[{"id":"m","aliases":["m"],"meta":{"n_ctx":8192,"n_ctx_train":131072}}]}`, 8192, 0},
		"llama.cpp, older":     {`{"data":[{"id":"m","meta":{"n_ctx_train":32768}}]}`, 32_768, 0},
		"LiteLLM":              {`{"data":[{"id":"m","mode":"chat","max_input_tokens":128000,"max_output_tokens":16384}]}`, 128_000, 16_384},
		"LiteLLM, old field":   {`{"data":[{"id":"m","max_input_tokens":128000,"max_tokens":4096}]}`, 128_000, 4096},
		"vLLM":                 {`{"data":[{"id":"m","max_model_len":40960}]}`, 40_960, 0},
		"nothing but the name": {`{"data":[{"id":"m"}]}`, 0, 0},
	} {
		s := listing(t, tt.list, "")
		c := mustKnow(t, provider.Config{Custom: map[string]provider.Custom{"box": {BaseURL: s.URL + "/v1"}}})
		mustList(t, c, "box")
		if m := c.Info("box:m"); m.ContextLength != tt.window || m.OutputLimit != tt.output {
			t.Errorf("%s: window %d, output %d", name, m.ContextLength, m.OutputLimit)
		}
	}
}

// TestAnAnswerFitsTheWindow looks at the limit that each protocol sends.
func TestAnAnswerFitsTheWindow(t *testing.T) {
	t.Parallel()
	const llama, proxy = `{"data":[{"id":"m","meta":{"n_ctx":8192}}]}`, `{"data":[{"id":"m","max_input_tokens":200000,"max_output_tokens":9000}]}`
	for _, tt := range []struct {
		name, path, list string
		set, asks        int // the window that is set; the limit of the request
		want             int // 0 is no limit
	}{
		{"Messages, by the list", "/anthropic", llama, 0, 0, 4096},
		{"Messages, an output limit in the list", "/anthropic", proxy, 0, 0, 9000},
		{"Messages, by the setting", "/anthropic", "", 20_000, 0, 10_000},
		{"Messages, nothing is known", "/anthropic", "", 0, 0, 128_000},
		{"Messages, the request asks for more", "/anthropic", llama, 0, 100_000, 4096},
		{"Messages, the request asks for less", "/anthropic", llama, 0, 300, 300},
		{"Chat, by the setting", "/v1", "", 8192, 0, 4096},
		{"Chat, the request asks for more", "/v1", "", 8192, 60_000, 4096},
		{"Chat, nothing is known", "/v1", "", 0, 0, 0},
		{"Responses, by the setting", "/v1/responses", "", 8192, 0, 4096},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var body string
			lists := 0
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					if lists++; tt.list == "" {
						http.NotFound(w, r)
					}
					fmt.Fprint(w, tt.list)
					return
				}
				raw, _ := io.ReadAll(r.Body)
				body = string(raw)
				w.WriteHeader(http.StatusTeapot)
			}))
			t.Cleanup(s.Close)
			c, _ := patient(t, "", func(cfg *provider.Config) {
				cfg.Model, cfg.BaseURL = "box:m", ""
				cfg.Custom = map[string]provider.Custom{"box": {BaseURL: s.URL + tt.path, Limits: provider.Limits{ContextLength: tt.set}}}
			})
			m, err := c.Model(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				r := sized(100)
				r.MaxTokens = tt.asks
				_, _ = hermes.Collect(m.Stream(t.Context(), r)) // it refuses everything
			}
			var sent struct {
				Max       int `json:"max_tokens"`
				MaxOutput int `json:"max_output_tokens"`
			}
			if err := json.Unmarshal([]byte(body), &sent); err != nil {
				t.Fatal(err)
			}
			if got := max(sent.Max, sent.MaxOutput); got != tt.want {
				t.Errorf("asks for %d tokens, want %d", got, tt.want)
			}
			if lists > 2 { // two addresses, once
				t.Errorf("asked for the list %d times", lists)
			}
		})
	}
}

// TestAFullWindowGetsNoLimit: near the end of the window the estimate is too rough
// for a limit, and services get none of ours.
func TestAFullWindowGetsNoLimit(t *testing.T) {
	t.Parallel()
	for base, tokens := range map[string]int{"http://10.0.0.9/v1": 6000, "https://api.groq.com/openai/v1": 100} {
		var body string
		c, _ := patient(t, base, func(cfg *provider.Config) {
			cfg.ContextLength = 8192
			cfg.Client = &http.Client{Transport: serviceFunc(func(r *http.Request) (*http.Response, error) {
				raw, _ := io.ReadAll(r.Body)
				body = string(raw)
				w := httptest.NewRecorder()
				says("ok")(w, r)
				return w.Result(), nil
			})}
		})
		m, err := c.Model(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := hermes.Collect(m.Stream(t.Context(), sized(tokens))); err != nil || strings.Contains(body, "max_") {
			t.Errorf("%s: %v, %.200s", base, err, body[max(0, len(body)-200):])
		}
	}
}

// TestAToolsNameDisablesNoKey: a 400 about the schema of get_billing_report is not
// about money, for none of the keys. Names that sound like another class do not make
// the transcript shorter or a key rest either.
func TestAToolsNameDisablesNoKey(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"get_billing_report", "billing-report", "billing.report", "credit-balance", "billing", // money
		"rate-limit", "throttle.now", "api-key-revoked", "invalid-api-key", "revoked", // keys
		"context-length", "prompt-too-long", "max_model_len", "model-not-found", "overloaded", "moderation",
	} {
		for _, form := range []string{
			`{"error":{"message":"Invalid schema for function '%s': array schema missing items.","type":"invalid_request_error","param":"tools[4].function.parameters","code":"invalid_function_parameters"}}`,
			`{"error":{"message":"Tool %s not found in tools","type":"invalid_request_error"}}`,
			`{"error":{"message":"Invalid tool %s: it has no type"}}`,
		} {
			body := fmt.Sprintf(form, name)
			srv, asked := scripted(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprint(w, body)
			}, says("ok"))
			keys := newRing("a", "b", "c")
			c, waits := patient(t, srv.URL+"/v1", func(cfg *provider.Config) {
				cfg.Key = ""
				cfg.Keys = func(string, []hermes.Key) hermes.Keys { return keys }
			})
			if _, _, err := collect(t, c); hermes.ClassOf(err) != hermes.ClassFormat || len(*waits) != 0 {
				t.Errorf("%s: %v, waited %v", body, err, *waits)
			}
			if _, m, err := collect(t, c); err != nil || m.Text() != "ok" || len(*asked) != 2 {
				t.Errorf("%s: the next call: %q, %v after %d requests", body, m.Text(), err, len(*asked))
			}
		}
	}
}

// TestWaitsOfAGatewayAreKept: LiteLLM renames the header.
func TestWaitsOfAGatewayAreKept(t *testing.T) {
	t.Parallel()
	srv, _ := scripted(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("llm_provider-retry-after", "42")
		w.WriteHeader(http.StatusTooManyRequests)
	}, says("ok"))
	c, waits := patient(t, srv.URL+"/v1", nil)
	if _, _, err := collect(t, c); err != nil || len(*waits) != 1 || (*waits)[0] != 42*time.Second {
		t.Errorf("waited %v: %v", *waits, err)
	}
}
