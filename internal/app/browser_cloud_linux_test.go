package app_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/cloudbrowser"
	"hermes/internal/cloudbrowser/cloudbrowsertest"
	"hermes/internal/httpc"
)

// rented is a session whose browser is one of a service. The web has one site, http://shop.example, whose name
// leads to a public address; only the browser of the service gets from there to the site of the test.
type rented struct {
	*web
	service   *cloudbrowsertest.Server
	variables map[string]string

	mu     sync.Mutex
	remote []string // hosts that the browser of the service asked for
}

func newRented(t *testing.T, backend string, pages http.Handler) *rented {
	t.Helper()
	r := &rented{}
	w := newWeb(t, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.UserAgent() == "Elsewhere" {
			r.mu.Lock()
			r.remote = append(r.remote, q.Host)
			r.mu.Unlock()
		}
		pages.ServeHTTP(w, q)
	}))
	service := cloudbrowsertest.New()
	t.Cleanup(func() {
		w.quit() // its release comes first
		service.Close()
	})
	service.Browser = runningBrowser(t, "--user-agent=Elsewhere", "--host-resolver-rules=MAP *.example "+strings.TrimPrefix(w.site.URL, "http://"))
	r.web, r.service, r.variables = w, service, map[string]string{
		"BROWSERBASE_API_KEY": cloudbrowsertest.Key, "BROWSERBASE_BASE_URL": service.URL + "/bb",
		"BROWSER_USE_API_KEY": cloudbrowsertest.Key, "BROWSER_USE_BASE_URL": service.URL + "/bu",
	}
	w.config += "browser: {backend: " + backend + "}\n"
	w.answer = hermes.AllowOnce
	w.options = func(o *app.Options) {
		o.Sandbox.Keeper = true
		o.Sandbox.Resolve = func(_ context.Context, host string) ([]netip.Addr, error) {
			switch host {
			case "shop.example", "hermes.example":
				return []netip.Addr{netip.MustParseAddr("93.184.215.14")}, nil
			case "nas.example":
				return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
			}
			return nil, nil
		}
		usual := o.Getenv
		o.Getenv = func(name string) string {
			if v := r.variables[name]; v != "" {
				return v
			}
			return usual(name)
		}
	}
	return r
}

// TestAModelWorksAPageInABrowserOfAService: it opens a page, reads it, types and clicks, and the browser is
// released with its session.
func TestAModelWorksAPageInABrowserOfAService(t *testing.T) {
	t.Parallel()
	for backend, title := range map[string]string{"browserbase": "Browserbase", "browser_use": "Browser Use"} {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			r := newRented(t, backend, page(`<title>Hats</title><label>Name <input id=n></label><button onclick="document.title='Hello '+n.value">Greet</button>`))
			r.play("Greet Ann on http://shop.example",
				step{"browser_navigate", `{"url":"http://shop.example/"}`},
				step{"browser_type", `{"ref":"{REF textbox \"Name\"}","text":"Ann"}`},
				step{"browser_click", `{"ref":"{REF button \"Greet\"}"}`},
				step{"browser_snapshot", `{}`},
			)
			r.wants(`"title":"Hello Ann"`)
			r.play("And again", step{"browser_navigate", `{"url":"http://shop.example/"}`})
			r.wants(`"title":"Hats"`)
			if got := r.surfer.results[0]; !strings.Contains(got, "this page is opened by "+title+", a service on the web") {
				t.Errorf("the first page says nothing of the service: %s", got)
			}
			if got := strings.Count(strings.Join(r.surfer.results, "\n"), "a service on the web"); got != 1 {
				t.Errorf("the service is named %d times", got)
			}
			if got := r.app.BrowserOf(r.session); got != "This session uses a browser of "+title+", a service on the web." {
				t.Errorf("the status is %q", got)
			}
			if open := r.service.Open(); len(open) != 1 {
				t.Errorf("open are %q", open)
			}
			r.fresh()
			if open := r.service.Open(); len(open) != 0 {
				t.Errorf("still open after the session: %q", open)
			}
		})
	}
}

// sets adds settings of the browser.
func (r *rented) sets(settings string) {
	r.config = strings.Replace(r.config, "browser: {", "browser: {"+settings+", ", 1)
}

