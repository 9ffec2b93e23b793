package swap

import (
	"encoding/base64"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// holds reports whether a header's value holds a placeholder, as it is or inside the
// credentials of Basic.
func holds(value, placeholder string) bool {
	if strings.Contains(value, placeholder) {
		return true
	}
	_, pair, ok := basic(value)
	return ok && strings.Contains(pair, placeholder)
}

// put replaces a placeholder in a header's value by the real one.
func put(value, placeholder, real string) string {
	if scheme, pair, ok := basic(value); ok && strings.Contains(pair, placeholder) {
		return scheme + " " + base64.StdEncoding.EncodeToString([]byte(strings.ReplaceAll(pair, placeholder, real)))
	}
	return strings.ReplaceAll(value, placeholder, real)
}

// basic decodes the credentials of Basic, in any of the alphabets that clients use.
func basic(value string) (scheme, pair string, ok bool) {
	scheme, coded, found := strings.Cut(strings.TrimLeft(value, " \t"), " ")
	if !found || !strings.EqualFold(scheme, "basic") {
		return "", "", false
	}
	coded = strings.TrimRight(strings.Trim(coded, " \t"), "=")
	for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if plain, err := e.DecodeString(coded); err == nil {
			return scheme, string(plain), true
		}
	}
	return "", "", false
}

// signing are schemes of the Authorization header that prove the key without sending it.
var signing = []string{
	"aws4-hmac-sha256", "aws4-ecdsa-p256-sha256", "digest", "hmac", "hmac-sha256", "signature",
	"hawk", "oauth", "mac", "negotiate", "ntlm", "goog4-hmac-sha256", "eg1-hmac-sha256", "sharedkey",
}

// signs returns the scheme of a header that carries a signature.
func signs(value string) (scheme string, ok bool) {
	scheme, _, _ = strings.Cut(strings.TrimLeft(value, " \t"), " ")
	return scheme, slices.Contains(signing, strings.ToLower(scheme))
}

// swapQuery replaces placeholders in the declared parameters of a query and returns the
// result. It does not touch other parameters: not even how they are written.
func swapQuery(raw string, s *secret) string {
	parts := strings.Split(raw, "&")
	for i, part := range parts {
		key, value, _ := strings.Cut(part, "=")
		name, err := url.QueryUnescape(key)
		if err != nil || !slices.Contains(s.query, name) {
			continue
		}
		if plain, err := url.QueryUnescape(value); err == nil && strings.Contains(plain, s.placeholder) {
			parts[i] = key + "=" + url.QueryEscape(strings.ReplaceAll(plain, s.placeholder, s.value))
		}
	}
	return strings.Join(parts, "&")
}

// spelled reports whether a part of a URL holds a placeholder, behind percent signs or not.
func spelled(part, placeholder string) bool {
	if strings.Contains(part, placeholder) {
		return true
	}
	plain, err := url.QueryUnescape(part)
	return err == nil && strings.Contains(plain, placeholder)
}

// hopHeaders concern one connection, not the request.
var hopHeaders = []string{
	"connection", "proxy-connection", "keep-alive", "proxy-authenticate", "proxy-authorization",
	"te", "trailer", "transfer-encoding", "upgrade", "http2-settings",
}

// folded is the name of a field as services read it that make a variable of each field, such as
// HTTP_X_HOST: case is lost, and all but letters and digits is one sign.
func folded(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(name))
}

// fields lists the fields whose folded names are in a list.
func fields(h http.Header, names []string) iter.Seq2[string, []string] {
	return func(yield func(string, []string) bool) {
		for name, values := range h {
			if slices.Contains(names, folded(name)) && !yield(name, values) {
				return
			}
		}
	}
}

// dropHops removes what concerns one connection only.
func dropHops(h http.Header) {
	for _, list := range h["Connection"] {
		for name := range strings.SplitSeq(list, ",") {
			h.Del(strings.TrimSpace(name))
		}
	}
	for name := range fields(h, hopHeaders) {
		delete(h, name)
	}
}

// lists reports whether a header, which is a list of words, holds one.
func lists(h http.Header, name, word string) bool {
	for _, list := range h[name] {
		for one := range strings.SplitSeq(list, ",") {
			one, _, _ = strings.Cut(one, ";")
			if strings.EqualFold(strings.TrimSpace(one), word) {
				return true
			}
		}
	}
	return false
}
