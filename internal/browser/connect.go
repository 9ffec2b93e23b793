package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"hermes/internal/cdp"
)

const maxVersion = 64 << 10 // bytes of /json/version

// Connect connects to a browser that runs: the address where it was told to be debugged
// (http://127.0.0.1:9222), or its WebSocket (ws://, wss://). The client decides what can be
// reached. Who chooses the address gives away what is logged in there, so it must come from
// the user.
func Connect(ctx context.Context, address string, client *http.Client, o Options) (*Browser, error) {
	o.Downloads = Downloads{} // where the files of somebody's own browser go is theirs
	limited := *client
	limited.Timeout = orDefault(o.CallTimeout, callTimeout) // until the connection is made
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("%q is no address of a browser: write http://127.0.0.1:9222 or ws://…", address)
	}
	switch u.Scheme {
	case "http", "https":
		if address, err = socketOf(ctx, u, &limited); err != nil {
			return nil, err
		}
	case "ws", "wss":
	default:
		return nil, fmt.Errorf("%q is no address of a browser: write http://127.0.0.1:9222 or ws://…", address)
	}
	t, err := cdp.Dial(ctx, address, &limited)
	if err != nil {
		return nil, err
	}
	b := open(t, nil, o)
	if err := b.prepare(ctx); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// socketOf asks a browser for its WebSocket. Its host stays the one that was asked: a
// browser behind a tunnel names an address of its own.
func socketOf(ctx context.Context, u *url.URL, client *http.Client) (string, error) {
	ask := *u
	ask.Path = strings.TrimSuffix(u.Path, "/") + "/json/version"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, ask.String(), nil)
	if err != nil {
		return "", err
	}
	response, err := client.Do(request)
	if err != nil {
		return "", fmt.Errorf("no browser answers at %s: start one with --remote-debugging-port: %w", u.Host, err)
	}
	defer response.Body.Close()
	var version struct {
		URL string `json:"webSocketDebuggerUrl"`
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxVersion)).Decode(&version); err != nil {
		return "", fmt.Errorf("what answers at %s is no browser (%s)", u.Host, response.Status)
	}
	socket, err := url.Parse(version.URL)
	if err != nil || socket.Path == "" {
		return "", fmt.Errorf("what answers at %s names no WebSocket", u.Host)
	}
	socket.Host, socket.Scheme = u.Host, "ws"
	if u.Scheme == "https" {
		socket.Scheme = "wss"
	}
	return socket.String(), nil
}