// released checks that the service has no browser open.
func (r *rented) released() {
	r.t.Helper()
	if open := r.service.Open(); len(open) > 0 {
		r.t.Fatalf("still open: %q", open)
	}
}

// stays checks that the browser of the service saw the site under its public name only.
func (r *rented) stays() {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, host := range r.remote {
		if host != "shop.example" {
			r.t.Fatalf("the browser of the service was at %s", host)
		}
	}
}

// keeps checks that neither the model nor a file of the home got the key of a service, or of its browser.
func (r *rented) keeps() {
	r.t.Helper()
	if all := strings.Join(r.surfer.results, "\n"); strings.Contains(all, "canary") {
		r.t.Errorf("a key is in a result: %s", all)
	}
	files := 0
	err := filepath.WalkDir(r.home, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		files++
		raw, err := os.ReadFile(path)
		if bytes.Contains(raw, []byte("canary")) {
			r.t.Errorf("a key is in %s", path)
		}
		return err
	})
	if err != nil || files < 3 {
		r.t.Fatalf("%d files, %v", files, err)
	}
}

func (r *rented) at(private string) string {
	return strings.Replace(r.site.URL, "127.0.0.1", private, 1)
}

var twoPages = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, `<h1>Host %s</h1><input type=file aria-label=File>`, r.Host)
})

// TestAPrivateAddressIsOpenedInALocalBrowser beside the one of a service, by its number and by its name, and the
// session may go on in either.
func TestAPrivateAddressIsOpenedInALocalBrowser(t *testing.T) {
	t.Parallel()
	r := newRented(t, "browserbase", twoPages)
	r.write("cargo.txt", "cargo")
	upload := step{"browser_files", `{"action":"upload","ref":"{REF File}","path":"cargo.txt"}`}
	look := step{"browser_snapshot", `{}`}
	r.play("Look at http://shop.example and {URL}",
		step{"browser_navigate", `{"url":"http://shop.example/"}`}, upload, step{"browser_files", `{"action":"downloads"}`},
		step{"browser_navigate", `{"url":"{URL}/"}`}, upload,
		step{"browser_tabs", `{"action":"list"}`},
		step{"browser_tabs", `{"action":"select","id":"t1"}`}, look, upload,
		step{"browser_tabs", `{"action":"select","id":"local:t2"}`}, look,
		step{"browser_navigate", `{"url":"` + r.at("nas.example") + `/"}`},
		step{"browser_navigate", `{"url":"http://shop.example/"}`})
	private := strings.TrimPrefix(r.site.URL, "http://")
	for i, want := range []string{
		`Host shop.example`, `a browser of Browserbase gets no files of this machine: ask the user to upload it, or to set browser.backend to local`, `a browser of Browserbase keeps no downloads`,
		`Host ` + private, `{"url":"` + r.site.URL + `/"}`,
		`"id":"local:t2"`,
		`"id":"t1","title":"shop.example","url":"http://shop.example/","current":true`, `Host shop.example`, `a browser of Browserbase gets no files of this machine: ask the user to upload it, or to set browser.backend to local`,
		`"id":"local:t2","title":"` + private + `","url":"` + r.site.URL + `/","current":true`, `Host ` + private,
		`Host ` + strings.TrimPrefix(r.at("nas.example"), "http://"),
		`Host shop.example`,
	} {
		if i >= len(r.surfer.results) || !strings.Contains(r.surfer.results[i], want) {
			t.Fatalf("result %d has no %q:\n%s", i, want, strings.Join(r.surfer.results, "\n"))
		}
	}
	if got := r.app.BrowserOf(r.session); got != "This session uses a browser of Browserbase, a service on the web, and a local one for private addresses." {
		t.Errorf("the status is %q", got)
	}
	if open := r.service.Open(); len(open) != 1 || browserFolders(t, r.home) != 1 {
		t.Errorf("open are %q and %d", open, browserFolders(t, r.home))
	}
	r.stays()
	r.fresh()
	r.released()
	r.leaves()
	r.keeps()
}

