package browser

import (
	"context"
	"os"
	"testing"

	"hermes/internal/browser"
)

// TestTabsOfABrowserThatEndedAreNotMistaken for those of the next one, which have the same ids: a
// child that goes on does not own, and does not close, the tabs of its parent.
func TestTabsOfABrowserThatEndedAreNotMistaken(t *testing.T) {
	t.Parallel()
	if _, err := browser.Find(""); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	dir := t.TempDir()
	set := New(Config{Open: func(ctx context.Context, _ string, _ bool) (*browser.Browser, func() error, error) {
		b, err := browser.Start(ctx, browser.Config{Folder: dir, Env: []string{"PATH=/usr/bin:/bin"}, NoSandbox: true})
		return b, func() error { return nil }, err
	}})
	o := &owner{place: place{session: "s"}, set: set, turn: make(chan struct{}, 1)}
	t.Cleanup(func() {
		if err := o.end(true); err != nil {
			t.Error(err)
		}
	})
	parent, child := &seat{owner: o, session: "s"}, &seat{owner: o, session: "c"}
	set.seats[place{session: "s"}], set.seats[place{session: "c"}] = parent, child
	old, err := child.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := old.Browser().Close(); err != nil {
		t.Fatal(err)
	}
	p, err := parent.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b := p.Browser()
	if p.ID != old.ID || b == old.Browser() {
		t.Fatalf("the tab %s of the next browser, after %s", p.ID, old.ID)
	}
	if tab := b.Tabs()[len(b.Tabs())-1]; tab.ID != p.ID || set.others(parent, tab) || !set.others(child, tab) {
		t.Errorf("the tab of the parent is one of the child: %+v", tab)
	}
	child.leave()
	if parent.current(b) != p {
		t.Error("the child closed the tab of its parent")
	}
	if q, err := child.here(t.Context()); err == nil {
		t.Errorf("the child has the tab %s", q.ID)
	}
}
