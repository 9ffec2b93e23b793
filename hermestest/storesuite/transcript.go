package storesuite

import (
	"strings"
	"testing"
	"time"

	"hermes"
)

func transcriptCases() []storeCase {
	return []storeCase{
		{"messages are read as they were stored", messagesComeBack},
		{"provenance stays", provenanceStays},
		{"any bytes are kept", anyBytes},
		{"ranges", ranges},
		{"appending counts", counts},
		{"a rewind hides and is not counted", rewind},
		{"the journal knows open calls", journal},
		{"the journal knows what waits for the user", pendingCalls},
		{"undone messages come back", bringBack},
		{"a rewind forgets the calls begun since", rewindForgets},
		{"an ended context writes nothing", endedContext},
	}
}

func messagesComeBack(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a"}, 0)
	at := day.Add(time.Second)
	anchors := &hermes.Anchors{Words: "done <so> far", Requests: []string{"a\nb"}, Files: []string{"c.go"}, Open: []hermes.PlanItem{{ID: "1", Content: "d", Status: "pending", Parent: "0"}}}
	want := []hermes.Message{
		{Role: hermes.RoleUser, Turn: 1, Time: at, Parts: []hermes.Part{
			{Text: "look"}, {Image: &hermes.Image{MediaType: "image/png", Data: []byte{0, 1, 255}}},
			{Image: &hermes.Image{URL: "https://example.org/a.png"}}, {Text: "recalled", Hidden: true}}},
		{Role: hermes.RoleAssistant, Turn: 1, Time: at, Model: "p:m", Finish: hermes.FinishCalls,
			Parts:     []hermes.Part{{Text: "I look."}},
			Usage:     &hermes.Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, Reasoning: 1, Calls: 1},
			Reasoning: []hermes.Reasoning{{Text: "hm", Protocol: "anthropic", Signature: "sig=="}, {Opaque: "xyz", ID: "r1"}},
			Calls: []hermes.ToolCall{{ID: "c1", Name: "terminal", Arguments: `{"command": "ls  <a> & \u0041"}`, Signature: "s"},
				{ID: "c2", Name: "todo", Arguments: "{}"}}},
		{Role: hermes.RoleTool, Turn: 1, Time: at, CallID: "c1", ToolName: "terminal", Failed: true, Parts: []hermes.Part{{Text: `{"a":1}`}}},
		{Role: hermes.RoleTool, Turn: 1, Time: at, CallID: "c2", ToolName: "todo", Parts: []hermes.Part{{Text: ""}}},
		{Role: hermes.RoleAssistant, Turn: 1, Time: at, Finish: hermes.FinishStop, Parts: []hermes.Part{{Text: "Done."}}},
		{Role: hermes.RoleUser, Turn: 2, Time: at, Synthetic: true, Parts: []hermes.Part{{Text: "notice"}}},
		{Role: hermes.RoleUser, Turn: 2, Time: at, Synthetic: true, Parts: []hermes.Part{{Text: "summary", Anchors: anchors}}},
		{Role: hermes.RoleUser, Turn: 2, Time: at, Parts: []hermes.Part{{Text: "summary", Hidden: true, Anchors: anchors}, {Text: "go on"}}},
		{Role: hermes.RoleUser, Turn: 2, Time: at, Parts: []hermes.Part{{Text: "only hidden", Hidden: true}}},
		{Role: hermes.RoleAssistant, Turn: 2, Time: at},
	}
	ids := add(t, s, lease(t, s, "a", "me"), want...)
	for i, id := range ids {
		if i > 0 && id <= ids[i-1] {
			t.Errorf("ids do not grow: %v", ids)
		}
		want[i].ID = id
	}
	same(t, transcript(t, s, "a", hermes.Range{}), want)
	none := add(t, s, lease(t, s, "a", "me"))
	same(t, len(none), 0)
	untimed := add(t, s, lease(t, s, "a", "me"), hermes.UserText("now"))
	got := transcript(t, s, "a", hermes.Range{After: untimed[0] - 1})
	if len(got) != 1 || got[0].Time.IsZero() {
		t.Errorf("a message without a time came back as %+v", got)
	}
}

