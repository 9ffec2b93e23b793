package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Browsers connects sessions with browsers that run.
type Browsers interface {
	// AttachBrowser has a session work with the browser at this address, "" with one of its own again.
	AttachBrowser(ctx context.Context, session, address string) error
	// BrowserOf says in a sentence with which browser a session works.
	BrowserOf(session string) string
}

// ownBrowser is where a browser listens that was started with --remote-debugging-port=9222.
const ownBrowser = "http://127.0.0.1:9222"

var errNoBrowsers = errors.New("this program has no browser tools")

// browser connects the session with a browser that runs, disconnects it, or shows which it has.
func browser(ctx context.Context, c *Call) (Result, error) {
	if c.Browsers == nil {
		return Result{}, errNoBrowsers
	}
	action, address, _ := strings.Cut(c.Args, " ")
	address = strings.TrimSpace(address)
	id := c.Session.ID()
	switch {
	case action == "" || action == "status":
	case action == "connect":
		if address == "" {
			address = ownBrowser
		}
		if err := c.Browsers.AttachBrowser(ctx, id, address); err != nil {
			return Result{}, err
		}
	case action == "disconnect" && address == "":
		if err := c.Browsers.AttachBrowser(ctx, id, ""); err != nil {
			return Result{}, err
		}
	default:
		return Result{}, fmt.Errorf("use /browser connect [URL], /browser disconnect or /browser status")
	}
	return Result{Text: c.Browsers.BrowserOf(id)}, nil
}
