//go:build amd64 || arm64

package seccomp_test

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"hermes/internal/sandbox/seccomp"
)

// A plain is a socket by raw calls, without the care that package net takes.
type plain int

func newPlain(domain int) plain {
	fd, err := unix.Socket(domain, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		panic(err)
	}
	return plain(fd)
}

func address(s string) unix.Sockaddr {
	a := netip.MustParseAddrPort(s)
	if a.Addr().Is4() {
		return &unix.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}
	}
	return &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16()}
}

func (p plain) close()                 { unix.Close(int(p)) }
func (p plain) connect(s string) error { return unix.Connect(int(p), address(s)) }
func (p plain) bind(s string) error    { return unix.Bind(int(p), address(s)) }
func (p plain) listen() error          { return unix.Listen(int(p), 1) }

// local returns where the socket is bound, with the port's number left out.
func (p plain) local() string {
	host, _ := p.where()
	return host
}

func (p plain) where() (host string, port int) {
	a, err := unix.Getsockname(int(p))
	if err != nil {
		return err.Error(), 0
	}
	switch a := a.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrFrom4(a.Addr).String(), a.Port
	case *unix.SockaddrInet6:
		return netip.AddrFrom16(a.Addr).String(), a.Port
	}
	return "?", 0
}

// disconnect is connect with the family that says nothing.
func (p plain) disconnect() error {
	var a [16]byte
	return call(unix.SYS_CONNECT, uintptr(p), pointer(&a[0]), uintptr(len(a)))
}

func connectTo(domain int, to string) error {
	p := newPlain(domain)
	defer p.close()
	return p.connect(to)
}

func connectAttacks(args map[string]string) map[string]error {
	host, proxy := args["host"], args["proxy"]
	own := newPlain(unix.AF_INET)
	must0(own.bind("0.0.0.0:0"))
	must0(unix.Listen(int(own), 100))
	_, port := own.where()
	got := map[string]error{
		"proxy":              connectTo(unix.AF_INET, "127.0.0.1:"+proxy),
		"proxy mapped":       connectTo(unix.AF_INET6, "[::ffff:127.0.0.1]:"+proxy),
		"proxy's port":       connectTo(unix.AF_INET, "127.0.0.2:"+proxy),
		"outside":            connectTo(unix.AF_INET, "192.0.2.1:80"),
		"outside 6":          connectTo(unix.AF_INET6, "[2001:db8::1]:80"),
		"outside mapped":     connectTo(unix.AF_INET6, "[::ffff:192.0.2.1]:80"),
		"host":               connectTo(unix.AF_INET, "127.0.0.1:"+host),
		"host mapped":        connectTo(unix.AF_INET6, "[::ffff:127.0.0.1]:"+host),
		"host by wildcard":   connectTo(unix.AF_INET, "0.0.0.0:"+host),
		"host by wildcard 6": connectTo(unix.AF_INET6, "[::ffff:0.0.0.0]:"+host),
		"host by ::1":        connectTo(unix.AF_INET6, "[::1]:"+host),
		"nobody":             connectTo(unix.AF_INET, "127.0.0.1:1"),
		"own":                connectTo(unix.AF_INET, fmt.Sprint("127.0.0.1:", port)),
		"own mapped":         connectTo(unix.AF_INET6, fmt.Sprint("[::ffff:127.0.0.1]:", port)),
		"own by ::1":         connectTo(unix.AF_INET6, fmt.Sprint("[::1]:", port)),
		"own by wildcard":    connectTo(unix.AF_INET, fmt.Sprint("0.0.0.0:", port)),
		"undumpable":         undumpable(fmt.Sprint("127.0.0.1:", port)),
		"own table":          ownTable(fmt.Sprint("127.0.0.1:", port)),
		"interfaces":         interfaces(),
		"short address":      call(unix.SYS_CONNECT, uintptr(own), 1, 1),
		"long address":       call(unix.SYS_CONNECT, uintptr(own), 1, 1<<20),
		"negative address":   call(unix.SYS_CONNECT, uintptr(own), 1, ^uintptr(0)),
		"no memory":          call(unix.SYS_CONNECT, uintptr(own), 1, 16),
		"no socket":          call(unix.SYS_LISTEN, 0, 1),
		"no descriptor":      call(unix.SYS_LISTEN, 999, 1),
	}
	for name, where := range listenAttacks(host) {
		got[name] = fmt.Errorf("%s", where)
	}
	return got
}