func provenanceStays(t *testing.T, s hermes.Store) {
	tainted := func(want bool) {
		t.Helper()
		row, err := s.FindSession(t.Context(), "a")
		list, listErr := s.ListSessions(t.Context(), hermes.SessionFilter{})
		if err != nil || listErr != nil || len(list) != 1 || row.Tainted != want || list[0].Tainted != want {
			t.Fatalf("tainted is %v and %+v, want %v; %v, %v", row.Tainted, list, want, err, listErr)
		}
	}
	begin(t, s, hermes.Session{ID: "a"}, 0)
	l := lease(t, s, "a", "me")
	add(t, s, l, hermes.UserText("hi"))
	tainted(false)
	said := hermes.UserText("look")
	ids := add(t, s, l, said, hermes.Message{Role: hermes.RoleTool, CallID: "c", ToolName: "read_file", Parts: said.Parts, Provenance: "read_file a.md"})
	tainted(true)
	same(t, hermes.TranscriptProvenance(transcript(t, s, "a", hermes.Range{})), "read_file a.md")
	put, err := s.Compact(t.Context(), l, hermes.Compaction{Hide: ids, Insert: []hermes.Insertion{{At: ids[0], Message: hermes.Message{
		Role: hermes.RoleUser, Parts: said.Parts, Synthetic: true, Provenance: "read_file a.md",
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	same(t, hermes.TranscriptProvenance(transcript(t, s, "a", hermes.Range{})), "read_file a.md")
	hits, err := s.Search(t.Context(), hermes.SearchQuery{Text: "look"})
	if err != nil || len(hits) == 0 || !hits[0].Session.Tainted {
		t.Errorf("found %+v, %v", hits, err)
	}
	if err := s.Rewind(t.Context(), l, put[0]); err != nil {
		t.Fatal(err)
	}
	if got := transcript(t, s, "a", hermes.Range{}); hermes.TranscriptProvenance(got) != "" {
		t.Errorf("undone messages are still shown: %+v", got)
	}
	from := "project files"
	if err := s.UpdateSession(t.Context(), "a", hermes.SessionChange{Provenance: &from}); err != nil {
		t.Fatal(err)
	}
	row, err := s.FindSession(t.Context(), "a")
	if err != nil || row.Provenance != from || !row.Tainted {
		t.Errorf("the session came back as %+v, %v", row, err)
	}
}

func anyBytes(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a"}, 0)
	l := lease(t, s, "a", "me")
	for name, text := range map[string]string{
		"invalid UTF-8": "a\xff\xfeb", "NUL": "a\x00b", "controls": "\x1b[31mred\r\n\t", "surrogates": "\xed\xa0\x80",
		"long": strings.Repeat("0123456789abcdef", 1<<16), "blank": " ", "quotes": `'";--`, "unbroken": strings.Repeat("漢字", 9999),
	} {
		t.Run(name, func(t *testing.T) {
			ids := add(t, s, l, hermes.UserText(text))
			got := transcript(t, s, "a", hermes.Range{After: ids[0] - 1})
			if len(got) != 1 || got[0].Text() != text {
				t.Errorf("%d messages came back, not the one that was stored", len(got))
			}
		})
	}
}

func ranges(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a"}, 0)
	begin(t, s, hermes.Session{ID: "b"}, 1)
	l := lease(t, s, "a", "me")
	ids := add(t, s, l, hermes.UserText("1"), hermes.UserText("2"))
	add(t, s, lease(t, s, "b", "me"), hermes.UserText("of another"))
	ids = append(ids, add(t, s, l, hermes.UserText("3"), hermes.UserText("4"))...)
	for _, c := range []struct {
		name string
		r    hermes.Range
		want []string
	}{
		{"all", hermes.Range{}, []string{"1", "2", "3", "4"}},
		{"after", hermes.Range{After: ids[1]}, []string{"3", "4"}},
		{"before", hermes.Range{Before: ids[2]}, []string{"1", "2"}},
		{"between", hermes.Range{After: ids[0], Before: ids[3]}, []string{"2", "3"}},
		{"last", hermes.Range{Last: 3}, []string{"2", "3", "4"}},
		{"last before", hermes.Range{Last: 1, Before: ids[3]}, []string{"3"}},
		{"last of few", hermes.Range{Last: 9}, []string{"1", "2", "3", "4"}},
		{"first", hermes.Range{First: 2}, []string{"1", "2"}},
		{"last of the first", hermes.Range{First: 3, Last: 2}, []string{"2", "3"}},
		{"none", hermes.Range{After: ids[3]}, []string{}},
	} {
		t.Run(c.name, func(t *testing.T) { same(t, texts(transcript(t, s, "a", c.r)), c.want) })
	}
}

func counts(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a"}, 0)
	l := lease(t, s, "a", "me")
	two := call("c1")
	two.Calls = append(two.Calls, hermes.ToolCall{ID: "c2", Name: "todo", Arguments: "{}"})
	two.Turn = 2
	late := answerTo("c1", "ok")
	late.Time = day.Add(time.Hour)
	early := answerTo("c2", "ok")
	early.Time = day
	add(t, s, l, hermes.UserText("hi"), two)
	add(t, s, l, late, early)
	row := find(t, s, "a")
	same(t, []any{row.Messages, row.Calls, row.Turns}, []any{4, 2, int64(2)})
	if row.Active.Before(late.Time) {
		t.Errorf("the session was last active at %v", row.Active)
	}
}

func rewind(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a"}, 0)
	begin(t, s, hermes.Session{ID: "b"}, 1)
	l := lease(t, s, "a", "me")
	ids := add(t, s, l, hermes.UserText("first"), call("c1"), answerTo("c1", "vanishing"), hermes.UserText("second"))
	add(t, s, lease(t, s, "b", "me"), hermes.UserText("of another"))
	for range 2 { // the second time there is nothing left to hide
		if err := s.Rewind(t.Context(), l, ids[1]); err != nil {
			t.Fatal(err)
		}
		row := find(t, s, "a")
		same(t, []int{row.Messages, row.Calls}, []int{1, 0})
	}
	same(t, texts(transcript(t, s, "a", hermes.Range{})), []string{"first"})
	same(t, len(transcript(t, s, "a", hermes.Range{Hidden: true})), 4)
	same(t, len(search(t, s, hermes.SearchQuery{Text: "vanishing"})), 0)
	same(t, texts(transcript(t, s, "b", hermes.Range{})), []string{"of another"})
	again := add(t, s, l, hermes.UserText("again"))
	if again[0] <= ids[3] {
		t.Errorf("the id %d was given again", again[0])
	}
	same(t, texts(transcript(t, s, "a", hermes.Range{})), []string{"first", "again"})
	same(t, find(t, s, "a").Messages, 2)
}

func bringBack(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a"}, 0)
	begin(t, s, hermes.Session{ID: "b"}, 1)
	l := lease(t, s, "a", "me")
	tainted := answerTo("c1", "returning")
	tainted.Provenance = "a page"
	ids := add(t, s, l, hermes.UserText("first"), call("c1"), tainted, hermes.UserText("second"))
	shown := add(t, s, lease(t, s, "b", "me"), hermes.UserText("of another"))
	before := find(t, s, "a")
	if err := s.Rewind(t.Context(), l, ids[1]); err != nil {
		t.Fatal(err)
	}
	same(t, find(t, s, "a").Tainted, false)
	later := add(t, s, l, hermes.UserText("later"), hermes.UserText("later still"))
	for _, not := range []int64{ids[0], shown[0], later[1], later[1] + 1000} { // shown, of another, or nowhere
		wantErr(t, s.Rewind(t.Context(), l, later[0], ids[1], not), hermes.ErrNotFound)
	}
	same(t, texts(transcript(t, s, "a", hermes.Range{})), []string{"first", "later", "later still"})
	stale := l
	stale.Fence--
	wantErr(t, s.Rewind(t.Context(), stale, 0, ids[1]), hermes.ErrStaleLease)

	if err := s.Rewind(t.Context(), l, later[0], ids[1:]...); err != nil {
		t.Fatal(err)
	}
	got := transcript(t, s, "a", hermes.Range{})
	same(t, []any{len(got), got[0].ID, got[3].ID}, []any{4, ids[0], ids[3]})
	after := find(t, s, "a")
	same(t, []any{after.Messages, after.Calls, after.Tainted}, []any{before.Messages, before.Calls, true})
	same(t, len(search(t, s, hermes.SearchQuery{Text: "returning"})), 1)
	same(t, len(search(t, s, hermes.SearchQuery{Text: "later"})), 0)

	if err := s.Rewind(t.Context(), l, ids[3], later[0]); err != nil { // and the other way
		t.Fatal(err)
	}
	got = transcript(t, s, "a", hermes.Range{})
	same(t, []any{len(got), got[3].ID}, []any{4, later[0]})
	if err := s.Rewind(t.Context(), l, 0, later[1]); err != nil { // without undoing any
		t.Fatal(err)
	}
	same(t, find(t, s, "a").Messages, 5)
}

func journal(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a"}, 0)
	begin(t, s, hermes.Session{ID: "b"}, 1)
	l := lease(t, s, "a", "me")
	steps := func() []hermes.Step {
		t.Helper()
		list, err := s.OpenSteps(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	z := hermes.ToolCall{ID: "z", Name: "terminal", Arguments: `{"command":"ls"}`, Signature: "s"}
	b := hermes.ToolCall{ID: "b", Name: "todo", Arguments: "{}"}
	must(s.BeginCall(t.Context(), l, z))
	must(s.BeginCall(t.Context(), l, b))
	must(s.BeginCall(t.Context(), lease(t, s, "b", "me"), z))
	result := answerTo("b", "done")
	result.Failed = true
	must(s.EndCall(t.Context(), l, "b", result))
	got := steps()
	if len(got) != 2 || got[0].Begun.IsZero() {
		t.Fatalf("the open steps are %+v", got)
	}
	same(t, []hermes.ToolCall{got[0].Call, got[1].Call}, []hermes.ToolCall{z, b})
	if got[0].Result != nil {
		t.Errorf("a call that did not end has the result %+v", got[0].Result)
	}
	same(t, got[1].Result, &result)
	wantErr(t, s.EndCall(t.Context(), l, "never begun", result), hermes.ErrNotFound)

	add(t, s, l, result)
	same(t, len(steps()), 1)
	must(s.BeginCall(t.Context(), l, z)) // a provider may reuse an id
	same(t, len(steps()), 1)
	add(t, s, l, answerTo("z", "done"))
	same(t, len(steps()), 0)
	other, err := s.OpenSteps(t.Context(), "b")
	must(err)
	same(t, len(other), 1)
}

func pendingCalls(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a"}, 0)
	begin(t, s, hermes.Session{ID: "b"}, 1)
	l := lease(t, s, "a", "me")
	asking := func(want bool) {
		t.Helper()
		list, err := s.ListSessions(t.Context(), hermes.SessionFilter{})
		if err != nil || len(list) != 2 {
			t.Fatal(list, err)
		}
		for _, row := range append(list, find(t, s, "a"), find(t, s, "b")) {
			if row.Asking != (want && row.ID == "a") {
				t.Errorf("session %s: asking is %v", row.ID, row.Asking)
			}
		}
	}
	hold := func(h hermes.PendingCall) {
		t.Helper()
		if err := s.SavePending(t.Context(), l, "c1", h); err != nil {
			t.Fatal(err)
		}
		list, err := s.OpenSteps(t.Context(), "a")
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		same(t, list[0].Pending, h)
	}
	wantErr(t, s.SavePending(t.Context(), l, "c1", hermes.PendingCall{AwaitingApproval: true}), hermes.ErrNotFound)
	if err := s.BeginCall(t.Context(), l, hermes.ToolCall{ID: "c1", Name: "clarify", Arguments: "{}"}); err != nil {
		t.Fatal(err)
	}
	asking(false)
	hold(hermes.PendingCall{AwaitingApproval: true})
	asking(false)
	first := hermes.Question{CallID: "c1", Text: "Which?", Choices: []string{"a", "b"}, Multiple: true, Number: 1, Of: 2}
	hold(hermes.PendingCall{Answers: []hermes.AskedQuestion{{Question: first}}})
	asking(true)
	heard := []hermes.AskedQuestion{{Question: first, Answer: &hermes.Answer{Texts: []string{"a"}}}}
	hold(hermes.PendingCall{Answers: heard})
	asking(false)
	hold(hermes.PendingCall{Answers: append(heard, hermes.AskedQuestion{Question: hermes.Question{Text: "And?"}})})
	asking(true)
	result := answerTo("c1", "done")
	if err := s.EndCall(t.Context(), l, "c1", result); err != nil {
		t.Fatal(err)
	}
	asking(false)
	add(t, s, l, result)
	wantErr(t, s.SavePending(t.Context(), l, "c1", hermes.PendingCall{}), hermes.ErrNotFound)
	stale := l
	stale.Fence--
	wantErr(t, s.SavePending(t.Context(), stale, "c1", hermes.PendingCall{}), hermes.ErrStaleLease)
}

func rewindForgets(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a"}, 0)
	l := lease(t, s, "a", "me")
	add(t, s, l, hermes.UserText("1"), call("old"))
	if err := s.BeginCall(t.Context(), l, hermes.ToolCall{ID: "old"}); err != nil {
		t.Fatal(err)
	}
	ids := add(t, s, l, hermes.UserText("2"), call("new"))
	if err := s.BeginCall(t.Context(), l, hermes.ToolCall{ID: "new"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Rewind(t.Context(), l, ids[0]); err != nil {
		t.Fatal(err)
	}
	list, err := s.OpenSteps(t.Context(), "a")
	if err != nil || len(list) != 1 || list[0].Call.ID != "old" {
		t.Errorf("after a rewind the open steps are %+v, %v", list, err)
	}
}

func endedContext(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a"}, 0)
	l := lease(t, s, "a", "me")
	ctx, cancel := contextOf(t)
	cancel()
	if _, err := s.Commit(ctx, l, hermes.Change{Append: []hermes.Message{hermes.UserText("too late")}}); err == nil {
		t.Error("a write with an ended context gave no error")
	}
	same(t, len(transcript(t, s, "a", hermes.Range{})), 0)
}
