package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/png"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes"
	"hermes/internal/browser"
	"hermes/internal/netguard"
)

// caller is the host of calls of a session.
type caller struct {
	hermes.Host
	ref hermes.SessionRef
}

func (c caller) Session() hermes.SessionRef { return c.ref }

// pictures keeps pictures and documents nowhere.
type pictures struct{ Files }

func (pictures) Picture([]byte) (string, error)     { return "picture", nil }
func (pictures) PDF(string, []byte) (string, error) { return "pdf", nil }

// lent is a toolset whose browser is said to be one of a service. Its session is "s".
type lent struct {
	*Toolset
	t     *testing.T
	site  *httptest.Server
	judge func(url string) error // what Outside says
}

func newLent(t *testing.T, pages http.HandlerFunc) *lent {
	t.Helper()
	if _, err := browser.Find(""); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	l := &lent{t: t, site: httptest.NewServer(pages), judge: func(string) error { return nil }}
	t.Cleanup(l.site.Close)
	dir := t.TempDir()
	l.Toolset = New(Config{
		Open: func(ctx context.Context, _ string, _ bool) (*browser.Browser, func() error, error) {
			b, err := browser.Start(ctx, browser.Config{Folder: dir, Env: []string{"PATH=/usr/bin:/bin"}, NoSandbox: true, Options: browser.Options{Remote: "Cloud"}})
			return b, func() error { return nil }, err
		},
		Outside: func(_ context.Context, url string) error { return l.judge(url) },
		Judge:   func(context.Context, string) error { return nil },
		Secret:  func(string) bool { return false },
		Request: func(context.Context, hermes.SessionRef) string { return "" },
		Sees:    func(string) bool { return true },
		Files:   pictures{},
	})
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// call makes a call and returns its result, of which a picture is its first pixel.
func (l *lent) call(name, arguments string) string {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), time.Minute)
	defer cancel()
	for _, tool := range l.tools {
		if tool.Spec().Name != name {
			continue
		}
		r, err := tool.Run(ctx, &hermes.Call{Name: name, Arguments: json.RawMessage(arguments), Host: caller{ref: hermes.SessionRef{ID: "s"}}})
		if err != nil {
			l.t.Fatal(err)
		}
		for _, image := range r.Images {
			picture, err := png.Decode(bytes.NewReader(image.Data))
			if err != nil {
				l.t.Fatal(err)
			}
			r.Text += fmt.Sprint(" pixel ", picture.At(0, 0))
		}
		return r.Text
	}
	l.t.Fatalf("there is no tool %s", name)
	return ""
}

// noPrivate refuses the private pages of a test.
func noPrivate(url string) error {
	if strings.HasSuffix(url, "/private") || strings.HasPrefix(url, "http://localhost") {
		return &netguard.Refused{Why: "private", Private: true}
	}
	return nil
}

// TestWhatIsReadIsJudgedAfterwards: a page of a service goes to a private address after it was judged.
func TestWhatIsReadIsJudgedAfterwards(t *testing.T) {
	t.Parallel()
	l := newLent(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/private" {
			fmt.Fprint(w, `<title>Router</title><body style="background:#f00">Router <img src="/router.png" width=9 height=9><script>console.log("Router")</script>`)
			return
		}
		fmt.Fprint(w, `<title>Shop</title><body style="background:#fff">Shop`)
	})
	for name, arguments := range map[string]string{
		"browser_vision":     `{"question":"what is it"}`,
		"browser_get_images": `{}`,
		"browser_cdp":        `{"method":"Accessibility.getFullAXTree"}`,
		"browser_snapshot":   `{}`,
		"browser_console":    `{"expression":"document.title"}`,
		"browser_files":      `{"action":"pdf"}`,
	} {
		for n := 1; n <= 3; n++ {
			l.judge = func(string) error { return nil }
			if got := l.call("browser_navigate", `{"url":"`+l.site.URL+`/"}`); !strings.Contains(got, "Shop") {
				t.Fatal(got)
			}
			asked := 0
			l.judge = func(url string) error {
				if asked++; asked == n && noPrivate(url) == nil { // it moves as soon as it was judged
					at, err := l.seat(hermes.SessionRef{ID: "s"})
					if err != nil {
						return err
					}
					p, err := at.here(t.Context())
					if err == nil {
						_, err = p.Navigate(t.Context(), l.site.URL+"/private")
					}
					return err
				}
				return noPrivate(url)
			}
			got := l.call(name, arguments)
			if strings.Contains(got, "outer") || strings.Contains(got, "{255 0 0 255}") || n == 1 && strings.Contains(got, `"path":`) {
				t.Errorf("%s, moved after %d: %s", name, n, got)
			}
		}
	}
}

