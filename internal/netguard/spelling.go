package netguard

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"
)

// Canonical brings a host name or an address into its plain form, without a look-up: lower
// case, in ASCII, without a final dot. Every spelling of an address that some program reads
// as one (0x7f.1, 2130706433, 017700000001, ::ffff:7f00:1) becomes the address. The error
// says why a host is not valid; it does not repeat the host.
//
// The guard itself refuses most of these spellings, since a URL that a person means has none.
func Canonical(host string) (string, error) {
	if strings.Contains(host, ":") {
		a, err := netip.ParseAddr(host)
		switch {
		case err != nil:
			return "", errors.New("its host is not a valid address")
		case a.Zone() != "":
			return "", errors.New("its host is an address that is only valid on one machine")
		}
		return a.Unmap().String(), nil
	}
	bare := strings.ToLower(strings.TrimSuffix(host, "."))
	if number(bare[strings.LastIndexByte(bare, '.')+1:]) && bare != "" {
		a, ok := fromNumbers(bare)
		if !ok {
			return "", errors.New("its host is not a valid address")
		}
		return a.String(), nil
	}
	return readHost(host)
}

// fromNumbers reads an IPv4 address as the C library's inet_aton does: one to four numbers,
// each decimal, octal or hexadecimal, the last of which fills the bytes that are left.
func fromNumbers(host string) (netip.Addr, bool) {
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var all uint64
	for i, part := range parts {
		n, ok := readNumber(part)
		most := uint64(0xff)
		if i == len(parts)-1 {
			most = 1<<(8*(5-len(parts))) - 1
		}
		if !ok || n > most {
			return netip.Addr{}, false
		}
		if i == len(parts)-1 {
			all |= n
			break
		}
		all |= n << (8 * (3 - i))
	}
	return netip.AddrFrom4([4]byte{byte(all >> 24), byte(all >> 16), byte(all >> 8), byte(all)}), true
}

// readNumber reads one part. An empty hexadecimal number is 0, as for some programs.
func readNumber(part string) (uint64, bool) {
	base := 10
	if hex, ok := strings.CutPrefix(part, "0x"); ok {
		if hex == "" {
			return 0, true
		}
		part, base = hex, 16
	} else if len(part) > 1 && part[0] == '0' {
		part, base = part[1:], 8
	}
	n, err := strconv.ParseUint(part, base, 32)
	return n, err == nil && !strings.ContainsAny(part, "_+-")
}
