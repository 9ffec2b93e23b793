package storesuite

import (
	"slices"
	"strings"
	"testing"
	"time"

	"hermes"
)

func searchCases() []storeCase {
	return []storeCase{
		{"search finds words, phrases, prefixes and substrings", searchFinds},
		{"search finds tools and their arguments", searchTools},
		{"search skips hidden parts", searchHidden},
		{"search filters always apply", searchFilters},
		{"search shows the match and its neighbours", searchPlace},
		{"search shows each lineage once", searchLineages},
		{"any text is a query", anyQuery},
	}
}

func search(t *testing.T, s hermes.Store, q hermes.SearchQuery) []hermes.Hit {
	t.Helper()
	hits, err := s.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return hits
}

func hitTexts(hits []hermes.Hit) []string {
	all := []string{}
	for _, h := range hits {
		all = append(all, h.Message.Text())
	}
	return all
}

func searchFinds(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a"}, 0)
	all := []string{
		"the docker network is broken",
		"a network for Docker",
		"see error_handler.go and half-open state",
		"我们在上海修理了数据库",
		"東京タワー へ行く",
		"ไม่มีการเปลี่ยนแปลง",
		"한국어를 찾습니다",
		"Ünïcode straße",
	}
	l := lease(t, s, "a", "me")
	for _, text := range all {
		add(t, s, l, hermes.UserText(text))
	}
	for _, c := range []struct {
		query string
		want  []int
	}{
		{"docker", []int{0, 1}},
		{"DOCKER network", []int{0, 1}},
		{"docker broken", []int{0}},
		{`"docker network"`, []int{0}},
		{"dock*", []int{0, 1}},
		{"netw* brok*", []int{0}},
		{"error_handler.go", []int{2}},
		{"half-open", []int{2}},
		{"open-half", []int{}},
		{"dock", []int{}},
		{"上海", []int{3}},
		{"修理了数据", []int{3}},
		{"海", []int{3}},
		{"上理", []int{}},
		{"上海数据", []int{}},
		{"タワー", []int{4}},
		{"การ", []int{5}},
		{"국어", []int{6}},
		{"straße", []int{7}},
		{"zzz", []int{}},
	} {
		t.Run(c.query, func(t *testing.T) {
			want := []string{}
			for _, i := range c.want {
				want = append(want, all[i])
			}
			got := hitTexts(search(t, s, hermes.SearchQuery{Text: c.query}))
			slices.Sort(got)
			slices.Sort(want)
			same(t, got, want)
		})
	}
}

func searchTools(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a"}, 0)
	m := call("c1")
	m.Calls[0].Arguments = `{"command":"make frobnicate","list":["gizmo\nwidget"]}`
	result := answerTo("c1", "it says kaboom")
	result.ToolName = "special_terminal"
	ids := add(t, s, lease(t, s, "a", "me"), m, result)
	for query, want := range map[string]int64{"frobnicate": ids[0], "gizmo": ids[0], "kaboom": ids[1], "special_terminal": ids[1]} {
		hits := search(t, s, hermes.SearchQuery{Text: query})
		if len(hits) != 1 || hits[0].Message.ID != want {
			t.Errorf("%s finds %d messages", query, len(hits))
		}
	}
}

func searchHidden(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a"}, 0)
	m := hermes.UserText("shown")
	m.Parts = append(m.Parts, hermes.Part{Text: "recalled", Hidden: true})
	add(t, s, lease(t, s, "a", "me"), m)
	same(t, len(search(t, s, hermes.SearchQuery{Text: "shown"})), 1)
	same(t, len(search(t, s, hermes.SearchQuery{Text: "recalled"})), 0)
}

func searchFilters(t *testing.T, s hermes.Store) {
	at := func(m hermes.Message, minutes int) hermes.Message {
		m.Time = day.Add(time.Duration(minutes) * time.Minute)
		return m
	}
	for i, source := range []string{"cli", "telegram", "tool"} {
		begin(t, s, hermes.Session{ID: source, Platform: source, System: "prompt"}, i)
		add(t, s, lease(t, s, source, "me"), at(hermes.UserText("word of "+source), 10*i),
			at(answerTo("c", "word to "+source), 10*i+1))
	}
	for _, c := range []struct {
		name string
		q    hermes.SearchQuery
		want []string
	}{
		{"none", hermes.SearchQuery{}, []string{"word of cli", "word to cli", "word of telegram", "word to telegram", "word of tool", "word to tool"}},
		{"session", hermes.SearchQuery{Session: "cli"}, []string{"word of cli", "word to cli"}},
		{"sources", hermes.SearchQuery{Platforms: []string{"cli", "tool"}, Roles: []hermes.Role{hermes.RoleUser}}, []string{"word of cli", "word of tool"}},
		{"exclude", hermes.SearchQuery{Exclude: []string{"tool", "cli"}}, []string{"word of telegram", "word to telegram"}},
		{"after", hermes.SearchQuery{After: day.Add(20 * time.Minute)}, []string{"word of tool", "word to tool"}},
		{"before", hermes.SearchQuery{Before: day.Add(time.Minute)}, []string{"word of cli"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.q.Text, c.q.Oldest = "word", true
			same(t, hitTexts(search(t, s, c.q)), c.want)
		})
	}
	same(t, len(search(t, s, hermes.SearchQuery{Text: "word", Limit: 2})), 2)
	same(t, hitTexts(search(t, s, hermes.SearchQuery{Text: "word", Limit: 1, Oldest: true})), []string{"word of cli"})
	hit := search(t, s, hermes.SearchQuery{Text: "telegram", Limit: 1})[0]
	same(t, []string{hit.Session.ID, hit.Session.System}, []string{"telegram", ""})
}