// TestAPrivateAddressNeverComesToABrowserOfAService: whatever the settings are, and whether the model, a redirect or a
// page leads there.
func TestAPrivateAddressNeverComesToABrowserOfAService(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct{ settings, want string }{
		"without the setting":        {"auto_local_for_private_urls: false", "and is not opened in a browser of Browser Use; the user can set browser.auto_local_for_private_urls to true"},
		"without a local browser":    {"program: /none/chromium", "and is not opened in a browser of Browser Use; a local browser would open it, but"},
		"where it may not be opened": {"", "is blocked"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRented(t, "browser_use", twoPages)
			if one.settings == "" {
				r.config = strings.Replace(r.config, "allow_private_urls: true", "allow_private_urls: false", 1)
			} else {
				r.sets(one.settings)
			}
			for _, at := range []string{r.site.URL, r.at("nas.example"), r.at("localhost"), r.at("[::1]"), "http://169.254.169.254/", "http://unknown.example/"} {
				r.play("Look at it", step{"browser_navigate", `{"url":"` + at + `"}`})
				if at == r.site.URL {
					r.wants(one.want)
				} else {
					r.wants("is blocked")
				}
			}
			if requests := r.service.Requests(); len(requests) > 0 || browserFolders(t, r.home) > 0 {
				t.Errorf("a browser was opened: %v", requests)
			}
		})
	}
	t.Run("by a redirect or a script", func(t *testing.T) {
		t.Parallel()
		var r *rented
		r = newRented(t, "browser_use", http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			switch {
			case q.URL.Path == "/forbidden":
				http.Redirect(w, q, "http://hermes.example/", http.StatusFound)
			case q.Host != "shop.example":
				fmt.Fprint(w, "<title>Inside</title><h1>The words of the router</h1>")
			case q.URL.Path == "/away":
				http.Redirect(w, q, r.at("127.0.0.1"), http.StatusFound)
			default:
				fmt.Fprintf(w, `<button onclick="location='%s'">Go</button>`, r.at("127.0.0.1"))
			}
		}))
		r.config = strings.Replace(r.config, "security: {", "security: {website_blocklist: {enabled: true, domains: [hermes.example]}, ", 1)
		r.play("Look at it", step{"browser_navigate", `{"url":"http://shop.example/away"}`})
		r.wants("a browser of Browser Use must not open, and was left: 127.0.0.1 is blocked: it is this machine. Open it with browser_navigate")
		r.play("And now", step{"browser_snapshot", `{}`})
		r.wants(`"url":"about:blank"`)
		r.play("And there", step{"browser_navigate", `{"url":"http://shop.example/"}`}, step{"browser_click", `{"ref":"{REF Go}"}`}, step{"browser_snapshot", `{}`})
		r.play("And what the user forbids", step{"browser_navigate", `{"url":"http://shop.example/forbidden"}`})
		r.wants("was left: hermes.example is blocked: the rule hermes.example of security.website_blocklist.domains forbids it")
		if all := strings.Join(r.surfer.results, "\n"); strings.Contains(all, "router") || strings.Contains(all, "Inside") || strings.Count(all, "and was left") != 3 {
			t.Errorf("the model saw %s", all)
		}
	})
}

// TestABrowserOfAServiceThatIsNotUsedIsReleased, and the next call opens another one.
func TestABrowserOfAServiceThatIsNotUsedIsReleased(t *testing.T) {
	t.Parallel()
	r := newRented(t, "browser_use", twoPages)
	r.sets("inactivity_timeout: 1")
	open := step{"browser_navigate", `{"url":"http://shop.example/"}`}
	r.play("Look at it", open)
	r.wants("Host shop.example")
	eventually(t, time.Minute, func() error {
		if open := r.service.Open(); len(open) > 0 {
			return fmt.Errorf("open: %q", open)
		}
		return nil
	})
	r.play("Go on", step{"browser_snapshot", `{}`})
	r.wants("was not used for some time; open one with browser_navigate")
	r.play("Go on", open)
	r.wants("Host shop.example")
	opened := 0
	for _, q := range r.service.Requests() {
		if q.Method == http.MethodPost {
			opened++
		}
	}
	if opened != 2 {
		t.Errorf("%d browsers were opened", opened)
	}
	r.quit()
	r.released()
}

