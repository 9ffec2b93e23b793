package session_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/protocol"
	"hermes/internal/session"
)

// modeTool tells the mode that its call has when hold is closed; it waits only if there is one.
func modeTool(hold, held chan struct{}) tool {
	return tool{hermes.Spec{Name: "mode", Effect: hermes.EffectNone}, func(_ context.Context, c *hermes.Call) hermes.Result {
		if held != nil {
			held <- struct{}{}
			<-hold
		}
		return hermes.Result{Text: string(c.Host.Session().Mode)}
	}}
}

// TestWhoMaySetTheMode: only a user who can be asked.
func TestWhoMaySetTheMode(t *testing.T) {
	t.Parallel()
	h := newFixture(t, obedient(orders), newToolTable(modeTool(nil, nil)))
	s := h.open(t, session.Open{})
	for _, from := range []hermes.From{{}, {Client: "api", Platform: "oneshot"}} {
		if err := s.Do(t.Context(), from, hermes.SetMode{Mode: hermes.ModeYolo}); err == nil || !strings.Contains(err.Error(), "only a user who can be asked") {
			t.Errorf("%+v: %v", from, err)
		}
	}
	for _, m := range []hermes.RightsMode{"", "all"} {
		if err := s.Do(t.Context(), bob, hermes.SetMode{Mode: m}); err == nil || !strings.Contains(err.Error(), "unknown mode") {
			t.Errorf("%q: %v", m, err)
		}
	}
	if m := s.Mode(); m != hermes.ModeAsk {
		t.Errorf("the mode is %s", m)
	}
}

// TestTheModeChangesInATurn: a call that runs already sees it, and so does whoever attaches.
func TestTheModeChangesInATurn(t *testing.T) {
	t.Parallel()
	hold, held := make(chan struct{}), make(chan struct{})
	h := newFixture(t, obedient(orders), newToolTable(modeTool(hold, held)))
	s := h.open(t, session.Open{})
	_, events, err := s.Attach(t.Context(), bob, protocol.After{})
	if err != nil {
		t.Fatal(err)
	}
	submit(t, s, say("mode"))
	<-held
	if err := s.Do(t.Context(), bob, hermes.SetMode{Mode: hermes.ModePlan}); err != nil {
		t.Fatal(err)
	}
	close(hold)
	changed := false
	for e := range events {
		switch d := e.Event.(type) {
		case hermes.ModeChanged:
			changed = d == hermes.ModeChanged{Mode: hermes.ModePlan, By: bob}
		case hermes.TurnDone:
			if d.Text != "plan" || !changed {
				t.Errorf("%q, reported %v", d.Text, changed)
			}
			if snapshot, _, err := s.Attach(t.Context(), hermes.From{}, protocol.After{}); err != nil || snapshot.Mode != hermes.ModePlan {
				t.Errorf("%s, %v", snapshot.Mode, err)
			}
			return
		}
	}
}

// TestPlanModeRefusesOpenApprovals, and yolo answers none.
func TestPlanModeRefusesOpenApprovals(t *testing.T) {
	t.Parallel()
	h := newFixture(t, obedient(orders), newToolTable(remover(nil)))
	s := h.open(t, session.Open{})
	_, events, err := s.Attach(t.Context(), bob, protocol.After{})
	if err != nil {
		t.Fatal(err)
	}
	submit(t, s, say("rm"))
	for e := range events {
		switch d := e.Event.(type) {
		case hermes.Asked:
			for _, m := range []hermes.RightsMode{hermes.ModeYolo, hermes.ModePlan} {
				if snapshot, _, err := s.Attach(t.Context(), hermes.From{}, protocol.After{}); err != nil || len(snapshot.Questions) != 1 {
					t.Errorf("before %s: %+v, %v", m, snapshot.Questions, err)
				}
				if err := s.Do(t.Context(), bob, hermes.SetMode{Mode: m}); err != nil {
					t.Fatal(err)
				}
			}
		case hermes.AnswerTaken:
			if d.Decision != hermes.Deny || d.By != bob {
				t.Errorf("%+v", d)
			}
		case hermes.TurnDone:
			return
		}
	}
}

