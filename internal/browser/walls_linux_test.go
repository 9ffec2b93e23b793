package browser_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/proc"
	"hermes/internal/sandbox"
)

// TestABrowserWithinWalls of each layer that this host allows.
func TestABrowserWithinWalls(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	secret := filepath.Join(t.TempDir(), "secret.txt")
	if err := os.WriteFile(secret, []byte("outside"), 0o600); err != nil {
		t.Fatal(err)
	}
	for layer := sandbox.B; layer <= sandbox.Expect(); layer++ {
		t.Run(layer.String(), func(t *testing.T) {
			t.Parallel()
			c := config(t)
			k, err := sandbox.Start(limited(t), sandbox.Config{Policy: sandbox.Policy{
				Layer: layer, Read: []string{"/usr", "/etc", "/proc", "/sys"}, Links: []string{"/bin", "/lib", "/lib64"}, Write: []string{c.Folder}, Temp: c.Folder,
			}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := k.Close(); err != nil {
					t.Error(err)
				}
			})
			c.Launch = func(ctx context.Context, command proc.Command) (*proc.Process, error) {
				command.Launcher = k
				return proc.Start(ctx, command)
			}
			b := mustStart(t, c)
			ctx := limited(t)
			page, err := b.NewPage(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := page.Navigate(ctx, "data:text/html,<button onclick=\"this.textContent='Done'\">Go</button>"); err != nil {
				t.Fatal(err)
			}
			p := tab{page, t, ctx, b}
			p.click("Go")
			p.wants("Done")
			if _, err := p.Navigate(ctx, "file://"+secret); err == nil && strings.Contains(p.text(), "outside") {
				t.Error("it reads what is outside of the walls")
			}
			if _, err := p.Screenshot(ctx, false); err != nil {
				t.Error(err)
			}
		})
	}
}
