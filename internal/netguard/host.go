package netguard

import (
	"errors"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
)

// maxURL bounds a URL, in bytes.
const maxURL = 8 << 10

// parse reads a URL and checks everything that its text shows. It returns the
// host in the form for the lookup: lower case, in ASCII, without a final dot.
func parse(raw string) (*url.URL, error) {
	if len(raw) > maxURL {
		return nil, errors.New("it is too long")
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errors.New("it is not a valid URL") // the error's own text repeats the whole URL
	}
	return u, clean(u)
}

// clean checks the parts of a URL and brings its host into the form for the
// lookup.
func clean(u *url.URL) error {
	if u.Scheme = strings.ToLower(u.Scheme); u.Scheme != "http" && u.Scheme != "https" || u.Opaque != "" {
		return errors.New("only http and https addresses are allowed")
	}
	host, err := readHost(u.Hostname())
	if err != nil {
		return err
	}
	port := u.Port()
	if n, err := strconv.Atoi(port); port != "" && (err != nil || n < 1 || n > 65535) {
		return errors.New("its port is not valid")
	}
	u.Host = host
	if strings.Contains(host, ":") {
		u.Host = "[" + host + "]"
	}
	if port != "" {
		u.Host += ":" + port
	}
	return nil
}

// readHost brings a host name or address into its plain form, or says why it is
// not valid.
func readHost(host string) (string, error) {
	if strings.Contains(host, ":") {
		a, err := netip.ParseAddr(host)
		if err != nil || a.Zone() != "" {
			return "", errors.New("its host is not a valid address")
		}
		return a.String(), nil
	}
	host = strings.TrimSuffix(host, ".")
	if host == "" {
		return "", errors.New("it has no host")
	}
	if err := lookalike(host); err != nil {
		return "", err
	}
	plain, err := idna.Lookup.ToASCII(host)
	if err != nil && !strings.Contains(host, "_") || len(plain) > 253 {
		return "", errors.New("its host is not a valid name")
	}
	plain = strings.ToLower(plain)
	if err := lookalike(plain); err != nil { // letters that became others in the plain form
		return "", err
	}
	for i := range len(plain) {
		c := plain[i]
		if c != '.' && c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return "", errors.New("its host is not a valid name")
		}
	}
	if strings.Contains("."+plain+".", "..") {
		return "", errors.New("its host has an empty part")
	}
	last := plain[strings.LastIndexByte(plain, '.')+1:]
	if _, err := netip.ParseAddr(plain); err != nil && number(last) {
		return "", errors.New("its host is an address written as a number") // 0x7f.1, 2130706433, 127.1
	}
	return plain, nil
}

// number reports whether some programs read the end of a host as a number, and
// so the host as an IPv4 address.
func number(last string) bool {
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}

// errLookalike refuses a name that imitates another one.
var errLookalike = errors.New("its host uses characters that look like others")

// lookalike refuses hosts that look like others: letters of several alphabets
// in one part, letters that look like Latin ones, other forms of plain
// characters, and invisible characters.
func lookalike(host string) error {
	shown := host
	if strings.Contains(strings.ToLower(host), "xn--") {
		var err error
		if shown, err = idna.Punycode.ToUnicode(strings.ToLower(host)); err != nil {
			return errors.New("its host is not a valid name")
		}
	}
	for part := range strings.SplitSeq(shown, ".") {
		if imitates(part) {
			return errLookalike
		}
	}
	return nil
}

// alphabets are those with letters that look alike.
var alphabets = []*unicode.RangeTable{unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee, unicode.Coptic}

// mimics are the letters of other alphabets that look like a Latin one.
const mimics = "асԁеһіјӏорԛѕԝхуѵгпк" + "αοντυικρχ" + "օսոհզցյ"

func imitates(part string) bool {
	used, others, mimicked := map[*unicode.RangeTable]bool{}, 0, 0
	for _, r := range part {
		switch {
		case r < 0x80:
			if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
				used[unicode.Latin] = true
			}
			continue
		case !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != 'ー' && r != '·',
			r >= 0xff00 && r <= 0xffef, r >= 0x1d400 && r <= 0x1d7ff, r >= 0x2100 && r <= 0x214f: // full width, mathematical, letterlike
			return true
		}
		for _, a := range alphabets {
			if unicode.Is(a, r) {
				used[a] = true
			}
		}
		others++
		if strings.ContainsRune(mimics, unicode.ToLower(r)) {
			mimicked++
		}
	}
	return len(used) > 1 || others > 0 && mimicked == others
}
