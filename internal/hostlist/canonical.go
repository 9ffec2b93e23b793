package hostlist

import (
	"cmp"
	"encoding/binary"
	"errors"
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// maxName bounds a host name, in bytes.
const maxName = 253

var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// Canonical returns the one form of a host name or address: in ASCII, lower case and
// without a final dot; an address as netip writes it, whichever way it was spelled,
// and an IPv4 address within an IPv6 one (mapped, NAT64) as IPv4. It fails for what no
// host is called.
func Canonical(host string) (string, error) {
	if len(host) > 4*maxName || !utf8.ValidString(host) {
		return "", errors.New("its host is not a valid name")
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.Contains(host, ":") {
		a, err := netip.ParseAddr(host)
		if err != nil || a.Zone() != "" {
			return "", errors.New("its host is not a valid address")
		}
		return plainAddress(a).String(), nil
	}
	name, err := ascii(strings.TrimSuffix(host, "."))
	if err != nil {
		return "", err
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	if !number(last) {
		return name, nil
	}
	a, err := numeric(name) // a name cannot end with a number
	if err != nil {
		return "", err
	}
	return a.String(), nil
}

// ascii returns a name in ASCII, as it is looked up.
func ascii(host string) (string, error) {
	name, err := idna.Lookup.ToASCII(host)
	if err != nil && strings.Contains(host, "_") { // some hosts have one, which IDNA does not know
		name, err = strings.ToLower(host), nil
	}
	if err != nil || name == "" || len(name) > maxName || strings.Contains("."+name+".", "..") {
		return "", errors.New("its host is not a valid name")
	}
	name = strings.ToLower(name)
	for i := range len(name) {
		c := name[i]
		if c != '.' && c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return "", errors.New("its host is not a valid name")
		}
	}
	return name, nil
}

// number reports whether programs read the end of a host as a number, and so the host
// as an IPv4 address.
func number(last string) bool {
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}

// numeric reads an IPv4 address in any form that C programs read: 127.0.0.1, 127.1,
// 0x7f.0.0.1, 0177.0.0.1, 2130706433. The last number fills the bytes that are left.
func numeric(text string) (netip.Addr, error) {
	errNumber := errors.New("its host is not a valid address")
	parts := strings.Split(text, ".")
	if len(parts) > 4 {
		return netip.Addr{}, errNumber
	}
	var value uint64
	for i, p := range parts {
		base, digits := 10, p
		switch {
		case strings.HasPrefix(p, "0x"):
			base, digits = 16, cmp.Or(p[2:], "0")
		case len(p) > 1 && p[0] == '0':
			base, digits = 8, p[1:]
		}
		n, err := strconv.ParseUint(digits, base, 32)
		if err != nil {
			return netip.Addr{}, errNumber
		}
		width := 8
		if i == len(parts)-1 {
			width = 8 * (5 - len(parts))
		}
		if n >= 1<<width {
			return netip.Addr{}, errNumber
		}
		value = value<<width | n
	}
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], uint32(value))
	return netip.AddrFrom4(b), nil
}

// plainAddress unwraps the IPv4 address within an IPv6 one.
func plainAddress(a netip.Addr) netip.Addr {
	a = a.Unmap()
	if nat64.Contains(a) {
		b := a.As16()
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return a
}

func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}
