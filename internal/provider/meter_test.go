package provider_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/provider"
	"hermes/internal/spend"
)

// metered sets both layers of a governor, and returns its ledger. A token costs
// a dollar.
func metered(cfg *provider.Config, change func(*spend.Config)) hermes.Ledger {
	l := hermestest.NewLedger()
	c := spend.Config{
		Ledger: func(context.Context) (hermes.Ledger, error) { return l, nil }, Owner: "me",
		Price: func(string) (hermes.Price, bool) {
			return hermes.Price{Input: hermes.USD(1e6), Output: hermes.USD(1e6), CacheRead: -1}, true
		},
	}
	if change != nil {
		change(&c)
	}
	g := spend.New(c)
	cfg.Caps, cfg.Meter = g.Caps, g.Meter
	return l
}

func sum(t *testing.T, l hermes.Ledger) hermes.Spending {
	t.Helper()
	list, err := l.Spent(t.Context(), hermes.SpendQuery{})
	if err != nil || len(list) != 1 {
		t.Fatalf("the ledger has %+v, %v", list, err)
	}
	return list[0]
}

// TestEveryAttemptOfTheChainIsBooked: half answers, empty ones that are thrown
// away, refusals, and the answer of another model.
func TestEveryAttemptOfTheChainIsBooked(t *testing.T) {
	t.Parallel()
	first, _ := scripted(t, breaks("half"), says(""), fails(500, ""), breaks("half"))
	second, _ := scripted(t, breaks("half"), says("ok"))
	var l hermes.Ledger
	c, _ := patient(t, first.URL+"/v1", func(cfg *provider.Config) {
		l = metered(cfg, nil)
		cfg.Fallback = []provider.Selection{{Provider: "box", Model: "n", BaseURL: second.URL + "/v1", Key: "k"}}
	})
	_, m, err := collect(t, c)
	if err != nil || m.Text() != "ok" {
		t.Fatalf("%q, %v", m.Text(), err)
	}
	// four attempts that counted 10 and 1 or 2 tokens, one that was refused
	got := sum(t, l)
	if got.Calls != 6 || got.Usage.Input != 50 || got.Usage.Output != 1+2+1+1+2 || got.Money != hermes.USD(57) || got.Reserved != (hermes.Amount{}) {
		t.Errorf("the ledger has %+v", got)
	}
	byModel, err := l.Spent(t.Context(), hermes.SpendQuery{By: hermes.SpendByModel})
	if err != nil || len(byModel) != 2 || byModel[0].Name != "custom:m" || byModel[0].Calls != 4 || byModel[1].Name != "box:n" || byModel[1].Calls != 2 {
		t.Errorf("by model: %+v, %v", byModel, err)
	}
}

// TestARetryPastTheCapIsNotMade: the waits of the retry layer are outside of it.
func TestARetryPastTheCapIsNotMade(t *testing.T) {
	t.Parallel()
	srv, asked := scripted(t, breaks("half"), breaks("half"))
	c, _ := patient(t, srv.URL+"/v1", func(cfg *provider.Config) {
		_ = metered(cfg, func(s *spend.Config) { s.Caps = spend.Caps{hermes.AccountDay: {Tokens: 2030}} })
	})
	_, _, err := collect(t, c)
	if hermes.ClassOf(err) != hermes.ClassBudget || len(*asked) != 2 {
		t.Errorf("%d requests, %v", len(*asked), err)
	}
}

// TestTheCostOfARouterIsBooked as its usage says it.
func TestTheCostOfARouterIsBooked(t *testing.T) {
	t.Parallel()
	for usage, want := range map[string]hermes.Money{
		`{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12}`:                                                           hermes.USD(12),
		`{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12,"cost":0.25}`:                                               hermes.USD(0.25),
		`{"prompt_tokens":10,"completion_tokens":2,"cost":0.95,"is_byok":true,"cost_details":{"upstream_inference_cost":19}}`:    hermes.USD(19.95),
		`{"prompt_tokens":10,"completion_tokens":2,"cost":0}`:                                                                    hermes.USD(12),
		`{"prompt_tokens":10,"completion_tokens":2,"total_tokens":42,"completion_tokens_details":{"reasoning_tokens":30}}`:       hermes.USD(42),
		`{"prompt_tokens":10,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":8}}`:                                 hermes.USD(12), // the rate of the cache is unknown
		`{"prompt_tokens":1e99,"completion_tokens":-5}`:                                                                          hermes.USD(6),  // estimated
		`{"prompt_tokens":"10","completion_tokens":2.0,"cost":"x","is_byok":"no","cost_details":{"upstream_inference_cost":[]}}`: hermes.USD(12),
	} {
		srv, _ := scripted(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[],\"usage\":%s}\n\ndata: [DONE]\n\n", usage)
		})
		var l hermes.Ledger
		c, _ := patient(t, srv.URL+"/v1", func(cfg *provider.Config) { l = metered(cfg, nil) })
		if _, _, err := collect(t, c); err != nil {
			t.Fatalf("%s: %v", usage, err)
		}
		if got := sum(t, l); got.Money != want {
			t.Errorf("%s: booked is %+v, want %v", usage, got, want)
		}
	}
}
