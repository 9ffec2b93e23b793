package protocoltest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/protocol"
)

// Connect returns a client of a frontend: what the frontend is given to reach the sessions of
// the world. It ends by itself with the test.
type Connect func(t *testing.T, w *World, from hermes.From) protocol.Client

// Run checks a client against its contract.
func Run(t *testing.T, connect Connect) {
	for name, test := range map[string]func(*testing.T, Connect){
		"a frontend leads a session":                  testLife,
		"errors are those of the session":             testErrors,
		"every operation reaches the session":         testOps,
		"attach misses nothing and repeats nothing":   testAttach,
		"attach goes on where the frontend was":       testContinue,
		"the first answer wins":                       testAnswers,
		"a question is answered":                      testQuestion,
		"history comes in pages":                      testHistory,
		"a command's outcome is an event":             testCommand,
		"sessions are listed":                         testSessions,
		"leaving ends the session of the last":        testLeave,
		"messages typed at once have one order":       testOrder,
		"a slow frontend is told and misses nothing":  testLagged,
		"the end of a context ends the subscription":  testDetach,
		"a message that is sent again is taken once":  testKey,
		"a closed session says so to all":             testClosed,
		"who lost its session is brought up to date":  testWatched,
		"a cancelled call returns and leaves nothing": testCancelled,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, connect)
		})
	}
}

var (
	one = hermes.From{Client: "one", Platform: "cli", Name: "terminal 1", Attends: true}
	two = hermes.From{Client: "two", Platform: "cli", Name: "terminal 2", Attends: true}
)

// someone is how a frontend is known to others: the client of its From may differ.
func someone(f hermes.From) hermes.From {
	f.Client = ""
	return f
}

func say(text string) hermes.Say { return hermes.Say{Parts: []hermes.Part{{Text: text}}} }

func testLife(t *testing.T, connect Connect) {
	w := NewWorld(t, hermestest.Say("hello <you> & 你好"), hermestest.Say("again"))
	c := connect(t, w, one)
	run := hermes.RunSpec{Workspace: hermes.Workspace{Dir: "/work"}, Origin: hermes.Origin{Label: "test"}, Tools: hermes.ToolChoice{Enabled: []string{"file"}}}
	info, err := c.Open(t.Context(), one, run)
	if err != nil || info.ID == "" || info.Platform != "cli" && info.Platform != "test" || info.Dir != "/work" || info.Running == nil || !info.Running.Here {
		t.Fatalf("opened %+v, %v", info, err)
	}
	f := Attach(t, c, info.ID, one, protocol.After{})
	if s := f.Snapshot; s.Session.ID != info.ID || s.State != protocol.StateIdle || s.Turn != nil || s.Continued {
		t.Errorf("attached %+v", s)
	}
	f.Do(hermes.Say{Parts: []hermes.Part{{Text: "hi"}, {Image: &hermes.Image{MediaType: "image/png", Data: []byte{0, 1, 255}}}}})
	started := Next[hermes.TurnStarted](f)
	if started.From != one || started.Message.Text() != "hi" || started.Message.ID == 0 || len(started.Message.Parts) != 2 || string(started.Message.Parts[1].Image.Data) != "\x00\x01\xff" {
		t.Errorf("started %+v", started)
	}
	if done := Next[hermes.TurnDone](f); done.Text != "hello <you> & 你好" || done.Outcome != hermes.OutcomeDone {
		t.Errorf("done %+v", done)
	}
	later := Attach(t, c, info.ID, one, protocol.After{})
	if s := later.Snapshot; s.Done == nil || s.Done.Text != "hello <you> & 你好" || s.Last == 0 || s.Epoch != f.After.Epoch {
		t.Errorf("attached later: %+v", s)
	}
	again, err := c.Open(t.Context(), one, hermes.RunSpec{Session: info.ID[:len(info.ID)-1]})
	if err != nil || again.ID != info.ID || again.Messages != 2 {
		t.Errorf("opened again: %+v, %v", again, err)
	}
	f.Say("go on")
	if done := Next[hermes.TurnDone](f); done.Text != "again" {
		t.Errorf("done %+v", done)
	}
	later.Detach()
}

