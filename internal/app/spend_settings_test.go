package app_test

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/chatserver"
	"hermes/internal/session"
)

// TestEveryCapStopsAnEndlessModel has each kind of cap, in money and in tokens.
func TestEveryCapStopsAnEndlessModel(t *testing.T) {
	t.Parallel()
	const limit = 30_000 // tokens; a token costs a millionth of a dollar
	for kind, words := range map[string]string{"turn": "this turn", "session": "this session", "tree": "sub-agents", "day": "today", "month": "this month"} {
		for unit, amount := range map[string]string{"usd": "0.03", "tokens": "30000"} {
			t.Run(kind+" "+unit, func(t *testing.T) {
				t.Parallel()
				model := &endless{}
				server := httptest.NewServer(&chatserver.Handler{Model: "played", Decide: model.decide})
				defer server.Close()
				a := openHome(t, capped(t, server.URL, fmt.Sprintf("  %s: {%s: %s}\n", kind, unit, amount)))
				defer a.Close()
				_, done := say(t, a, "", "go on for ever")
				mustStop(t, done, words)
				near(t, model, limit)
			})
		}
	}
}

// TestNoModelIsCalledWithUnclearSpendSettings has neither a turn nor a side task call a model.
func TestNoModelIsCalledWithUnclearSpendSettings(t *testing.T) {
	t.Parallel()
	model := &endless{}
	server := httptest.NewServer(&chatserver.Handler{Model: "played", Decide: model.decide})
	defer server.Close()
	a := openHome(t, capped(t, server.URL, "  per_session: 5\n"))
	defer a.Close()
	if _, err := a.Sessions(t.Context()); !wrongSpend(err) {
		t.Errorf("a session: got %v", err)
	}
	models, err := a.Models().Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.Model(t.Context(), "custom:played")
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range m.Stream(t.Context(), &hermes.Request{Messages: []hermes.Message{hermes.UserText("hi")}}) {
		if !wrongSpend(err) {
			t.Errorf("a call: got %v", err)
		}
	}
	if n, _, _ := model.count(); n > 0 {
		t.Errorf("%d calls were made", n)
	}
	if _, err := a.Spend(); err != nil {
		t.Errorf("what was spent cannot be read: %v", err)
	}
}

func wrongSpend(err error) bool {
	exit, ok := errors.AsType[*app.ExitError](err)
	return ok && exit.Status == 2 && strings.Contains(err.Error(), "spend.per_session")
}

// TestWarnAtSaysWhenYouAreTold collects the notices of a turn that uses its cap up.
func TestWarnAtSaysWhenYouAreTold(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string][]string{
		"": {"50", "75", "90"}, "  warn_at: [20, 60%]\n": {"20", "60"}, "  warn_at: 40\n": {"40"}, "  warn_at: []\n": nil,
	} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			model := &endless{}
			server := httptest.NewServer(&chatserver.Handler{Model: "played", Decide: model.decide})
			defer server.Close()
			a := openHome(t, capped(t, server.URL, "  session: {tokens: 200000}\n"+setting))
			defer a.Close()
			var got []string
			for _, text := range notices(t, a) {
				if percent, rest, ok := strings.Cut(text, " % of the spend cap"); ok && rest != "" {
					got = append(got, percent)
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("told at %v, want %v", got, want)
			}
		})
	}
}

// notices runs one turn and returns the texts of its notices.
func notices(t *testing.T, a *app.App) (texts []string) {
	t.Helper()
	s := mustOpen(t, a, session.Open{Run: hermes.RunSpec{Origin: hermes.Origin{Platform: "cli"}, Workspace: hermes.Workspace{Dir: t.TempDir()}}, From: hermes.From{Attends: true}})
	events := mustSay(t, s, "go on for ever")
	for e := range events {
		switch e := e.(type) {
		case hermes.Notice:
			texts = append(texts, e.Text)
		case hermes.TurnDone:
			return texts
		}
	}
	t.Fatal("the session ended")
	return nil
}

// TestPricesAreTheUsersOwn has the price of each kind of token, and a service that costs nothing.
func TestPricesAreTheUsersOwn(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(&chatserver.Handler{Model: "played", Decide: func(r *chatserver.Request) (chatserver.Answer, error) {
		return chatserver.Answer{Text: strings.Repeat("word ", 40)}, nil
	}})
	defer server.Close()
	bill := func(model, settings string) hermes.Spending {
		t.Helper()
		home := t.TempDir()
		writeFile(t, home+"/config.yaml", "model: {default: "+model+", provider: custom, base_url: \""+server.URL+"/v1\"}\n"+
			"auxiliary: {title_generation: {enabled: false}}\nspend:\n"+settings)
		a := openHome(t, home)
		defer a.Close()
		id, _ := say(t, a, "", "one")
		say(t, a, id, "two") // its prompt begins with the one before, which is cached
		g, err := a.Spend()
		if err != nil {
			t.Fatal(err)
		}
		all, err := g.Spent(t.Context(), hermes.SpendQuery{})
		if err != nil || len(all) != 1 {
			t.Fatalf("%v, %v", all, err)
		}
		return all[0]
	}
	for _, rate := range [][4]int64{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {3, 5, 7, 9}} {
		prices := fmt.Sprintf("  prices: {played: {input: %d, output: %d, cache_read: %d, cache_write: %d}}\n", rate[0], rate[1], rate[2], rate[3])
		got := bill("played", prices)
		u := got.Usage
		if u.Input == 0 || u.Output == 0 || u.CacheRead == 0 {
			t.Fatalf("the server counts %+v", u)
		}
		want := hermes.Money(rate[0]*u.Input + rate[1]*u.Output + rate[2]*u.CacheRead + rate[3]*u.CacheWrite)
		if got.Money != want || got.Unpriced > 0 {
			t.Errorf("%s: got %+v, want %s", prices, got, want)
		}
	}
	// The name of a price may be a reference, as docs/spending.md has it.
	if got := bill("played", "  prices: {\"custom:played\": {input: 3, output: 5}}\n"); got.Money == 0 || got.Unpriced > 0 {
		t.Errorf("a price by reference: got %+v", got)
	}
	const priceless = "gpt-4o" // a name that local servers do not give for nothing
	if got := bill(priceless, ""); got.Unpriced != got.Calls {
		t.Errorf("without a price: got %+v", got)
	}
	if got := bill(priceless, "  flat_rate: [custom]\n"); got.Money != 0 || got.Unpriced > 0 {
		t.Errorf("with a flat rate: got %+v", got)
	}
}
