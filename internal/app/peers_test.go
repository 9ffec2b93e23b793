package app_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/chatserver"
	"hermes/internal/protocol"
)

// asker is a model that makes the calls of its newest message, which are lines such as CALL name {…}. Without one it
// answers with the last line of the message, or with the last result. A message with a line HOLD … is answered when the
// model is let go.
type asker struct {
	hold chan struct{}

	mu   sync.Mutex
	read []string // the newest messages of all requests
}

var hold = regexp.MustCompile(`(?m)^HOLD`)

func (k *asker) decide(r *chatserver.Request) (chatserver.Answer, error) {
	said, result, calls := "", "", 0
	for _, m := range r.Messages {
		switch {
		case m.Role == "user":
			said, result, calls = m.Text(), "", 0
		case m.Role == "tool":
			result = m.Text()
		}
		calls += len(m.Calls)
	}
	k.mu.Lock()
	k.read = append(k.read, said)
	k.mu.Unlock()
	if hold.MatchString(said) && k.hold != nil {
		<-k.hold
	}
	if wishes := wish.FindAllStringSubmatch(said, -1); calls < len(wishes) {
		w := wishes[calls]
		return chatserver.Answer{Calls: []chatserver.Call{{ID: fmt.Sprintf("c%d", len(r.Messages)), Type: "function", Function: function(w[1], w[2])}}}, nil
	}
	if result != "" {
		return chatserver.Answer{Text: result}, nil
	}
	lines := strings.Split(strings.TrimSpace(said), "\n")
	return chatserver.Answer{Text: "You said: " + lines[len(lines)-1]}, nil
}

// asking is a line that makes the model ask another session.
func asking(session, message string) string {
	raw, _ := json.Marshal(map[string]string{"session": session, "message": message})
	return "CALL sessions_send " + string(raw)
}

// answered says something to a session and returns the answer.
func answered(t *testing.T, c protocol.Client, id, text string) hermes.TurnDone {
	t.Helper()
	from := terminal("one")
	events := attach(t, c, id, from)
	tell(t, c, id, from, text)
	return until[hermes.TurnDone](t, events)
}

// lastResult is the newest result of a tool in a session.
func lastResult(t *testing.T, a *app.App, id string) hermes.Message {
	t.Helper()
	list := stored(t, a, id)
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].Role == hermes.RoleTool {
			return list[i]
		}
	}
	t.Fatal("there is no result")
	return hermes.Message{}
}

