package app

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"hermes"
	"hermes/internal/browser"
	"hermes/internal/cloudbrowser"
	"hermes/internal/httpc"
	"hermes/internal/netguard"
)

// choice is which browser a session gets that was not attached to one: "cdp", "local" or the name of a service.
// why says what is missing, worded for the user.
func (b *browsers) choice() (kind, why string) {
	s := b.config.Browser()
	switch s.Backend {
	case "cdp":
		if s.CDPURL == "" {
			why = "browser.backend is cdp, and browser.cdp_url is empty: set it to the address of a running browser, such as http://127.0.0.1:9222"
		}
		return "cdp", why
	case "local", "", "auto":
	default:
		if c, ok := b.cloud(s.Backend); !ok {
			why = "browser.backend names no browser that is known"
		} else if c.Secret() == "" {
			why = fmt.Sprintf("browser.backend is %s, and %s is not set: set it to a key of %s", s.Backend, c.Key, c.Title)
		}
		return s.Backend, why
	}
	if s.Backend != "local" && s.CDPURL != "" {
		return "cdp", ""
	}
	_, err := browser.Find(s.Program)
	if err == nil {
		return "local", ""
	}
	if s.Backend == "local" {
		return "local", err.Error()
	}
	why = err.Error() + "; a browser of a service needs "
	for i, service := range cloudbrowser.Services() {
		if b.config.Getenv(service.Key) != "" {
			return service.Name, ""
		}
		if i > 0 {
			why += " or "
		}
		why += service.Key
	}
	return "local", why
}

// cloud is a service with the key, the address and the settings of the user.
func (b *browsers) cloud(name string) (*cloudbrowser.Client, bool) {
	service, ok := cloudbrowser.Find(name)
	s := b.config.Browser()
	if !ok {
		return nil, false
	}
	key := hermes.Secret(b.config.Getenv(service.Key))
	c := &cloudbrowser.Client{
		Service: service, Secret: key.Reveal, At: b.config.Getenv(service.Address), Proxies: s.CloudProxies, Timeout: s.CloudTimeout,
	}
	if service.Project != "" {
		c.ProjectID = b.config.Getenv(service.Project)
	}
	return c, true
}

// outside decides whether a browser of a service may be at an address: at none of this machine or its network,
// whatever the settings allow other requests. A name must be known here, since only then it is known not to be private.
func (b *browsers) outside(ctx context.Context, address string) error {
	g, err := b.guard()
	if err != nil {
		return err
	}
	g.Private, g.Own, g.Proxy = false, nil, nil
	_, err = g.Judge(ctx, address)
	return err
}

// place reports whether an address, which may be opened, is one for the local browser that a session has beside one of
// a service.
func (b *browsers) place(ctx context.Context, session, address string) (local bool, err error) {
	b.mu.Lock()
	attached := b.attached[session] != ""
	b.mu.Unlock()
	kind, _ := b.choice()
	service, rented := cloudbrowser.Find(kind)
	if attached || !rented {
		return false, nil
	}
	err = b.outside(ctx, address)
	refused, ok := errors.AsType[*netguard.Refused](err)
	if !ok || !refused.Private {
		return false, err
	}
	s := b.config.Browser()
	if !s.AutoLocal {
		return false, fmt.Errorf("%w, and is not opened in a browser of %s; the user can set browser.auto_local_for_private_urls to true, so that a local browser opens it", refused, service.Title)
	}
	if _, err := browser.Find(s.Program); err != nil {
		return false, fmt.Errorf("%w, and is not opened in a browser of %s; a local browser would open it, but %w", refused, service.Title, err)
	}
	return true, nil
}

// rent opens a browser of a service and connects to it. It is released when it is closed.
func (b *browsers) rent(ctx context.Context, name string) (*browser.Browser, func() error, error) {
	c, ok := b.cloud(name)
	if !ok {
		return nil, nil, fmt.Errorf("there is no browser service %q", name)
	}
	proxy, err := httpc.ProxiesOf(b.config.Getenv).Func()
	if err != nil {
		return nil, nil, err
	}
	if c.HTTP, err = httpc.New(httpc.Options{Proxy: proxy, UserAgent: "hermes/" + Version, ForceIPv4: b.config.Network().ForceIPv4}); err != nil {
		return nil, nil, err
	}
	notes, err := b.folder("cloud-browsers", "")
	if err != nil {
		return nil, nil, err
	}
	b.releaseLeft(ctx, notes, c)
	note, err := cloudbrowser.Begin(notes)
	if err != nil {
		return nil, nil, err
	}
	rented, err := c.Open(ctx)
	if rented.ID == "" {
		return nil, nil, errors.Join(err, note.Released())
	}
	release := func() error { return b.release(c, rented.ID, note) }
	if err := errors.Join(note.Opened(c.Name, c.Account(), rented.ID), err); err != nil {
		return nil, nil, errors.Join(err, release())
	}
	o := b.options()
	o.Remote = c.Title
	made, err := browser.Connect(ctx, rented.Address(), c.HTTP, o)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%s opened a browser, and no connection to it could be made (%s): try again", c.Title, without(err, rented.Address())), release())
	}
	return made, release, nil
}

// release releases a browser of a service. If that fails, the next start of one tries again.
func (b *browsers) release(c *cloudbrowser.Client, id string, note *cloudbrowser.Note) error {
	defer c.HTTP.CloseIdleConnections()
	if err := c.Release(context.Background(), id); err != nil {
		b.app.log().Warn("a browser of a service was not released; the next start of one tries again", "service", c.Title, "error", err)
		return errors.Join(err, note.Keep())
	}
	return note.Released()
}

// releaseLeft releases the browsers of processes that have ended without doing so.
func (b *browsers) releaseLeft(ctx context.Context, notes string, usual *cloudbrowser.Client) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	err := cloudbrowser.Left(notes, func(service, account, id string) error {
		c, ok := b.cloud(service)
		if !ok {
			return fmt.Errorf("a browser of %q may be open, which is no service that is known", service)
		}
		if c.Account() != account { // it would say that there is no such browser
			return fmt.Errorf("a browser of %s may be open under another key or address than the one that is set now; set that one again, or it ends after browser.cloud_timeout", c.Title)
		}
		c.HTTP = usual.HTTP
		return c.Release(ctx, id)
	})
	if err != nil {
		b.app.log().Warn("a browser of an earlier process was not released; the next start of one tries again", "error", err)
	}
}

// without returns the text of an error without an address that must not be known: its host, its path and its query.
func without(err error, address string) string {
	if at, ok := errors.AsType[*url.Error](err); ok {
		err = at.Err
	}
	if _, ok := errors.AsType[*httpc.RedirectError](err); ok {
		return "it leads to another address"
	}
	said := strings.ReplaceAll(err.Error(), address, "its address")
	u, wrong := url.Parse(address)
	if wrong != nil {
		return "its address is not valid"
	}
	for _, part := range []string{u.RequestURI(), u.RawQuery, u.Host, u.Hostname()} {
		if len(part) > 1 {
			said = strings.ReplaceAll(said, part, "its address")
		}
	}
	return said
}
