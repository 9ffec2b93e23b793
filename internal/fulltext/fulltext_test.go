package fulltext

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// written is a query in the language of the index, grams marked.
func written(q Query) string {
	var groups []string
	for _, g := range q.Groups {
		s := Join(g.Must, "AND")
		if len(g.Not) > 0 {
			s += " NOT " + Join(g.Not, "OR")
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
		if got := written(Parse(c.in)); got != c.want {
			t.Errorf("Parse(%q) = %s; want %s", c.in, got, c.want)
		}
	}
	many := Parse(strings.Repeat("word ", 100))
	if n := len(many.Terms()); n != MaxTerms {
		t.Errorf("a query of 100 words has %d terms", n)
	}
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
		words, grams := Split(c.in)
		if d := cmp.Diff([]string{c.words, c.grams}, []string{words, grams}); d != "" {
			t.Errorf("Split(%q): %s", c.in, d)
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
		if got := Snippet(c.text, Parse(c.query).Terms()); got != c.want {
			t.Errorf("Snippet(%q, %q) = %q; want %q", c.text, c.query, got, c.want)
		}
	}
	got := Snippet(far+"needle "+far, Parse("needle").Terms())
	if len(got) > 240 || !strings.Contains(got, ">>>needle<<<") || !strings.HasPrefix(got, "…") || !strings.HasSuffix(got, "…") {
		t.Errorf("a late match is shown as %q", got)
	}
}
