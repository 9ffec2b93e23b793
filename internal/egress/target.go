package egress

import (
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"hermes/internal/netguard"
)

// target is where a connection is to go: a host in its plain form, and a port.
type target struct {
	host string
	port uint16
}

func (t target) String() string { return net.JoinHostPort(t.host, strconv.Itoa(int(t.port))) }

// address returns the address that the host is, if it is not a name.
func (t target) address() (netip.Addr, bool) {
	a, err := netip.ParseAddr(t.host)
	return a, err == nil
}

// readTarget reads the host:port of a CONNECT request or a URL. port is what counts if the
// text names none; 0 requires one.
func readTarget(text string, port uint16) (target, error) {
	if strings.ContainsAny(text, "@%/\\?# ") {
		return target{}, errors.New("it is not a plain host:port")
	}
	host, digits, has := strings.Cut(text, ":")
	if rest, ok := strings.CutPrefix(text, "["); ok {
		var after string
		host, after, ok = strings.Cut(rest, "]")
		if digits, has = strings.CutPrefix(after, ":"); !ok || !strings.Contains(host, ":") || after != "" && !has {
			return target{}, errors.New("its brackets are not those of an address")
		}
	}
	if has {
		n, err := strconv.ParseUint(digits, 10, 16)
		if err != nil || n == 0 {
			return target{}, errors.New("its port is not valid")
		}
		port = uint16(n)
	}
	if port == 0 {
		return target{}, errors.New("it has no port")
	}
	return newTarget(host, port)
}

func newTarget(host string, port uint16) (target, error) {
	plain, err := netguard.Canonical(host)
	if err != nil {
		return target{}, err
	}
	if port == 0 {
		return target{}, errors.New("its port is not valid")
	}
	return target{plain, port}, nil
}
