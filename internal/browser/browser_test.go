package browser_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"hermes/internal/browser"
)

// needBrowser skips a test where no browser is installed, but not in CI.
func needBrowser(t testing.TB) {
	t.Helper()
	if _, err := browser.Find(""); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

func config(t testing.TB) browser.Config {
	return browser.Config{Folder: t.TempDir(), Env: []string{"PATH=/usr/bin:/bin"}, NoSandbox: true}
}

// mustStart starts a browser that ends with the test.
func mustStart(t testing.TB, c browser.Config) *browser.Browser {
	t.Helper()
	needBrowser(t)
	b, err := browser.Start(limited(t), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// limited is the context of a test whose browser may hang.
func limited(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// site serves pages by their path. What is no page is not found.
func site(t testing.TB, pages map[string]string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := pages[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, strings.ReplaceAll(page, "{other}", "http://"+strings.Replace(r.Host, "127.0.0.1", "localhost", 1)))
	}))
	t.Cleanup(s.Close)
	return s
}

// tab is a page with what tests do with it.
type tab struct {
	*browser.Page
	t   testing.TB
	ctx context.Context
	b   *browser.Browser
}

// mustOpen starts a browser with one page.
func mustOpen(t testing.TB, html string) tab {
	t.Helper()
	return mustOpenIn(t, mustStart(t, config(t)), html)
}

func mustOpenIn(t testing.TB, b *browser.Browser, html string) tab {
	t.Helper()
	return mustVisit(t, b, site(t, map[string]string{"/": html}).URL)
}

func mustVisit(t testing.TB, b *browser.Browser, url string) tab {
	t.Helper()
	ctx := limited(t)
	p, err := b.NewPage(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Navigate(ctx, url); err != nil {
		t.Fatal(err)
	}
	return tab{p, t, ctx, b}
}

func (p tab) text() string {
	p.t.Helper()
	s, err := p.Snapshot(p.ctx, browser.SnapshotOptions{})
	if err != nil {
		p.t.Fatal(err)
	}
	return s.Text
}

// ref returns the ref of the first line that has this text.
func (p tab) ref(text string) string {
	p.t.Helper()
	all := p.text()
	for l := range strings.SplitSeq(all, "\n") {
		if ref := regexp.MustCompile(`@e\d+`).FindString(l); ref != "" && strings.Contains(l, text) {
			return ref
		}
	}
	p.t.Fatalf("no ref of %q in:\n%s", text, all)
	return ""
}

func (p tab) click(text string) browser.Outcome {
	p.t.Helper()
	out, err := p.Click(p.ctx, p.ref(text))
	if err != nil {
		p.t.Fatalf("click %q: %v\n%s", text, err, p.text())
	}
	return out
}

func (p tab) wants(texts ...string) {
	p.t.Helper()
	all := p.text()
	for _, s := range texts {
		if !strings.Contains(all, s) {
			p.t.Errorf("%q is not in:\n%s", s, all)
		}
	}
}

func (p tab) js(script string) string {
	p.t.Helper()
	v, err := p.Evaluate(p.ctx, script)
	if err != nil {
		p.t.Fatal(err)
	}
	return v
}

func wantRefError(t *testing.T, err error, text string) {
	t.Helper()
	var r *browser.RefError
	if !errors.As(err, &r) || !strings.Contains(err.Error(), text) {
		t.Errorf("error %v, want one of the ref with %q", err, text)
	}
}

// TestSnapshotShowsWhatAPersonSees with the state of what can be used.
func TestSnapshotShowsWhatAPersonSees(t *testing.T) {
	t.Parallel()
	p := mustOpen(t, `<title>Shop</title><h1>Hats</h1><p>All <b>our</b> hats. <a href="/more?x=1">More</a></p>
		<div hidden>secret</div><div style="display:none">secret</div>
		<form><label>Name <input required value="Ann"></label><label><input type=checkbox checked> News</label>
		<select aria-label=Size><option>S<option selected>M</select><button disabled>Send</button>
		<input type=password aria-label=Pin value=1234></form>
		<table><tr><th>Hat<th>Price</tr><tr><td>Red<td>5</tr><tr><td>Blue<td><button>Buy</button></tr></table>
		<ul><li>one</li><li><a href="#2">two</a></li></ul><div onclick="1">Click me</div><div role=alert>Sold &quot;out&quot;</div>
		<details><summary>Help</summary>inside</details><img alt="A hat" src="data:,">`)
	want := `heading "Hats" level=1
text "All our hats."
link "More" @e1 url="/more?x=1"
form
  text "Name"
  textbox "Name" @e2 value="Ann" required
  checkbox "News" @e4 checked
  combobox "Size" @e5 value="M" collapsed options: "S" | *"M"
  button "Send" @e6 disabled
  textbox "Pin" @e7 value="••••"
table
  row "Hat | Price"
  row "Red | 5"
  row "Blue"
    button "Buy" @e8
list
  text "one"
  link "two" @e9 url="/#2"
clickable "Click me" @e10
alert
  text "Sold 'out'"
button "Help" @e11 collapsed
image "A hat"`
	if got := p.text(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	p.wants("@e8", "@e11") // the refs of a second snapshot are the same
	part, err := p.Snapshot(p.ctx, browser.SnapshotOptions{Ref: "@e5"})
	if err != nil || part.Text != `combobox "Size" @e5 value="M" collapsed options: "S" | *"M"` {
		t.Errorf("a part: %q, %v", part.Text, err)
	}
}
