package browser_test

import (
	"bufio"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"hermes/internal/browser"
)

// running starts a browser as a user does, and returns its address.
func running(t *testing.T) string {
	t.Helper()
	needBrowser(t)
	path, err := browser.Find("")
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), path, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", "--user-data-dir="+filepath.Join(t.TempDir(), "profile"), "about:blank")
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // it may be a script that starts the browser
	out, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		_ = c.Wait()
	})
	said := regexp.MustCompile(`ws://([^/]+)/`)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if m := said.FindStringSubmatch(lines.Text()); m != nil {
			go func() {
				for lines.Scan() {
				}
			}()
			return "http://" + m[1]
		}
	}
	t.Fatal("the browser did not start")
	return ""
}

// TestATabOfTheUserBeyondTheLimitStays: a page opens a tab too many in a browser that was connected to. It is not
// worked with, but it is not closed either, and is selected when there is room.
func TestATabOfTheUserBeyondTheLimitStays(t *testing.T) {
	t.Parallel()
	s := site(t, map[string]string{"/": "<a href=/more target=_blank>Pop</a>", "/more": "<title>More</title><h1>Hi</h1>"})
	b, err := browser.Connect(limited(t), running(t), new(http.Client), browser.Options{})
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