// undumpable connects while other processes may not look into this one.
func undumpable(to string) error {
	must0(unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0))
	defer unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0)
	return connectTo(unix.AF_INET, to)
}

// ownTable connects in a thread whose descriptors are not those of its process.
func ownTable(to string) error {
	got := make(chan error)
	go func() {
		runtime.LockOSThread()
		must0(unix.Unshare(unix.CLONE_FILES))
		got <- connectTo(unix.AF_INET, to)
	}()
	return <-got
}

// listenAttacks try to listen where the world or a foreign program is. They
// return where the socket listens, or the error.
func listenAttacks(host string) map[string]string {
	try := func(domain int, prepare func(plain) error) string {
		p := newPlain(domain)
		defer p.close()
		if err := prepare(p); err != nil {
			return word(err)
		}
		if err := p.listen(); err != nil {
			return "listen: " + word(err)
		}
		return p.local()
	}
	bind := func(to string) func(plain) error { return func(p plain) error { return p.bind(to) } }
	own := newPlain(unix.AF_INET)
	must0(unix.Listen(int(own), 100))
	_, port := own.where()
	return map[string]string{
		"listen unbound":   try(unix.AF_INET, func(plain) error { return nil }),
		"listen unbound 6": try(unix.AF_INET6, func(plain) error { return nil }),
		"listen on all":    try(unix.AF_INET, bind("0.0.0.0:0")),
		"listen on all 6":  try(unix.AF_INET6, bind("[::]:0")),
		"listen on mapped": try(unix.AF_INET6, bind("[::ffff:0.0.0.0]:0")),
		"listen on only 6": try(unix.AF_INET6, func(p plain) error { only6(p); return p.bind("[::]:0") }),
		"listen on ::1":    try(unix.AF_INET6, bind("[::1]:0")),
		"listen outside":   try(unix.AF_INET, bind("192.0.2.1:0")),
		"listen on a host's": try(unix.AF_INET, func(p plain) error {
			must0(unix.SetsockoptInt(int(p), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1))
			return p.bind("127.0.0.1:" + host)
		}),
		"beside a host's": beside(host),
		"after a connection": try(unix.AF_INET, func(p plain) error {
			if err := p.connect(fmt.Sprint("127.0.0.1:", port)); err != nil {
				return err
			}
			return p.disconnect()
		}),
		"while connected": try(unix.AF_INET, func(p plain) error { return p.connect(fmt.Sprint("127.0.0.1:", port)) }),
		"source route":    word(unix.SetsockoptString(int(own), unix.IPPROTO_IP, unix.IP_OPTIONS, "\x83\x07\x04\x01\x02\x03\x04\x00")),
		"device":          word(unix.SetsockoptString(int(own), unix.SOL_SOCKET, unix.SO_BINDTODEVICE, "lo")),
		"later connect":   word(unix.SetsockoptInt(int(own), unix.IPPROTO_TCP, unix.TCP_FASTOPEN_CONNECT, 1)),
		"reuse":           word(unix.SetsockoptInt(int(own), unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)),
	}
}

// beside listens on the port of a foreign listener at another address, and then
// connects to the foreign one.
func beside(host string) string {
	p := newPlain(unix.AF_INET)
	defer p.close()
	if err := p.bind("127.0.0.2:" + host); err != nil {
		return word(err)
	}
	if err := p.listen(); err != nil {
		return word(err)
	}
	if err := connectTo(unix.AF_INET, "127.0.0.2:"+host); err != nil {
		return "own: " + word(err)
	}
	return word(connectTo(unix.AF_INET, "127.0.0.1:"+host))
}

func only6(p plain) { must0(unix.SetsockoptInt(int(p), unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 1)) }

func must0(err error) {
	if err != nil {
		panic(err)
	}
}

// reports keeps what a supervisor refused.
type reports struct {
	mu  sync.Mutex
	all map[string]int
}

func (r *reports) add(call, address string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = make(map[string]int)
	}
	r.all[call+" "+address]++
}

// threadDescriptors is the answer to a socket that only one thread has: before
// Linux 6.9 a supervisor can take those of whole processes only.
func threadDescriptors() string {
	pidfd, err := unix.PidfdOpen(unix.Gettid(), unix.O_EXCL)
	if err != nil {
		return "EBADF"
	}
	unix.Close(pidfd)
	return ""
}

