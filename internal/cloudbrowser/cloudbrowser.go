// Package cloudbrowser opens and releases browsers of services on the web, which are then driven over the
// DevTools protocol.
//
// It owns the list of services ([Services]), what each is sent, what its errors mean, and the notes of sessions
// that are open, by which those of a killed process are found ([Begin], [Left]). It must not know settings,
// pages or tools. A key is sent to the address of its service only, and follows no redirect. Start at Services;
// call.go sends the requests.
package cloudbrowser

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Service is one kind of service. Key, Project and Address are names of variables.
type Service struct {
	Name    string // in settings
	Title   string // for people
	Key     string
	Project string // "" if it has none; it need not be set
	// Address is the variable with another base URL, Base the usual one.
	Address, Base string

	header string // of the key
	path   string // of sessions
	method string // of a release
	open   func(c *Client) map[string]any
	end    func(c *Client) map[string]any
}

// Services lists all services in the order in which they are chosen.
func Services() []Service {
	return []Service{{
		Name: "browserbase", Title: "Browserbase", Key: "BROWSERBASE_API_KEY", Project: "BROWSERBASE_PROJECT_ID",
		Address: "BROWSERBASE_BASE_URL", Base: "https://api.browserbase.com",
		header: "X-BB-API-Key", path: "/v1/sessions", method: http.MethodPost,
		open: func(c *Client) map[string]any {
			return c.inProject(map[string]any{"keepAlive": false, "proxies": c.Proxies, "timeout": c.within(time.Second, 60, 21600)})
		},
		end: func(c *Client) map[string]any { return c.inProject(map[string]any{"status": "REQUEST_RELEASE"}) },
	}, {
		Name: "browser_use", Title: "Browser Use", Key: "BROWSER_USE_API_KEY",
		Address: "BROWSER_USE_BASE_URL", Base: "https://api.browser-use.com/api/v3",
		header: "X-Browser-Use-API-Key", path: "/browsers", method: http.MethodPatch,
		open: func(c *Client) map[string]any {
			body := map[string]any{"timeout": c.within(time.Minute, 1, 240)}
			if !c.Proxies {
				body["proxyCountryCode"] = nil // without the field, it is a proxy in the USA
			}
			return body
		},
		end: func(*Client) map[string]any { return map[string]any{"action": "stop"} },
	}}
}

// Find returns a service by its name.
func Find(name string) (Service, bool) {
	all := Services()
	i := slices.IndexFunc(all, func(s Service) bool { return s.Name == name })
	if i < 0 {
		return Service{}, false
	}
	return all[i], true
}

// Client is a service that can be asked. It may be used concurrently.
type Client struct {
	Service
	// Secret returns the key. It is a function so that no text of a client shows it.
	Secret func() string
	// ProjectID is the project of the account; "" is the one of the key.
	ProjectID string
	// At is the base URL that the user chose; "" is the usual one.
	At string
	// Proxies has the service send the browser's traffic through a proxy of its own.
	Proxies bool
	// Timeout is when the service ends the browser, whatever happens, within its bounds.
	Timeout time.Duration
	// HTTP sends the requests.
	HTTP *http.Client
}

// Session is a browser that is open and must be released.
type Session struct {
	ID string
	// Address returns where the browser is spoken to: a WebSocket, or a page that names it. Who knows it can
	// use the browser, so it is a function, too.
	Address func() string
}

// within counts the timeout in units, rounded up, within the bounds of a service.
func (c *Client) within(unit time.Duration, least, most int64) int64 {
	return min(max(int64((c.Timeout+unit-1)/unit), least), most)
}

func (c *Client) inProject(body map[string]any) map[string]any {
	if c.ProjectID != "" {
		body["projectId"] = c.ProjectID
	}
	return body
}

// Bounds of one request.
const (
	openTime    = 45 * time.Second
	releaseTime = 10 * time.Second
)

// plainID is what an id of a session may be: it becomes part of a path.
var plainID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)

// Open opens a browser. It does not return before the service has answered, also if ctx ends meanwhile. If it
// fails and a browser is open nevertheless, the session has its ID, and the caller must release it.
func (c *Client) Open(ctx context.Context) (Session, error) {
	var made struct {
		ID         string `json:"id"`
		ConnectURL string `json:"connectUrl"`
		CDPURL     string `json:"cdpUrl"`
	}
	if err := context.Cause(ctx); err != nil {
		return Session{}, err
	}
	if err := c.send(context.WithoutCancel(ctx), openTime, http.MethodPost, c.path, c.open(c), &made); err != nil {
		return Session{}, err
	}
	if !plainID.MatchString(made.ID) {
		return Session{}, fmt.Errorf("%s names no id of the browser that it opened; it ends by itself after browser.cloud_timeout", c.Title)
	}
	address := cmp.Or(made.ConnectURL, made.CDPURL)
	s := Session{ID: made.ID, Address: func() string { return address }}
	err := c.connects(address)
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return Session{ID: made.ID}, err
	}
	return s, nil
}

// connects checks where a browser is said to be. What is typed and shown goes there, so it must be encrypted,
// unless the service itself is on this machine.
func (c *Client) connects(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return fmt.Errorf("%s does not say where the browser is that it opened", c.Title)
	}
	base, err := url.Parse(c.base())
	here := err == nil && base.Scheme == "http" && loopback(base.Hostname())
	switch u.Scheme {
	case "wss", "https":
		return nil
	case "ws", "http":
		if here && loopback(u.Hostname()) {
			return nil
		}
	}
	return fmt.Errorf("%s names an address of its browser that is not encrypted; it is not used", c.Title)
}

// Account names the account at the service: browsers of another one cannot be released. The key cannot be read from it.
func (c *Client) Account() string {
	sum := sha256.Sum256([]byte(c.base() + "\n" + c.Secret()))
	return fmt.Sprintf("%x", sum[:8])
}

// Release ends a browser. One that has ended already is no error.
func (c *Client) Release(ctx context.Context, id string) error {
	if !plainID.MatchString(id) {
		return errors.New("that is no id of a browser")
	}
	err := c.send(ctx, releaseTime, c.method, c.path+"/"+id, c.end(c), nil)
	if r, ok := errors.AsType[*refusal](err); ok && c.ended(ctx, id, r.status) {
		return nil
	}
	return err
}

// ended reports whether a browser whose release was refused has ended already. Browserbase ends one with its connection.
func (c *Client) ended(ctx context.Context, id string, status int) bool {
	switch status {
	case http.StatusNotFound, http.StatusGone:
		return true
	case http.StatusBadRequest, http.StatusConflict, http.StatusUnprocessableEntity:
	default:
		return false
	}
	var now struct {
		Status string `json:"status"`
	}
	err := c.send(ctx, releaseTime, http.MethodGet, c.path+"/"+id, nil, &now)
	return err == nil && slices.Contains([]string{"COMPLETED", "ERROR", "TIMED_OUT", "stopped"}, now.Status)
}

// base is the base URL without a final slash.
func (c *Client) base() string { return strings.TrimRight(cmp.Or(c.At, c.Base), "/") }

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