// TestABrowserOfAKilledOwnerIsReleasedByTheNextStart, and one that could not be released by the one after.
func TestABrowserOfAKilledOwnerIsReleasedByTheNextStart(t *testing.T) {
	t.Parallel()
	r := newRented(t, "browserbase", twoPages)
	service, _ := cloudbrowser.Find("browser_use")
	c, err := httpc.New(httpc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseIdleConnections()
	other := &cloudbrowser.Client{Service: service, Secret: func() string { return cloudbrowsertest.Key }, At: r.service.URL + "/bu", HTTP: c}
	lost, err := other.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	notes := filepath.Join(r.home, "cache", "cloud-browsers")
	if err := os.MkdirAll(notes, 0o700); err != nil {
		t.Fatal(err)
	}
	note, err := cloudbrowser.Begin(notes)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(note.Opened("browser_use", other.Account(), lost.ID), note.Keep()); err != nil { // what is left of a process that ended
		t.Fatal(err)
	}
	var down sync.Map
	r.service.Refuse = func(q cloudbrowsertest.Request) (int, string) {
		if _, is := down.Load(q.Method); is && q.Body["status"] != nil {
			return http.StatusServiceUnavailable, `{"message":"down, ` + cloudbrowsertest.Key + `"}`
		}
		return 0, ""
	}
	open := step{"browser_navigate", `{"url":"http://shop.example/"}`}
	r.play("Look at it", open)
	r.wants("Host shop.example")
	if left := r.service.Open(); len(left) != 1 || left[0] == lost.ID {
		t.Fatalf("open: %q", left)
	}
	down.Store(http.MethodPost, true)
	r.fresh() // it cannot be released
	if left := r.service.Open(); len(left) != 1 {
		t.Fatalf("open: %q", left)
	}
	down.Delete(http.MethodPost)
	r.play("Look at it", open)
	r.wants("Host shop.example")
	if left := r.service.Open(); len(left) != 1 {
		t.Errorf("open: %q", left)
	}
	r.quit()
	r.released()
	if left, err := os.ReadDir(notes); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	r.keeps()
}

// TestABrowserThatCannotBeUsedIsReleasedLater: its address is not used, and the service does not release it at once.
// One of another account is left alone: with this key, its service would say that it does not exist.
func TestABrowserThatCannotBeUsedIsReleasedLater(t *testing.T) {
	t.Parallel()
	r := newRented(t, "browserbase", twoPages)
	var mu sync.Mutex
	broken, asked := true, []string{}
	r.service.Refuse = func(q cloudbrowsertest.Request) (int, string) {
		mu.Lock()
		defer mu.Unlock()
		if id := q.Path[strings.LastIndex(q.Path, "/")+1:]; q.Method == http.MethodPost && q.Body["status"] != nil {
			asked = append(asked, id)
		}
		switch {
		case !broken:
			return 0, ""
		case q.Body["status"] != nil:
			return http.StatusServiceUnavailable, "{}"
		}
		return http.StatusCreated, `{"id":"unusable","connectUrl":"ws://elsewhere.example/"}`
	}
	notes := filepath.Join(r.home, "cache", "cloud-browsers")
	if err := os.MkdirAll(notes, 0o700); err != nil {
		t.Fatal(err)
	}
	foreign, err := cloudbrowser.Begin(notes)
	if err == nil {
		err = errors.Join(foreign.Opened("browserbase", "another", "foreign"), foreign.Keep())
	}
	if err != nil {
		t.Fatal(err)
	}
	open := step{"browser_navigate", `{"url":"http://shop.example/"}`}
	r.play("Look at it", open)
	r.wants("is not encrypted; it is not used")
	mu.Lock()
	broken = false
	mu.Unlock()
	r.play("Look at it", open)
	r.wants("Host shop.example")
	mu.Lock()
	defer mu.Unlock()
	if fmt.Sprint(asked) != "[unusable unusable]" {
		t.Errorf("asked to release %q", asked)
	}
	if left, err := os.ReadDir(notes); err != nil || len(left) != 2 { // the foreign one and that of the open one
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestWhatAServiceRefusesIsTold, without its key, and nothing stays open.
func TestWhatAServiceRefusesIsTold(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		change func(r *rented)
		want   string
	}{
		"a wrong key": {func(r *rented) { r.variables["BROWSERBASE_API_KEY"] = "wrong-canary-4713" }, "Browserbase does not accept the key: check BROWSERBASE_API_KEY"},
		"too many": {func(r *rented) {
			r.service.Refuse = func(cloudbrowsertest.Request) (int, string) { return 429, "{}" }
		}, "too many browsers open"},
		"no connection": {func(r *rented) { r.service.Browser = "http://127.0.0.1:1" }, "Browserbase opened a browser, and no connection to it could be made"},
		"no connection, asked first": {func(r *rented) {
			r.service.Browser = "http://127.0.0.1:1"
			r.config = strings.Replace(r.config, "browserbase", "browser_use", 1)
		}, "Browser Use opened a browser, and no connection to it could be made"},
		"nothing at its address": {func(r *rented) {
			r.service.Refuse = func(q cloudbrowsertest.Request) (int, string) {
				if q.Body["keepAlive"] == nil {
					return 0, ""
				}
				return 201, `{"id":"b-1","connectUrl":"ws://127.0.0.1:1/` + cloudbrowsertest.Signing + `?signingKey=` + cloudbrowsertest.Signing + `"}`
			}
		}, "Browserbase opened a browser, and no connection to it could be made"},
		"nothing at its address, asked first": {func(r *rented) {
			r.config = strings.Replace(r.config, "browserbase", "browser_use", 1)
			r.service.Refuse = func(q cloudbrowsertest.Request) (int, string) {
				if q.Body["timeout"] == nil {
					return 0, ""
				}
				return 201, `{"id":"b-1","cdpUrl":"http://127.0.0.1:1/` + cloudbrowsertest.Signing + `"}`
			}
		}, "Browser Use opened a browser, and no connection to it could be made"},
		"a wrong address": {func(r *rented) { r.variables["BROWSERBASE_BASE_URL"] = "http://api.example" }, "BROWSERBASE_BASE_URL must be an address that begins with https://"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRented(t, "browserbase", twoPages)
			one.change(r)
			r.play("Look at it", step{"browser_navigate", `{"url":"http://shop.example/"}`})
			r.wants(one.want)
			r.released()
			r.quit()
			r.keeps()
		})
	}
}

// TestWhichBrowserIsUsed is told before one starts, and what is missing.
func TestWhichBrowserIsUsed(t *testing.T) {
	t.Parallel()
	const bb, bu = "BROWSERBASE_API_KEY", "BROWSER_USE_API_KEY"
	for name, one := range map[string]struct {
		settings string
		unset    []string
		want     string
	}{
		"a local one is found":  {"backend: auto", nil, "No browser is running. One starts when it is needed."},
		"none is found":         {"backend: auto, program: /none", nil, "One of Browserbase, a service on the web, starts when it is needed."},
		"one key":               {"program: /none", []string{bb}, "One of Browser Use, a service on the web, starts when it is needed."},
		"no key":                {"program: /none", []string{bb, bu}, "a browser of a service needs BROWSERBASE_API_KEY or BROWSER_USE_API_KEY."},
		"local without a local": {"backend: local, program: /none", nil, "No browser: "},
		"one that runs":         {"program: /none, cdp_url: 'http://127.0.0.1:1'", nil, "No browser is running. One starts when it is needed."},
		"none that runs":        {"backend: cdp", nil, "No browser: browser.backend is cdp, and browser.cdp_url is empty: set it to the address of a running browser, such as http://127.0.0.1:9222."},
		"named":                 {"backend: browser_use", []string{bb}, "One of Browser Use, a service on the web, starts when it is needed."},
		"named without its key": {"backend: browser_use", []string{bu}, "No browser: browser.backend is browser_use, and BROWSER_USE_API_KEY is not set: set it to a key of Browser Use."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRented(t, "auto", twoPages)
			r.config = strings.Replace(r.config, "backend: auto", one.settings, 1)
			for _, name := range one.unset {
				delete(r.variables, name)
			}
			r.enter()
			if got := r.app.BrowserOf(r.session); !strings.HasSuffix(got, one.want) && !strings.HasPrefix(got, one.want) {
				t.Errorf("it says %q", got)
			}
			if requests := r.service.Requests(); len(requests) > 0 {
				t.Errorf("it asked %v", requests)
			}
			attaches := one.settings == "backend: cdp" // the tools work with /browser connect
			if strings.HasPrefix(one.want, "No browser: ") || len(one.unset) > 1 {
				catalogue, _, err := r.app.Toolsets(hermes.RunSpec{Origin: hermes.Origin{Platform: "cli"}})
				if err != nil {
					t.Fatal(err)
				}
				for _, state := range catalogue.States(t.Context()) {
					if state.Name == "browser" && ((state.Off == "") != attaches || !strings.Contains(r.app.BrowserOf(r.session), state.Off)) {
						t.Errorf("the tools are off: %q", state.Off)
					}
				}
			}
		})
	}
}

