package egress

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/proxy"

	"hermes/internal/netguard"
)

// unreachable is the error of a host that is allowed and does not answer.
type unreachable struct {
	target target
	why    string
}

func (u *unreachable) Error() string { return u.target.String() + " could not be reached: " + u.why }

// dial connects to a target that is allowed, by way of this machine's own proxy if it needs
// one.
func (s *Session) dial(ctx context.Context, t target, g grant) (net.Conn, error) {
	up, err := s.proxy.upstream(t, "https")
	if err != nil {
		return nil, err
	}
	if up == nil {
		return s.straight(ctx, t, g)
	}
	if err := s.namedOnly(ctx, t, g); err != nil {
		return nil, err
	}
	return s.proxy.through(ctx, up, t)
}

// straight looks the name up once, judges every address, and connects to one of these. So no
// DNS server can give another address in between.
func (s *Session) straight(ctx context.Context, t target, g grant) (net.Conn, error) {
	list, err := s.addresses(ctx, t, g)
	if err != nil {
		return nil, err
	}
	if s.proxy.config.IPv4 {
		if list = slices.DeleteFunc(list, func(a netip.Addr) bool { return !a.Is4() }); len(list) == 0 {
			return nil, &unreachable{t, "it has no IPv4 address, and network.force_ipv4 is set"}
		}
	}
	for _, a := range netguard.InTurn(list) {
		var conn net.Conn
		if conn, err = s.proxy.connect(ctx, target{a.String(), t.port}.String()); err == nil {
			return conn, nil
		}
	}
	return nil, failed(t, err)
}

// namedOnly judges a target whose name another proxy resolves: by its addresses only if the
// name resolves here, too.
func (s *Session) namedOnly(ctx context.Context, t target, g grant) error {
	_, err := s.addresses(ctx, t, g)
	if _, ok := errors.AsType[*unreachable](err); ok {
		return nil
	}
	return err
}

// failed words the error of a connection, without the addresses of the host.
func failed(t target, err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	if n, ok := errors.AsType[net.Error](err); ok && n.Timeout() || errors.Is(err, context.DeadlineExceeded) {
		return &unreachable{t, "it did not answer in time"}
	}
	return &unreachable{t, err.Error()}
}

// addresses looks a host up and judges every address.
func (s *Session) addresses(ctx context.Context, t target, g grant) ([]netip.Addr, error) {
	list := []netip.Addr(nil)
	if a, ok := t.address(); ok {
		list = append(list, a)
	} else {
		ctx, cancel := context.WithTimeout(ctx, s.proxy.config.Limits.Dial)
		defer cancel()
		var err error
		if list, err = s.proxy.resolve(ctx, t.host); err != nil || len(list) == 0 {
			return nil, &unreachable{t, "its name could not be resolved"}
		}
	}
	networks := s.proxy.config.Networks() // they change while the program runs
	for i, a := range list {
		list[i] = a.Unmap()
		class, what := netguard.ClassifyOn(list[i], networks)
		switch {
		case class == netguard.Private && !g.private:
			return nil, &refused{t, "its name leads to " + what, private}
		case class != netguard.Public && class != netguard.Private:
			return nil, &refused{t, "its name leads to " + what, final}
		}
		if err := s.denied(t, target{list[i].String(), t.port}); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (p *Proxy) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if p.config.Resolve != nil {
		return p.config.Resolve(ctx, host)
	}
	if strings.Contains(host, ".") {
		host += "." // no search domain of this machine
	}
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

func (p *Proxy) connect(ctx context.Context, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, p.config.Limits.Dial)
	defer cancel()
	if p.config.Connect != nil {
		return p.config.Connect(ctx, "tcp", address)
	}
	d := net.Dialer{KeepAlive: 30 * time.Second}
	return d.DialContext(ctx, "tcp", address)
}

// upstream chooses this machine's own proxy for a target.
func (p *Proxy) upstream(t target, scheme string) (*url.URL, error) {
	if p.config.Upstream == nil {
		return nil, nil
	}
	up, err := p.config.Upstream(&http.Request{Method: http.MethodGet, URL: &url.URL{Scheme: scheme, Host: t.String(), Path: "/"}})
	if err != nil { // its text could show a password
		return nil, &unreachable{t, "the setting of this machine's own proxy is not valid"}
	}
	return up, nil
}

// through connects by way of this machine's own proxy.
func (p *Proxy) through(ctx context.Context, up *url.URL, t target) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*p.config.Limits.Dial)
	defer cancel()
	conn, err := p.toUpstream(ctx, up)
	if err == nil {
		raw := conn // the func below may run after conn has changed
		stop := context.AfterFunc(ctx, func() { _ = raw.SetDeadline(time.Unix(1, 0)) })
		conn, err = tunnelThrough(ctx, conn, up, t)
		if !stop() && err == nil {
			_ = conn.Close()
			err = ctx.Err()
		}
	}
	if err != nil {
		return nil, &unreachable{t, "this machine's own proxy does not connect to it"} // its text could name the proxy's password
	}
	return conn, nil
}

func (p *Proxy) toUpstream(ctx context.Context, up *url.URL) (net.Conn, error) {
	port := up.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[up.Scheme]
	}
	if port == "" {
		port = "1080"
	}
	conn, err := p.connect(ctx, net.JoinHostPort(up.Hostname(), port))
	if err != nil || up.Scheme != "https" {
		return conn, err
	}
	secure := tls.Client(conn, &tls.Config{ServerName: up.Hostname(), MinVersion: tls.VersionTLS12})
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return secure, nil
}

// tunnelThrough asks a proxy for a tunnel. It closes conn if it fails.
func tunnelThrough(ctx context.Context, conn net.Conn, up *url.URL, t target) (out net.Conn, err error) {
	defer func() {
		if err != nil {
			_ = conn.Close()
		}
	}()
	switch up.Scheme {
	case "socks5", "socks5h":
		return conn, socksThrough(ctx, conn, up, t)
	case "http", "https":
	default:
		return nil, fmt.Errorf("unknown proxy type %q", up.Scheme)
	}
	head := "CONNECT " + t.String() + " HTTP/1.1\r\nHost: " + t.String() + "\r\n"
	if up.User != nil {
		password, _ := up.User.Password()
		head += "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(up.User.Username()+":"+password)) + "\r\n"
	}
	if _, err := conn.Write([]byte(head + "\r\n")); err != nil {
		return nil, err
	}
	r := bufio.NewReader(conn)
	resp, err := http.ReadResponse(r, &http.Request{Method: http.MethodConnect})
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, errors.New(resp.Status)
	}
	return early{conn, r}, nil
}

func socksThrough(ctx context.Context, conn net.Conn, up *url.URL, t target) error {
	var auth *proxy.Auth
	if up.User != nil {
		password, _ := up.User.Password()
		auth = &proxy.Auth{User: up.User.Username(), Password: password}
	}
	d, err := proxy.SOCKS5("tcp", "upstream", auth, made{conn})
	if err != nil {
		return err
	}
	_, err = d.(proxy.ContextDialer).DialContext(ctx, "tcp", t.String())
	return err
}

// made is a dialer whose connection was made before.
type made struct{ net.Conn }

func (m made) Dial(string, string) (net.Conn, error)                         { return m.Conn, nil }
func (m made) DialContext(context.Context, string, string) (net.Conn, error) { return m.Conn, nil }
