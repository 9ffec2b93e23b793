package login

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"hermes/internal/httpc"
	"hermes/internal/mcp/remote"
	"hermes/internal/text"
)

// target is where and for what to log in.
type target struct {
	resource string
	scopes   string // what the server says that it takes
	service  service
}

// resource is the metadata of a protected resource (RFC 9728).
type resource struct {
	Resource string   `json:"resource"`
	Services []string `json:"authorization_servers"`
	Scopes   []string `json:"scopes_supported"`
}

// service is the metadata of an authorization server (RFC 8414 and OpenID Connect Discovery).
type service struct {
	Issuer      string   `json:"issuer"`
	AuthURL     string   `json:"authorization_endpoint"`
	TokenURL    string   `json:"token_endpoint"`
	RegisterURL string   `json:"registration_endpoint"`
	DeviceURL   string   `json:"device_authorization_endpoint"`
	RevokeURL   string   `json:"revocation_endpoint"`
	Scopes      []string `json:"scopes_supported"`
	Methods     []string `json:"token_endpoint_auth_methods_supported"`
	Challenges  []string `json:"code_challenge_methods_supported"`
	Documents   bool     `json:"client_id_metadata_document_supported"`
	IssuerSent  bool     `json:"authorization_response_iss_parameter_supported"`
}

// errNone means that a server has no metadata about logins.
var errNone = errors.New("it says nothing about logins")

// discover finds where to log in. pinned is the service of the last login, "" if there was
// none. A server that demands a login and says nothing more has it at fixed addresses.
func (l *Login) discover(ctx context.Context, c challenge, demanded bool, pinned string) (target, error) {
	r, err := l.resource(ctx, c.metadata)
	if errors.Is(err, errNone) && demanded { // the protocol 2025-03-26: the server is its own login service
		r = resource{Resource: l.name()}
		s, err := l.oldService(ctx)
		if errors.Is(err, errNone) {
			s = service{Issuer: l.root, AuthURL: l.root + "/authorize", TokenURL: l.root + "/token", RegisterURL: l.root + "/register", Challenges: []string{"S256"}}
			err = l.check(ctx, s)
		}
		return target{resource: r.Resource, service: s}, err
	}
	if err != nil {
		return target{}, err
	}
	if len(r.Services) == 0 {
		return target{}, errors.New("it names no login service")
	}
	issuer := r.Services[0]
	if slices.Contains(r.Services, pinned) {
		issuer = pinned
	}
	s, err := l.service(ctx, issuer)
	return target{resource: r.Resource, scopes: strings.Join(r.Scopes, " "), service: s}, err
}

