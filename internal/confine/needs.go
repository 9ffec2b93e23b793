package confine

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"

	"hermes"
	"hermes/internal/egress"
	"hermes/internal/sandbox"
)

// open allows the hosts that every command of the session may reach, and those of one
// command, which the user has just allowed, until the returned funcs are called. Then what
// only they allowed ends. Call it with the lock held.
func (w *Walls) open(granted, once []hermes.Need) (revoke []func()) {
	if w.session == nil {
		return nil
	}
	for name, close := range w.hostsOpen {
		if !slices.Contains(granted, hermes.Need{Kind: hermes.RefusedHost, Name: name}) {
			close()
			delete(w.hostsOpen, name)
		}
	}
	for _, n := range granted {
		if w.hostsOpen[n.Name] == nil {
			if close := w.openHost(n); close != nil {
				w.hostsOpen[n.Name] = close
			}
		}
	}
	for _, n := range once {
		if close := w.openHost(n); close != nil {
			revoke = append(revoke, close)
		}
		if host, port, err := net.SplitHostPort(n.Name); n.Kind == hermes.RefusedHost && err == nil && port == sshPort {
			revoke = append(revoke, w.agent.allow(host))
		}
	}
	return revoke
}

// openHost allows a host until the returned func is called. It returns nil for other needs.
func (w *Walls) openHost(n hermes.Need) (revoke func()) {
	if n.Kind != hermes.RefusedHost {
		return nil
	}
	r, err := egress.ParseRule(n.Name)
	if err != nil {
		return nil // the proxy goes on to refuse it, and says so
	}
	r.Private = isAddress(n.Name) // the user saw which address it is
	return w.session.Allow(r)
}

// isAddress reports whether host:port names an address or this machine.
func isAddress(name string) bool {
	host, _, err := net.SplitHostPort(name)
	if err != nil {
		return false
	}
	_, err = netip.ParseAddr(host)
	return err == nil || host == "localhost"
}

// forward forwards the ports among needs. It fails if one that the user has just allowed
// cannot be opened on the host. Call it with the lock held.
func (w *Walls) forward(at *place, granted, needs []hermes.Need) error {
	if at.keeper.Layer() != sandbox.A { // else the host's loopback is that of the session
		return nil
	}
	for _, n := range granted {
		if err := w.forwardPort(at, n); err != nil {
			w.program.config.Log.Warn("a port of the sandbox is not forwarded", "error", err)
		}
	}
	for _, n := range needs {
		if err := w.forwardPort(at, n); err != nil {
			return err
		}
	}
	return nil
}

func (w *Walls) forwardPort(at *place, n hermes.Need) error {
	port, err := strconv.Atoi(n.Name)
	if n.Kind != hermes.OpenedPort || err != nil {
		return nil
	}
	if f := w.forwards[port]; f != nil {
		select {
		case <-f.keeper.Gone(): // it led to a server that has ended
			f.close()
			delete(w.forwards, port)
		default:
			return nil
		}
	}
	f, err := forwardPort(at.keeper, port)
	if err == nil {
		w.forwards[port] = f
	}
	return err
}

// openedPort tells that a port is open inside.
func openedPort(l sandbox.Layer, port int) hermes.Refusal {
	name := strconv.Itoa(port)
	r := hermes.Refusal{Kind: hermes.OpenedPort, Name: name, Note: "open to all programs of this machine, at 127.0.0.1:" + name}
	if l == sandbox.A {
		r.Note = "open for later commands of this session only; call with need [\"port " + name + "\"] to open it to the user's browser"
	}
	return r
}

// hosts lists the connections that were refused since a time.
func (w *Walls) hosts(since time.Time) []hermes.Refusal {
	var out []hermes.Refusal
	if w.session != nil {
		for _, r := range w.session.Refused(since) {
			name := net.JoinHostPort(r.Host, strconv.Itoa(int(r.Port)))
			note := r.Why
			if !r.Askable {
				note += "; this cannot be allowed"
			}
			out = append(out, hermes.Refusal{Kind: hermes.RefusedHost, Name: name, Note: note})
		}
	}
	for _, a := range w.refused.since(since) {
		if !slices.ContainsFunc(out, func(r hermes.Refusal) bool { return r.Name == a }) {
			out = append(out, hermes.Refusal{Kind: hermes.RefusedHost, Name: a, Note: "the program did not use the proxy of the sandbox (HTTPS_PROXY)"})
		}
	}
	return out
}

// addresses are connections past the proxy, which layer B refused: a bounded record.
type addresses struct {
	mu   sync.Mutex
	list []refusedAddress
}

type refusedAddress struct {
	address string
	at      time.Time
}

// maxAddresses is how many refused addresses are remembered.
const maxAddresses = 16

func (w *Walls) refusedAddress(address string) {
	a := &w.refused
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = slices.DeleteFunc(a.list, func(r refusedAddress) bool { return r.address == address })
	if len(a.list) >= maxAddresses {
		a.list = slices.Delete(a.list, 0, 1)
	}
	a.list = append(a.list, refusedAddress{address, time.Now()})
}

func (a *addresses) since(t time.Time) (out []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range a.list {
		if !r.at.Before(t) {
			out = append(out, r.address)
		}
	}
	return out
}
