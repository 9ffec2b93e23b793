package storesuite

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes"
)

func sessionCases() []storeCase {
	return []storeCase{
		{"a row is read as it was stored", rowComesBack},
		{"an id can be used once", idOnce},
		{"references", references},
		{"wildcards in a prefix are literal", literalPrefix},
		{"titles are clean, unique and short", titles},
		{"lists", lists},
		{"changes", changes},
		{"the first end reason stays until reopened", firstEnd},
		{"deletion keeps children without a parent", deletion},
		{"stats", stats},
		{"missing things", nothingThere},
		{"concurrent use", manyAtOnce},
	}
}

func rowComesBack(t *testing.T, s hermes.Store) {
	parent := hermes.Session{ID: "20261120_093000_aaaaaa", Platform: "cli"}
	begin(t, s, parent, 0)
	want := hermes.Session{
		ID: "20261120_093100_bbbbbb", User: "u7", Platform: "telegram", Title: "fix the build", Parent: parent.ID,
		Model: "openrouter:some/model", Dir: "/home/me/project", Branch: "main",
		System: "You are Hermes.\n\n<&>", Tools: json.RawMessage(`[{"name":"terminal"}]`),
		Usage: hermes.Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, Reasoning: 5, Calls: 6}, Turns: 3,
		Archived: true, Pinned: true, EndReason: "done", Ended: day.Add(time.Hour), Active: day.Add(time.Minute),
		Run: hermes.StoredRun{
			Origin:    hermes.Origin{Platform: "telegram", Label: "bot", User: "u7", Parent: parent.ID, Depth: 1, Provenance: "a page"},
			Workspace: hermes.Workspace{Dir: "/home/me/project", Backend: "local", Profile: "work"},
			Tools:     hermes.ToolChoice{Enabled: []string{"file"}, Disabled: []string{"web"}, Only: []string{"read_file"}},
			Prompt:    hermes.PromptChoice{Extra: "<&>", Skills: []string{"x"}, IgnoreRules: true, PassSessionID: true, MemoryScope: "user"},
		},
	}
	begin(t, s, want, 1)
	want.Started = day.Add(time.Minute)
	same(t, find(t, s, want.ID), want)
	same(t, find(t, s, parent.ID), hermes.Session{ID: parent.ID, Platform: "cli", Started: day})
	orphan := hermes.Session{ID: "c", Parent: "gone"}
	begin(t, s, orphan, 2)
	if got := find(t, s, "c").Parent; got != "" {
		t.Errorf("a parent that does not exist was kept: %q", got)
	}
}

func idOnce(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a", Platform: "cli"}, 0)
	if err := s.CreateSession(t.Context(), hermes.Session{ID: "a", Platform: "web", Started: day}); err == nil {
		t.Error("an id was used twice")
	}
	if got := find(t, s, "a").Platform; got != "cli" {
		t.Errorf("the first row was changed to %q", got)
	}
	if err := s.CreateSession(t.Context(), hermes.Session{Started: day}); err == nil {
		t.Error("a session without an id was accepted")
	}
	if err := s.CreateSession(t.Context(), hermes.Session{ID: "b"}); err == nil {
		t.Error("a session without a start was accepted")
	}
}

