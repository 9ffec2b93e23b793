package sqlite

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
)

// written is a query in the language of the index, grams marked.
func written(q query) string {
	var groups []string
	for _, g := range q.groups {
		s := join(g.must, "AND")
		if len(g.not) > 0 {
			s += " NOT " + join(g.not, "OR")
		}
		groups = append(groups, s)
	}
	return strings.Join(groups, " | ")
}

func TestParseQuery(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"  ", ""},
		{"docker network", `"docker" AND "network"`},
		{"Docker", `"docker"`},
		{"docker AND network", `"docker" AND "network"`},
		{"docker OR network", `"docker" | "network"`},
		{"a b OR c", `"a" AND "b" | "c"`},
		{"docker NOT compose", `"docker" NOT "compose"`},
		{"docker NOT compose NOT swarm", `"docker" NOT "compose" OR "swarm"`},
		{"AND docker", `"docker"`},
		{"docker AND", `"docker"`},
		{"OR docker OR", `"docker"`},
		{"NOT docker", ""},
		{"docker NOT", `"docker"`},
		{"docker AND OR network", `"docker" | "network"`},
		{"docker or network", `"docker" AND "or" AND "network"`},
		{`"docker network"`, `"docker network"`},
		{`"docker network`, `"docker" AND "network"`},
		{`say "docker network" now`, `"say" AND "docker network" AND "now"`},
		{`""`, ""},
		{`"AND"`, `"and"`},
		{"dock*", `"dock"*`},
		{"dock*,", `"dock"*`},
		{"*", ""},
		{"*dock", `"dock"`},
		{"half-open", `"half open"`},
		{"error_handler.go", `"error handler go"`},
		{"my-pre*", `"my pre"*`},
		{"v1.2.3", `"v1 2 3"`},
		{"c++ {a:b} ^c (d)", `"c" AND "a b" AND "c" AND "d"`},
		{"NEAR(a b)", `"near a" AND "b"`},
		{"col:word", `"col word"`},
		{"Größe", `"große"`},
		{"naïve café", `"naive" AND "cafe"`},
		{"上", `"上"*`},
		{"上海", `("上海")`},
		{"数据库", `("据库" AND "数据")`},
		{"docker上海 net", `"docker" AND ("上海") AND "net"`},
		{"🙂", ""},
		{"\x00\xff", ""},
		{strings.Repeat("x", maxWord+1), ""},
	} {
		if got := written(parseQuery(c.in)); got != c.want {
			t.Errorf("parseQuery(%q) = %s; want %s", c.in, got, c.want)
		}
	}
	many := parseQuery(strings.Repeat("word ", 100))
	if n := len(many.wanted()); n != maxTerms {
		t.Errorf("a query of 100 words has %d terms", n)
	}
}

func FuzzSearch(f *testing.F) {
	for _, seed := range []string{"docker", `"a b" NOT c*`, "上海 OR half-open", "\x00\"", "NEAR(", "a* *b", "한국어 ไทย", "ẞ İ ǅ", "\u0300"} {
		f.Add(seed)
	}
	s, err := Open(f.Context(), Config{Path: f.TempDir() + "/fuzz.db"})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { s.Close() })
	if err := s.CreateSession(f.Context(), hermes.Session{ID: "a", Started: s.cfg.Now()}); err != nil {
		f.Fatal(err)
	}
	lease := hermes.Lease{Session: "a"}
	if _, err := s.Commit(f.Context(), lease, hermes.Change{Append: []hermes.Message{hermes.UserText("a docker 上海 half-open text")}}); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := s.Search(t.Context(), hermes.SearchQuery{Text: text}); err != nil {
			t.Errorf("the query %q: %v", text, err)
		}
		// What a query finds in its own text must be shown there.
		q := parseQuery(text)
		snippet(text, q.wanted())
		words, grams := split(text)
		if plain(text) && (words != text || grams != "") {
			t.Errorf("%q is plain and was split into %q and %q", text, words, grams)
		}
	})
}

func TestSplit(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxWord+1)
	for _, c := range []struct{ in, words, grams string }{
		{"plain text", "plain text", ""},
		{"Größe", "Größe", ""},
		{"上海", "", "上海 海 "},
		{"in 上海, now", "in  , now", "上海 海 "},
		{"我。你", " 。 ", "我 你 "},
		{"タワー", "", "タワ ワー ー "},
		{"ab " + long + " cd", "ab   cd", ""},
	} {
		words, grams := split(c.in)
		if d := cmp.Diff([]string{c.words, c.grams}, []string{words, grams}); d != "" {
			t.Errorf("split(%q): %s", c.in, d)
		}
	}
}

func TestSnippet(t *testing.T) {
	t.Parallel()
	far := strings.Repeat("filler ", 100)
	for _, c := range []struct{ text, query, want string }{
		{"look at the needle here", "needle", "look at the >>>needle<<< here"},
		{"Needle and NEEDLE", "needle", ">>>Needle<<< and >>>NEEDLE<<<"},
		{"a half-open door", "half-open", "a >>>half-open<<< door"},
		{"prefixes", "pre*", ">>>prefixes<<<"},
		{"im Café", "cafe", "im >>>Café<<<"},
		{"我们在上海修理", "上海", "我们在>>>上海<<<修理"},
		{"nothing\n\n here ", "needle", "nothing here"},
		{"a\xffb needle", "needle", "a\uFFFDb >>>needle<<<"},
	} {
		if got := snippet(c.text, parseQuery(c.query).wanted()); got != c.want {
			t.Errorf("snippet(%q, %q) = %q; want %q", c.text, c.query, got, c.want)
		}
	}
	got := snippet(far+"needle "+far, parseQuery("needle").wanted())
	if len(got) > 240 || !strings.Contains(got, ">>>needle<<<") || !strings.HasPrefix(got, "…") || !strings.HasSuffix(got, "…") {
		t.Errorf("a late match is shown as %q", got)
	}
}

func TestFoldedWordsAreFoundAsTheIndexSeesThem(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Config{Path: t.TempDir() + "/fold.db"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.CreateSession(t.Context(), hermes.Session{ID: "a", Started: s.cfg.Now()}); err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][2]string{
		{"Ångström", "angstrom"}, {"biệt", "biet"}, {"Straße", "straße"}, {"ČESKÝ", "cesky"}, {"हिन्दी", ""},
		{"Ελληνικά", ""}, {"ЁЖИК", "ёжик"}, {"مُحَمَّد", ""}, {"e\u0301tude", "étude"}, {"İstanbul", "istanbul"},
	} {
		if _, err := s.Commit(t.Context(), hermes.Lease{Session: "a"}, hermes.Change{Append: []hermes.Message{hermes.UserText(pair[0])}}); err != nil {
			t.Fatal(err)
		}
		for _, query := range []string{pair[0], pair[1]} {
			if query == "" {
				continue
			}
			hits, err := s.Search(t.Context(), hermes.SearchQuery{Text: query})
			if err != nil || len(hits) != 1 || hits[0].Message.Text() != pair[0] {
				t.Errorf("%d messages are found by %q, %v", len(hits), query, err)
				continue
			}
			if want := ">>>" + pair[0] + "<<<"; hits[0].Snippet != want {
				t.Errorf("%q found by %q is shown as %q", pair[0], query, hits[0].Snippet)
			}
		}
	}
}
