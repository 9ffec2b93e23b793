package confine

import (
	"crypto/rand"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"hermes"
	"hermes/internal/egress/connect"
	"hermes/internal/egress/sshagent"
	"hermes/internal/localsocket"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/plan"
)

// sshPort is the port on which git speaks ssh.
const sshPort = "22"

// Programs inside reach ssh hosts through the proxy, and use the keys of the user's agent
// only while a command runs for which the user has just allowed the host: a need of that
// command, not a grant that stays. See docs/egress.md.

// agent is the ssh agent of a session. The zero value serves no one.
type agent struct {
	mu      sync.Mutex
	server  *sshagent.Agent
	closers []func()
	path    string            // of the socket, as programs inside see it
	allowed map[string]int    // hosts whose needs were just allowed
	keepers []*sandbox.Keeper // of the session: who is served
	refused []refusedKey
}

// refusedKey is a login for which no key was used.
type refusedKey struct {
	hosts []string // with which the session was connected then
	why   string
	at    time.Time
}

// maxRefusedKeys is how many refusals are remembered.
const maxRefusedKeys = 16

// allow lets keys be used for a host until the returned func is called.
func (a *agent) allow(host string) (revoke func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.allowed == nil {
		a.allowed = map[string]int{}
	}
	a.allowed[host]++
	return sync.OnceFunc(func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.allowed[host]--; a.allowed[host] == 0 {
			delete(a.allowed, host)
		}
	})
}

// loginHosts lists where a key may be used now: the user has just allowed the host, and a
// program of the session is connected with it.
func (w *Walls) loginHosts() (list []string) {
	hosts := w.session.Connected(22)
	w.agent.mu.Lock()
	defer w.agent.mu.Unlock()
	for _, h := range hosts {
		if w.agent.allowed[h] > 0 {
			list = append(list, net.JoinHostPort(h, sshPort))
		}
	}
	return list
}

func (w *Walls) refusedKey(why string) {
	hosts := w.session.Connected(22)
	a := &w.agent
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.refused) == maxRefusedKeys {
		a.refused = slices.Delete(a.refused, 0, 1)
	}
	a.refused = append(a.refused, refusedKey{hosts, why, time.Now()})
}

// keysRefused adds the logins that were refused since a time.
func (w *Walls) keysRefused(out []hermes.Refusal, since time.Time) []hermes.Refusal {
	w.agent.mu.Lock()
	defer w.agent.mu.Unlock()
	for _, k := range w.agent.refused {
		for _, h := range k.hosts {
			r := hermes.Refusal{Kind: hermes.RefusedHost, Name: net.JoinHostPort(h, sshPort), Note: k.why}
			if !k.at.Before(since) && !slices.Contains(out, r) {
				out = append(out, r)
			}
		}
	}
	return out
}

// userAgent is the socket of the user's own agent, "" if there is none.
func (w *Walls) userAgent() string { return values(w.config.Environ)["SSH_AUTH_SOCK"] }

// serveKeys makes the agent's socket in the temporary folder of the session's programs,
// where layer A shows it to them. In layer B they cannot open it. Other sessions of the project
// have the same folder, so only what runs behind the keepers of this session is served.
func (w *Walls) serveKeys(p plan.Plan, keeper *sandbox.Keeper) {
	a := &w.agent
	a.mu.Lock()
	defer a.mu.Unlock()
	a.keepers = append(slices.DeleteFunc(a.keepers, hasGone), keeper)
	if a.server != nil || w.session == nil || p.Policy.Layer != sandbox.A || w.userAgent() == "" || p.Policy.Temp == "" {
		return
	}
	name := "ssh-agent-" + rand.Text()[:16]
	l, closeFolder, err := listenIn(p.Policy.Temp, name)
	if err != nil {
		w.program.config.Log.Warn("make the ssh agent of the sandbox", "error", err)
		return
	}
	home := w.program.config.Home
	a.server = sshagent.New(sshagent.Config{
		Upstream: func() (net.Conn, error) { return net.Dial("unix", w.userAgent()) },
		Allowed:  w.loginHosts, Refused: w.refusedKey,
		KnownHosts: []string{filepath.Join(home, ".ssh", "known_hosts"), filepath.Join(home, ".ssh", "known_hosts2"), "/etc/ssh/ssh_known_hosts"},
	})
	a.path = "/tmp/" + name
	a.closers = append(a.closers, func() { l.Close(); closeFolder() })
	w.serving.Go(func() { _ = a.server.Serve(ownPeers{l, a}) }) // ends with its listener
}