func stored(t *testing.T, a *app.App, id string) []hermes.Message {
	t.Helper()
	db, err := a.Database(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	list, err := db.Messages(t.Context(), id, hermes.Range{})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// openedIn returns a new session in a folder.
func openedIn(t *testing.T, c protocol.Client, run hermes.RunSpec) string {
	t.Helper()
	if run.Workspace.Dir == "" {
		run.Workspace.Dir = t.TempDir()
	}
	info, err := c.Open(t.Context(), terminal("one"), run)
	if err != nil {
		t.Fatal(err)
	}
	if done := answered(t, c, info.ID, "Hello."); done.Failure != nil {
		t.Fatal(done.Err())
	}
	return info.ID
}

// TestASessionAsksAnother that no program runs: it is opened, answers as what it is, and is left. Neither is tainted by
// the other's own words.
func TestASessionAsksAnother(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	model := &asker{}
	a, c := neighbour(t, home, model.decide, nil)
	other := openedIn(t, c, hermes.RunSpec{})
	if err := c.Do(t.Context(), other, terminal("one"), hermes.Leave{}); err != nil {
		t.Fatal(err)
	}
	me := openedIn(t, c, hermes.RunSpec{})
	done := answered(t, c, me, asking(other, "the code word is tulip"))
	if !strings.Contains(done.Text, `"status":"answered"`) || !strings.Contains(done.Text, "You said: the code word is tulip") {
		t.Fatalf("the answer is %q, %v", done.Text, done.Failure)
	}
	if r := lastResult(t, a, me); r.Provenance != "" {
		t.Errorf("the answer brings %q along", r.Provenance)
	}
	said := stored(t, a, other)
	m := said[len(said)-2]
	if m.Role != hermes.RoleUser || m.Provenance != hermes.SessionSource(me) || !strings.HasPrefix(m.Text(), "[From session "+me) {
		t.Errorf("the other session has %+v", m)
	}
	eventually(t, time.Minute, func() error {
		list, err := c.Sessions(t.Context(), protocol.Filter{ID: other})
		if err == nil && (len(list) != 1 || list[0].Running != nil) {
			err = fmt.Errorf("the other session is not left: %+v", list)
		}
		return err
	})
}

// TestAnAnswerBringsTheTaintOfItsSession along, and a message that of the session that sends it.
func TestAnAnswerBringsTheTaintOfItsSession(t *testing.T) {
	t.Parallel()
	a, c := neighbour(t, t.TempDir(), (&asker{}).decide, nil)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "notes.md"), []byte("Words of a stranger.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	read := `CALL read_file {"path":"notes.md"}`
	other, me, third := openedIn(t, c, hermes.RunSpec{Workspace: hermes.Workspace{Dir: dir}}), openedIn(t, c, hermes.RunSpec{}), openedIn(t, c, hermes.RunSpec{})
	answered(t, c, other, read)
	answered(t, c, me, asking(other, "what do the notes say?"))
	if r := lastResult(t, a, me); !strings.Contains(r.Provenance, "read_file notes.md") || strings.Contains(r.Provenance, me) {
		t.Fatalf("the answer brings %q along", r.Provenance)
	}
	events := attach(t, c, me, terminal("one"))
	tell(t, c, me, terminal("one"), asking(third, "pass it on"))
	asked := until[hermes.Asked](t, events) // a tainted session changes others only if the user agrees
	if asked.Approval == nil || asked.Approval.Risks[0].Key != "taint:session" {
		t.Fatalf("asked %+v", asked)
	}
	if err := c.Do(t.Context(), me, terminal("one"), hermes.Reply{ID: asked.ID, Approval: hermes.ApprovalAnswer{Decision: hermes.AllowOnce}}); err != nil {
		t.Fatal(err)
	}
	until[hermes.TurnDone](t, events)
	list := stored(t, a, third)
	if m := list[len(list)-2]; !strings.Contains(m.Provenance, "read_file notes.md") || !strings.Contains(m.Provenance, hermes.SessionSource(me)) {
		t.Errorf("the message brings %q along", m.Provenance)
	}
}

// TestABusySessionAnswersLater: the message waits for the end of its turn.
func TestABusySessionAnswersLater(t *testing.T) {
	t.Parallel()
	model := &asker{hold: make(chan struct{})}
	_, c := neighbour(t, t.TempDir(), model.decide, nil)
	other, me := openedIn(t, c, hermes.RunSpec{}), openedIn(t, c, hermes.RunSpec{})
	events := attach(t, c, other, terminal("one"))
	tell(t, c, other, terminal("one"), "HOLD on.")
	until[hermes.StepStarted](t, events)
	mine := attach(t, c, me, terminal("one"))
	tell(t, c, me, terminal("one"), asking(other, "and now?"))
	for {
		if q := until[hermes.Queued](t, events); len(q.Messages) == 1 {
			break
		}
	}
	close(model.hold)
	if done := until[hermes.TurnDone](t, mine); !strings.Contains(done.Text, "You said: and now?") {
		t.Errorf("the answer is %q", done.Text)
	}
}

// TestADroppedMessageIsNoAnswer: the user of the other session stops it.
func TestADroppedMessageIsNoAnswer(t *testing.T) {
	t.Parallel()
	model := &asker{hold: make(chan struct{})}
	defer close(model.hold)
	_, c := neighbour(t, t.TempDir(), model.decide, nil)
	other, me := openedIn(t, c, hermes.RunSpec{}), openedIn(t, c, hermes.RunSpec{})
	events := attach(t, c, other, terminal("one"))
	tell(t, c, other, terminal("one"), "HOLD on.")
	until[hermes.StepStarted](t, events)
	mine := attach(t, c, me, terminal("one"))
	tell(t, c, me, terminal("one"), asking(other, "and now?"))
	for {
		if q := until[hermes.Queued](t, events); len(q.Messages) == 1 {
			break
		}
	}
	if err := c.Do(t.Context(), other, terminal("one"), hermes.Stop{}); err != nil {
		t.Fatal(err)
	}
	if done := until[hermes.TurnDone](t, mine); !strings.Contains(done.Text, `"status":"interrupted"`) || !strings.Contains(done.Text, "dropped") {
		t.Errorf("the answer is %q", done.Text)
	}
}

// TestSessionsAskInNoCircle and not deeper than three.
func TestSessionsAskInNoCircle(t *testing.T) {
	t.Parallel()
	_, c := neighbour(t, t.TempDir(), (&asker{}).decide, nil)
	var ids []string
	for range 5 {
		ids = append(ids, openedIn(t, c, hermes.RunSpec{}))
	}
	circle := asking(ids[1], asking(ids[2], asking(ids[0], "hello")))
	if done := answered(t, c, ids[0], circle); !strings.Contains(done.Text, "asked for this turn and waits for it") {
		t.Errorf("in a circle: %q", done.Text)
	}
}

// TestQuestionsAreNotDeep ends at the fourth session.
func TestQuestionsAreNotDeep(t *testing.T) {
	t.Parallel()
	_, c := neighbour(t, t.TempDir(), (&asker{}).decide, nil)
	var ids []string
	for range 5 {
		ids = append(ids, openedIn(t, c, hermes.RunSpec{}))
	}
	deep := asking(ids[1], asking(ids[2], asking(ids[3], "hello")))
	if done := answered(t, c, ids[0], deep); !strings.Contains(done.Text, "You said: hello") {
		t.Errorf("through three sessions: %q", done.Text)
	}
	deep = asking(ids[1], asking(ids[2], asking(ids[3], asking(ids[4], "hello"))))
	if done := answered(t, c, ids[0], deep); !strings.Contains(done.Text, "which is the limit") || strings.Contains(done.Text, "You said: hello") {
		t.Errorf("through four sessions: %q", done.Text)
	}
}

// TestASessionReachesItsUsersSessionsOnly and none that could do more.
func TestASessionReachesItsUsersSessionsOnly(t *testing.T) {
	t.Parallel()
	_, c := neighbour(t, t.TempDir(), (&asker{}).decide, nil)
	telegram := func(user, chat string) hermes.RunSpec {
		return hermes.RunSpec{Origin: hermes.Origin{Platform: "telegram", User: user, Chat: chat}}
	}
	own, ann, ann2, bob := openedIn(t, c, hermes.RunSpec{}), openedIn(t, c, telegram("ann", "private")), openedIn(t, c, telegram("ann", "private")), openedIn(t, c, telegram("bob", "private"))
	group := openedIn(t, c, telegram("ann", "group"))
	few := openedIn(t, c, hermes.RunSpec{Tools: hermes.ToolChoice{Enabled: []string{"sessions"}}})
	own2 := openedIn(t, c, hermes.RunSpec{})

	list := answered(t, c, ann, "CALL sessions_list {}").Text
	if !strings.Contains(list, ann2) || strings.Contains(list, bob) || strings.Contains(list, own) || strings.Contains(list, group) || strings.Contains(list, `"`+ann+`"`) {
		t.Errorf("the list of Ann's session is %s", list)
	}
	list = answered(t, c, own, "CALL sessions_list {}").Text
	if !strings.Contains(list, own2) || strings.Contains(list, ann) || !strings.Contains(list, `"state":"idle"`) {
		t.Errorf("the list of the owner's session is %s", list)
	}
	for _, tt := range []struct{ from, to, want string }{
		{ann, bob, "there is no session"}, {ann, own, "there is no session"}, {own, ann, "there is no session"}, {ann, group, "there is no session"},
		{group, ann, "a session of a group reaches no other"}, {own, own, "this is the session itself"},
		{few, own, "only the user can ask it"}, {own, few, "You said: hello"}, {ann, ann2, "You said: hello"},
	} {
		if done := answered(t, c, tt.from, asking(tt.to, "hello")); !strings.Contains(done.Text, tt.want) {
			t.Errorf("%s asks %s: %q, want %q", tt.from, tt.to, done.Text, tt.want)
		}
	}
}

// TestOnlyTheUserAllowsWhatASessionAsksFor: the mode of the session that is asked does not hold for the message.
func TestOnlyTheUserAllowsWhatASessionAsksFor(t *testing.T) {
	t.Parallel()
	_, c := neighbour(t, t.TempDir(), (&asker{}).decide, nil)
	dir := t.TempDir()
	me := openedIn(t, c, hermes.RunSpec{})
	info, err := c.Open(t.Context(), hermes.From{Client: "x", Platform: "cli"}, hermes.RunSpec{Workspace: hermes.Workspace{Dir: dir}, Rights: hermes.Rights{Mode: hermes.ModeYolo, WhenUnattended: hermes.UnattendedApprove}})
	if err != nil {
		t.Fatal(err)
	}
	remove := `CALL terminal {"command":"rm -rf '` + dir + `/gone'"}`
	file := filepath.Join(dir, "gone", "file")
	put := func() {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		writeFile(t, file, "kept")
	}
	put()
	events, _, err := func() (<-chan protocol.Envelope, protocol.Snapshot, error) {
		s, e, err := c.Attach(t.Context(), info.ID, hermes.From{Client: "x", Platform: "cli"}, protocol.After{})
		return e, s, err
	}()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Do(t.Context(), info.ID, hermes.From{Client: "x", Platform: "cli"}, hermes.Say{Parts: []hermes.Part{{Text: remove}}}); err != nil {
		t.Fatal(err)
	}
	until[hermes.TurnDone](t, events)
	if _, err := os.Stat(file); err == nil {
		t.Fatal("the session may not do it for its user either, which proves nothing")
	}
	put()
	done := answered(t, c, me, asking(info.ID, remove))
	if _, err := os.Stat(file); err != nil {
		t.Errorf("the file is gone: %q", done.Text)
	}
}

// TestASessionAsksOneOfAnotherProcess over the connection that `hermes attach` uses.
func TestASessionAsksOneOfAnotherProcess(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	_, theirs := neighbour(t, home, (&asker{}).decide, nil)
	other := openedIn(t, theirs, hermes.RunSpec{})
	a, c := neighbour(t, home, (&asker{}).decide, nil)
	me := openedIn(t, c, hermes.RunSpec{})
	done := answered(t, c, me, asking(other, "are you there?"))
	if !strings.Contains(done.Text, "You said: are you there?") {
		t.Errorf("the answer is %q", done.Text)
	}
	list := stored(t, a, other)
	if m := list[len(list)-2]; m.Provenance != hermes.SessionSource(me) {
		t.Errorf("the message brings %q along", m.Provenance)
	}
}

// TestMessagesBetweenSessionsAreFew in a minute.
func TestMessagesBetweenSessionsAreFew(t *testing.T) {
	t.Parallel()
	_, c := neighbour(t, t.TempDir(), (&asker{}).decide, nil)
	me, other := openedIn(t, c, hermes.RunSpec{}), openedIn(t, c, hermes.RunSpec{})
	var lines []string
	for i := range 7 {
		lines = append(lines, asking(other, fmt.Sprint("question ", i)))
	}
	if done := answered(t, c, me, strings.Join(lines, "\n")); !strings.Contains(done.Text, "6 messages within a minute") {
		t.Errorf("the last answer is %q", done.Text)
	}
}
