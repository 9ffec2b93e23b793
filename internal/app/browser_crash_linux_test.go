package app_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"hermes"
)

// crashTabs ends the processes that show pages, as an error of theirs does.
func (w *web) crashTabs() {
	w.t.Helper()
	killed := 0
	for _, pid := range browsersOf(w.t, filepath.Join(w.home, "cache", "browser")) {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && bytes.Contains(line, []byte("--type=renderer")) && syscall.Kill(pid, syscall.SIGKILL) == nil {
			killed++
		}
	}
	if killed == 0 {
		w.t.Fatal("no process shows a page")
	}
}

// TestACrashedTabIsOpenedAgain in the middle of a task: the next call says what happened and what to do, and
// the model goes on in the same browser.
func TestACrashedTabIsOpenedAgain(t *testing.T) {
	t.Parallel()
	w := newWeb(t, page(`<title>Hats</title><label>Name <input id=n></label><button onclick="document.title='Hello '+n.value">Greet</button>`))
	w.answer = hermes.AllowOnce
	fill, click, look := step{"browser_type", `{"ref":"{REF textbox \"Name\"}","text":"Ann"}`}, step{"browser_click", `{"ref":"{REF button \"Greet\"}"}`}, step{"browser_snapshot", `{}`}
	open := step{"browser_navigate", `{"url":"{URL}/"}`}
	const crashed = "the tab has crashed: open its address again"
	for _, next := range []step{click, look, fill, {"browser_press", `{"key":"Enter"}`}, {"browser_scroll", `{"direction":"down"}`}, {"browser_back", `{}`},
		{"browser_get_images", `{}`}, {"browser_vision", `{"question":"What is it?"}`}, {"browser_cdp", `{"method":"Page.getLayoutMetrics"}`}} {
		w.play("Greet Ann on {URL}", open, fill)
		w.wants(`"value":"Ann"`)
		w.crashTabs()
		w.play("Go on at {URL}", next)
		w.wants(crashed)
		w.play("Go on at {URL}", look, open) // it says so until the page is opened again
		if got := w.surfer.results[len(w.surfer.results)-2]; !strings.Contains(got, crashed) {
			t.Errorf("after %s: then %s", next.tool, got)
		}
		w.wants(`textbox \"Name\"`)
		w.play("Go on at {URL}", fill, click, look)
		w.wants(`"title":"Hello Ann"`)
		if browserFolders(t, w.home) != 1 {
			t.Error("another browser was started")
		}
	}
}
