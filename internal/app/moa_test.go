package app_test

import (
	"errors"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/chatserver"
)

// panel is a server with a model that calls mixture_of_agents if it is told to, and those of a mixture, one of which fails.
type panel struct {
	mu       sync.Mutex
	requests []*chatserver.Request
	hold     chan struct{} // the references answer when it is closed; nil at once
}

func (p *panel) decide(r *chatserver.Request) (chatserver.Answer, error) {
	p.mu.Lock()
	p.requests = append(p.requests, r)
	p.mu.Unlock()
	last := r.Messages[len(r.Messages)-1]
	switch r.Model {
	case "one", "two":
		if p.hold != nil {
			<-p.hold
		}
		return chatserver.Answer{Text: r.Model + " says " + last.Text()}, nil
	case "gone":
		return chatserver.Answer{}, errors.New("gone is not here")
	case "judge":
		return chatserver.Answer{Text: "Judged."}, nil
	}
	if w := wish.FindStringSubmatch(last.Text()); last.Role == "user" && w != nil {
		return chatserver.Answer{Calls: []chatserver.Call{{ID: "c1", Type: "function", Function: function(w[1], w[2])}}}, nil
	}
	return chatserver.Answer{Text: "Read: " + last.Text()}, nil
}

func (p *panel) of(model string) (list []*chatserver.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.requests {
		if r.Model == model {
			list = append(list, r)
		}
	}
	return list
}

const mixtures = `
agent: {api_max_retries: 0}
providers: {box: {base_url: "URL"}}
moa:
  presets:
    panel:
      reference_models:
        - {provider: "custom:box", model: one}
        - {model: "custom:box:two", reasoning_effort: high}
        - {model: "custom:box:gone"}
      aggregator: {model: "custom:box:judge"}
`

func newPanel(t *testing.T, config string) (*scene, *panel) {
	t.Helper()
	s, p := newScene(t, hermes.Deny), &panel{}
	server := httptest.NewServer(&chatserver.Handler{Model: "m", Decide: p.decide})
	t.Cleanup(server.Close)
	s.url, s.evidence = server.URL+"/v1", "false"
	s.config = strings.ReplaceAll(config, "URL", s.url)
	return s, p
}