func testErrors(t *testing.T, connect Connect) {
	w := NewWorld(t, hermestest.Say("hello"))
	c := connect(t, w, one)
	f := Open(t, c, one)
	f.Say("hi")
	Next[hermes.TurnDone](f)
	other := hermes.Session{ID: f.ID[:len(f.ID)-1] + "zz", Title: "Mine", Started: time.Unix(1, 0), Platform: "cli"}
	if err := w.Store.CreateSession(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Store.Acquire(t.Context(), other.ID, hermes.Owner{Name: "elsewhere", Address: "/run/x"}, time.Hour); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		err  error
		want error
	}{
		"open what does not exist": {open(t, c, hermes.RunSpec{Session: "nothing"}), hermes.ErrNotFound},
		"open what is leased":      {open(t, c, hermes.RunSpec{Session: other.ID}), hermes.ErrLeased},
		"open an ambiguous prefix": {open(t, c, hermes.RunSpec{Session: f.ID[:len(f.ID)-2]}), hermes.ErrAmbiguous},
		"do where nothing is live": {c.Do(t.Context(), "nothing", one, hermes.Undo{}), hermes.ErrClosed},
		"a command there":          {c.Command(t.Context(), "nothing", one, "/title x"), hermes.ErrClosed},
		"a title that is taken":    {c.Do(t.Context(), f.ID, one, hermes.SetTitle{Title: "Mine"}), hermes.ErrTitleTaken},
		"history of nothing":       {history(t, c, "nothing"), hermes.ErrNotFound},
		"find nothing":             {find(t, c, "nothing"), hermes.ErrNotFound},
	} {
		if !errors.Is(tt.err, tt.want) || errors.Is(tt.err, protocol.ErrConnection) {
			t.Errorf("%s: %v, want %v", name, tt.err, tt.want)
		}
	}
	if _, _, err := c.Attach(t.Context(), "nothing", one, protocol.After{}); !errors.Is(err, hermes.ErrClosed) {
		t.Errorf("attach to nothing: %v", err)
	}
	if err := open(t, c, hermes.RunSpec{Rights: hermes.Rights{Mode: "sudo"}}); err == nil || !strings.Contains(err.Error(), `unknown mode "sudo"`) {
		t.Errorf("an unknown mode: %v", err)
	}
}

func open(t *testing.T, c protocol.Client, run hermes.RunSpec) error {
	_, err := c.Open(t.Context(), one, run)
	return err
}

func history(t *testing.T, c protocol.Client, id string) error {
	_, err := c.History(t.Context(), id, hermes.Range{})
	return err
}

func find(t *testing.T, c protocol.Client, id string) error {
	_, err := c.Sessions(t.Context(), protocol.Filter{ID: id})
	return err
}

