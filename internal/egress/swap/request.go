package swap

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// denial is an answer to a child in place of that of the host.
type denial struct {
	status int
	text   string
}

// check refuses what no request of a tunnel may be.
func (t *tunnel) check(r *http.Request) *denial {
	named := func(host string) bool {
		host = canonical(host)
		return host == t.host || strings.TrimSuffix(host, ":"+strconv.Itoa(int(t.port))) == t.host
	}
	switch {
	case r.Method == http.MethodConnect || r.Method == http.MethodTrace:
		return &denial{http.StatusMethodNotAllowed, "Hermes passes on no " + r.Method + " requests."}
	case r.URL.Opaque != "" || r.URL.User != nil:
		return &denial{http.StatusBadRequest, "Hermes passes on requests for a path only."}
	case !named(r.Host) || r.URL.Host != "" && !named(r.URL.Host):
		return &denial{http.StatusMisdirectedRequest, "This connection was opened to " + t.host +
			"; the request is for another host. Open a connection to that one."}
	}
	return nil
}

// outgoing makes the request for the host from that of the child, still with placeholders.
// Host and path are those that were checked, in the only spelling that is sent.
func (t *tunnel) outgoing(r *http.Request) *http.Request {
	out := (&http.Request{
		Method:        r.Method,
		URL:           &url.URL{Scheme: "https", Host: t.address(), Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery, ForceQuery: r.URL.ForceQuery},
		Host:          t.address(),
		Header:        r.Header.Clone(),
		Body:          r.Body,
		ContentLength: r.ContentLength,
		Trailer:       r.Trailer, // filled while the body is read
	}).WithContext(r.Context())
	if r.ContentLength == 0 {
		out.Body = http.NoBody
	}
	trailers := lists(r.Header, "Te", "trailers")
	upgrade := isUpgrade(r)
	dropHops(out.Header)
	if trailers {
		out.Header.Set("Te", "trailers")
	}
	if upgrade {
		out.Header.Set("Connection", "Upgrade")
		out.Header.Set("Upgrade", "websocket")
		out.Header.Del("Sec-Websocket-Extensions") // a compressed stream could not be searched
	}
	if _, ok := out.Header["User-Agent"]; !ok {
		out.Header["User-Agent"] = nil // else net/http writes its own
	}
	askPlain(out.Header)
	return out
}

// isUpgrade reports whether a request opens a WebSocket. Other protocols are not switched to:
// what is said in them could not be judged.
func isUpgrade(r *http.Request) bool {
	return r.ProtoMajor == 1 && r.Method == http.MethodGet &&
		lists(r.Header, "Connection", "upgrade") && strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}

// swapIn puts real values in for the placeholders of a request. It returns the names of the
// secrets that it used. All of a request is judged before the first value is put in.
func (t *tunnel) swapIn(out *http.Request) (used []string, _ *denial) {
	for _, s := range t.swap.secrets {
		asked, d := t.judge(out, s)
		if d != nil {
			return nil, d
		}
		if asked {
			used = append(used, s.name)
		}
	}
	for _, s := range t.swap.secrets {
		if slices.Contains(used, s.name) {
			s.putInto(out)
		}
	}
	slices.Sort(used)
	return used, nil
}

// judge reports whether a request asks for the value of a secret, or why it may not have it.
func (t *tunnel) judge(out *http.Request, s *secret) (asked bool, _ *denial) {
	for name, values := range out.Header {
		for _, v := range values {
			if !holds(v, s.placeholder) {
				continue
			}
			if !s.forHeader(name) {
				return false, s.deny("the placeholder is in the header " + name)
			}
			if scheme, ok := signs(v); ok {
				return false, s.deny(scheme + " signs the request with the key, which a placeholder cannot do; " +
					"this program needs the key itself, through a named grant")
			}
			asked = true
		}
	}
	if spelled(out.URL.RawQuery, s.placeholder) {
		if spelled(swapQuery(out.URL.RawQuery, s), s.placeholder) {
			return false, s.deny("the placeholder is in the query of the URL, outside of a declared parameter")
		}
		if strings.Contains(strings.ToLower(out.URL.RawQuery), "x-amz-signature=") {
			return false, s.deny("SigV4 signs the request with the key, which a placeholder cannot do")
		}
		asked = true
	}
	if spelled(out.URL.EscapedPath(), s.placeholder) {
		return false, s.deny("the placeholder is in the path of the URL, where no value is put in")
	}
	if !asked {
		return false, nil
	}
	return true, t.permit(out, s)
}

