package webpage_test

import (
	"encoding/json"
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

// held are the pages that were written last, after the rules and the lists of words: nothing was adjusted for them. Keep it
// so: what is wrong on one of them is a reason to write a new page.
func held(name string) bool { return strings.HasPrefix(name, "held-") }

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
	if err != nil || len(paths) < 36 {
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
		if held(f.name) {
			heldRecalls, heldPrecisions = append(heldRecalls, recall), append(heldPrecisions, precision)
			mark = "held back"
		}
		recalls, precisions = append(recalls, recall), append(precisions, precision)
		t.Logf("%-22s recall %.3f precision %.3f %s", f.name, recall, precision, mark)
		if recall < 0.85 || precision < 0.85 {
			t.Errorf("%s: recall %.3f, precision %.3f", f.name, recall, precision)
		}
		if !strings.Contains(f.source, "quartzfox") {
			t.Errorf("%s has no hidden text", f.name)
		}
		if strings.Contains(p.Text, "quartzfox") {
			t.Errorf("%s: hidden text is shown", f.name)
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

func page(t testing.TB, name string) string {
	t.Helper()
	for _, f := range fixtures(t) {
		if f.name == name {
			return webpage.Convert(f.source, base(t), 0).Text
		}
	}
	t.Fatalf("no page %s", name)
	return ""
}

func TestStructureOfThePages(t *testing.T) {
	t.Parallel()
	for name, blocks := range map[string][]string{
		"table-elements": {
			"| Name | Area (km²) | Depth (m) | Outflow |\n| --- | --- | --- | --- |\n| [Sniard](https://example.org/w/Sniard) | 109.7 | 23 | Pissa |\n",
			"| Hanko | 3.1 | 108 | Black Hancha |", "## List", "## Fish",
		},
		"table-timetable": {"## Monday to Friday\n\n| Stop | first |", "| University Hospital | 4:58 | 5:31 | 5:51 | :11 :31 :51 | 23:27 |", "- A ticket for zones A and B"},
		"docs-api":        {"```bash\ncurl https://api.parcelkit.example/v2/shipments \\\n  -H \"Authorization", "```json\n{\n  \"id\": \"shp_81\",", "| `customs` | object |", "# Create a shipment\n"},
		"docs-cli":        {"```shell\ntern deploy [folder] [flags]\ntern deploy --env staging --wait 90s\n```", "| `--dry-run` | false |", "- `3`: the build failed"},
		"docs-guide":      {"```python3\nfrom mallet import Queue\n\nmails = Queue(\"mails\", limit=500)\n\n@mails.task\ndef send(to, text):\n    ...\n```", "1. Tasks with priority", "## 4.2. Retries\n"},
		"code-tutorial":   {"```go\nfunc (s *Store) Put(key, value []byte) error {\n\tvar head [12]byte\n", "```go\nfor {\n\trecord, err := next(r)\n\tif err == io.EOF {\n\t\tbreak\n", "```shell\n$ go test -run Crash -count 200\nok      example/kv      14.210s\n```"},
		"code-changelog":  {"```reed\nimport \"text\" (upper)\n", "```shell\nreed self-update --to 3\n", "([#901](https://example.org/issues/901))"},
		"forum-thread":    {"> copperhead wrote:", "1. The exchanger is scaled up."},
		"forum-qa":        {"```sql\nSELECT c.name, COUNT(o.id)\n"},
		"news-regional":   {"[image: The ferry Svala at her berth]", "## What a ticket costs", "[Oda Brekke](https://example.org/p/oda)"},
		"recipe":          {"- 300 g red lentils, rinsed\n", "2. Add the cumin and stir"},
		"list-long":       {"1. Felt pads under chairs\n2. Rubber feet", "40. Earplugs, after all"},
		"shop-kettle":     {"| Power | 1200 W |"},
		"script-next":     {"# How we store seeds\n\nEighteen degrees", "**fifty seeds**"},
	} {
		text := page(t, name) + "\n"
		for _, block := range blocks {
			if !strings.Contains(text, block) {
				t.Errorf("%s has no %q:\n%s", name, block, text)
			}
		}
		level, last := regexp.MustCompile(`(?m)^#+ `), 0
		for _, h := range level.FindAllString(text, -1) {
			if last == 0 && len(h) > 3 {
				t.Errorf("%s: the first heading is %q", name, h)
			}
			last = len(h)
		}
	}
}

func TestNotes(t *testing.T) {
	t.Parallel()
	const scripts, wall = "[Note: Scripts build this page.", "[Note: The page says that it is not free."
	for name, want := range map[string]string{"script-jsonld": scripts, "script-next": scripts, "paywall": wall, "news-wire": "", "blog-personal": "", "docs-api": ""} {
		text := page(t, name)
		last := text[strings.LastIndexByte(text, '\n')+1:]
		if want == "" && strings.Contains(text, "[Note: ") || want != "" && !strings.HasPrefix(last, want) {
			t.Errorf("%s: %q", name, last)
		}
	}
	p := webpage.Convert(`<meta name=description content="A map of the stars."><div id=app></div><noscript><p>Please turn on <b>JavaScript</b>.</p></noscript><script src=x></script>`, nil, 0)
	if want := "A map of the stars.\n\nPlease turn on **JavaScript**."; !strings.HasPrefix(p.Text, want) || !strings.Contains(p.Text, scripts) {
		t.Errorf("%q", p.Text)
	}
}

// A page without a part that is surely the main one is shown whole.
func TestAPageWithoutAMainPartStaysWhole(t *testing.T) {
	t.Parallel()
	links := ""
	for i := range 40 {
		links += "<div class=item><a href=/x>The title of entry number " + string(rune('a'+i%26)) + "</a> <span>12 points</span></div>"
	}
	for name, c := range map[string]struct{ source, want string }{
		"a list of links":      {"<div class=nav><a href=/>Home</a></div>" + links, "entry number z"},
		"only comments":        {"<h1>Ask: how do you sleep?</h1><div class=comments><p>" + strings.Repeat("Early to bed is what helps me most. ", 20) + "</p></div>", "Early to bed"},
		"all named sidebar":    {"<div class=sidebar><p>" + strings.Repeat("This is all that the page has to say. ", 20) + "</p></div>", "all that the page"},
		"text in small pieces": {"<div><b>Total</b></div><div>42</div><div>Open</div><div>7</div>", "Open\n7"},
	} {
		if p := webpage.Convert(c.source, base(t), 0); !strings.Contains(p.Text, c.want) {
			t.Errorf("%s: %q", name, p.Text)
		}
	}
}

func TestHiddenTextIsNotShown(t *testing.T) {
	t.Parallel()
	for _, style := range []string{
		"left:-9999px;position:absolute", "text-indent: -999em", "position:absolute;clip:rect(0 0 0 0)", "clip: rect(0px,0px,0px,0px)", "clip-path:inset(50%)", "width:1px;height:1px;overflow:hidden",
		"max-height:0;overflow:hidden", "height:0px;overflow:clip", "color:transparent", "color:#fff;background:white", "color:rgb(255, 255, 255);background-color:#FFFFFF", "opacity:.01", "font-size:1px",
		"font-size:0", "transform:scale(0)", "visibility:hidden!important", "content-visibility:hidden",
		// the last declaration is not always the one that counts
		"display:none;display:x", "display:none!important;display:block", "display:/**/none", "display:/*;*/none/*", `d\69 splay:n\6f ne`, `display:non\65`, "display : none ; color:red",
		"color:transparent;color:red", "color:#FFF;color:#xyz;background:#fff;background:0",
		// other ways
		"color:#fff", "color:#fefefe", "color:rgba(0,0,0,0)", "color:#fff0", "color:#00000005", "color:rgb(0 0 0 / 0%)", "-webkit-text-fill-color:transparent", "transform:translateX(-9999px)",
		"transform:rotate(3deg) translate(-999em,0)", "translate:-9999px", "scale:0", "bottom:-9999px", "right:9999px", "left:9999px", "left:-200vw", "clip:rect(1px,1px,1px,1px)", "clip-path:circle(0)", "clip-path:polygon(0 0, 0 0, 0 0)",
		"filter:opacity(0)", "filter:blur(0) opacity(1%)", "zoom:0", "font:0/0 a", "font:italic 400 0px serif", "font-size:.01em", "font-size:1%", "opacity:0%", "max-width:0;overflow-x:hidden",
	} {
		text := webpage.Convert(`<p>shown</p><div style="`+style+`">order</div>`, nil, 0).Text
		if text != "shown" {
			t.Errorf("%s: %q", style, text)
		}
	}
	for _, style := range []string{
		"left:-2px", "color:#fff;background:#000", "color:#fff;background:url(x)", "height:0", "width:1px", "overflow:hidden;width:100%", "max-width:1em;overflow:hidden", "opacity:0.9", "font-size:11px", "text-indent:-2em", "color:red", "font:400 16px/1.5 serif", "font:700 1em serif", "color:rgba(0,0,0,.8)", "color:#333f", "clip:rect(0,100px,50px,0)", "clip-path:inset(0 10%)", "transform:translateY(9000px)",
		"transform:scale(.9)", "top:8000px", "margin-left:-50%", "filter:opacity(.8)", "zoom:1", "color:transparent;background:linear-gradient(red,blue);-webkit-background-clip:text", "display:block /* not none */", "background:url(data:a;display:none)",
	} {
		if text := webpage.Convert(`<p>shown</p><div style="`+style+`">text</div>`, nil, 0).Text; text != "shown\ntext" && text != "shown\n\ntext" {
			t.Errorf("%s: %q", style, text)
		}
	}
	if text := webpage.Convert(`<body bgcolor="#ffffff">shown <font color=white>order</font><table bgcolor=black><tr><td><font color=white>light</font></table>`, nil, 0).Text; strings.Contains(text, "order") || !strings.Contains(text, "light") {
		t.Errorf("%q", text)
	}
}

// Colours come from different elements, and those of style sheets are unknown.
func TestColoursOfOtherElements(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		`<p>shown<div style="color:#fff"><p style="background:white">order`:                                                     "shown",
		`<body text=white bgcolor=white>order<p style="color:#000">shown`:                                                       "shown",
		`<div style="font-size:0">order<p style="font-size:16px">shown`:                                                         "shown",
		`<div style="visibility:hidden">order<p style="visibility:visible">shown`:                                               "shown",
		`<div style="color:#fff;background:#fff">order<p style="background:#000">shown`:                                         "shown",
		`<style>body{background:#111}</style><p style="color:#fff">shown`:                                                       "shown",
		`<link rel=stylesheet href=dark.css><p style="color:#fff">shown`:                                                        "shown",
		`<script src=tw.js></script><div class=dark><p style="color:#fff">shown`:                                                "shown",
		`<table background=night.png><tr><td><font color=white>shown`:                                                           "shown",
		`<link rel=stylesheet href=a.css><div style="color:#fff;background:#000"><div class=card style="background:#fff">shown`: "shown",
		`<div style="background:#fff url(night.png);color:#fff">shown`:                                                          "shown",
	} {
		if text := webpage.Convert(source, nil, 0).Text; text != want {
			t.Errorf("%s: %q", source, text)
		}
	}
}

// Libraries that let text appear send it transparent.
func TestTransparentTextIsNotLostSilently(t *testing.T) {
	t.Parallel()
	text := "<p>" + strings.Repeat("This is what the article has to say. ", 12) + "</p>"
	p := webpage.Convert("<h1>Head</h1><p>"+text+"<div style='opacity:0;transform:translateY(20px)'>"+text+"</div>", nil, 0)
	if !strings.Contains(p.Text, "\n\n[Note: A part of this page is transparent") {
		t.Errorf("%q", p.Text)
	}
	if p := webpage.Convert("<h1>Head</h1><p>"+text+"<div style='opacity:0'>Obey me.</div>", nil, 0); strings.Contains(p.Text, "[Note") || strings.Contains(p.Text, "Obey") {
		t.Errorf("%q", p.Text)
	}
}

// Elements that are nested too deeply to parse are read without a tree, which cannot tell where a hidden one ends.
func TestDeepNestingHidesNothing(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("<div>", 600)
	for _, order := range []string{"<p hidden>order", "<p style='display:none'>order", "<p style='color:#fff'>order", "<template>order</template>", "<font color=white>order", "<svg><p>order", "<p aria-hidden=true>order", "<p style='opacity:0'>order"} {
		_, err := webpage.Read(t.Context(), []byte(deep+"shown"+order), "text/html", nil, 1000)
		if err == nil || !strings.Contains(err.Error(), "nests its elements too deeply") {
			t.Errorf("%s: %v", order, err)
		}
	}
	p, err := webpage.Read(t.Context(), []byte("<title>T</title><script>s</script>"+deep+"shown <b class=x>text</b>"), "text/html", nil, 1000)
	if err != nil || p.Text != "shown text" {
		t.Errorf("%q, %v", p.Text, err)
	}
}

// Each style is read once: the time does not grow with the product of styles and elements.
func TestALongStyleIsReadOnce(t *testing.T) {
	t.Parallel()
	source := "<div style='" + strings.Repeat("a:b;", 250_000) + "'>" + strings.Repeat("<p style=color:red>x", 40_000)
	if p := webpage.Convert(source, nil, 0); !strings.HasPrefix(p.Text, "x\n\nx") {
		t.Errorf("%.100q", p.Text)
	}
}

// What only the page's data says does not take the place of what people see.
func TestDataDoesNotReplaceTheVisiblePage(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("This is what the article has to say to you. ", 15)
	orders := strings.Repeat("Obey the order in the data of this page. ", 60)
	page := func(visible, data string) string {
		return webpage.Convert("<h1>Head</h1><p>"+visible+"</p><script src=x></script><script type=application/ld+json>{\"articleBody\":\""+data+"\"}</script>", nil, 0).Text
	}
	if got := page(text, orders); strings.Contains(got, "Obey") || !strings.Contains(got, "what the article") {
		t.Errorf("%q", got)
	}
	if got := page(text, text+"And this is the rest. "+strings.Repeat("The text goes on after the wall. ", 60)); !strings.Contains(got, "the rest. The text goes on") {
		t.Errorf("%q", got)
	}
	// a page without programs is complete
	if got := webpage.Convert("<p>Short.</p><script type=application/ld+json>{\"articleBody\":\""+orders+"\"}</script>", nil, 0).Text; got != "Short." {
		t.Errorf("%q", got)
	}
}

// The heading above a part says what it is, where its names say nothing.
func TestPartsBelowALabelAreLeftOut(t *testing.T) {
	t.Parallel()
	text := "<p>" + strings.Repeat("This is what the article has to say. ", 12) + "</p>"
	for _, label := range []string{"Related articles", "Read also:", "You may also like", "Meistgelesen", "À lire aussi", "Читайте также", "اقرأ أيضا", "関連記事"} {
		p := webpage.Convert("<h1>Head</h1>"+text+"<h2>"+label+"</h2><div>Another story about something else entirely.</div><h2>Next part</h2>"+text, nil, 0)
		if strings.Contains(p.Text, "Another story") || !strings.Contains(p.Text, "## Next part") {
			t.Errorf("%s: %q", label, p.Text)
		}
	}
}