// TestALocalBrowserBesideOneOfAService is told as such, also before there is one of the service.
func TestALocalBrowserBesideOneOfAService(t *testing.T) {
	t.Parallel()
	r := newRented(t, "browser_use", twoPages)
	r.play("Look at {URL}", step{"browser_navigate", `{"url":"{URL}/"}`})
	r.wants("Host 127.0.0.1")
	if got := r.app.BrowserOf(r.session); got != "A local browser of this session is running, for private addresses. For pages of the web, one of Browser Use, a service on the web, starts when it is needed." {
		t.Errorf("the status is %q", got)
	}
	if requests := r.service.Requests(); len(requests) > 0 {
		t.Errorf("it asked %v", requests)
	}
}

// TestABrowserOfTheUserIsUsedInsteadOfOneOfAService, for private addresses too.
func TestABrowserOfTheUserIsUsedInsteadOfOneOfAService(t *testing.T) {
	t.Parallel()
	r := newRented(t, "browserbase", twoPages)
	own := runningBrowser(t)
	r.play("Look at both", step{"browser_navigate", `{"url":"http://shop.example/"}`}, step{"browser_navigate", `{"url":"{URL}/"}`})
	if err := r.app.AttachBrowser(t.Context(), r.session, own); err != nil {
		t.Fatal(err)
	}
	r.released()
	r.leaves()
	r.play("Look at {URL}", step{"browser_navigate", `{"url":"{URL}/"}`}, step{"browser_tabs", `{"action":"list"}`})
	if strings.Contains(r.surfer.last(), "local:") || browserFolders(t, r.home) > 0 {
		t.Errorf("another browser is used: %s", r.surfer.last())
	}
	r.wants(r.site.URL)
	r.released()
}

