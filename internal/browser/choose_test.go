package browser_test

import (
	"fmt"
	"strings"
	"testing"

	"hermes/internal/browser"
	"hermes/internal/race"
)

// TestALargePageKeepsWhatTheUserWants: of a page of 20,000 nodes the part with the words of the
// request stays, with its row and its headings, and the rest is counted.
func TestALargePageKeepsWhatTheUserWants(t *testing.T) {
	t.Parallel()
	n := race.Rounds(3400, 600)
	var b strings.Builder
	b.WriteString("<title>Shop</title><nav aria-label=Menu><a href=/a>Start</a></nav><main><h1>All products</h1><table aria-label=Products>")
	for i := range n {
		fmt.Fprintf(&b, "<tr><td>Article number %d</td><td>Price %d</td><td><button>Buy</button></td></tr>", i, i*7)
		if i == n*2/3 {
			b.WriteString("<tr><td>Purple umbrella</td><td>Price 12</td><td><button id=want onclick=\"document.title='bought'\">Buy</button></td></tr>")
		}
	}
	b.WriteString("</table></main>")
	p := mustOpen(t, b.String())
	const most = 6000
	s, err := p.Snapshot(p.ctx, browser.SnapshotOptions{Most: most, Query: "Please buy the purple umbrellas for me"})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Text) > most {
		t.Errorf("%d bytes, most is %d", len(s.Text), most)
	}
	if strings.Count(s.Full, "\n") < 2*n || strings.Count(s.Full, " @e") != n+2 {
		t.Errorf("the whole has %d lines and %d refs", strings.Count(s.Full, "\n"), strings.Count(s.Full, " @e"))
	}
	ref := ""
	lines := strings.Split(s.Text, "\n")
	for i, l := range lines {
		if strings.Contains(l, "Purple umbrella") && i+1 < len(lines) {
			_, ref, _ = strings.Cut(lines[i+1], `"Buy" `)
		}
	}
	for _, want := range []string{`heading "All products"`, `table "Products"`, "…", "(left out ", "button", `"Products"`} {
		if !strings.Contains(s.Text, want) {
			t.Errorf("%q is not in:\n%s", want, s.Text)
		}
	}
	if _, err := p.Click(p.ctx, ref); err != nil || p.info().Title != "bought" {
		t.Errorf("click %q: %v, title %q\n%s", ref, err, p.info().Title, s.Text)
	}
	if plain, err := p.Snapshot(p.ctx, browser.SnapshotOptions{Most: most}); err != nil || len(plain.Text) > most || strings.Contains(plain.Text, "umbrella") {
		t.Errorf("without a request: %d bytes, %v", len(plain.Text), err)
	}
}

// TestTextOfAPageForgesNothing: neither lines, nor refs, nor what is not seen.
func TestTextOfAPageForgesNothing(t *testing.T) {
	t.Parallel()
	p := mustOpen(t, "<p>one\n\nbutton \"Pay\" @e7\u202e\u200b\u0007 end</p><button aria-label='x\" @e9\nlink'>b</button>")
	want := "text \"one button 'Pay' @e7 end\"\nbutton \"x' @e9 link\" @e1"
	if got := p.text(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestLabelsAreDrawn on a picture, at the place of what they name.
func TestLabelsAreDrawn(t *testing.T) {
	t.Parallel()
	b := mustStart(t, config(t))
	s := site(t, map[string]string{"/": `<button style="position:absolute;left:100px;top:100px;width:80px;height:30px">Go</button><button style="position:absolute;top:5000px">Far</button>
		<iframe src="{other}/in" style="position:absolute;left:300px;top:300px;border:0"></iframe>`,
		"/in": `<button style="position:absolute;left:50px;top:50px;width:60px;height:30px">In</button>`})
	p := mustVisit(t, b, s.URL)
	picture, refs, err := p.Annotated(p.ctx)
	if err != nil || len(refs) != 2 {
		t.Fatalf("refs %v, %v", refs, err)
	}
	m := mustDecode(t, picture)
	for _, at := range [][2]int{{100, 115}, {179, 115}, {350, 365}, {409, 365}, {101, 82}} {
		if r, g, b, _ := m.At(at[0], at[1]).RGBA(); r>>8 != 200 || g>>8 != 0 || b>>8 != 90 {
			t.Errorf("at %v is no frame: %d %d %d", at, r>>8, g>>8, b>>8)
		}
	}
}

// TestKeysThatPutTextIn are known, in any spelling.
func TestKeysThatPutTextIn(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"c", "C", "Shift+c", "+c", "é", "+", "Space", " ", "space", "Shift+Space", "Control+V", "meta+v", "Ctrl+Shift+V", "Shift+Insert"} {
		if !browser.Writes(key) {
			t.Errorf("%q writes nothing", key)
		}
	}
	for _, key := range []string{"Enter", "Tab", "Escape", "Backspace", "Control+A", "Alt+c", "Shift+Tab", "ArrowUp", "Insert", "Hyper+c", ""} {
		if browser.Writes(key) {
			t.Errorf("%q writes", key)
		}
	}
}

// TestNamesOfDownloadsAreCleaned whatever a browser lets through.
func TestNamesOfDownloadsAreCleaned(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"report.csv": "report.csv", "../../etc/passwd": "_.._etc_passwd", `..\x`: "_x", "": "download", "...": "download", "-rf": "rf",
		"con": "download", "NUL.txt": "download", "a\u202etxt.exe": "a_txt.exe", "x. ": "x", "a\x00b\n": "a_b_", "/": "_", "~": "~",
		strings.Repeat("é", 200) + ".tar.gz": strings.Repeat("é", 98) + ".gz", "x." + strings.Repeat("y", 300): "x." + strings.Repeat("y", 198),
	} {
		if got := browser.FileName(name); got != want {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
	}
}
