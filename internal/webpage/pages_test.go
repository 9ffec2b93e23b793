package webpage_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"

	"hermes/internal/webpage"
)

// held are pages that were written with the others, and not looked at while the extraction
// was adjusted.
var held = []string{"blog-travel", "docs-kb", "forum-discourse", "news-tabloid", "reference-dictionary", "shop-listing"}

// fixture is a page of testdata/pages. Its marks are removed from source.
type fixture struct {
	name   string
	source string
	want   map[string]int // words of the main text
	either map[string]int // words that may be in it, such as the line of the author
}

// fixtures reads the pages. data-main marks elements of the main text (on scripts, the keys of its strings),
// data-either those that may be shown or not.
func fixtures(t testing.TB) []fixture {
	t.Helper()
	paths, err := filepath.Glob("testdata/pages/*.html")
	if err != nil || len(paths) < 30 {
		t.Fatalf("%d pages, %v", len(paths), err)
	}
	marks := regexp.MustCompile(` data-(main|either)(="[^"]*")?`)
	var list []fixture
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(raw) > 25_000 {
			t.Errorf("%s has %d bytes", path, len(raw))
		}
		f := fixture{name: strings.TrimSuffix(filepath.Base(path), ".html"), want: map[string]int{}, either: map[string]int{}}
		doc, err := html.Parse(strings.NewReader(string(raw)))
		if err != nil {
			t.Fatal(err)
		}
		var walk func(*html.Node, map[string]int)
		walk = func(n *html.Node, into map[string]int) {
			for _, a := range n.Attr {
				switch {
				case a.Key == "data-main" && n.Data == "script":
					count(f.want, strings.Join(valuesOf(t, n.FirstChild.Data, strings.Fields(a.Val)), "\n"))
				case a.Key == "data-main":
					into = f.want
				case a.Key == "data-either":
					into = f.either
				case a.Key == "aria-hidden" && a.Val == "true":
					into = nil // the sign of a link to a heading
				}
			}
			if n.Data == "script" || n.Data == "style" || n.Data == "button" {
				return
			}
			for c := range n.ChildNodes() {
				if c.Type == html.TextNode && into != nil {
					count(into, c.Data)
				}
				walk(c, into)
			}
		}
		walk(doc, nil)
		f.source = marks.ReplaceAllString(string(raw), "")
		if strings.Contains(f.source, "data-main") || len(f.want) < 20 {
			t.Fatalf("%s: %d words are marked", path, len(f.want))
		}
		list = append(list, f)
	}
	return list
}

// valuesOf returns the strings with one of the keys in a JSON text, without tags.
func valuesOf(t testing.TB, source string, keys []string) (found []string) {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(source), &value); err != nil {
		t.Fatal(err)
	}
	tags := regexp.MustCompile(`<[^>]*>`)
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, value := range v {
				if text, ok := value.(string); ok && slices.Contains(keys, key) {
					found = append(found, tags.ReplaceAllString(text, " "))
				}
				walk(value)
			}
		case []any:
			for _, value := range v {
				walk(value)
			}
		}
	}
	walk(value)
	return found
}

// count adds the words of a text: runs of letters and digits, and pairs of neighbours where
// a script has no spaces.
func count(into map[string]int, text string) {
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) }) {
		letters := []rune(word)
		if !unicode.In(letters[0], unicode.Han, unicode.Hiragana, unicode.Katakana) || len(letters) == 1 {
			into[word]++
			continue
		}
		for i := range len(letters) - 1 {
			into[string(letters[i:i+2])]++
		}
	}
}

// score returns which part of the main text is in a text, and which part of the text is main
// text.
func (f fixture) score(text string) (recall, precision float64) {
	got := map[string]int{}
	count(got, text)
	want, shown, hits, neutral := 0, 0, 0, 0
	for _, n := range f.want {
		want += n
	}
	for word, n := range got {
		hit := min(n, f.want[word])
		shown += n
		hits += hit
		neutral += min(n-hit, f.either[word])
	}
	if shown == 0 {
		return 0, 0
	}
	return float64(hits) / float64(want), float64(hits) / float64(max(shown-neutral, 1))
}

// words of Markdown that are not words of the page.
var (
	linkTarget = regexp.MustCompile(`\]\([^)\s]*\)`)
	imageText  = regexp.MustCompile(`\[image: [^\]]*\]`)
	fenceLine  = regexp.MustCompile("(?m)^`{3,}.*$")
	itemNumber = regexp.MustCompile(`(?m)^\s*\d+\. `)
	noteLine   = regexp.MustCompile(`(?m)^\[Note: .*\]$`)
)

func unmarked(text string) string {
	for _, pattern := range []*regexp.Regexp{imageText, linkTarget, fenceLine, itemNumber, noteLine} {
		text = pattern.ReplaceAllString(text, " ")
	}
	return strings.NewReplacer("**", "", "*", "", "`", "", "~~", "").Replace(text)
}

func TestMainTextOfPages(t *testing.T) {
	t.Parallel()
	var recalls, precisions, heldRecalls, heldPrecisions []float64
	for _, f := range fixtures(t) {
		p := webpage.Convert(f.source, base(t), 0)
		recall, precision := f.score(unmarked(p.Text))
		mark := ""
		if slices.Contains(held, f.name) {
			heldRecalls, heldPrecisions = append(heldRecalls, recall), append(heldPrecisions, precision)
			mark = "held back"
		}
		recalls, precisions = append(recalls, recall), append(precisions, precision)
		t.Logf("%-22s recall %.3f precision %.3f %s", f.name, recall, precision, mark)
		if recall < 0.85 || precision < 0.85 {
			t.Errorf("%s: recall %.3f, precision %.3f", f.name, recall, precision)
		}
		if strings.Contains(p.Text, "quartzfox") {
			t.Errorf("%s: hidden text is shown", f.name)
		}
		if os.Getenv("SHOW_PAGE") == f.name {
			t.Log(p.Text)
			got := map[string]int{}
			count(got, unmarked(p.Text))
			for _, w := range slices.Sorted(maps.Keys(f.want)) {
				if got[w] < f.want[w] {
					t.Logf("missing %s %d", w, f.want[w]-got[w])
				}
			}
		}
	}
	t.Logf("%-22s recall %.3f precision %.3f", "mean of all", mean(recalls), mean(precisions))
	t.Logf("%-22s recall %.3f precision %.3f", "mean of held back", mean(heldRecalls), mean(heldPrecisions))
	if mean(recalls) < 0.95 || mean(precisions) < 0.95 {
		t.Errorf("mean recall %.3f, precision %.3f", mean(recalls), mean(precisions))
	}
}

func mean(list []float64) float64 {
	sum := 0.0
	for _, x := range list {
		sum += x
	}
	return sum / float64(max(len(list), 1))
}