func references(t *testing.T, s hermes.Store) {
	for i, r := range []hermes.Session{
		{ID: "20261120_093000_aaaaaa", Title: "fix"},
		{ID: "20261120_093000_aabbbb", Title: "fix #2"},
		{ID: "20261121_000000_cccccc", Title: "fix #10"},
		{ID: "20261122_000000_dddddd", Title: "fix #x"},
		{ID: "20261123_000000_eeeeee", Title: "only #3"},
		{ID: "fix me", Title: "20261123"},
		{ID: "20261124_000000_ffffff", Title: "GRÖßE"},
		{ID: "20261124_000000_gggggg", Title: "Grössen #2"},
	} {
		begin(t, s, r, i)
	}
	for _, c := range []struct{ ref, id string }{
		{"20261120_093000_aaaaaa", "20261120_093000_aaaaaa"},
		{"20261120_093000_aab", "20261120_093000_aabbbb"},
		{"20261121", "20261121_000000_cccccc"},
		{"fix", "20261121_000000_cccccc"},    // the newest of the numbered titles
		{"fix #2", "20261120_093000_aabbbb"}, // a title as it is
		{"fix #x", "20261122_000000_dddddd"}, // not a numbered title
		{"only", "20261123_000000_eeeeee"},   // numbered titles without the first
		{"FIX", "20261121_000000_cccccc"},    // in any case
		{"Fix #2", "20261120_093000_aabbbb"},
		{"größe", "20261124_000000_ffffff"},
		{"GRÖSSEN", "20261124_000000_gggggg"},
		{"fix m", "fix me"},                     // a prefix
		{"20261123", "fix me"},                  // a title before a prefix
		{"20261123_", "20261123_000000_eeeeee"}, // a prefix that no title is
	} {
		if got := find(t, s, c.ref).ID; got != c.id {
			t.Errorf("%q finds %q, want %q", c.ref, got, c.id)
		}
	}
	_, err := s.FindSession(t.Context(), "20261120")
	wantErr(t, err, hermes.ErrAmbiguous)
	for _, ref := range []string{"", "nothing", "fix #3", "FIX #x y"} {
		_, err := s.FindSession(t.Context(), ref)
		wantErr(t, err, hermes.ErrNotFound)
	}
}

func literalPrefix(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "ab_1"}, 0)
	begin(t, s, hermes.Session{ID: "abc1"}, 1)
	if got := find(t, s, "ab_").ID; got != "ab_1" {
		t.Errorf("ab_ finds %q", got)
	}
	for _, ref := range []string{"a%", "%", "_", "*", "ab*", "a?", "[a]"} {
		_, err := s.FindSession(t.Context(), ref)
		wantErr(t, err, hermes.ErrNotFound)
	}
}

func titles(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a", Title: "  two \t words\u200b\n"}, 0)
	begin(t, s, hermes.Session{ID: "b", Title: "\u200b "}, 1)
	begin(t, s, hermes.Session{ID: "c"}, 2)
	same(t, []string{find(t, s, "a").Title, find(t, s, "b").Title}, []string{"two words", ""})
	wantErr(t, s.CreateSession(t.Context(), hermes.Session{ID: "d", Title: "two words", Started: day}), hermes.ErrTitleTaken)
	wantErr(t, s.CreateSession(t.Context(), hermes.Session{ID: "d", Title: "TWO Words", Started: day}), hermes.ErrTitleTaken)
	wantErr(t, s.UpdateSession(t.Context(), "b", hermes.SessionChange{Title: ptr("two  words"), Model: ptr("m")}), hermes.ErrTitleTaken)
	wantErr(t, s.UpdateSession(t.Context(), "b", hermes.SessionChange{Title: ptr("Two words"), Model: ptr("m")}), hermes.ErrTitleTaken)
	if got := find(t, s, "b"); got.Model != "" {
		t.Error("a refused change was done in part")
	}
	if err := s.UpdateSession(t.Context(), "b", hermes.SessionChange{Title: ptr(strings.Repeat("x", 101))}); err == nil {
		t.Error("a title of 101 characters was accepted")
	}
	for _, title := range []string{"two words", "Two Words", strings.Repeat("é", 100), ""} {
		if err := s.UpdateSession(t.Context(), "a", hermes.SessionChange{Title: &title}); err != nil {
			t.Errorf("the title %q: %v", title, err)
		}
	}
	if err := s.UpdateSession(t.Context(), "b", hermes.SessionChange{Title: ptr("two words")}); err != nil {
		t.Errorf("a title that is free again: %v", err)
	}
}

