package setting

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpguts"

	"hermes/internal/text"
)

// remote reads how the server is reached.
func (f file) remote() (*Remote, error) {
	u, err := url.Parse(f.URL)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, fmt.Errorf("url is %q; write an address that begins with https:// or http://", text.Visible(f.URL))
	}
	r := &Remote{URL: f.URL, Headers: map[string]string{}, IdentityHeader: f.Identity}
	switch t := strings.ToLower(f.Transport + f.Type); t {
	case "sse", "ssesse":
		r.SSE = true
	case "", "http", "httphttp", "streamable-http", "streamable_http", "streamablehttp":
	default:
		return nil, fmt.Errorf("transport is %q; use http or sse", f.Transport+f.Type)
	}
	for k, v := range f.Headers {
		if !validHeader(k, string(v)) {
			return nil, fmt.Errorf("the header %q cannot be sent: it has a character that headers must not have", text.Visible(k))
		}
		r.Headers[k] = string(v)
	}
	if f.Identity != "" && !validHeader(f.Identity, "") {
		return nil, fmt.Errorf("identity_header is %q, which is not the name of a header", f.Identity)
	}
	switch strings.ToLower(f.Auth) {
	case "", "none":
		if f.OAuth != nil {
			r.OAuth = f.OAuth.read()
		}
	case "oauth":
		r.OAuth = f.OAuth.read()
	default:
		return nil, fmt.Errorf("auth is %q; use oauth, or a header for a key", f.Auth)
	}
	if o := f.OAuth; o != nil && o.Flow != "" && o.Flow != "device" && o.Flow != "browser" {
		return nil, fmt.Errorf("oauth.flow is %q; use device or browser", o.Flow)
	}
	return r, f.tls(&r.TLS)
}

func (o *fileOAuth) read() *OAuth {
	if o == nil {
		return &OAuth{}
	}
	return &OAuth{
		ClientID: o.ClientID, ClientSecret: o.ClientSecret, ClientName: o.ClientName, Scope: string(o.Scope), RedirectPort: o.RedirectPort,
		RedirectHost: o.RedirectHost, RedirectURI: o.RedirectURI, Device: o.Flow == "device", MetadataURL: o.MetadataURL,
	}
}

// tls reads the certificates. client_cert may be a list of both files.
func (f file) tls(t *TLS) error {
	t.Key = f.Key
	var pair []string
	switch {
	case len(f.Cert) == 0 || string(f.Cert) == "null":
	case json.Unmarshal(f.Cert, &t.Cert) == nil:
	case json.Unmarshal(f.Cert, &pair) == nil && len(pair) == 2:
		t.Cert, t.Key = pair[0], pair[1]
	default:
		return errors.New("client_cert is neither a file nor a list of two files")
	}
	if t.Key != "" && t.Cert == "" {
		return errors.New("it has client_key without client_cert")
	}
	var verify bool
	switch {
	case len(f.Verify) == 0 || string(f.Verify) == "null":
	case json.Unmarshal(f.Verify, &verify) == nil:
		t.Insecure = !verify
	case json.Unmarshal(f.Verify, &t.CA) == nil:
	default:
		return errors.New("ssl_verify is neither true, false nor a file")
	}
	return nil
}

func validHeader(name, value string) bool {
	return httpguts.ValidHeaderFieldName(name) && httpguts.ValidHeaderFieldValue(value)
}