func TestConnectionsStayInside(t *testing.T) {
	// The foreign listener would share its port, as some servers do.
	reuse := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { must0(unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)) })
	}}
	foreign, err := reuse.Listen(t.Context(), "tcp4", "127.0.0.1:0")
	must(t, err)
	defer foreign.Close()
	host := fmt.Sprint(foreign.Addr().(*net.TCPAddr).Port)
	proxy, taken := mustListen(t)
	var refused reports
	s := &seccomp.Supervisor{Proxy: netip.MustParseAddrPort("127.0.0.1:" + proxy), Refused: refused.add}
	got := mustStart(t, walls{
		Filter: seccomp.Filter{Notify: true}, Rules: mustRules(t, mustFolder(t)), Probe: "connect",
		Args: map[string]string{"host": host, "proxy": proxy},
	}, s).answers()
	want := map[string]string{
		"proxy": "", "proxy mapped": "", "proxy's port": "ECONNREFUSED",
		"outside": "EACCES", "outside 6": "EACCES", "outside mapped": "EACCES",
		"host": "EACCES", "host mapped": "EACCES", "host by wildcard": "EACCES", "host by wildcard 6": "EACCES", "host by ::1": "EACCES",
		"nobody": "ECONNREFUSED", "own": "", "own mapped": "", "own by ::1": "", "own by wildcard": "",
		"own table": threadDescriptors(), "undumpable": "",
		"interfaces": "", "short address": "EINVAL", "long address": "EINVAL", "negative address": "EINVAL", "no memory": "EFAULT",
		"no socket": "ENOTSOCK", "no descriptor": "EBADF",
		"listen unbound": "127.0.0.1", "listen unbound 6": "::ffff:127.0.0.1", "listen on all": "127.0.0.1",
		"listen on all 6": "::ffff:127.0.0.1", "listen on mapped": "::ffff:127.0.0.1", "listen on only 6": "::1",
		"listen on ::1": "::1", "listen outside": "EACCES", "listen on a host's": "EADDRINUSE", "beside a host's": "EACCES",
		"after a connection": "127.0.0.1", "while connected": "listen: EINVAL",
		"source route": "ENOPROTOOPT", "device": "ENOPROTOOPT", "later connect": "ENOPROTOOPT", "reuse": "",
	}
	if os.Getuid() != 0 {
		want["undumpable"] = "EPERM" // its address cannot be read without rights
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Error(diff)
	}
	if taken() != 2 {
		t.Errorf("the proxy took %d connections, want 2", taken())
	}
	for _, report := range []string{"connect 192.0.2.1:80", "connect [2001:db8::1]:80", "connect 127.0.0.1:" + host, "bind 192.0.2.1:0"} {
		if refused.all[report] == 0 {
			t.Errorf("no report of %s: %v", report, refused.all)
		}
	}
}

// connectRaw connects a new socket to what the memory says at the moment.
func connectRaw(memory *[16]byte) error {
	p := newPlain(unix.AF_INET)
	defer p.close()
	return call(unix.SYS_CONNECT, uintptr(p), pointer(&memory[0]), uintptr(len(memory)))
}

// raceAddress changes the address in memory while it is looked at.
func raceAddress(args map[string]string) map[string]string {
	own := newPlain(unix.AF_INET)
	must0(unix.Bind(int(own), address("127.0.0.1:0")))
	must0(unix.Listen(int(own), 4096))
	_, port := own.where()
	var host int
	fmt.Sscan(args["host"], &host)
	memory := &[16]byte{0: unix.AF_INET, 4: 127, 7: 1}
	stop := make(chan struct{})
	for range 1 {
		go func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				memory[2], memory[3] = byte(port>>8), byte(port)
				memory[2], memory[3] = byte(host>>8), byte(host)
			}
		}()
	}
	counts := make(map[string]int)
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		counts[word(connectRaw(memory))]++
	}
	close(stop)
	return map[string]string{"connected": fmt.Sprint(counts[""]), "refused": fmt.Sprint(counts["EACCES"])}
}

// Landlock is left out: the supervisor alone has to hold.
func TestAddressThatChangesIsCopiedOnce(t *testing.T) {
	host, taken := mustListen(t)
	got := mustStart(t, walls{
		Filter: seccomp.Filter{Notify: true}, Probe: "race", Args: map[string]string{"host": host},
	}, &seccomp.Supervisor{}).answers()
	t.Log(got)
	if got["connected"] == "0" || got["refused"] == "0" {
		t.Errorf("there was no race: %v", got)
	}
	if taken() != 0 {
		t.Errorf("%d connections came through", taken())
	}
}