func lists(t *testing.T, s hermes.Store) {
	for i, r := range []hermes.Session{
		{ID: "a", Platform: "cli", Dir: "/x", Title: "Größe of things"},
		{ID: "b", Platform: "telegram", Parent: "a", System: "long", Tools: json.RawMessage(`[]`)},
		{ID: "c", Platform: "tool"},
		{ID: "d", Platform: "cli", Archived: true},
		{ID: "e", Platform: "cli", Ended: day},
	} {
		begin(t, s, r, i)
	}
	m := hermes.UserText("hello")
	m.Time = day.Add(time.Hour)
	add(t, s, lease(t, s, "a", "me"), m)
	for _, c := range []struct {
		name string
		f    hermes.SessionFilter
		want []string
	}{
		{"all, last active first", hermes.SessionFilter{}, []string{"a", "e", "c", "b"}},
		{"archived too", hermes.SessionFilter{Archived: true}, []string{"a", "e", "d", "c", "b"}},
		{"source", hermes.SessionFilter{Platform: "cli"}, []string{"a", "e"}},
		{"exclude", hermes.SessionFilter{Exclude: []string{"cli", "tool"}}, []string{"b"}},
		{"dir", hermes.SessionFilter{Dir: "/x"}, []string{"a"}},
		{"title in any case", hermes.SessionFilter{Title: "gRÖSSE"}, []string{}},
		{"title in lower case", hermes.SessionFilter{Title: "grÖße OF"}, []string{"a"}},
		{"parent", hermes.SessionFilter{Parent: "a"}, []string{"b"}},
		{"after", hermes.SessionFilter{After: day.Add(2 * time.Minute)}, []string{"a", "e", "c"}},
		{"before", hermes.SessionFilter{Before: day.Add(2 * time.Minute)}, []string{"b"}},
		{"ended", hermes.SessionFilter{Ended: ptr(true)}, []string{"e"}},
		{"open", hermes.SessionFilter{Ended: ptr(false)}, []string{"a", "c", "b"}},
		{"with messages", hermes.SessionFilter{NonEmpty: true}, []string{"a"}},
		{"a page", hermes.SessionFilter{Limit: 2, Offset: 1}, []string{"e", "c"}},
		{"past the end", hermes.SessionFilter{Offset: 9}, []string{}},
		{"no limit", hermes.SessionFilter{Limit: -1}, []string{"a", "e", "c", "b"}},
	} {
		t.Run(c.name, func(t *testing.T) { same(t, listIDs(t, s, c.f), c.want) })
	}
	rows, err := s.ListSessions(t.Context(), hermes.SessionFilter{Platform: "telegram"})
	if err != nil || len(rows) != 1 || rows[0].System != "" || rows[0].Tools != nil || rows[0].Layers != nil {
		t.Errorf("a list holds prompts: %v, %v", rows, err)
	}
	for i := range 25 {
		begin(t, s, hermes.Session{ID: fmt.Sprintf("many%d", i)}, 100+i)
	}
	if n := len(listIDs(t, s, hermes.SessionFilter{})); n != 20 {
		t.Errorf("a list without a limit has %d rows, want 20", n)
	}
}