func hasGone(k *sandbox.Keeper) bool {
	select {
	case <-k.Gone():
		return true
	default:
		return false
	}
}

// ownPeers accepts connections of processes of the session only.
type ownPeers struct {
	net.Listener
	of *agent
}

func (l ownPeers) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil || l.of.holds(conn) {
			return conn, err
		}
		_ = conn.Close()
	}
}

// holds reports whether a process of the session made a connection.
func (a *agent) holds(conn net.Conn) bool {
	peer, err := localsocket.PeerOf(conn)
	if err != nil {
		return false
	}
	a.mu.Lock()
	keepers := slices.Clone(a.keepers)
	a.mu.Unlock()
	return slices.ContainsFunc(keepers, func(k *sandbox.Keeper) bool { return k.Holds(peer.PID) }) && peer.Same()
}

// listenIn makes a socket in a folder. Its path may be longer than that of a socket can be,
// so it is named through the open folder.
func listenIn(folder, name string) (l net.Listener, closeFolder func(), err error) {
	dir, err := os.Open(folder)
	if err != nil {
		return nil, nil, err
	}
	closeFolder = func() { dir.Close() }
	l, err = net.Listen("unix", filepath.Join("/proc/self/fd", strconv.Itoa(int(dir.Fd())), name))
	if err != nil {
		closeFolder()
		return nil, nil, err
	}
	return l, closeFolder, nil
}

// close ends the agent.
func (a *agent) close() {
	a.mu.Lock()
	server, list := a.server, a.closers
	a.closers = nil
	a.mu.Unlock()
	for _, f := range list {
		f()
	}
	if server != nil {
		server.Close()
	}
}

// sshCommand is the variable by which git inside starts ssh: without the files of the user
// and the system that configure it, which may start programs and name keys, and through the
// proxy.
func (w *Walls) sshCommand(at *place) []string {
	program, err := ownProgram()
	if err != nil || at.port == 0 {
		return nil
	}
	w.agent.mu.Lock()
	socket := w.agent.path
	w.agent.mu.Unlock()
	note := ""
	switch {
	case at.keeper.Layer() != sandbox.A:
		socket, note = "none", "this sandbox (layer B) has no Unix sockets, so ssh cannot use the keys of your agent. If a login fails, run the command with escalate."
	case w.userAgent() == "":
		socket, note = "none", "no ssh agent is known (SSH_AUTH_SOCK is not set), so ssh has no keys. The user can start Hermes from a shell with ssh-agent."
	case socket == "":
		socket = "none"
	}
	proxy := quoted(strings.ReplaceAll(program, "%", "%%")) + " " + connect.Name + " %h %p"
	if note != "" {
		proxy += " " + quoted(note)
	}
	words := []string{"ssh", "-F", "none"}
	for _, o := range []string{
		"ProxyCommand=" + proxy, `UserKnownHostsFile="` + values(at.plan.Set)["HOME"] + `/.ssh/known_hosts"`,
		"StrictHostKeyChecking=yes", "UpdateHostKeys=no", "IdentityAgent=" + socket, "BatchMode=yes",
	} {
		words = append(words, "-o", quoted(o))
	}
	return []string{"GIT_SSH_COMMAND=" + strings.Join(words, " ")}
}

// quoted is a word for a shell.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

var errReplaced = errors.New("this program was replaced or removed while it ran")

// ownProgram is the file of this program.
func ownProgram() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); err != nil {
		return "", errReplaced
	}
	return path, nil
}