// swapDescriptors puts other files in the place of a socket while it is taken.
func swapDescriptors(args map[string]string) map[string]string {
	own := newPlain(unix.AF_INET)
	must0(unix.Listen(int(own), 4096))
	_, port := own.where()
	routing, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE)
	must0(err)
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	must0(err)
	null, err := unix.Open("/dev/null", unix.O_RDONLY, 0)
	must0(err)
	const place = 500
	stop := make(chan struct{})
	for _, other := range []int{routing, pair[0], null, int(own), -1} {
		go func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if other < 0 {
					unix.Close(place)
					continue
				}
				_ = unix.Dup3(other, place, 0)
				if fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0); err == nil {
					_ = unix.Dup3(fd, place, 0)
					unix.Close(fd)
				}
			}
		}()
	}
	counts := make(map[string]int)
	start := time.Now()
	for i := 0; time.Since(start) < time.Second; i++ {
		switch i % 4 {
		case 0:
			counts[word(unix.Connect(place, address("192.0.2.1:80")))]++
		case 1:
			counts[word(unix.Connect(place, address(fmt.Sprint("127.0.0.1:", port))))]++
		case 2:
			counts[word(unix.Bind(place, address("0.0.0.0:0")))]++
		case 3:
			counts[word(unix.Listen(place, 4096))]++
		}
	}
	close(stop)
	return map[string]string{"counts": fmt.Sprint(counts), "afterwards": word(connectTo(unix.AF_INET, "192.0.2.1:80"))}
}

func TestDescriptorsThatAreSwappedOrClosed(t *testing.T) {
	before := openDescriptors(t)
	s := &seccomp.Supervisor{}
	got := mustStart(t, walls{Filter: seccomp.Filter{Notify: true}, Rules: mustRules(t, mustFolder(t)), Probe: "swap"}, s).answers()
	t.Log(got["counts"])
	if got["afterwards"] != "EACCES" {
		t.Errorf("afterwards: %q", got["afterwards"])
	}
	if after := openDescriptors(t); after > before {
		t.Errorf("%d descriptors are open, %d were before", after, before)
	}
}

func openDescriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return len(entries)
}

// fill makes a listener that takes no further connection, so that a blocking
// connect waits.
func fill() (to string) {
	full := newPlain(unix.AF_INET)
	must0(full.bind("127.0.0.1:0"))
	must0(unix.Listen(int(full), 0))
	_, port := full.where()
	to = fmt.Sprint("127.0.0.1:", port)
	for range 2 {
		p := newPlain(unix.AF_INET)
		must0(unix.SetNonblock(int(p), true))
		_ = p.connect(to)
	}
	return to
}

// stuckConnects leaves connects hanging and tries others meanwhile.
func stuckConnects(map[string]string) map[string]string {
	to := fill()
	stuck := make(chan error, 20)
	for range cap(stuck) {
		go func() { stuck <- connectTo(unix.AF_INET, to) }()
	}
	time.Sleep(100 * time.Millisecond)
	open := newPlain(unix.AF_INET)
	must0(open.listen())
	_, port := open.where()
	start := time.Now()
	err := connectTo(unix.AF_INET, fmt.Sprint("127.0.0.1:", port))
	slow := "no"
	if time.Since(start) > time.Second {
		slow = time.Since(start).String()
	}
	return map[string]string{"meanwhile": word(err), "slow": slow, "returned": fmt.Sprint(len(stuck))}
}

// TestUnixSocketsGoOnUnseen lets Unix sockets through where Landlock restricts
// them. Here it does not, and only the two ways are looked at.
func TestUnixSocketsGoOnUnseen(t *testing.T) {
	for _, allowed := range []bool{true, false} {
		want := map[string]string{"unix": "", "abstract": "", "tcp": "EACCES"}
		if !allowed {
			want["unix"], want["abstract"] = "EPERM", "EPERM"
		}
		got := mustStart(t, walls{
			Filter: seccomp.Filter{Notify: true, Unix: true}, Probe: "unix",
			Args: map[string]string{"path": mustFolder(t) + "/socket"},
		}, &seccomp.Supervisor{Unix: allowed}).answers()
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("allowed %v: %s", allowed, diff)
		}
	}
}

