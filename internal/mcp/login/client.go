package login

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

const (
	methodNone  = "none"
	methodPost  = "client_secret_post"
	methodBasic = "client_secret_basic"
)

// The ports of the redirects in a client metadata document, which cannot name any port.
const (
	firstPort = 27890
	lastPort  = 27894
)

const (
	loopback = "127.0.0.1"
	callback = "/callback"
)

// client returns who logs in at a service. The order is that of the specification: who the
// settings name, the client metadata document, who registered itself before, a new client.
// was is what is kept of an earlier login. The socket listens for the browser; it is nil if
// the redirect goes elsewhere, its port is taken, or no browser is used.
func (l *Login) client(ctx context.Context, s service, was record, device bool) (c client, redirect string, socket net.Listener, err error) {
	document := l.cfg.Client.ID == "" && l.cfg.Client.Document != "" && s.Documents
	kept := was.Client.Redirect != "" && was.Issuer == s.Issuer && (was.Client.Until.IsZero() || l.cfg.Now().Before(was.Client.Until))
	redirect, socket, err = l.listen(document, was.Client.Redirect, device)
	if err != nil {
		return c, "", nil, err
	}
	switch {
	case l.cfg.Client.ID != "":
		c = client{ID: l.cfg.Client.ID, Method: methodOf(s.Methods, l.cfg.Client.Secret != "")}
	case document:
		c = client{ID: l.cfg.Client.Document, Method: methodNone}
	case kept && was.Client.Redirect == redirect:
		c = was.Client
	case s.RegisterURL == "":
		err = fmt.Errorf("the login service %s does not register clients by itself; register Hermes there with the redirect %s, and set oauth.client_id of the server", shown(s.Issuer), redirect)
	default:
		c, err = l.register(ctx, s, redirect, device)
	}
	if err != nil && socket != nil {
		err = errors.Join(err, socket.Close())
	}
	return c, redirect, socket, err
}

// methodOf chooses how a client proves who it is.
func methodOf(offered []string, secret bool) string {
	switch {
	case !secret && (len(offered) == 0 || slices.Contains(offered, methodNone)):
		return methodNone
	case slices.Contains(offered, methodPost):
		return methodPost
	case slices.Contains(offered, methodBasic), secret && len(offered) == 0:
		return methodBasic
	case secret:
		return methodPost
	}
	return methodNone
}

// listen chooses where the browser goes, and listens there if that is this machine.
func (l *Login) listen(document bool, was string, device bool) (redirect string, socket net.Listener, err error) {
	r := l.cfg.Redirect
	if r.URI != "" {
		return r.URI, nil, nil // oauth listens, if it can
	}
	host := cmp.Or(r.Host, loopback)
	at := func(port int) string { return "http://" + net.JoinHostPort(host, strconv.Itoa(port)) + callback }
	var ports []int
	switch {
	case r.Port != 0:
		ports = []int{r.Port}
	case document:
		for port := firstPort; port <= lastPort; port++ {
			ports = append(ports, port)
		}
	default:
		ports = []int{0}
		if u, err := url.Parse(was); err == nil && u.Hostname() == host && u.Path == callback { // as it was registered
			if port, err := strconv.Atoi(u.Port()); err == nil {
				ports = []int{port, 0}
			}
		}
	}
	if device {
		return at(ports[0]), nil, nil
	}
	for _, port := range ports {
		socket, err = net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(port)))
		if err == nil {
			return at(socket.Addr().(*net.TCPAddr).Port), socket, nil
		}
	}
	if ports[len(ports)-1] == 0 {
		return "", nil, fmt.Errorf("listen for the browser: %w", err)
	}
	return at(ports[0]), nil, nil // the user pastes the address
}

// register makes a client at the service (RFC 7591).
func (l *Login) register(ctx context.Context, s service, redirect string, device bool) (client, error) {
	grants := []string{"authorization_code", "refresh_token"}
	if device {
		grants = append(grants, "urn:ietf:params:oauth:grant-type:device_code")
	}
	about := map[string]any{
		"client_name": cmp.Or(l.cfg.Client.Name, "Hermes"), "redirect_uris": []string{redirect}, "grant_types": grants, "response_types": []string{"code"},
		"token_endpoint_auth_method": methodOf(s.Methods, false), "application_type": "native",
	}
	if l.cfg.Scope != "" {
		about["scope"] = l.cfg.Scope
	}
	body, err := json.Marshal(about)
	if err != nil {
		return client{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.RegisterURL, bytes.NewReader(body))
	if err != nil {
		return client{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	resp, err := l.direct().Do(req)
	if err != nil {
		return client{}, fmt.Errorf("register at the login service %s: %w", shown(s.Issuer), withoutURL(err))
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return client{}, fmt.Errorf("register at the login service %s: %w", shown(s.Issuer), err)
	}
	var answer struct {
		ID     string  `json:"client_id"`
		Secret string  `json:"client_secret"`
		Method string  `json:"token_endpoint_auth_method"`
		Until  float64 `json:"client_secret_expires_at"`
		Code   string  `json:"error"`
		Words  string  `json:"error_description"`
	}
	parsed := json.Unmarshal(raw, &answer)
	switch {
	case resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusCreated:
		return client{}, fmt.Errorf("the login service %s does not register Hermes (status %d) %s; set oauth.client_id of the server to a client that you registered there", shown(s.Issuer), resp.StatusCode, shown(answer.Code+" "+answer.Words))
	case parsed != nil || answer.ID == "":
		return client{}, fmt.Errorf("the login service %s answered the registration without a client_id", shown(s.Issuer))
	}
	c := client{ID: answer.ID, Secret: answer.Secret, Method: cmp.Or(answer.Method, methodOf(s.Methods, answer.Secret != "")), Redirect: redirect}
	if answer.Secret != "" && answer.Until > 0 && answer.Until < 1e11 {
		c.Until = time.Unix(int64(answer.Until), 0).UTC()
	}
	return c, nil
}
