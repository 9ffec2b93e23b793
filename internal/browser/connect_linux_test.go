package browser_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes/internal/browser"
	"hermes/internal/browser/browsertest"
)

// TestATabOfTheUserBeyondTheLimitStays: a page opens a tab too many in a browser that was connected to. It is not
// worked with, but it is not closed either, and is selected when there is room.
func TestATabOfTheUserBeyondTheLimitStays(t *testing.T) {
	t.Parallel()
	s := site(t, map[string]string{"/": "<a href=/more target=_blank>Pop</a>", "/more": "<title>More</title><h1>Hi</h1>"})
	needBrowser(t)
	program, err := browser.Find("")
	if err != nil {
		t.Fatal(err)
	}
	b, err := browser.Connect(limited(t), browsertest.Run(t, program), new(http.Client), browser.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	p := mustVisit(t, b, s.URL)
	for range 49 {
		if _, err := b.NewPage(limited(t)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.NewPage(limited(t)); err == nil || !strings.Contains(err.Error(), "close one first") {
		t.Errorf("tab 51: %v", err)
	}
	if out := p.click("Pop"); len(out.Tabs) > 0 {
		t.Errorf("the new tab is worked with: %+v", out)
	}
	var more browser.Tab
	for late := time.Now().Add(20 * time.Second); more.ID == ""; time.Sleep(10 * time.Millisecond) { // nothing tells of it
		tabs := b.Tabs()
		if i := slices.IndexFunc(tabs, func(tab browser.Tab) bool { return strings.HasSuffix(tab.URL, "/more") }); i >= 0 {
			more = tabs[i]
		}
		if time.Now().After(late) {
			t.Fatal("the tab is not there")
		}
	}
	if _, err := b.Select(p.ctx, more.ID); more.Open || err == nil || !strings.Contains(err.Error(), "close one first") {
		t.Errorf("tab 51 is %+v, selected: %v", more, err)
	}
	if err := p.Close(p.ctx); err != nil {
		t.Fatal(err)
	}
	q, err := b.Select(p.ctx, more.ID)
	if err != nil {
		t.Fatalf("select it when there is room: %v", err)
	}
	tab{q, t, p.ctx, b}.wants("Hi")
}