// TestPlanModeOutlivesItsProcess: whatever the next opener asks for; a wider mode does not.
func TestPlanModeOutlivesItsProcess(t *testing.T) {
	t.Parallel()
	h := newFixture(t, obedient(orders), newToolTable(modeTool(nil, nil)))
	for set, want := range map[hermes.RightsMode]hermes.RightsMode{hermes.ModePlan: hermes.ModePlan, hermes.ModeYolo: hermes.ModeAsk, hermes.ModeAcceptEdits: hermes.ModeAsk} {
		s := h.open(t, session.Open{})
		submit(t, s, say("say hello"))
		if err := s.Do(t.Context(), bob, hermes.SetMode{Mode: set}); err != nil {
			t.Fatal(err)
		}
		s.Close()
		again := h.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
		if m := again.Mode(); m != want {
			t.Errorf("after %s: %s", set, m)
		}
		again.Close()
		if set != hermes.ModePlan {
			continue
		}
		again = h.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID(), Rights: hermes.Rights{Mode: hermes.ModeYolo}}})
		if m := again.Mode(); m != hermes.ModePlan {
			t.Errorf("opened with yolo: %s", m)
		}
		if err := again.Do(t.Context(), bob, hermes.SetMode{Mode: hermes.ModeAsk}); err != nil {
			t.Fatal(err)
		}
		again.Close()
		if again = h.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}}); again.Mode() != hermes.ModeAsk {
			t.Errorf("after the user has left it: %s", again.Mode())
		}
	}
}

// TestALiveSessionIsNotOpenedInANarrowerModeThanItHas: its opener would believe that it is.
func TestALiveSessionIsNotOpenedInANarrowerModeThanItHas(t *testing.T) {
	t.Parallel()
	h := newFixture(t, obedient(orders), newToolTable(modeTool(nil, nil)))
	s := h.open(t, session.Open{})
	submit(t, s, say("say hello"))
	_, err := h.Open(t.Context(), session.Open{Run: hermes.RunSpec{Session: s.ID(), Rights: hermes.Rights{Mode: hermes.ModePlan}}})
	if err == nil || !strings.Contains(err.Error(), "/mode plan") {
		t.Error(err)
	}
}

