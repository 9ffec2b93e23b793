package app_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/browser"
	"hermes/internal/browser/browsertest"
	"hermes/internal/chatserver"
)

// runningBrowser starts a browser as a user does, and returns its address.
func runningBrowser(t *testing.T, arguments ...string) string {
	t.Helper()
	needBrowser(t)
	program, err := browser.Find("")
	if err != nil {
		t.Fatal(err)
	}
	return browsertest.Run(t, program, arguments...)
}

// TestABrowserThatRunsIsUsed: by the settings, and by /browser; it goes on when the session ends.
func TestABrowserThatRunsIsUsed(t *testing.T) {
	t.Parallel()
	address := runningBrowser(t)
	alive := func() {
		t.Helper()
		r, err := http.Get(address + "/json/version")
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
	}
	w := newWeb(t, page("<h1>Hello</h1>"))
	w.config += "browser: {backend: cdp, cdp_url: '" + address + "'}\n"
	w.play("Look at {URL}", step{"browser_navigate", `{"url":"{URL}"}`})
	w.wants("Hello")
	w.play("And there", step{"browser_navigate", `{"url":"file:///etc/passwd"}`})
	w.wants("only addresses that begin with")
	w.quit()
	alive()

	w = newWeb(t, page("<h1>Hello</h1>"))
	w.enter()
	ask := func(line string) string {
		t.Helper()
		if err := w.app.AttachBrowser(t.Context(), w.session, strings.TrimPrefix(line, "connect ")); err != nil {
			t.Fatal(err)
		}
		return w.app.BrowserOf(w.session)
	}
	if got := ask("connect " + address); got != "This session uses the browser at "+address+"." {
		t.Errorf("connected: %s", got)
	}
	w.play("Look at {URL}", step{"browser_navigate", `{"url":"{URL}"}`})
	w.wants("Hello")
	if pids := browserFolders(t, w.home); pids > 0 {
		t.Error("a browser was started")
	}
	if got := ask(""); !strings.HasPrefix(got, "No browser is running") {
		t.Errorf("disconnected: %s", got)
	}
	w.play("Look at {URL}", step{"browser_navigate", `{"url":"{URL}"}`})
	w.wants("Hello")
	if browserFolders(t, w.home) != 1 {
		t.Error("no browser was started")
	}
	if err := w.app.AttachBrowser(t.Context(), w.session, "http://127.0.0.1:1"); err == nil {
		t.Error("it is connected with nothing")
	}
	alive()
}

func browserFolders(t *testing.T, home string) int {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(home, "cache", "browser", "hermes-browser-*"))
	if err != nil {
		t.Fatal(err)
	}
	return len(found)
}

// TestAChildUsesTheBrowserOfItsParent in a tab of its own, which ends with it.
func TestAChildUsesTheBrowserOfItsParent(t *testing.T) {
	t.Parallel()
	w := newWeb(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<h1>Page " + r.URL.Path + "</h1>"))
	}))
	w.surfer.child = []step{{"browser_tabs", `{"action":"open"}`}, {"browser_navigate", `{"url":"{URL}/child"}`}, {"browser_tabs", `{"action":"list"}`}}
	w.play("Look at {URL}", step{"browser_navigate", `{"url":"{URL}/parent"}`}, step{"errand", `{"goal":"CHILD look"}`}, step{"browser_snapshot", `{}`}, step{"browser_tabs", `{"action":"list"}`})
	all := strings.Join(w.surfer.results, "\n")
	if !strings.Contains(all, "Page /child") {
		t.Fatalf("the child saw nothing: %s", all)
	}
	last := w.surfer.results[len(w.surfer.results)-2:]
	if !strings.Contains(last[0], "Page /parent") || strings.Contains(last[1], "/child") {
		t.Errorf("the parent has %q", last)
	}
	for _, r := range w.surfer.results {
		if strings.Contains(r, `"tabs"`) && strings.Contains(r, "/child") && strings.Contains(r, "/parent") {
			t.Errorf("a tab of another session is listed: %s", r)
		}
	}
	if browserFolders(t, w.home) != 1 {
		t.Error("the child has a browser of its own")
	}
}

// TestAPictureIsAnsweredByAModelThatSees, since the session's own does not.
func TestAPictureIsAnsweredByAModelThatSees(t *testing.T) {
	t.Parallel()
	sees := httptest.NewServer(&chatserver.Handler{Model: "eyes", Decide: func(r *chatserver.Request) (chatserver.Answer, error) {
		return chatserver.Answer{Text: "It shows a red hat: " + r.Messages[len(r.Messages)-1].Text()}, nil
	}})
	t.Cleanup(sees.Close)
	w := newWeb(t, page("<button>Buy</button>"))
	w.config = "  vision: {base_url: '" + sees.URL + "/v1', model: eyes}\n" + w.config // the section auxiliary is the last one
	w.play("Look at {URL}", step{"browser_navigate", `{"url":"{URL}"}`}, step{"browser_vision", `{"question":"What is it?","annotate":true}`})
	w.wants("It shows a red hat: What is it?")
	w.wants(`"refs":["@e1"]`)
	if found, _ := filepath.Glob(filepath.Join(w.home, "cache", "screenshots", "page-*.png")); len(found) != 1 {
		t.Errorf("screenshots: %q", found)
	}
}