// name is the address of the server as a resource: without its query, where a key may be.
func (l *Login) name() string {
	u, err := url.Parse(l.cfg.URL)
	if err != nil {
		return l.cfg.URL
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// resource reads what the server says about its logins: where it says so itself, else at the
// places of the specification, for its path and for its root.
func (l *Login) resource(ctx context.Context, named string) (resource, error) {
	const place = "/.well-known/oauth-protected-resource"
	u, err := url.Parse(l.cfg.URL)
	if err != nil {
		return resource{}, err
	}
	var places []string
	if named != "" {
		places = append(places, named)
	}
	if path := strings.TrimRight(u.Path, "/"); path != "" {
		places = append(places, l.root+place+path)
	}
	for _, address := range append(places, l.root+place) {
		var r resource
		err := l.document(ctx, address, &r)
		if errors.Is(err, errNone) {
			continue
		}
		if err == nil && !l.covers(r.Resource) {
			err = fmt.Errorf("%s is about %s, which is not this server; nothing was sent", shown(address), shown(r.Resource))
		}
		return r, err
	}
	return resource{}, errNone
}

// covers reports whether a resource is this server: its address, or one above it on the same
// server.
func (l *Login) covers(resource string) bool {
	u, err := url.Parse(resource)
	own, err2 := url.Parse(l.cfg.URL)
	if err != nil || err2 != nil || u.User != nil || u.Fragment != "" || u.RawQuery != "" && u.RawQuery != own.RawQuery || httpc.Origin(u) != l.origin {
		return false
	}
	path, above := strings.TrimRight(own.Path, "/"), strings.TrimRight(u.Path, "/")
	return path == above || strings.HasPrefix(path, above+"/")
}

// service reads the metadata of a login service, whose name must be the one that was asked for,
// byte for byte.
func (l *Login) service(ctx context.Context, issuer string) (service, error) {
	u, err := url.Parse(issuer)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return service{}, fmt.Errorf("the login service %s is not a valid address", shown(issuer))
	}
	origin, path := (&url.URL{Scheme: u.Scheme, Host: u.Host}).String(), strings.TrimRight(u.EscapedPath(), "/")
	places := []string{origin + "/.well-known/oauth-authorization-server" + path, origin + "/.well-known/openid-configuration" + path}
	if path != "" {
		places = append(places, origin+path+"/.well-known/openid-configuration")
	}
	for _, address := range places {
		var s service
		err := l.document(ctx, address, &s)
		if errors.Is(err, errNone) {
			continue
		}
		if err == nil && s.Issuer != issuer {
			err = fmt.Errorf("the login service %s calls itself %s; both have to be the same text, so it was not used", shown(issuer), shown(s.Issuer))
		}
		if err == nil {
			err = l.check(ctx, s)
		}
		return s, err
	}
	return service{}, fmt.Errorf("the login service %s does not say how to log in there", shown(issuer))
}

// oldService is the login service of a server that names none: the server itself.
func (l *Login) oldService(ctx context.Context) (service, error) {
	var s service
	switch err := l.document(ctx, l.root+"/.well-known/oauth-authorization-server", &s); {
	case errors.Is(err, errNone):
		return service{}, errNone
	case err != nil:
		return s, err
	case strings.TrimSuffix(s.Issuer, "/") != l.root:
		return s, fmt.Errorf("the login service of %s calls itself %s; it was not used", l.root, shown(s.Issuer))
	}
	return s, l.check(ctx, s)
}

// check checks the addresses of a service before any is opened or sent anything.
func (l *Login) check(ctx context.Context, s service) error {
	if !slices.Contains(s.Challenges, "S256") {
		return fmt.Errorf("the login service %s does not protect logins by PKCE (S256), which MCP demands", shown(s.Issuer))
	}
	for _, row := range []struct {
		key, address string
		must         bool
	}{
		{"authorization_endpoint", s.AuthURL, s.DeviceURL == ""}, {"token_endpoint", s.TokenURL, true}, {"registration_endpoint", s.RegisterURL, false},
		{"device_authorization_endpoint", s.DeviceURL, false}, {"revocation_endpoint", s.RevokeURL, false},
	} {
		if row.address == "" && !row.must {
			continue
		}
		if err := l.allowed(ctx, row.address); err != nil {
			return fmt.Errorf("the %s of the login service %s: %w", row.key, shown(s.Issuer), err)
		}
	}
	return nil
}

// allowed checks an address that a server names: it is encrypted or on this machine, and it is
// not in a private network.
func (l *Login) allowed(ctx context.Context, address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return fmt.Errorf("%s is not a web address", shown(address))
	case u.User != nil || u.Fragment != "":
		return fmt.Errorf("%s has a user name or a fragment", shown(u.Host))
	case u.Scheme == "http" && !remote.Loopback(u.Hostname()):
		return fmt.Errorf("%s is not encrypted; it has to begin with https://", shown(address))
	}
	return l.cfg.Link.Judge(ctx, address)
}

// document reads a JSON document. It fails with errNone if there is none.
func (l *Login) document(ctx context.Context, address string, into any) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil {
		return fmt.Errorf("%s is not a valid address", shown(address))
	}
	if httpc.Origin(u) != l.origin { // the server itself was chosen by the user
		if err := l.allowed(ctx, address); err != nil {
			return err
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := l.cfg.Link.Others.Do(req)
	if err != nil {
		return fmt.Errorf("read %s: %w", shown(address), withoutURL(err))
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode >= 400 && resp.StatusCode < 500:
		return errNone
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("read %s: it answered with status %d", shown(address), resp.StatusCode)
	}
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("read %s: %w", shown(address), err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("read %s: it is not a JSON document about logins", shown(address))
	}
	return nil
}

// shown is a text of a server on one short line.
func shown(s string) string { return text.OneLine(text.Visible(s), 200) }