// TestSeveralModelsAnswerTogether: each gets the prompt alone and no tools, the last one all answers; each call is booked.
func TestSeveralModelsAnswerTogether(t *testing.T) {
	t.Parallel()
	s, p := newPanel(t, mixtures)
	s.say(`CALL mixture_of_agents {"user_prompt":"why is it so?"}`)
	if !strings.Contains(s.done.Text, `"answer":"Judged."`) || !strings.Contains(s.done.Text, `"models":["custom:box:one","custom:box:two"]`) || !strings.Contains(s.done.Text, `"failed":["custom:box:gone: `) {
		t.Errorf("the result is %q", s.done.Text)
	}
	one, judge := p.of("one"), p.of("judge")
	if len(one) != 1 || len(one[0].Tools) > 0 || len(one[0].Messages) != 1 || one[0].Messages[0].Text() != "why is it so?" {
		t.Fatalf("one was asked %+v", one)
	}
	if len(judge) != 1 || len(judge[0].Tools) > 0 {
		t.Fatalf("the last one was asked %+v", judge)
	}
	if read := judge[0].Messages[len(judge[0].Messages)-1].Text(); !strings.Contains(read, "one says why is it so?") || !strings.Contains(read, "two says why is it so?") {
		t.Errorf("the last one reads %q", read)
	}
	db, err := s.app.Database(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	booked, err := db.Spent(t.Context(), hermes.SpendQuery{Session: s.session, By: hermes.SpendByPurpose})
	if err != nil {
		t.Fatal(err)
	}
	for _, purpose := range []string{"moa_reference", "moa_aggregator"} {
		if !slices.ContainsFunc(booked, func(b hermes.Spending) bool { return b.Name == purpose }) {
			t.Errorf("no call is booked as %s: %+v", purpose, booked)
		}
	}
}

// TestAMixtureKeepsToTheCaps: a call that a cap refuses is not made.
func TestAMixtureKeepsToTheCaps(t *testing.T) {
	t.Parallel()
	s, p := newPanel(t, mixtures+"spend: {turn: {tokens: 25000}}\n")
	s.say(`CALL mixture_of_agents {"user_prompt":"` + strings.Repeat("why? ", 10000) + `"}`)
	if n := len(p.of("one")) + len(p.of("two")) + len(p.of("judge")); n > 0 || len(p.of("m")) != 1 {
		t.Errorf("%d calls were made above the cap, after %d of the session's model", n, len(p.of("m")))
	}
}

// TestTheMixtureIsHiddenWithoutModels: it needs a preset, or several models in the settings.
func TestTheMixtureIsHiddenWithoutModels(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]bool{
		"model: {default: 'openrouter:a/b'}\n": false,
		"model: {default: 'openrouter:a/b'}\nfallback_providers: [{provider: openrouter, model: c/d}]\n":                                 true,
		"model: {default: 'openrouter:a/b'}\nfallback_providers: [{provider: openrouter, model: c/d, base_url: 'http://127.0.0.1:1'}]\n": false,
		"moa: {presets: {one: {reference_models: [{model: 'openrouter:a/b'}]}}}\n":                                                       true,
	} {
		home := t.TempDir()
		writeFile(t, home+"/config.yaml", settings)
		a := app.New(app.Options{Home: home, Getenv: func(string) string { return "" }})
		if has := hasTool(t, a, "mixture_of_agents"); has != want {
			t.Errorf("%s: the tool is offered: %v", settings, has)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestMoaAnswersInTheConversation: the answer is shown, and the session's own model knows it afterwards.
func TestMoaAnswersInTheConversation(t *testing.T) {
	t.Parallel()
	s, p := newPanel(t, mixtures)
	s.enter()
	c := s.app.Client(nil)
	events := attach(t, c, s.session, terminal("one"))
	if err := c.Command(t.Context(), s.session, terminal("one"), "/moa why is it so?"); err != nil {
		t.Fatal(err)
	}
	if done := until[hermes.TurnDone](t, events); done.Text != "Judged." || done.Failure != nil {
		t.Fatalf("the turn ended with %+v", done)
	}
	tell(t, c, s.session, terminal("one"), "And now?")
	until[hermes.TurnDone](t, events)
	own := p.of("m")
	if len(own) != 1 {
		t.Fatalf("the session's model was asked %d times, want once", len(own))
	}
	var texts []string
	for _, m := range own[0].Messages[1:] {
		texts = append(texts, m.Text())
	}
	if len(texts) < 3 || !strings.Contains(texts[0], "why is it so?") || texts[1] != "Judged." {
		t.Errorf("the session's model reads %q", texts)
	}
}

// TestStopEndsAMixture and asks no one else.
func TestStopEndsAMixture(t *testing.T) {
	t.Parallel()
	s, p := newPanel(t, mixtures)
	p.hold = make(chan struct{})
	defer close(p.hold)
	s.enter()
	c := s.app.Client(nil)
	events := attach(t, c, s.session, terminal("one"))
	if err := c.Command(t.Context(), s.session, terminal("one"), "/moa why is it so?"); err != nil {
		t.Fatal(err)
	}
	until[hermes.StepStarted](t, events)
	if err := c.Do(t.Context(), s.session, terminal("one"), hermes.Stop{}); err != nil {
		t.Fatal(err)
	}
	if done := until[hermes.TurnDone](t, events); done.Outcome != hermes.OutcomeInterrupted || len(p.of("judge")) > 0 {
		t.Errorf("the turn ended with %+v", done)
	}
}

// TestMoaKeepsTheModelOfTheNextTurn: what /model NAME --once chose answers the message after that of /moa, and only that.
func TestMoaKeepsTheModelOfTheNextTurn(t *testing.T) {
	t.Parallel()
	s, _ := newPanel(t, mixtures)
	s.enter()
	c := s.app.Client(nil)
	events := attach(t, c, s.session, terminal("one"))
	for _, line := range []string{"/model custom:box:one --once", "/moa why is it so?"} {
		if err := c.Command(t.Context(), s.session, terminal("one"), line); err != nil {
			t.Fatal(err)
		}
	}
	if done := until[hermes.TurnDone](t, events); done.Text != "Judged." {
		t.Fatalf("the turn ended with %+v", done)
	}
	for _, tt := range []struct{ said, want string }{{"And now?", "one says And now?"}, {"And then?", "Read: And then?"}} {
		tell(t, c, s.session, terminal("one"), tt.said)
		if done := until[hermes.TurnDone](t, events); done.Text != tt.want {
			t.Errorf("%s was answered with %q, want %q", tt.said, done.Text, tt.want)
		}
	}
}
