package browser_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"hermes/internal/browser"
	"hermes/internal/proc"
	"hermes/internal/race"
	"hermes/internal/sandbox"
)

// ownerFolder makes this test program the owner of a browser that is killed.
const ownerFolder = "HERMES_TEST_BROWSER_FOLDER"

func TestMain(m *testing.M) {
	sandbox.Main() // the tests are the program that becomes a keeper
	if folder := os.Getenv(ownerFolder); folder != "" {
		os.Exit(own(folder))
	}
	os.Exit(m.Run())
}

// own starts a browser and waits to be killed.
func own(folder string) int {
	b, err := browser.Start(context.Background(), browser.Config{Folder: folder, Env: []string{"PATH=/usr/bin:/bin"}, NoSandbox: true,
		Launch: func(ctx context.Context, c proc.Command) (*proc.Process, error) {
			c.Guard = new(proc.Guard)
			return proc.Start(ctx, c)
		}})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	if _, err := b.NewPage(context.Background()); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("started")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	return 0
}

// processes lists those that have a folder in their command line, as the first of a browser has
// its profile, or that work in it, as all of them do.
func processes(t testing.TB, folder string) []string {
	t.Helper()
	if runtime.GOOS != "linux" {
		return nil // looked at on Linux only
	}
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, path := range paths {
		raw, _ := os.ReadFile(path) // of one that has ended, nothing
		cwd, _ := os.Readlink(filepath.Join(filepath.Dir(path), "cwd"))
		if strings.Contains(string(raw), folder) || strings.Contains(cwd, folder) {
			found = append(found, strings.ReplaceAll(string(raw[:min(len(raw), 200)]), "\x00", " "))
		}
	}
	return found
}

// TestNothingIsLeft of a hundred browsers: no process, no profile, no temporary file.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	c := config(t)
	for i := range race.Rounds(100, 5) {
		b, err := browser.Start(limited(t), c)
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			if _, err := b.NewPage(limited(t)); err != nil {
				t.Error(err)
			}
		}
		if i%5 == 0 {
			b.Crash(limited(t))
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if left := processes(t, c.Folder); len(left) > 0 {
			t.Fatalf("after %d: processes are left: %q", i, left)
		}
	}
	if entries, err := os.ReadDir(c.Folder); err != nil || len(entries) > 0 {
		t.Errorf("left in the folder: %v, %v", entries, err)
	}
}

// TestAKilledOwnerLeavesNothing: the browser ends with it, and the next one removes its profile.
func TestAKilledOwnerLeavesNothing(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	c := config(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	owner := exec.Command(self)
	owner.Env = append(os.Environ(), ownerFolder+"="+c.Folder)
	in, err := owner.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	said, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || said != "started\n" {
		_ = owner.Process.Kill()
		t.Fatalf("%q, %v", said, err)
	}
	if runtime.GOOS == "linux" && len(processes(t, c.Folder)) < 2 {
		t.Error("the processes of the browser are not found")
	}
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait()
	for ctx := limited(t); len(processes(t, c.Folder)) > 0; {
		select {
		case <-ctx.Done():
			t.Fatalf("processes are left: %q", processes(t, c.Folder))
		case <-time.After(10 * time.Millisecond): // nothing tells of their end
		}
	}
	browser.Sweep(c.Folder)
	if entries, err := os.ReadDir(c.Folder); err != nil || len(entries) > 0 {
		t.Errorf("left in the folder: %v, %v", entries, err)
	}
}

// TestAProfileIsKept with its cookies, and used by one browser only.
func TestAProfileIsKept(t *testing.T) {
	t.Parallel()
	c := config(t)
	c.Profile = filepath.Join(t.TempDir(), "profile")
	s := site(t, map[string]string{"/": "<h1>Hi</h1>"})
	for i, want := range []string{`""`, `"user=ann"`} {
		b := mustStart(t, c)
		if _, err := browser.Start(limited(t), c); err == nil || !strings.Contains(err.Error(), "used by another browser") {
			t.Errorf("a second browser: %v", err)
		}
		p := mustVisit(t, b, s.URL)
		if got := p.js("document.cookie"); got != want {
			t.Errorf("start %d: cookies %s, want %s", i, got, want)
		}
		p.js(`document.cookie = "user=ann; max-age=99999"`)
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestALockThatWasLeftLocksNoProfile, as after the end of the machine.
func TestALockThatWasLeftLocksNoProfile(t *testing.T) {
	t.Parallel()
	c := config(t)
	c.Profile = t.TempDir()
	if err := os.WriteFile(filepath.Join(c.Profile, "hermes-owner.lock"), []byte("\x00linux another-boot"), 0o600); err != nil {
		t.Fatal(err)
	}
	mustStart(t, c)
}

// TestAllTrafficTakesTheProxy also that to this machine.
func TestAllTrafficTakesTheProxy(t *testing.T) {
	t.Parallel()
	direct := site(t, map[string]string{"/": "direct"})
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<h1>by proxy %s</h1>", r.URL)
	}))
	t.Cleanup(proxy.Close)
	c := config(t)
	c.Proxy = proxy.URL
	p := mustVisit(t, mustStart(t, c), direct.URL)
	p.wants("by proxy " + direct.URL)
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	p.js(fmt.Sprintf(`const c = new RTCPeerConnection({iceServers: [{urls: "stun:%s"}]}); c.createDataChannel("x");
		const gathered = new Promise(r => c.onicegatheringstatechange = () => c.iceGatheringState === "complete" && r()); await c.setLocalDescription(await c.createOffer()); await gathered; 0`, udp.LocalAddr()))
	sender, err := net.Dial("udp", udp.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer sender.Close()
	if _, err := sender.Write([]byte("last")); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 100)
	if n, _, err := udp.ReadFrom(got); err != nil || string(got[:n]) != "last" {
		t.Errorf("WebRTC went beside the proxy: %q, %v", got[:n], err)
	}
}