// permit compares a request that asks for a value with the declaration.
func (t *tunnel) permit(out *http.Request, s *secret) *denial {
	switch path := out.URL.EscapedPath(); {
	case !s.forHost(t.host, t.port):
		return s.deny("this is " + t.address())
	case !s.forMethod(out.Method):
		return s.deny("this is " + out.Method)
	case !s.forPath(path):
		return s.deny("this is the path " + path)
	}
	for name, values := range fields(out.Header, methodHeaders) {
		for _, m := range values {
			if !s.forMethod(strings.ToUpper(strings.TrimSpace(m))) {
				return s.deny("the header " + name + " makes this another method")
			}
		}
	}
	if slices.Contains(s.methods, "*") && slices.Contains(s.paths, "/") {
		return nil
	}
	for name := range fields(out.Header, routeHeaders) {
		return s.deny("the header " + name + " may make this another path")
	}
	if hasParameter(out.URL.RawQuery, "_method") && !slices.Contains(s.methods, "*") {
		return s.deny("the parameter _method may make this another method")
	}
	return nil
}

// methodHeaders are headers by which services let a client choose another method, and
// routeHeaders another path or host.
var (
	methodHeaders = []string{"x-http-method-override", "x-http-method", "x-method-override", "x-original-method", "x-forwarded-method", "x-envoy-original-method"}
	routeHeaders  = []string{
		"x-original-url", "x-rewrite-url", "x-original-uri", "x-forwarded-uri", "x-forwarded-path", "x-envoy-original-path",
		"x-forwarded-prefix", "x-forwarded-host", "x-host", "x-original-host", "forwarded",
	}
)

// hasParameter reports whether a query has a parameter, in any of the ways in which services
// read one: some separate by semicolons, ignore case, make a list of "name[]", or read a dot
// and a blank as "_".
func hasParameter(raw, name string) bool {
	for part := range strings.FieldsFuncSeq(raw, func(r rune) bool { return r == '&' || r == ';' }) {
		key, _, _ := strings.Cut(part, "=")
		key = strings.TrimLeft(strings.ToLower(unescaped(strings.ReplaceAll(key, "+", " "))), " ")
		if len(key) > 0 && key[0] == '[' {
			key = "_" + key[1:]
		}
		key, _, _ = strings.Cut(key, "[")
		key, _, _ = strings.Cut(key, "\x00")
		if strings.NewReplacer(".", "_", " ", "_").Replace(key) == name {
			return true
		}
	}
	return false
}

// overrides reports whether a request names another method, so that it counts as a write.
func overrides(out *http.Request) bool {
	for range fields(out.Header, methodHeaders) {
		return true
	}
	return hasParameter(out.URL.RawQuery, "_method")
}

func (s *secret) deny(why string) *denial {
	return &denial{http.StatusForbidden, fmt.Sprintf("Hermes did not put in the value of %s: %s. %s. "+
		"What programs see is only a placeholder. Ask the user to change the declaration if this is needed.", s.name, why, s.says())}
}

// putInto replaces the placeholder where the declaration allows it.
func (s *secret) putInto(out *http.Request) {
	for name, values := range out.Header {
		if !s.forHeader(name) {
			continue
		}
		for i, v := range values {
			values[i] = put(v, s.placeholder, s.value)
		}
	}
	if len(s.query) > 0 {
		out.URL.RawQuery = swapQuery(out.URL.RawQuery, s)
	}
	// The host might show the value in pieces, in which it would not be found.
	out.Header.Del("Range")
	out.Header.Del("If-Range")
}
