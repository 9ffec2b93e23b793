package toolsearch

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"hermes"
	"hermes/internal/fulltext"
	"hermes/internal/order"
	"hermes/internal/text"
	"hermes/internal/tokens"
)

const (
	defaultLimit = 5
	maxLimit     = 20
	// maxTokens bounds what one search puts into the context. The best tool is shown even if it alone has more,
	// up to maxOne.
	maxTokens = 6_000
	maxOne    = 20_000
	// maxDescription is how many characters of a description are shown.
	maxDescription = 2_000
	// maxNames is how many tools are only named.
	maxNames = 50
)

type arguments struct {
	Query string `json:"query" doc:"words, or a name; empty lists all names"`
	Limit int    `json:"limit,omitempty" default:"5"`
}

// found is a tool as the model reads it.
type found struct {
	Name        string          `json:"name"`
	Server      string          `json:"server,omitempty"`
	Toolset     string          `json:"toolset,omitempty"` // of Hermes itself
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"input_schema"`
}

// outcome is the result of a search.
type outcome struct {
	Tools []found `json:"tools"`
	// More are the names of others that fit.
	More []string `json:"more,omitempty"`
	Note string   `json:"note,omitempty"`
}

// search is the tool tool_search.
func search(_ context.Context, c *hermes.Call, in arguments) (hermes.Result, error) {
	var groups []hermes.ToolGroup
	if h, ok := c.Host.(hermes.DeferringHost); ok {
		groups = h.Deferred()
	}
	ranked := rank(groups, in.Query)
	out := outcome{Tools: []found{}, Note: waiting(groups)}
	var from []string
	left := maxTokens
	for i, hit := range ranked {
		show := found{Name: hit.Name, Description: text.Short(hit.Description, maxDescription), Schema: hit.Schema}
		if hit.own {
			show.Toolset = hit.group
		} else {
			show.Server = hit.group
		}
		size := tokens.Texts(show.Name, show.Description, string(show.Schema))
		fits := size <= left || i == 0 && size <= maxOne
		if strings.TrimSpace(in.Query) == "" || len(out.Tools) >= min(cmp.Or(max(in.Limit, 0), defaultLimit), maxLimit) || !fits {
			out.More = append(out.More, hit.Name)
			continue
		}
		left -= size
		out.Tools = append(out.Tools, show)
		if !hit.own {
			from = append(from, hit.group)
		}
	}
	out.note(len(groups) > 0, in.Query)
	r, err := hermes.JSONResult(out)
	if servers := unique(from); len(servers) > 0 {
		r.Provenance = hermes.ProvenanceSource(hermes.SearchTool, "descriptions of "+strings.Join(servers, ", "))
	}
	return r, err
}

// note says what to do next.
func (o *outcome) note(any bool, query string) {
	if more := len(o.More) - maxNames; more > 0 {
		o.More = append(o.More[:maxNames:maxNames], "and "+count(more, "more"))
	}
	next := ""
	switch {
	case len(o.Tools) > 0:
		next = "Call one with " + hermes.ForwardTool + "."
	case len(o.More) > 0 && strings.TrimSpace(query) != "":
		next = "The schemas are too large to show; call one by its name, and its errors say what is missing."
	case len(o.More) > 0:
		next = "Search for one by its name to see its schema."
	case any:
		next = "Nothing fits: use other words, or an empty query for all names."
	default:
		next = "There are no tools beside those in your list."
	}
	o.Note = strings.TrimSpace(next + " " + o.Note)
}

// waiting names the servers that have not answered so far.
func waiting(groups []hermes.ToolGroup) string {
	var names []string
	for _, g := range groups {
		if !g.Known && len(g.Tools) == 0 {
			names = append(names, strings.TrimPrefix(g.Toolset, "mcp-"))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "Not answered so far: " + strings.Join(names[:min(len(names), maxNames)], ", ") + "; search again later."
}

// hit is a tool that fits a query.
type hit struct {
	hermes.Spec
	group string // its toolset or server
	own   bool
	score float64
}

// rank returns the tools that fit a query, the best first. One whose name it is comes first. An
// empty query fits all, by name.
func rank(groups []hermes.ToolGroup, query string) []hit {
	var hits []hit
	wanted := unique(words(query))
	docs := make([]document, 0, 64)
	for _, g := range groups {
		group := strings.TrimPrefix(g.Toolset, "mcp-")
		for _, s := range g.Tools {
			hits = append(hits, hit{Spec: s, group: group, own: g.Own})
			docs = append(docs, read(s, group, g.Hint))
		}
	}
	exact := strings.ToLower(strings.TrimSpace(query))
	for _, word := range wanted {
		values, fit := make([]float64, len(docs)), 0
		for i, d := range docs {
			if values[i] = d.value(word); values[i] > 0 {
				fit++
			}
		}
		rare := math.Log(1 + float64(len(docs))/float64(max(fit, 1)))
		for i, v := range values {
			hits[i].score += v * rare
		}
	}
	for i := range hits {
		if name := strings.ToLower(hits[i].Name); exact != "" && (name == exact || strings.HasSuffix(name, "__"+exact)) {
			hits[i].score += 1000
		}
	}
	if exact != "" {
		hits = slices.DeleteFunc(hits, func(h hit) bool { return h.score <= 0 })
	}
	order.By(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.Name, b.Name))
	})
	return hits
}

// document is the words of a tool by what they count.
type document struct{ fields [4]map[string]bool }

// counts are the values of a word in the fields of a document: the name, the names of arguments, the
// description, the descriptions of arguments. A word that only begins with it counts half.
func counts() [4]float64 { return [4]float64{8, 3, 3, 1} }

func read(s hermes.Spec, group, hint string) document {
	var d document
	var schema any
	_ = json.Unmarshal(s.Schema, &schema) // it is canonical
	names, texts := argumentsOf(schema, 0)
	for i, t := range []string{s.Name + " " + group, names, s.Description + " " + hint, texts} {
		d.fields[i] = map[string]bool{}
		for _, w := range words(text.Short(t, 4*maxDescription)) {
			d.fields[i][w] = true
		}
	}
	return d
}

// value is what a word counts in a document.
func (d document) value(word string) float64 {
	sum := 0.0
	for i, count := range counts() {
		switch {
		case d.fields[i][word]:
			sum += count
		case len(word) >= 3 && begins(d.fields[i], word):
			sum += count / 2
		}
	}
	return sum
}

// begins reports whether a word begins with another, or the other way round: issue fits issues.
func begins(words map[string]bool, word string) bool {
	for w := range words {
		if strings.HasPrefix(w, word) || len(w) >= 4 && strings.HasPrefix(word, w) {
			return true
		}
	}
	return false
}

// maxDepth is how deep the arguments of a schema are read.
const maxDepth = 4

// argumentsOf returns the names and the descriptions of the arguments of a schema.
func argumentsOf(schema any, depth int) (names, texts string) {
	s, ok := schema.(map[string]any)
	if !ok || depth > maxDepth {
		return "", ""
	}
	var n, t strings.Builder
	add := func(inner any) {
		names, texts := argumentsOf(inner, depth+1)
		n.WriteString(" " + names)
		t.WriteString(" " + texts)
	}
	properties, _ := s["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		n.WriteString(" " + name)
		add(properties[name])
	}
	add(s["items"])
	if about, ok := s["description"].(string); ok && depth > 0 {
		t.WriteString(" " + about)
	}
	return n.String(), t.String()
}

// words splits a text into the words to compare: those of names too, such as getIssue and
// get_issue, and pairs of characters where a script separates no words.
func words(s string) []string {
	var b strings.Builder
	before := ' '
	for _, r := range s {
		if unicode.IsUpper(r) && unicode.IsLower(before) || r == '_' {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		before = r
	}
	plain, grams := fulltext.Split(b.String())
	split := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	list := strings.FieldsFunc(fulltext.Fold(plain), split)
	list = slices.DeleteFunc(list, func(w string) bool { return slices.Contains(fillers[:], w) })
	return append(list, strings.Fields(fulltext.Fold(grams))...)
}

// fillers are words that say nothing about a tool.
var fillers = [...]string{"a", "an", "and", "for", "from", "in", "mcp", "of", "on", "or", "the", "to", "tool", "tools", "with"}

func unique(words []string) []string {
	slices.Sort(words)
	return slices.Compact(words)
}

func count(n int, what string) string { return fmt.Sprintf("%d %s", n, what) }