// TestConnect works with tabs of its own in a browser that runs, and leaves the others.
func TestConnect(t *testing.T) {
	t.Parallel()
	c := config(t)
	c.Port = true
	theirs := mustStart(t, c)
	s := site(t, map[string]string{"/": "<title>Mine</title><h1>Hi</h1><a href=/ target=_blank>Pop</a>"})
	mustVisit(t, theirs, s.URL)
	raw, err := filepath.Glob(filepath.Join(c.Folder, "*", "DevToolsActivePort"))
	if err != nil || len(raw) != 1 {
		t.Fatal(raw, err)
	}
	port, err := os.ReadFile(raw[0])
	if err != nil {
		t.Fatal(err)
	}
	number, _, _ := strings.Cut(string(port), "\n")
	b, err := browser.Connect(limited(t), "http://127.0.0.1:"+number, new(http.Client), browser.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	p := mustVisit(t, b, s.URL)
	if out := p.click("Pop"); out.Navigated {
		t.Errorf("outcome %+v", out)
	}
	var other browser.Tab
	for _, tab := range b.Tabs() {
		if !tab.Open && tab.Title == "Mine" {
			other = tab
		}
	}
	q, err := b.Select(p.ctx, other.ID)
	if err != nil {
		t.Fatalf("select %+v: %v", other, err)
	}
	tab{q, t, p.ctx, b}.wants("Hi")
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if theirs.Err() != nil || len(theirs.Tabs()) < 2 {
		t.Errorf("their browser: %v, tabs %+v", theirs.Err(), theirs.Tabs())
	}
	for _, address := range []string{"9222", "ftp://x", s.URL} {
		if _, err := browser.Connect(limited(t), address, new(http.Client), browser.Options{}); err == nil {
			t.Errorf("connected to %s", address)
		}
	}
}

// TestFindTellsWhatToDo if there is no browser.
func TestFindTellsWhatToDo(t *testing.T) {
	if _, err := browser.Find(filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), "configured browser") {
		t.Errorf("got %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := browser.Find(""); runtime.GOOS == "linux" && !errors.Is(err, browser.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	bad := config(t)
	bad.Program = "/bin/false"
	if _, err := browser.Start(limited(t), bad); err == nil {
		t.Error("a program that is no browser was started")
	}
	if entries, err := os.ReadDir(bad.Folder); err != nil || len(entries) > 0 {
		t.Errorf("left in the folder: %v, %v", entries, err)
	}
}