// testOps sends each kind of operation; what it does shows that it arrived whole.
func testOps(t *testing.T, connect Connect) {
	wait := make(chan struct{})
	w := NewWorld(t, hermestest.Say("one"), hermestest.Say("two"), hermestest.Step{Text: "thr", Hang: true}, hermestest.Step{Wait: wait, Text: "four"}, hermestest.Say("five"))
	c := connect(t, w, one)
	f := Open(t, c, one)
	f.Say("first")
	Next[hermes.TurnDone](f)
	f.Do(hermes.Retry{})
	if r := Next[hermes.Rewound](f); r.ID == 0 {
		t.Errorf("rewound %+v", r)
	}
	if d := Next[hermes.TurnDone](f); d.Text != "two" {
		t.Errorf("retried: %+v", d)
	}
	f.Do(hermes.SetTitle{Title: "A title"})
	if got := Next[hermes.Titled](f); got.Title != "A title" {
		t.Errorf("titled %+v", got)
	}
	f.Do(hermes.SetEffort{Effort: "high"})
	if got := Next[hermes.Configured](f); got.Effort != "high" {
		t.Errorf("configured %+v", got)
	}
	f.Do(hermes.SetMode{Mode: hermes.ModePlan})
	if got := Next[hermes.ModeChanged](f); got.Mode != hermes.ModePlan || someone(got.By) != someone(one) {
		t.Errorf("the mode changed: %+v", got)
	}
	f.Do(hermes.SetMode{Mode: hermes.ModeAsk})
	f.Do(hermes.SetModel{Ref: "script:test", Once: true})
	f.Say("second")
	for Next[hermes.TextDelta](f).Text == "" {
	}
	f.Do(hermes.Steer{Text: "a note"})
	f.Do(hermes.Say{Parts: []hermes.Part{{Text: "queued"}}, Busy: hermes.BusyQueue})
	if q := Next[hermes.Queued](f); len(q.Messages) != 1 || q.Messages[0].Text != "queued" || q.Messages[0].From != one {
		t.Errorf("queued %+v", q)
	}
	f.Do(hermes.Stop{Processes: true})
	if d := Next[hermes.TurnDone](f); d.Outcome != hermes.OutcomeInterrupted {
		t.Errorf("stopped: %+v", d)
	}
	f.Do(hermes.Undo{})
	Next[hermes.Rewound](f)
	for name, tt := range map[string]struct {
		op   hermes.Op
		want string
	}{
		"continue": {hermes.Continue{}, "nothing to continue"},
		"review":   {hermes.StartReview{Focus: "x"}, "review"},
		"model":    {hermes.SetModel{Ref: "missing"}, "no model missing"},
		"empty":    {hermes.Say{}, "empty"},
		"reply":    {hermes.Reply{ID: "7.7", Approval: hermes.ApprovalAnswer{Decision: hermes.AllowOnce}}, "no longer open"},
		"title":    {hermes.SetTitle{Title: strings.Repeat("x", 200)}, "200 characters"},
		"key":      {hermes.Say{Parts: []hermes.Part{{Text: "x"}}, Key: strings.Repeat("x", 200)}, "key"},
	} {
		if err := c.Do(t.Context(), f.ID, one, tt.op); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	f.Do(say("third"))
	Next[hermes.StepStarted](f)
	for name, op := range map[string]hermes.Op{"compress": hermes.Compress{Topic: "x", Keep: 1}, "undo": hermes.Undo{}, "retry": hermes.Retry{}} {
		if err := c.Do(t.Context(), f.ID, one, op); err == nil || !strings.Contains(err.Error(), "running") {
			t.Errorf("%s while a turn runs: %v", name, err)
		}
	}
	close(wait)
	if d := Next[hermes.TurnDone](f); d.Text != "four" {
		t.Errorf("after all: %+v", d)
	}
	f.Do(hermes.Leave{})
	Next[hermes.Closed](f)
}

// testCommand runs commands, whose outcome everyone sees.
func testCommand(t *testing.T, connect Connect) {
	w := NewWorld(t, hermestest.Say("hello"))
	c := connect(t, w, one)
	f := Open(t, c, one)
	f.Say("hi")
	Next[hermes.TurnDone](f)
	other := Attach(t, connect(t, w, two), f.ID, two, protocol.After{})
	if got := someone(other.Snapshot.Frontends[0]); got != someone(one) || len(other.Snapshot.Frontends) != 1 {
		t.Errorf("the other sees %+v", other.Snapshot.Frontends)
	}
	for _, tt := range []struct{ line, want string }{{"/title The bug", "Title: The bug"}, {"/undo", "Undo the last exchange"}, {"/nothing", "unknown command"}, {"/quit", "quit"}} {
		if err := c.Command(t.Context(), f.ID, one, tt.line); err != nil {
			t.Fatal(err)
		}
		done, seen := Next[hermes.CommandDone](f), Next[hermes.CommandDone](other)
		said := done.Text + done.Confirm + string(done.Action)
		if done.Failure != nil {
			said += done.Failure.Text
		}
		if !strings.Contains(said, tt.want) || done.From != one || done.Line != tt.line {
			t.Errorf("%s: %+v", tt.line, done)
		}
		if someone(seen.From) != someone(one) || seen.From == two || seen.From.Client == "" {
			t.Errorf("%s: the other sees %+v", tt.line, seen.From)
		}
		done.From, seen.From = hermes.From{}, hermes.From{}
		if diff := cmp.Diff(done, seen); diff != "" {
			t.Errorf("%s: the other sees something else: %s", tt.line, diff)
		}
	}
}

func testSessions(t *testing.T, connect Connect) {
	w := NewWorld(t, hermestest.Say("hello"))
	c := connect(t, w, one)
	f := Open(t, c, one)
	if list, err := c.Sessions(t.Context(), protocol.Filter{}); err != nil || len(list) != 0 {
		t.Errorf("before the first message: %+v, %v", list, err)
	}
	f.Say("hi")
	Next[hermes.TurnDone](f)
	for _, s := range []hermes.Session{{ID: "web1", Platform: "web", Started: time.Unix(1, 0), Dir: "/a"}, {ID: "child", Platform: "subagent", Parent: "web1", Started: time.Unix(2, 0)}} {
		if err := w.Store.CreateSession(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		filter protocol.Filter
		want   []string
	}{
		"all":      {protocol.Filter{}, []string{f.ID, "child", "web1"}},
		"one":      {protocol.Filter{Limit: 1, Offset: 1}, []string{"child"}},
		"id":       {protocol.Filter{ID: "web"}, []string{"web1"}},
		"platform": {protocol.Filter{Platform: "web"}, []string{"web1"}},
		"exclude":  {protocol.Filter{Exclude: []string{"web", "subagent"}}, []string{f.ID}},
		"dir":      {protocol.Filter{Dir: "/a"}, []string{"web1"}},
		"parent":   {protocol.Filter{Parent: "web1"}, []string{"child"}},
		"live":     {protocol.Filter{Live: true}, []string{f.ID}},
	} {
		list, err := c.Sessions(t.Context(), tt.filter)
		var got []string
		for _, s := range list {
			got = append(got, s.ID)
			if (s.Running != nil) != (s.ID == f.ID) {
				t.Errorf("%s: %s runs: %+v", name, s.ID, s.Running)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
	list, err := c.Sessions(t.Context(), protocol.Filter{Live: true})
	if err != nil || list[0].Running.Frontends != 1 || list[0].Running.State != protocol.StateIdle || list[0].Messages != 2 {
		t.Errorf("live: %+v, %v", list, err)
	}
}

// testHistory joins the pages of a long transcript.
func testHistory(t *testing.T, connect Connect) {
	w := NewWorld(t)
	if err := w.Store.CreateSession(t.Context(), hermes.Session{ID: "s1", Started: time.Unix(1, 0)}); err != nil {
		t.Fatal(err)
	}
	l, err := w.Store.Acquire(t.Context(), "s1", hermes.Owner{Name: "x"}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	var all []hermes.Message
	for i := range 600 {
		text := "m"
		if i%100 == 0 {
			text = strings.Repeat("x", 1<<20)
		}
		all = append(all, hermes.UserText(text))
	}
	if _, err := w.Store.Commit(t.Context(), l, hermes.Change{Append: all}); err != nil {
		t.Fatal(err)
	}
	want, err := w.Store.Messages(t.Context(), "s1", hermes.Range{})
	if err != nil {
		t.Fatal(err)
	}
	c := connect(t, w, one)
	var got []hermes.Message
	for after := int64(0); ; {
		page, err := c.History(t.Context(), "s1", hermes.Range{After: after})
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		if len(page) > protocol.MaxPage {
			t.Errorf("a page of %d", len(page))
		}
		got, after = append(got, page...), page[len(page)-1].ID
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	part, err := c.History(t.Context(), "s1", hermes.Range{After: want[9].ID, Before: want[13].ID, Last: 2})
	if diff := cmp.Diff(want[11:13], part); diff != "" || err != nil {
		t.Errorf("a part: %v %s", err, diff)
	}
}