// TestAPageWhoseNameIsNotKnownForAMomentStays, and nothing of it is shown meanwhile.
func TestAPageWhoseNameIsNotKnownForAMomentStays(t *testing.T) {
	t.Parallel()
	l := newLent(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/other" {
			fmt.Fprint(w, `<title>Other</title>`)
			return
		}
		fmt.Fprint(w, `<title>Shop</title><button onclick="alert('Shop words')">Ask</button>`)
	})
	open := `{"url":"` + l.site.URL + `/"}`
	l.call("browser_navigate", open)
	g := netguard.Guard{Resolve: func(context.Context, string) ([]netip.Addr, error) { return nil, nil }}
	l.judge = func(string) error { _, err := g.Judge(t.Context(), "http://shop.example/"); return err }
	if got := l.call("browser_snapshot", `{}`); strings.Contains(got, "Shop") || !strings.Contains(got, "its name could not be resolved; try again") {
		t.Errorf("it says %s", got)
	}
	if got := l.call("browser_tabs", `{"action":"list"}`); strings.Contains(got, "Shop") {
		t.Errorf("it says %s", got)
	}
	l.judge = func(string) error { return nil }
	if got := l.call("browser_snapshot", `{}`); !strings.Contains(got, `"title":"Shop"`) {
		t.Errorf("it says %s", got)
	}
	if got := l.call("browser_click", `{"ref":"@e1"}`); !strings.Contains(got, "Shop words") { // a dialog keeps no other page away
		t.Errorf("it says %s", got)
	}
	l.judge = func(url string) error {
		if strings.HasSuffix(url, "/other") {
			return nil
		}
		_, err := g.Judge(t.Context(), "http://shop.example/")
		return err
	}
	other := `{"url":"` + l.site.URL + `/other"}`
	if got := l.call("browser_navigate", other); strings.Contains(got, "Shop words") {
		t.Errorf("it says %s", got)
	}
	if got := l.call("browser_navigate", other); !strings.Contains(got, `"title":"Other"`) {
		t.Errorf("it says %s", got)
	}
}

// TestAPageThatShowsADialogIsLeft with its console and its history, and its tab is closed if it asks to stay.
func TestAPageThatShowsADialogIsLeft(t *testing.T) {
	t.Parallel()
	l := newLent(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if strings.HasSuffix(r.URL.Path, "/private") {
			fmt.Fprint(w, `<title>Router</title><script>console.log("Router log"); if (location.pathname == "/stay/private") addEventListener("beforeunload", e => e.preventDefault());</script>
				<button onclick="alert('Router words')">Ask</button>`)
			return
		}
		fmt.Fprint(w, `<title>Shop</title>`)
	})
	show := func(path, how string) {
		l.judge = func(string) error { return nil }
		l.call("browser_navigate", `{"url":"`+l.site.URL+`/"}`)
		l.call("browser_navigate", `{"url":"`+l.site.URL+path+`"}`)
		if got := l.call("browser_click", `{"ref":"@e`+how[:1]+`"}`); !strings.Contains(got, "Router words") {
			t.Fatalf("it says %s", got)
		}
		l.judge = noPrivate
		if got := l.call("browser_dialog", `{"action":"accept"}`); strings.Contains(got, "Router") || !strings.Contains(got, "must not open, and "+how[2:]+": ") {
			t.Errorf("it says %s", got)
		}
	}
	show("/private", "1 was left")
	if got := l.call("browser_console", `{}`); strings.Contains(got, "Router") {
		t.Errorf("the console says %s", got)
	}
	if got := l.call("browser_back", `{}`); !strings.Contains(got, "there is no page to go back to") {
		t.Errorf("back: %s", got)
	}
	if got := l.call("browser_snapshot", `{}`); !strings.Contains(got, `"url":"about:blank"`) {
		t.Errorf("it is at %s", got)
	}
	show("/stay/private", "2 was closed")
	if got := l.call("browser_snapshot", `{}`); !strings.Contains(got, "no page is open") {
		t.Errorf("it is at %s", got)
	}
}

// TestADialogOfAPrivatePageIsNotShown, whichever call meets it.
func TestADialogOfAPrivatePageIsNotShown(t *testing.T) {
	t.Parallel()
	l := newLent(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, "/private", http.StatusFound)
		case "/private":
			fmt.Fprint(w, `<script>alert("Router words"); alert("Router again")</script>`)
		default:
			fmt.Fprint(w, `<button onclick="location='/private'">Go</button>`)
		}
	})
	l.judge = noPrivate
	if got := l.call("browser_navigate", `{"url":"`+l.site.URL+`/away"}`); strings.Contains(got, "Router") || !strings.Contains(got, "and was left: ") {
		t.Errorf("it says %s", got)
	}
	l.call("browser_navigate", `{"url":"`+l.site.URL+`/"}`)
	if got := l.call("browser_click", `{"ref":"@e1"}`); strings.Contains(got, "Router") || !strings.Contains(got, "and was left: ") {
		t.Errorf("it says %s", got)
	}
}

