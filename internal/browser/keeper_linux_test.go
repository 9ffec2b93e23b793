package browser_test

import (
	"context"
	"os"
	"testing"

	"hermes/internal/browser"
	"hermes/internal/proc"
	"hermes/internal/sandbox"
)

// TestABrowserBelowAKeeper: its pipe passes the keeper, and all of it ends with the keeper, also
// if that is killed.
func TestABrowserBelowAKeeper(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	if !sandbox.Bare {
		t.Skip("no keepers on this system")
	}
	k, err := sandbox.Start(limited(t), sandbox.Config{Name: "hermes-browser"})
	if err != nil {
		t.Fatal(err)
	}
	c := config(t)
	c.Launch = func(ctx context.Context, command proc.Command) (*proc.Process, error) {
		command.Launcher = k
		return proc.Start(ctx, command)
	}
	c.Files = []*os.File{os.Stderr} // as the mark of an agent
	b := mustStart(t, c)
	p := mustOpenIn(t, b, "<button onclick=\"document.title='clicked'\">Go</button>")
	p.click("Go")
	if got := p.info().Title; got != "clicked" {
		t.Errorf("title %q", got)
	}
	if len(processes(t, c.Folder)) < 2 {
		t.Error("the processes of the browser are not found")
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	if left := processes(t, c.Folder); len(left) > 0 {
		t.Errorf("processes are left: %q", left)
	}
	<-b.Gone()
	if _, err := p.Snapshot(p.ctx, browser.SnapshotOptions{}); err == nil {
		t.Error("a browser that has ended shows a page")
	}
}