func unixSockets(args map[string]string) map[string]string {
	try := func(name string) error {
		l, err := net.Listen("unix", name)
		if err != nil {
			return err
		}
		defer l.Close()
		c, err := net.Dial("unix", name)
		if err == nil {
			c.Close()
		}
		return err
	}
	return words(map[string]error{
		"unix": try(args["path"]), "abstract": try("@" + args["path"]), "tcp": connectTo(unix.AF_INET, "192.0.2.1:80"),
	})
}

// The probe ends, and so the process is killed, while connects hang.
func TestBlockingConnectHoldsNothingUp(t *testing.T) {
	before := openDescriptors(t)
	p := mustStart(t, walls{Filter: seccomp.Filter{Notify: true}, Rules: mustRules(t, mustFolder(t)), Probe: "stuck"}, &seccomp.Supervisor{})
	got := p.answers()
	if diff := cmp.Diff(got, map[string]string{"meanwhile": "", "slow": "no", "returned": "0"}); diff != "" {
		t.Error(diff)
	}
	if after := openDescriptors(t); after > before {
		t.Errorf("%d descriptors are open, %d were before", after, before)
	}
}

func waitForDeath(map[string]string) map[string]string {
	to := fill()
	for range 5 {
		go func() { _ = connectTo(unix.AF_INET, to) }()
	}
	time.Sleep(50 * time.Millisecond)
	fmt.Println("ready")
	select {}
}

func TestSupervisorEnds(t *testing.T) {
	for name, end := range map[string]func(*inside){
		"process killed":    func(p *inside) { p.command.Process.Kill() },
		"context cancelled": func(p *inside) { p.cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			p := mustStart(t, walls{Filter: seccomp.Filter{Notify: true}, Probe: "wait"}, &seccomp.Supervisor{})
			time.Sleep(300 * time.Millisecond)
			end(p)
			select {
			case err := <-p.served:
				must(t, err)
			case <-time.After(5 * time.Second):
				t.Fatal("the supervisor goes on")
			}
			p.command.Process.Kill()
			p.command.Wait()
		})
	}
}

// flood makes far more calls than are worked on at once, while an honest program
// connects.
func flood(map[string]string) map[string]string {
	stop := make(chan struct{})
	for range 300 {
		go func() {
			for {
				select {
				case <-stop:
					return
				default:
					_ = connectTo(unix.AF_INET, "192.0.2.1:80")
				}
			}
		}()
	}
	own := newPlain(unix.AF_INET)
	must0(unix.Listen(int(own), 100))
	_, port := own.where()
	time.Sleep(300 * time.Millisecond) // until the flood is high
	var worst time.Duration
	for range 20 {
		start := time.Now()
		must0(connectTo(unix.AF_INET, fmt.Sprint("127.0.0.1:", port)))
		worst = max(worst, time.Since(start))
	}
	close(stop)
	return map[string]string{"worst": worst.String()}
}

func TestFloodOfCalls(t *testing.T) {
	var refused reports
	got := mustStart(t, walls{Filter: seccomp.Filter{Notify: true}, Probe: "flood"}, &seccomp.Supervisor{Refused: refused.add}).answers()
	worst, err := time.ParseDuration(got["worst"])
	must(t, err)
	t.Logf("worst connect took %v among %v refused", worst, refused.all)
	if worst > 5*time.Second {
		t.Errorf("an honest connect took %v", worst)
	}
}

// latency measures connecting to an own listener.
func latency(map[string]string) map[string]string {
	own := newPlain(unix.AF_INET)
	must0(unix.Listen(int(own), 4096))
	_, port := own.where()
	to := fmt.Sprint("127.0.0.1:", port)
	took := make([]time.Duration, 500)
	for i := range took {
		p := newPlain(unix.AF_INET)
		start := time.Now()
		must0(p.connect(to))
		took[i] = time.Since(start)
		p.close()
	}
	slices.Sort(took)
	const calls = 200_000
	start := time.Now()
	for range calls {
		unix.Getppid()
	}
	simple := time.Since(start) / calls
	start = time.Now()
	for range calls {
		_ = unix.SetsockoptInt(int(own), unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	}
	return map[string]string{"getppid": simple.String(), "setsockopt": (time.Since(start) / calls).String(), "median": took[250].String(), "p95": took[475].String()}
}

func TestLatencyOfConnect(t *testing.T) {
	notified := mustStart(t, walls{Filter: seccomp.Filter{Notify: true}, Probe: "latency"}, &seccomp.Supervisor{}).answers()
	direct := mustStart(t, walls{Probe: "latency"}, nil).answers()
	t.Logf("a connect took, notified: %v; direct: %v", notified, direct)
}
