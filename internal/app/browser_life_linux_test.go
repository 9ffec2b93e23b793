package app_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hermes"
	"hermes/internal/race"
)

// browsersOf lists the processes whose command line names a folder, or whose current folder is in it: only the first
// process of a browser names its profile.
func browsersOf(t *testing.T, dir string) (pids []int) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		line, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline") // of one that has ended, nothing
		cwd, _ := os.Readlink("/proc/" + e.Name() + "/cwd")
		if bytes.Contains(line, []byte(dir)) || strings.Contains(cwd, dir) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// leaves checks that no process, no profile and no empty folder of a browser is left.
func (w *web) leaves() {
	w.t.Helper()
	if pids := browsersOf(w.t, filepath.Join(w.home, "cache", "browser")); len(pids) > 0 {
		var lines []string
		for _, pid := range pids {
			line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			lines = append(lines, strings.ReplaceAll(string(line[:min(len(line), 200)]), "\x00", " "))
		}
		w.t.Fatalf("processes are left: %q", lines)
	}
	for _, folder := range []string{"browser", "browser-downloads"} {
		if entries, err := os.ReadDir(filepath.Join(w.home, "cache", folder)); err != nil || len(entries) > 0 {
			w.t.Fatalf("left: %v, %v", entries, err)
		}
	}
}

// TestABrowserEndsWithItsSession: after many sessions no process and no profile is left, whether the session
// or the program ended.
func TestABrowserEndsWithItsSession(t *testing.T) {
	t.Parallel()
	w := newWeb(t, page("<h1>Hello</h1>"))
	for i := range race.Rounds(100, 10) {
		w.play("Look at {URL}", step{"browser_navigate", `{"url":"{URL}"}`})
		w.wants("Hello")
		if i == 0 && len(browsersOf(t, filepath.Join(w.home, "cache", "browser"))) == 0 {
			t.Fatal("the browser is not found")
		}
		if i%10 == 9 {
			w.quit()
			w.session = ""
		} else {
			w.fresh()
		}
		w.leaves()
	}
}

// TestABrowserThatIsNotUsedEnds, and the next call says so.
func TestABrowserThatIsNotUsedEnds(t *testing.T) {
	t.Parallel()
	w := newWeb(t, page("<h1>Hello</h1>"))
	w.config += "browser: {inactivity_timeout: 1}\n"
	w.play("Look at {URL}", step{"browser_navigate", `{"url":"{URL}"}`})
	w.wants("Hello")
	eventually(t, time.Minute, func() error {
		if entries, err := os.ReadDir(filepath.Join(w.home, "cache", "browser")); err != nil || len(entries) > 0 {
			return fmt.Errorf("left: %v, %v", entries, err)
		}
		return nil
	})
	w.leaves()
	w.play("Go on", step{"browser_snapshot", `{}`})
	w.wants("was not used for some time; open one with browser_navigate")
	w.play("Go on", step{"browser_navigate", `{"url":"{URL}"}`})
	w.wants("Hello")
}

// TestABrowserThatWasKilledIsStartedAgain, with a note for the model.
func TestABrowserThatWasKilledIsStartedAgain(t *testing.T) {
	t.Parallel()
	w := newWeb(t, page("<h1>Hello</h1><script>onclick=()=>0</script>"))
	w.play("Look at {URL}", step{"browser_navigate", `{"url":"{URL}"}`})
	for _, pid := range browsersOf(t, filepath.Join(w.home, "cache", "browser")) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	eventually(t, time.Minute, func() error {
		if said := w.app.BrowserOf(w.session); !strings.HasPrefix(said, "No browser") {
			return errors.New(said)
		}
		return nil
	})
	w.play("Go on", step{"browser_snapshot", `{}`}, step{"browser_navigate", `{"url":"{URL}"}`})
	w.wants("Hello")
	if all := strings.Join(w.surfer.results, "\n"); !strings.Contains(all, "open") || !strings.Contains(all, "ended") {
		t.Errorf("the model is told: %s", all)
	}
	w.quit()
	w.leaves()
}