// TestATabAtAPrivateAddressIsClosed: a page of a service opened it.
func TestATabAtAPrivateAddressIsClosed(t *testing.T) {
	t.Parallel()
	l := newLent(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/private" {
			fmt.Fprint(w, `<title>Router</title>`)
			return
		}
		fmt.Fprint(w, `<title>Shop</title><button onclick="window.open('/private')">Go</button>`)
	})
	for _, call := range []string{`{"action":"list"}`, `{"action":"select","id":"{ID}"}`, `{"action":"close","id":"{ID}"}`} {
		l.judge = func(string) error { return nil }
		_, ref, _ := strings.Cut(l.call("browser_navigate", `{"url":"`+l.site.URL+`/"}`), "@")
		ref, _, _ = strings.Cut(ref, `"`)
		_, id, _ := strings.Cut(l.call("browser_click", `{"ref":"@`+ref+`"}`), `"new_tabs":["`)
		id, _, _ = strings.Cut(id, `"`)
		l.call("browser_tabs", `{"action":"select","id":"`+id+`"}`)
		for late := time.Now().Add(20 * time.Second); !strings.Contains(l.call("browser_snapshot", `{}`), "Router"); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(late) {
				t.Fatal("the tab does not load")
			}
		}
		l.call("browser_tabs", `{"action":"select","id":"t2"}`) // the first is that with which the browser began
		l.judge = noPrivate
		if got := l.call("browser_tabs", strings.ReplaceAll(call, "{ID}", id)); strings.Contains(got, "Router") || strings.Contains(got, "private") {
			t.Errorf("it says %s", got)
		}
		l.judge = func(string) error { return nil }
		for late := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) { // the browser tells later that it is gone
			got := l.call("browser_tabs", `{"action":"list"}`)
			if !strings.Contains(got, "private") && strings.Contains(got, l.site.URL) {
				break
			}
			if time.Now().After(late) {
				t.Fatalf("after %s, open are %s", call, got)
			}
		}
	}
}

// TestABrowserThatItsServiceEndedIsNamed: it may have reached its time.
func TestABrowserThatItsServiceEndedIsNamed(t *testing.T) {
	t.Parallel()
	l := newLent(t, func(http.ResponseWriter, *http.Request) {})
	l.call("browser_navigate", `{"url":"`+l.site.URL+`"}`)
	if err := l.owners[place{session: "s"}].browser.Close(); err != nil {
		t.Fatal(err)
	}
	got := l.call("browser_snapshot", `{}`)
	if want := "the browser of Cloud has ended, perhaps after browser.cloud_timeout; what it had open is gone; open one with browser_navigate"; !strings.Contains(got, want) {
		t.Errorf("the next call says %s", got)
	}
}

// TestWhatAPrivatePageMadeIsPrivateToo: a document that it keeps under a blob address.
func TestWhatAPrivatePageMadeIsPrivateToo(t *testing.T) {
	t.Parallel()
	l := newLent(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<title>Outer</title><button onclick="window.open(window.URL.createObjectURL(new Blob(['<title>Router</title>'], {type: 'text/html'})))">Go</button>`)
	})
	_, ref, _ := strings.Cut(l.call("browser_navigate", `{"url":"`+strings.Replace(l.site.URL, "127.0.0.1", "localhost", 1)+`/"}`), "@")
	ref, _, _ = strings.Cut(ref, `"`)
	l.call("browser_click", `{"ref":"@`+ref+`"}`)
	for late := time.Now().Add(20 * time.Second); !strings.Contains(l.call("browser_tabs", `{"action":"list"}`), "blob:"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatal(l.call("browser_tabs", `{"action":"list"}`))
		}
	}
	l.judge = noPrivate
	if got := l.call("browser_tabs", `{"action":"list"}`); strings.Contains(got, "blob:") {
		t.Errorf("it says %s", got)
	}
}

// TestAChildGoesWithItsParent: the user names another browser while a child works in a local one.
func TestAChildGoesWithItsParent(t *testing.T) {
	t.Parallel()
	set := New(Config{})
	child, other := hermes.SessionRef{ID: "c", Depth: 1}, hermes.SessionRef{ID: "o"}
	child.Root.ID = "s"
	for _, s := range []hermes.SessionRef{{ID: "s"}, child, other} {
		if _, err := set.move(s, true); err != nil {
			t.Fatal(err)
		}
	}
	if err := set.Leave("s"); err != nil {
		t.Fatal(err)
	}
	for s, want := range map[string]bool{"s": false, "c": false, "o": true} {
		if set.local[s] != want {
			t.Errorf("%s is in its local browser: %v", s, !want)
		}
	}
}

// TestBrowsersAreClosedTogether: the release of one does not wait for that of another.
func TestBrowsersAreClosedTogether(t *testing.T) {
	t.Parallel()
	l := newLent(t, func(http.ResponseWriter, *http.Request) {})
	var both sync.WaitGroup
	both.Add(2)
	for _, id := range []string{"s", "r"} {
		at, err := l.seat(hermes.SessionRef{ID: id})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := at.owner.get(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		at.owner.after = func() error { both.Done(); both.Wait(); return nil }
	}
	closed := make(chan error, 1)
	go func() { closed <- l.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("one waits for the other")
	}
}