func searchPlace(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a"}, 0)
	begin(t, s, hermes.Session{ID: "b"}, 1)
	l := lease(t, s, "a", "me")
	ids := add(t, s, l, hermes.UserText("1"), hermes.UserText("2"), hermes.UserText("hidden"))
	if err := s.Rewind(t.Context(), l, ids[2]); err != nil {
		t.Fatal(err)
	}
	add(t, s, lease(t, s, "b", "me"), hermes.UserText("of another"))
	add(t, s, l, hermes.UserText("look at the needle here"), hermes.UserText("4"))
	hits := search(t, s, hermes.SearchQuery{Text: "needle", Context: 2})
	if len(hits) != 1 {
		t.Fatalf("%d hits", len(hits))
	}
	same(t, texts(hits[0].Before), []string{"1", "2"})
	same(t, texts(hits[0].After), []string{"4"})
	if !strings.Contains(hits[0].Snippet, ">>>needle<<<") {
		t.Errorf("the snippet is %q", hits[0].Snippet)
	}
	if hits := search(t, s, hermes.SearchQuery{Text: "needle"}); len(hits[0].Before) > 0 {
		t.Error("neighbours were returned without Context")
	}
}

// searchLineages: one session with very many hits hides no other, and the one that asks
// comes last, in every order.
func searchLineages(t *testing.T, s hermes.Store) {
	many := func(n int, text string) []hermes.Message {
		return slices.Repeat([]hermes.Message{hermes.UserText(text)}, n)
	}
	begin(t, s, hermes.Session{ID: "old"}, 0)
	begin(t, s, hermes.Session{ID: "busy"}, 1)
	begin(t, s, hermes.Session{ID: "asking"}, 2)
	begin(t, s, hermes.Session{ID: "child", Parent: "asking"}, 3)
	begin(t, s, hermes.Session{ID: "branch", Parent: "child"}, 4)
	begin(t, s, hermes.Session{ID: "late", Parent: "gone"}, 5)
	add(t, s, lease(t, s, "asking", "me"), many(50, "asking needle needle")...)
	add(t, s, lease(t, s, "old", "me"), hermes.UserText("old needle among many other words"))
	add(t, s, lease(t, s, "busy", "me"), many(300, "busy needle needle")...)
	add(t, s, lease(t, s, "late", "me"), hermes.UserText("late needle among many other words"))
	add(t, s, lease(t, s, "child", "me"), many(200, "child needle needle")...)
	add(t, s, lease(t, s, "branch", "me"), many(300, "branch needle needle")...)
	for _, c := range []struct {
		name string
		q    hermes.SearchQuery
		want []string
	}{
		{"newest", hermes.SearchQuery{Newest: true}, []string{"branch", "late", "busy", "old"}},
		{"oldest", hermes.SearchQuery{Oldest: true}, []string{"asking", "old", "busy", "late"}},
		{"newest, asked by the root", hermes.SearchQuery{Newest: true, Asking: "asking"}, []string{"late", "busy", "old", "branch"}},
		{"oldest, asked by a branch", hermes.SearchQuery{Oldest: true, Asking: "branch"}, []string{"old", "busy", "late", "asking"}},
		{"asked by a session that does not exist", hermes.SearchQuery{Newest: true, Asking: "nobody"}, []string{"branch", "late", "busy", "old"}},
		{"a limit leaves out the asking lineage", hermes.SearchQuery{Newest: true, Asking: "branch", Limit: 3}, []string{"late", "busy", "old"}},
		{"within a session", hermes.SearchQuery{Newest: true, Asking: "branch", Session: "child"}, []string{"child"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.q.Text, c.q.Lineages = "needle", true
			var got []string
			for _, h := range search(t, s, c.q) {
				got = append(got, h.Session.ID)
			}
			same(t, got, c.want)
		})
	}
	hits := search(t, s, hermes.SearchQuery{Text: "needle", Lineages: true, Asking: "child"})
	if len(hits) != 4 || !slices.Contains([]string{"asking", "child", "branch"}, hits[3].Session.ID) {
		t.Errorf("by rank: %v", hitTexts(hits))
	}
}

func anyQuery(t *testing.T, s hermes.Store) {
	begin(t, s, hermes.Session{ID: "a"}, 0)
	add(t, s, lease(t, s, "a", "me"), hermes.UserText("some words"))
	for _, query := range []string{"", " ", "*", `"`, `""`, "AND", "NOT", "some AND", "OR words", "NOT some", "(", ")", "some:words",
		"^some", "some*words", "{some}", "a+b", "NEAR(some words)", "'", "--", ";", "\x00", "\xff", "some\x00words", "-some", "🙂", "-", "%_"} {
		if _, err := s.Search(t.Context(), hermes.SearchQuery{Text: query}); err != nil {
			t.Errorf("the query %q: %v", query, err)
		}
	}
}