// TestALongPageKeepsWhatTheUserAskedFor: 20,000 elements, of which one is what the user wants. The whole is
// a file that the model can read, also when a script made the call.
func TestALongPageKeepsWhatTheUserAskedFor(t *testing.T) {
	t.Parallel()
	w := newWeb(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "<!doctype html><ul>")
		for i := range 20_000 {
			if i == 13_000 {
				fmt.Fprint(w, "<li>Reykjavik costs 77 crowns")
			}
			fmt.Fprintf(w, "<li>Town %d", i)
		}
	}))
	w.answer = hermes.AllowOnce
	check := func() {
		t.Helper()
		w.wants("Reykjavik costs 77 crowns")
		if got := len(w.surfer.last()); got > 20_000 {
			t.Errorf("the result has %d bytes", got)
		}
	}
	w.play("What is the price of Reykjavik on {URL}?", step{"browser_navigate", `{"url":"{URL}"}`})
	check()
	path := regexp.MustCompile(`"whole_page":"([^"]+)"`).FindStringSubmatch(w.surfer.last())
	if path == nil {
		t.Fatalf("no file is named: %.300s", w.surfer.last())
	}
	if !strings.HasPrefix(path[1], filepath.Join(w.home, "cache", "web")) {
		t.Errorf("the whole page is at %s", path[1])
	}
	w.play("Read it", step{"read_file", `{"path":"` + path[1] + `","offset":12000,"limit":1500}`})
	w.wants("Town 12500")
	w.play("And Reykjavik once more", step{"execute_code", `{"code":"from hermes_tools import browser_snapshot\nprint(browser_snapshot())"}`})
	w.wants("Reykjavik costs 77 crowns")
}

// TestASlowPageIsShownAsFarAsItIs, and the turn can be stopped meanwhile.
func TestASlowPageIsShownAsFarAsItIs(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	t.Cleanup(func() { close(done) })
	w := newWeb(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow.png" {
			select {
			case <-done:
			case <-r.Context().Done():
			}
			return
		}
		fmt.Fprint(w, "<!doctype html><h1>Hello</h1><img src=/slow.png>")
	}))
	begun := time.Now()
	w.play("Look at {URL}", step{"browser_navigate", `{"url":"{URL}"}`})
	w.wants(`"still_loading":true`)
	w.wants("Hello")
	if took := time.Since(begun); took > 2*time.Minute {
		t.Errorf("it took %s", took)
	}
}

// TestAPasswordIsNotShown that a field holds: not in an outline, a result or the tree.
func TestAPasswordIsNotShown(t *testing.T) {
	t.Parallel()
	w := newWeb(t, page(`<input type=password aria-label=Password><script>document.querySelector('input').value='hunter2hunter2'</script>`))
	w.answer = hermes.AllowOnce
	w.play("Look at {URL}", step{"browser_navigate", `{"url":"{URL}"}`}, step{"browser_snapshot", `{}`}, step{"browser_cdp", `{"method":"Accessibility.getFullAXTree"}`})
	w.wants("Password")
	if all := strings.Join(w.surfer.results, "\n"); strings.Contains(all, "hunter2") {
		t.Errorf("the password is shown: %s", all)
	}
}

// TestAProfileKeepsLogins from one session to the next, and is used by one browser at a time.
func TestAProfileKeepsLogins(t *testing.T) {
	t.Parallel()
	w := newWeb(t, shop())
	w.config += "browser: {profile: work}\n"
	w.play("Log in at {URL}", step{"browser_navigate", `{"url":"{URL}/login"}`}, step{"browser_type", `{"ref":"{REF User}","text":"ann"}`},
		step{"browser_type", `{"ref":"{REF Password}","text":"pa ss"}`}, step{"browser_click", `{"ref":"{REF Log in}"}`}, step{"browser_snapshot", `{}`})
	w.wants("Welcome ann")
	other := newWeb(t, shop())
	other.home, other.config = w.home, w.config
	other.play("Look at {URL}", step{"browser_navigate", `{"url":"{URL}/home"}`})
	other.wants("is used by another browser")
	other.quit()
	w.fresh()
	w.leaves()
	w.play("Look at {URL}", step{"browser_navigate", `{"url":"{URL}/home"}`})
	w.wants("Welcome ann")
	w.quit()
	w.config, w.session = strings.Replace(w.config, "profile: work", "profile: ../work", 1), ""
	w.play("Look at {URL}", step{"browser_navigate", `{"url":"{URL}/home"}`})
	w.wants("must be a plain name")
}
