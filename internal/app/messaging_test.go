package app_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"hermes"
	"hermes/internal/app"
)

// messenger has two chats, and fails for one of them with a key in its error.
type messenger struct {
	none bool

	mu    sync.Mutex
	sent  []string
	moved bool // the chat has another id
}

func (m *messenger) Targets() []hermes.MessageTarget {
	if m.none {
		return nil
	}
	return []hermes.MessageTarget{{ID: "telegram:1", Name: "Ann"}, {ID: "telegram:2", Name: "News"}}
}

func (m *messenger) Resolve(target string) (string, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.moved && target == "telegram" {
		return "telegram:9", true
	}
	id, ok := map[string]string{"telegram": "telegram:1", "telegram:1": "telegram:1", "telegram:#news": "telegram:2"}[target]
	return id, ok
}

const leakedKey = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"

func (m *messenger) Send(_ context.Context, _ hermes.SessionRef, id, text string) (hermes.Delivery, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if id == "telegram:2" {
		return hermes.Delivery{}, errors.New("the service refused the key " + leakedKey)
	}
	m.sent = append(m.sent, id+" "+text)
	return hermes.Delivery{MessageID: "77", Mirrored: true}, nil
}

func (m *messenger) did() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.sent)
}

func withMessenger(s *scene, m *messenger) { s.made = func(a *app.App) { a.UseMessenger(m) } }

// TestSendMessageIsHiddenWithoutATarget: the tool costs nothing before there is someone to write to.
func TestSendMessageIsHiddenWithoutATarget(t *testing.T) {
	t.Parallel()
	for _, m := range []*messenger{nil, {none: true}, {}} {
		a := app.New(app.Options{Home: t.TempDir(), Getenv: func(string) string { return "" }})
		if m != nil {
			a.UseMessenger(m)
		}
		has := hasTool(t, a, "send_message")
		if want := m != nil && !m.none; has != want {
			t.Errorf("%+v: the tool is offered: %v", m, has)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestSendMessageAsksAboutEachTarget by its one form, however it is written.
func TestSendMessageAsksAboutEachTarget(t *testing.T) {
	t.Parallel()
	s, m := newScene(t, hermes.AllowAlways), &messenger{}
	withMessenger(s, m)
	s.mode, s.scope = "off", hermes.ScopeKind
	s.say(`CALL send_message {"target":"telegram","message":"hello"}`)
	if len(s.asked) != 1 || s.asked[0].Risks[0].Key != "message:telegram:1" {
		t.Fatalf("asked %+v", s.asked)
	}
	s.say(`CALL send_message {"target":"telegram:1","message":"hello again"}`, `CALL send_message {"action":"list"}`)
	if got := m.did(); len(s.asked) != 1 || !slices.Equal(got, []string{"telegram:1 hello", "telegram:1 hello again"}) {
		t.Errorf("asked %d times, sent %q", len(s.asked), got)
	}
	if read := s.model.results(); !strings.Contains(read, `"success":true`) || !strings.Contains(read, `"message_id":"77"`) || !strings.Contains(read, `"mirrored":true`) || !strings.Contains(read, `"target":"telegram:2","name":"News"`) {
		t.Errorf("the model reads %q", read)
	}
	s.answer = hermes.Deny
	s.say(`CALL send_message {"target":"telegram:#news","message":"hello"}`)
	if len(s.asked) != 2 || s.asked[1].Risks[0].Key != "message:telegram:2" || len(m.did()) != 2 {
		t.Errorf("asked %+v, sent %q", s.asked, m.did())
	}
}

// TestTheUserIsAskedOnlyAboutATargetThatThereIs, and a target that is another one by then gets nothing.
func TestTheUserIsAskedOnlyAboutATargetThatThereIs(t *testing.T) {
	t.Parallel()
	s, m := newScene(t, hermes.AllowOnce), &messenger{}
	withMessenger(s, m)
	s.asking = func() { // between the question and the call
		m.mu.Lock()
		defer m.mu.Unlock()
		m.moved = true
	}
	s.say(`CALL send_message {"target":"telegram:nowhere","message":"hello"}`, `CALL send_message {"message":"hello"}`, `CALL send_message {"target":"telegram"}`)
	if len(s.asked) > 0 {
		t.Errorf("the user was asked about %+v", s.asked)
	}
	s.say(`CALL send_message {"target":"telegram","message":"hello"}`)
	if len(s.asked) != 1 || !strings.Contains(s.asked[0].Detail, "goes to telegram:1") || len(m.did()) > 0 {
		t.Errorf("asked %+v, sent %q", s.asked, m.did())
	}
	if read := s.model.results(); !strings.Contains(read, "would go to telegram:9 by now") {
		t.Errorf("the model reads %q", read)
	}
}

// TestAFailedMessageShowsNoKey and says that it was not sent.
func TestAFailedMessageShowsNoKey(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.AllowOnce)
	withMessenger(s, &messenger{})
	s.say(`CALL send_message {"target":"telegram:#news","message":"hello"}`, `CALL send_message {"target":"telegram:nowhere","message":"hello"}`)
	read := s.model.results()
	if strings.Contains(read, leakedKey) || !strings.Contains(read, `"success":false`) || !strings.Contains(read, "the service refused the key") {
		t.Errorf("the model reads %q", read)
	}
	if !strings.Contains(read, "there is no target") || !strings.Contains(read, "action list") {
		t.Errorf("of a target that there is not, the model reads %q", read)
	}
}

// hasTool reports whether a new session has a tool, listed or found by a search.
func hasTool(t *testing.T, a *app.App, name string) bool {
	t.Helper()
	all, chosen, err := a.Toolsets(hermes.RunSpec{})
	if err != nil {
		t.Fatal(err)
	}
	set, err := all.Select(t.Context(), chosen)
	if err != nil {
		t.Fatal(err)
	}
	_, has := set.Find(name)
	return has
}