// TestAChildWorksInEitherBrowser: where it goes is not where its parent goes, and its tabs end with it.
func TestAChildWorksInEitherBrowser(t *testing.T) {
	t.Parallel()
	r := newRented(t, "browser_use", twoPages)
	r.surfer.child = []step{{"browser_navigate", `{"url":"{URL}/child"}`}, {"browser_tabs", `{"action":"list"}`}}
	list := step{"browser_tabs", `{"action":"list"}`}
	r.play("Look at http://shop.example and {URL}", step{"browser_navigate", `{"url":"http://shop.example/"}`}, step{"errand", `{"goal":"CHILD look"}`},
		step{"browser_snapshot", `{}`}, list)
	all := strings.Join(r.surfer.results, "\n")
	if !strings.Contains(all, r.site.URL+`/child","current":true`) {
		t.Fatalf("the child was not there: %s", all)
	}
	last := r.surfer.results[len(r.surfer.results)-2:]
	if !strings.Contains(last[0], "Host shop.example") || strings.Contains(last[1], "/child") {
		t.Errorf("the parent has %q", last)
	}
	if open := r.service.Open(); len(open) != 1 {
		t.Errorf("open: %q", open)
	}
	r.stays()
	r.quit()
	r.released()
	r.leaves()
}

// TestAServiceGetsTheSettingsOfTheUser.
func TestAServiceGetsTheSettingsOfTheUser(t *testing.T) {
	t.Parallel()
	r := newRented(t, "browserbase", twoPages)
	r.sets("cloud_proxies: false, cloud_timeout: 120")
	r.variables["BROWSERBASE_PROJECT_ID"] = "my-project"
	r.play("Look at it", step{"browser_navigate", `{"url":"http://shop.example/"}`})
	r.wants("Host shop.example")
	r.quit()
	var sent []string
	for _, q := range r.service.Requests() {
		sent = append(sent, fmt.Sprint(q.Method, " ", q.Body))
	}
	want := []string{"POST map[keepAlive:false projectId:my-project proxies:false timeout:120]", "POST map[projectId:my-project status:REQUEST_RELEASE]"}
	if fmt.Sprint(sent) != fmt.Sprint(want) {
		t.Errorf("it was sent %q", sent)
	}
}