func changes(t *testing.T, s hermes.Store) {
	layers := []hermes.PromptLayer{{Name: "identity", Bytes: 3, Tokens: 1}, {Name: "skills", Bytes: 9, Tokens: 3, Was: 40, Why: "it is small"}}
	begin(t, s, hermes.Session{ID: "a", Model: "old", Usage: hermes.Usage{Input: 10}}, 0)
	err := s.UpdateSession(t.Context(), "a", hermes.SessionChange{
		Title: ptr("t"), Model: ptr("new"), System: ptr("sys"), Tools: ptr(json.RawMessage(`[1]`)), Layers: ptr(layers), Dir: ptr("/d"),
		Archived: ptr(true), Pinned: ptr(true), Run: ptr(hermes.StoredRun{Origin: hermes.Origin{Platform: "cli"}}),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := hermes.Session{ID: "a", Started: day, Title: "t", Model: "new", System: "sys", Tools: json.RawMessage(`[1]`), Layers: layers, Dir: "/d",
		Archived: true, Pinned: true, Run: hermes.StoredRun{Origin: hermes.Origin{Platform: "cli"}},
		Usage: hermes.Usage{Input: 10}}
	same(t, find(t, s, "a"), want)
	if err := s.UpdateSession(t.Context(), "a", hermes.SessionChange{}); err != nil {
		t.Error(err)
	}
	same(t, find(t, s, "a"), want)
	if err := s.UpdateSession(t.Context(), "a", hermes.SessionChange{Pinned: ptr(false), Archived: ptr(false)}); err != nil {
		t.Error(err)
	}
	want.Archived, want.Pinned = false, false
	same(t, find(t, s, "a"), want)
	begin(t, s, hermes.Session{ID: "without a run"}, 0)
	for id, want := range map[string]hermes.Session{"a": want, "without a run": {ID: "without a run", Started: day}} {
		for _, failure := range []string{`the "model" is gone`, ""} {
			if err := s.UpdateSession(t.Context(), id, hermes.SessionChange{TaskEnded: hermes.ChildFailed, TaskFailure: failure}); err != nil {
				t.Error(err)
			}
			want.Run.Origin.Task.Ended, want.Run.Origin.Task.Failure = hermes.ChildFailed, failure
			same(t, find(t, s, id), want)
		}
	}
}

func firstEnd(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a"}, 0)
	end := func(c hermes.SessionChange, reason string) hermes.Session {
		t.Helper()
		if err := s.UpdateSession(t.Context(), "a", c); err != nil {
			t.Fatal(err)
		}
		row := find(t, s, "a")
		if row.EndReason != reason || row.Ended.IsZero() != (reason == "") {
			t.Errorf("after %+v the session ended at %v for %q, want %q", c, row.Ended, row.EndReason, reason)
		}
		return row
	}
	first := end(hermes.SessionChange{End: "exit"}, "exit")
	if second := end(hermes.SessionChange{End: "timeout"}, "exit"); !second.Ended.Equal(first.Ended) {
		t.Error("a second end moved the time")
	}
	end(hermes.SessionChange{Reopen: true}, "")
	end(hermes.SessionChange{End: "timeout"}, "timeout")
	end(hermes.SessionChange{Reopen: true, End: "new"}, "new")
}

func deletion(t *testing.T, s hermes.Store) {
	layers := []hermes.PromptLayer{{Name: "identity", Bytes: 6}}
	begin(t, s, hermes.Session{ID: "a", Title: "t", System: "shared", Layers: layers}, 0)
	begin(t, s, hermes.Session{ID: "b", Parent: "a", System: "shared", Layers: layers}, 1)
	l := lease(t, s, "a", "me")
	add(t, s, l, hermes.UserText("findable"))
	add(t, s, lease(t, s, "b", "me"), hermes.UserText("kept"))
	if err := s.DeleteSession(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	same(t, listIDs(t, s, hermes.SessionFilter{}), []string{"b"})
	child := find(t, s, "b")
	same(t, []string{child.Parent, child.System}, []string{"", "shared"})
	same(t, child.Layers, layers)
	same(t, texts(transcript(t, s, "b", hermes.Range{})), []string{"kept"})
	same(t, len(search(t, s, hermes.SearchQuery{Text: "findable"})), 0)
	_, err := s.Commit(t.Context(), l, hermes.Change{Append: []hermes.Message{hermes.UserText("late")}})
	wantErr(t, err, hermes.ErrNotFound)
	begin(t, s, hermes.Session{ID: "a", Title: "t"}, 2)
	same(t, len(transcript(t, s, "a", hermes.Range{Hidden: true})), 0)
}

func stats(t *testing.T, s hermes.Store) {
	empty, err := s.Stats(t.Context())
	if err != nil || empty.Sessions != 0 || empty.Messages != 0 || !empty.Oldest.IsZero() {
		t.Errorf("an empty store counts %+v, %v", empty, err)
	}
	begin(t, s, hermes.Session{ID: "a", Platform: "cli", Usage: hermes.Usage{Input: 2, Calls: 1}}, 0)
	begin(t, s, hermes.Session{ID: "b", Platform: "cli", Usage: hermes.Usage{Output: 3}}, 1)
	begin(t, s, hermes.Session{ID: "c", Platform: "web"}, 2)
	last := call("c1")
	last.Time = day.Add(time.Hour)
	ids := add(t, s, lease(t, s, "a", "me"), hermes.UserText("12345"), last, hermes.UserText("gone"))
	if err := s.Rewind(t.Context(), lease(t, s, "a", "me"), ids[2]); err != nil {
		t.Fatal(err)
	}
	got, err := s.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got.TextBytes < 5 {
		t.Errorf("5 bytes of text count as %d", got.TextBytes)
	}
	got.TextBytes, got.FileBytes, got.Newest = 0, 0, time.Time{}
	same(t, got, hermes.StoreStats{Sessions: 3, Messages: 2, Calls: 1, Usage: hermes.Usage{Input: 2, Output: 3, Calls: 1},
		ByPlatform: map[string]int{"cli": 2, "web": 1}, Oldest: day})
}

func nothingThere(t *testing.T, s hermes.Store) {
	ctx, l := t.Context(), hermes.Lease{Session: "none"}
	errs := map[string]error{
		"update": s.UpdateSession(ctx, "none", hermes.SessionChange{End: "x"}),
		"delete": s.DeleteSession(ctx, "none"),
		"rewind": s.Rewind(ctx, l, 1),
		"begin":  s.BeginCall(ctx, l, hermes.ToolCall{ID: "c"}),
		"end":    s.EndCall(ctx, l, "c", hermes.Message{}),
	}
	_, errs["find"] = s.FindSession(ctx, "none")
	_, errs["commit"] = s.Commit(ctx, l, hermes.Change{Append: []hermes.Message{hermes.UserText("x")}})
	_, errs["add waiting"] = s.AddWaiting(ctx, l, hermes.WaitingMessage{})
	_, errs["waiting"] = s.WaitingMessages(ctx, "none")
	errs["drop waiting"] = s.DropWaiting(ctx, l, 1)
	_, errs["messages"] = s.Messages(ctx, "none", hermes.Range{})
	_, errs["steps"] = s.OpenSteps(ctx, "none")
	errs["save question"] = s.SaveQuestion(ctx, l, hermes.StoredQuestion{Asked: hermes.Asked{ID: "1"}})
	errs["close questions"] = s.CloseQuestions(ctx, l)
	_, errs["find question"] = s.FindQuestion(ctx, "none", "1")
	_, errs["acquire"] = s.Acquire(ctx, "none", hermes.Owner{Name: "me"}, time.Hour)
	_, errs["renew"] = s.Renew(ctx, l, time.Hour)
	_, errs["search"] = s.Search(ctx, hermes.SearchQuery{Text: "x", Session: "none"})
	for what, err := range errs {
		t.Run(what, func(t *testing.T) { wantErr(t, err, hermes.ErrNotFound) })
	}
}

func manyAtOnce(t *testing.T, s hermes.Store) {
	const sessions, messages = 8, 20
	var wait sync.WaitGroup
	for i := range sessions {
		id := fmt.Sprintf("s%d", i)
		begin(t, s, hermes.Session{ID: id}, i)
		l := lease(t, s, id, "me")
		wait.Go(func() {
			for j := range messages {
				word := fmt.Sprintf("word%dx%d", i, j)
				if _, err := s.Commit(t.Context(), l, hermes.Change{Append: []hermes.Message{hermes.UserText(id + " says " + word)}}); err != nil {
					t.Error(err)
				}
				if hits, err := s.Search(t.Context(), hermes.SearchQuery{Text: word}); err != nil || len(hits) != 1 || hits[0].Session.ID != id {
					t.Errorf("%d hits of %s right after it was stored, %v", len(hits), word, err)
				}
			}
		})
	}
	wait.Wait()
	for i := range sessions {
		id := fmt.Sprintf("s%d", i)
		got := transcript(t, s, id, hermes.Range{})
		if len(got) != messages {
			t.Errorf("%s has %d messages, want %d", id, len(got), messages)
		}
		for j, m := range got {
			if want := fmt.Sprintf("%s says word%dx%d", id, i, j); m.Text() != want {
				t.Errorf("message %d of %s is %q, want %q", j, id, m.Text(), want)
			}
		}
	}
}
