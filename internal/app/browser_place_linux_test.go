package app_test

import (
	"strings"
	"testing"
)

// TestANameThatIsNotKnownHereIsOpenedNowhere: only a proxy may know it, so it may be private or not.
func TestANameThatIsNotKnownHereIsOpenedNowhere(t *testing.T) {
	t.Parallel()
	r := newRented(t, "browserbase", twoPages)
	r.variables["HTTP_PROXY"] = "http://127.0.0.1:1"
	r.play("Look at it", step{"browser_navigate", `{"url":"http://unknown.example/"}`})
	r.wants("unknown.example is blocked: its name could not be resolved")
	if requests := r.service.Requests(); len(requests) > 0 || browserFolders(t, r.home) > 0 {
		t.Errorf("a browser was opened: %v", requests)
	}
}

// TestASessionStaysWhereItIsIfTheOtherBrowserDoesNotStart.
func TestASessionStaysWhereItIsIfTheOtherBrowserDoesNotStart(t *testing.T) {
	t.Parallel()
	r := newRented(t, "browserbase", twoPages)
	r.sets("program: /bin/false")
	r.play("Look at both", step{"browser_navigate", `{"url":"http://shop.example/"}`}, step{"browser_navigate", `{"url":"{URL}/"}`}, step{"browser_snapshot", `{}`})
	if failed := r.surfer.results[1]; !strings.Contains(failed, `"error"`) {
		t.Errorf("a browser that does not start: %s", failed)
	}
	r.wants("Host shop.example")
}

// TestWhoseBrowserOpensAPageIsSaidOnce, also if the first thing that is opened is an empty tab.
func TestWhoseBrowserOpensAPageIsSaidOnce(t *testing.T) {
	t.Parallel()
	r := newRented(t, "browserbase", twoPages)
	open := step{"browser_tabs", `{"action":"open"}`}
	shop, private := step{"browser_navigate", `{"url":"http://shop.example/"}`}, step{"browser_navigate", `{"url":"{URL}/"}`}
	r.play("Look at both", open, shop, private, shop, private, open)
	for i, want := range []string{"this page is opened by Browserbase, a service on the web", "", "is opened in a local browser of the user, not in the one of the service", "", "", ""} {
		got := r.surfer.results[i]
		if want != "" && !strings.Contains(got, want) || want == "" && strings.Contains(got, " opened ") {
			t.Errorf("result %d: %s", i, got)
		}
	}
}