// TestAChildIsNeverInAWiderModeThanItsParent changes the modes of three sessions, one below the
// other, at random, and has the innermost say in which mode its calls are.
func TestAChildIsNeverInAWiderModeThanItsParent(t *testing.T) {
	t.Parallel()
	hold, held := make(chan struct{}), make(chan struct{})
	release := sync.OnceFunc(func() { close(hold) }) // also if the test fails: the call holds its sessions
	defer release()
	h := newFixture(t, obedient(orders), newToolTable(delegating(), modeTool(hold, held)), func(c *session.Config) { c.Children.Depth = 2 })
	s := h.open(t, session.Open{})
	_, events, err := s.Attach(t.Context(), bob, protocol.After{})
	if err != nil {
		t.Fatal(err)
	}
	submit(t, s, say(delegation(delegation("mode"))))
	<-held
	kin := map[string]*session.Session{}
	for _, c := range h.Live() {
		st, err := c.State(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		kin[st.Row.Parent] = c
	}
	line := []*session.Session{s, kin[s.ID()], kin[kin[s.ID()].ID()]}
	random := rand.New(rand.NewPCG(1, 2))
	own := []hermes.RightsMode{hermes.ModeAsk, hermes.ModeYolo, hermes.ModeYolo}
	for step := range 500 {
		at, m := random.IntN(len(line)), hermes.Modes()[random.IntN(4)]
		var wide bool
		if at > 0 {
			wide = line[at-1].Mode().Narrower(m) != m
		}
		if err := line[at].Do(t.Context(), bob, hermes.SetMode{Mode: m}); (err != nil) != wide {
			t.Fatalf("step %d: session %d to %s: %v", step, at, m, err)
		}
		if !wide {
			own[at] = m
		}
		want := hermes.ModeYolo
		for i, k := range line {
			want = want.Narrower(own[i])
			if got := k.Mode(); got != want {
				t.Fatalf("step %d: session %d is in %s, want %s: %v", step, i, got, want, own)
			}
		}
	}
	if err := s.Do(t.Context(), bob, hermes.SetMode{Mode: hermes.ModePlan}); err != nil {
		t.Fatal(err)
	}
	release()
	for e := range events {
		if d, ok := e.Event.(hermes.TurnDone); ok && e.Session == s.ID() {
			if !strings.Contains(d.Text, "plan") {
				t.Error(fmt.Sprint("the innermost child says ", d.Text))
			}
			return
		}
	}
}

// TestTheModelReadsThatItPlans before its first call, also in a resumed session, and that it is over.
func TestTheModelReadsThatItPlans(t *testing.T) {
	t.Parallel()
	m := hermestest.NewScript(hermestest.Say("one"), hermestest.Say("two"), hermestest.Say("three"), hermestest.Say("four"))
	h := newFixture(t, m, newToolTable())
	s := h.open(t, session.Open{})
	turnOf(t, s, say("go"))
	if err := s.Do(t.Context(), bob, hermes.SetMode{Mode: hermes.ModePlan}); err != nil {
		t.Fatal(err)
	}
	turnOf(t, s, say("go"))
	s.Close()
	s = h.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
	turnOf(t, s, say("go"))
	if err := s.Do(t.Context(), bob, hermes.SetMode{Mode: hermes.ModeAsk}); err != nil {
		t.Fatal(err)
	}
	turnOf(t, s, say("go"))
	for i, want := range []string{"go", "go\n[Plan mode: only", "go\n[Plan mode: only", "go\n[Plan mode has ended.]"} {
		sent := m.Requests()[i].Messages
		if got := sent[len(sent)-1].Text(); !strings.HasPrefix(got, want) || i == 0 && got != want {
			t.Errorf("message %d: the model reads %q, want %q", i, got, want)
		}
	}
}

// TestOnlyTheUserAllowsWithMemories: what is recalled with the message of a client names many sources, and
// the turn is still that of a client; in plan mode, too.
func TestOnlyTheUserAllowsWithMemories(t *testing.T) {
	t.Parallel()
	rights := tool{hermes.Spec{Name: "rights", Effect: hermes.EffectNone}, func(_ context.Context, c *hermes.Call) hermes.Result {
		s := c.Host.Session()
		return hermes.Result{Text: fmt.Sprint(s.Mode, " ", s.OnlyUserAllows())}
	}}
	many := func(context.Context, hermes.RecallQuery) (hermes.Recalled, error) {
		return hermes.Recalled{Text: "likes tea", Provenance: "web a; web b; web c; web d; web e"}, nil
	}
	for mode, want := range map[hermes.RightsMode]string{hermes.ModeYolo: "ask-user true", hermes.ModePlan: "plan true"} {
		h := newFixture(t, obedient(orders), newToolTable(rights), remembering(many, nil))
		s := h.open(t, session.Open{Run: hermes.RunSpec{Rights: hermes.Rights{Mode: mode}}})
		e := listen(t, s)
		of := hermes.Part{Text: "rights", Provenance: hermes.ClientSource("editor")}
		for i, op := range []hermes.Op{hermes.Say{Parts: []hermes.Part{of}}, hermes.Retry{}} {
			submit(t, s, op)
			if got := until[hermes.TurnDone](e).Text; got != want {
				t.Errorf("%s, turn %d: %q, want %q", mode, i+1, got, want)
			}
		}
	}
}
