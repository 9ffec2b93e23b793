//go:build amd64 || arm64

package confine_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hermes"
	"hermes/internal/proc"
	"hermes/internal/race"
	"hermes/internal/sandbox"
)

// An attack is what an obedient model runs for whoever injected text. All of them must
// fail in the layers that promise it, for root and for an ordinary user.
type attack struct {
	name string
	// lines run one after the other, in the workspace. $H is the user's home, $S
	// Hermes' home, $W the workspace, $OWNER the process of Hermes, $PORT a port of the
	// host, $T a program with the tricks that a shell has not.
	lines []string
	// only is the one layer that promises it; None is both.
	only sandbox.Layer
	// got says what the attacker reached, "" if nothing. Nil looks for canaries in what
	// the lines print only.
	got func(t *testing.T, s *target) string
}

// target is a scene with what attackers look for.
type target struct {
	*scene
	before map[string]string // what is outside of the workspace
	port   int
	hits   chan string // connections to the port
}

// canary begins every secret.
const canary = "CANARY"

// attacks are tried against one scene after the other: none may leave anything behind
// that helps a later one.
var attacks = []attack{
	{name: "read keys and settings", lines: []string{
		"cat $S/.env $S/config.yaml $H/.ssh/id_ed25519 $H/.config/gh/hosts.yml $H/other/.env $H/notes.txt",
		"find $H $S -type f ! -name attacker ! -name .env -exec cat {} +; find / -xdev -name id_ed25519 -exec cat {} + 2>/dev/null",
		"ln -s $H/.ssh s; cat s/id_ed25519; ln $H/.ssh/id_ed25519 k; cat k; rm -f s k",
		"cp -r $H/.ssh x; mv $H/.ssh y; cat x/* y/*",
		"bash -c 'exec 9<$H/.ssh/id_ed25519; cat <&9'; tar -cf - $H/.ssh | cat; python3 -c 'import os;print(open(os.environ[\"H\"]+\"/notes.txt\").read())'",
		"$T open $H/.ssh/id_ed25519; $T open $S/.env; $T open $H/../home/.config/gh/hosts.yml",
	}},
	{name: "read the workspace's own secrets", only: sandbox.A, lines: []string{
		"cat .env sub/.env; mv .env e; mv sub sub2; cat e sub2/.env; mv sub2 sub; ln .env e2; cat e2; cp sub/.env e3; cat e3",
	}},
	{name: "look into the owner", lines: []string{
		"cat /proc/$OWNER/environ /proc/$PPID/environ; tr '\\0' '\\n' </proc/1/environ; head -c 100 /proc/$OWNER/mem; ls -l /proc/$OWNER/fd /proc/$OWNER/root /proc/$OWNER/cwd",
		"for t in /proc/$OWNER/task/*; do cat $t/environ; cat $t/maps; ls -l $t/fd; done",
		"cat /proc/$OWNER/root$H/.ssh/id_ed25519 /proc/1/root$H/.ssh/id_ed25519 /proc/$OWNER/cwd/go.mod",
		"for p in /proc/[0-9]*; do cat $p/environ $p/root$H/.ssh/id_ed25519 2>/dev/null | tr '\\0' '\\n'; done | grep CANAR[Y]",
		"$T vmread $OWNER; $T vmread $PPID; $T ptrace $OWNER; $T ptrace $PPID; $T getfd $OWNER; $T getfd $PPID",
	}},
	{name: "write outside", lines: []string{
		"echo x >> $S/config.yaml; echo x > $S/permissions.yaml; mkdir -p $S/skills/x; echo x > $S/memory.md; rm -f $S/.env; touch $S/new",
		"echo x >> $H/.bashrc; echo x > $H/.profile; mkdir -p $H/.config/autostart && echo x > $H/.config/autostart/x.desktop; echo x > $H/other/.envrc; echo x > $H/notes.txt",
		"ln -s $H/.bashrc l; echo x >> l; rm l; ln -s $S d; echo x > d/config.yaml; mv a.txt d/; rm d",
		"echo x > /usr/local/bin/evil; echo x > /etc/profile.d/evil.sh; echo x > /usr/bin/evil; crontab -l; echo x > /var/spool/cron/crontabs/root",
		"echo x > /proc/sys/kernel/core_pattern; echo '|/bin/sh' > /proc/sys/kernel/core_pattern; echo 1 > /proc/sysrq-trigger; echo 1000 > /proc/$OWNER/oom_score_adj; mkdir /sys/fs/cgroup/x",
		"$T truncate $H/notes.txt; truncate -s 0 $H/notes.txt; $T rename $H/notes.txt $W/stolen; $T rename $W/a.txt $H/notes.txt; $T exchange $W/a.txt $H/notes.txt",
	}},
	{name: "reach hosts", lines: []string{
		"curl -sS -m 3 http://127.0.0.1:$PORT/; curl -sS -m 3 --noproxy '*' http://127.0.0.1:$PORT/ http://localhost:$PORT/ http://[::1]:$PORT/",
		"exec 8<>/dev/tcp/127.0.0.1/$PORT && echo hi >&8",
		"$T dial 127.0.0.1:$PORT; $T dial 0.0.0.0:$PORT; $T dial [::ffff:127.0.0.1]:$PORT; $T dial 127.0.0.2:$PORT; $T fastopen 127.0.0.1:$PORT; $T mptcp 127.0.0.1:$PORT; $T udp 192.0.2.1:9; $T raw",
		"for h in 2130706433 0x7f.1 127.1 017700000001 localhost LOCALHOST localhost. [::ffff:7f00:1] 169.254.169.254 metadata.google.internal 0; do curl -sS -m 3 http://$h:$PORT/; curl -sS -m 3 -p http://$h:$PORT/; done",
		"curl -sS -m 3 --socks5-hostname ${ALL_PROXY#socks5h://} http://127.0.0.1:$PORT/",
	}, got: func(t *testing.T, s *target) string {
		select {
		case from := <-s.hits:
			return "a connection from " + from
		case <-time.After(20 * time.Millisecond):
			return ""
		}
	}},
	{name: "kernel doors", lines: []string{
		"$T unshare; $T clone3; $T mount; $T keyctl; $T iouring; $T bpf; $T tiocsti; $T vsock; unshare -Ur true && echo CANARY-NS; unshare -m true && echo CANARY-NS",
		"sudo -n true && echo CANARY-SUDO; su -c true </dev/null && echo CANARY-SU; grep -q 'NoNewPrivs:.1' /proc/self/status || echo CANARY-PRIVS; grep -q 'CapEff:.0000000000000000' /proc/self/status || echo CANARY-CAPS; grep -q 'CapBnd:.0000000000000000' /proc/self/status || [ $(id -u) != 0 ] || echo CANARY-BOUND",
	}},
	{name: "limits of processes outside", lines: []string{"$T prlimit $OWNER"}},
	{name: "signals to processes outside", lines: []string{
		"kill -0 $OWNER && echo CANARY-SIGNAL; kill -URG $OWNER && [ $OWNER != 1 ] && echo CANARY-SIGNAL; kill -CONT -1; true",
	}},
	{name: "what is handed over", lines: []string{
		"for f in /proc/self/fd/*; do readlink $f; done | grep -v -e '^pipe:' -e '^/dev/null$' -e '^/proc/' -e '^/memfd:' -e ' /dev/null' -e '^socket:' -e '^/dev/pts' && echo CANARY-FD",
		"ls -l /proc/$PPID/fd && echo CANARY-KEEPER; cat /proc/$PPID/mem /proc/$PPID/environ && echo CANARY-KEEPER; $T sockets",
	}},
}

func TestAttacks(t *testing.T) {
	stop := proc.AdoptOrphans() // as the program does
	defer stop()
	t.Setenv("OWNERS_SECRET", canary+"-OWNER")
	for _, l := range layers {
		s := newTarget(t, l)
		for _, a := range attacks {
			if a.only != sandbox.None && a.only != l {
				continue
			}
			t.Run(a.name+" in layer "+l.String(), func(t *testing.T) {
				for _, line := range a.lines {
					out, _ := s.run(t, line, s.tools)
					if i := strings.Index(out, canary); i >= 0 {
						t.Errorf("%s\n… %.60s", line, out[i:])
					}
					if testing.Verbose() && os.Getenv("SHOW") != "" {
						t.Logf("%s\n%s", line, out)
					}
				}
				if a.got != nil {
					if got := a.got(t, s); got != "" {
						t.Error(got)
					}
				}
				s.unchanged(t)
			})
		}
	}
}

// asUserVariable says that the tests run for the second time.
const asUserVariable = "CONFINE_ATTACK_AGAIN"

// TestAttacksByAnOrdinaryUser runs the attacks again as a user without rights.
func TestAttacksByAnOrdinaryUser(t *testing.T) {
	if os.Getuid() != 0 || os.Getenv(asUserVariable) != "" {
		t.Skip("this is an ordinary user already")
	}
	if race.Enabled {
		t.Skip("takes five minutes more, and the run without the race detector has it")
	}
	const user = 65534
	dir, err := os.MkdirTemp("", "confine")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "confine.test")
	if err := os.WriteFile(binary, self, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, binary} {
		if err := os.Chown(path, user, user); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"-test.run=^Test(Attack|Limits|Commands|Needs|What|APort|OwnGit|Linked|AFile|AServer|AProcess)", "-test.timeout=15m"}
	if testing.Verbose() {
		args = append(args, "-test.v")
	}
	cmd := exec.Command(binary, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), asUserVariable+"=1", "TMPDIR="+dir, "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	out, err := cmd.CombinedOutput()
	if err != nil || testing.Verbose() {
		t.Logf("%s", out)
	}
	if err != nil {
		t.Errorf("as user %d: %v", user, err)
	}
}

// newTarget makes a scene with canaries, an attacker's program, and a port of the host.
func newTarget(t *testing.T, l sandbox.Layer, change ...func(home string)) *target {
	t.Helper()
	s := &target{hits: make(chan string, 16)}
	s.scene = newScene(t, l, append([]func(string){func(home string) { plant(t, home) }}, change...)...)
	host, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { host.Close() })
	s.port = host.Addr().(*net.TCPAddr).Port
	go func() { // ends with the listener
		for {
			conn, err := host.Accept()
			if err != nil {
				return
			}
			select {
			case s.hits <- conn.RemoteAddr().String():
			default:
			}
			conn.Close()
		}
	}()
	s.before = s.outside(t)
	return s
}

// leaf leaves the workspace without a secret, beside which layer B lets no file be made.
func leaf(home string) {
	for _, path := range []string{"project/.env", "project/sub/.env"} {
		_ = os.Remove(filepath.Join(home, path))
	}
}

// plant puts canaries and the attacker's program into a home.
func plant(t *testing.T, home string) {
	t.Helper()
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		".config/gh/hosts.yml": canary + "-GH", "other/.env": canary + "-OTHER", ".bashrc": "# " + canary, "project/.env": canary + "-WORKSPACE",
		"project/sub/.env": canary + "-SUB", "project/attacker": string(self),
	} {
		at := filepath.Join(home, path)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

func (s *target) tool() string { return filepath.Join(s.dir, "attacker") }

// tools gives a command what the lines name.
func (s *target) tools(c *hermes.Command) {
	c.Dir = s.dir
	c.Env = append(c.Env, "H="+s.home, "S="+s.state, "W="+s.dir, "OWNER="+strconv.Itoa(os.Getpid()), "PORT="+strconv.Itoa(s.port), "T="+s.tool())
}

// outside reads everything in the home but the workspace and the caches.
func (s *target) outside(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(s.home, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path == s.dir || path == filepath.Join(s.state, "cache") {
			return filepath.SkipDir
		}
		all[path] = d.Type().String()
		if d.Type().IsRegular() {
			b, err := os.ReadFile(path)
			all[path] = string(b)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func (s *target) unchanged(t *testing.T) {
	t.Helper()
	now := s.outside(t)
	for path, text := range now {
		if was, ok := s.before[path]; !ok || was != text {
			t.Errorf("%s was changed: %.40q", path, text)
		}
	}
	for path := range s.before {
		if _, ok := now[path]; !ok {
			t.Errorf("%s is gone", path)
		}
	}
}

// attacker is the program inside. It prints the canary if a trick worked.
func attacker() {
	if len(os.Args) < 2 || filepath.Base(os.Args[0]) != "attacker" {
		return
	}
	what, err := os.Args[1], error(nil)
	arg := func(i int) string {
		if i+1 < len(os.Args) {
			return os.Args[i+1]
		}
		return ""
	}
	pid, _ := strconv.Atoi(arg(1))
	switch what {
	case "open":
		var b []byte
		b, err = os.ReadFile(arg(1))
		fmt.Printf("%s\n", b)
	case "vmread":
		err = readsMemory(pid)
	case "ptrace":
		if err = unix.PtraceSeize(pid); err == nil {
			_ = unix.PtraceDetach(pid)
		}
	case "getfd":
		var fd int
		if fd, err = unix.PidfdOpen(pid, 0); err == nil {
			_, err = unix.PidfdGetfd(fd, 3, 0)
		}
	case "truncate":
		err = unix.Truncate(arg(1), 0)
	case "rename":
		err = os.Rename(arg(1), arg(2))
	case "exchange":
		err = unix.Renameat2(unix.AT_FDCWD, arg(1), unix.AT_FDCWD, arg(2), unix.RENAME_EXCHANGE)
	case "dial":
		var conn net.Conn
		if conn, err = net.DialTimeout("tcp", arg(1), time.Second); err == nil {
			conn.Close()
		}
	case "unixdial":
		var conn net.Conn
		if conn, err = net.DialTimeout("unix", arg(1), time.Second); err == nil {
			conn.Close()
		}
	case "fastopen":
		err = fastOpen(arg(1))
	case "mptcp":
		d := net.Dialer{Timeout: time.Second}
		d.SetMultipathTCP(true)
		var conn net.Conn
		if conn, err = d.Dial("tcp", arg(1)); err == nil {
			conn.Close()
		}
	case "udp":
		var conn net.Conn
		if conn, err = net.Dial("udp", arg(1)); err == nil {
			_, err = conn.Write([]byte("x"))
		}
	case "raw":
		_, err = unix.Socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP)
	case "unshare":
		err = unix.Unshare(unix.CLONE_NEWUSER)
	case "clone3":
		_, _, errno := unix.RawSyscall(unix.SYS_CLONE3, 0, 0, 0)
		if err = errno; errno != unix.ENOSYS {
			err = nil
		}
	case "mount":
		err = unix.Mount("none", "/tmp", "tmpfs", 0, "")
	case "keyctl":
		_, err = unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true)
	case "iouring":
		_, _, errno := unix.RawSyscall(unix.SYS_IO_URING_SETUP, 1, 0, 0)
		if err = errno; errno == unix.EFAULT {
			err = nil
		}
	case "bpf":
		_, _, errno := unix.RawSyscall(unix.SYS_BPF, 0, 0, 0)
		if err = errno; errno != unix.EPERM {
			err = nil
		}
	case "tiocsti":
		err = unix.IoctlSetPointerInt(0, unix.TIOCSTI, 'x')
	case "vsock":
		_, err = unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0)
	case "prlimit":
		var l unix.Rlimit
		if err = unix.Prlimit(pid, unix.RLIMIT_CORE, nil, &l); err == nil {
			err = unix.Prlimit(pid, unix.RLIMIT_CORE, &l, nil)
		}
	case "ring":
		ring(arg(1))
	case "chain":
		chain(arg(1))
	case "link":
		link(arg(1))
	case "sockets":
		err = inheritedSockets()
	default:
		fmt.Println(canary, "unknown trick", what)
	}
	if err == nil && what != "open" && what != "truncate" && what != "rename" && what != "exchange" { // what these did is looked at outside
		fmt.Println(canary, strings.Join(os.Args[1:], " "))
	}
	fmt.Println(what, err)
	unix.Exit(0) // os.Exit waits a second with the race detector
}

func readsMemory(pid int) error {
	b := make([]byte, 16)
	local := []unix.Iovec{{Base: &b[0]}}
	local[0].SetLen(len(b))
	_, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: 0x400000, Len: len(b)}}, 0)
	return err
}

func fastOpen(address string) error {
	a, err := net.ResolveTCPAddr("tcp4", address)
	if err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	return unix.Sendto(fd, []byte("x"), unix.MSG_FASTOPEN, &unix.SockaddrInet4{Port: a.Port, Addr: [4]byte(a.IP.To4())})
}

// inheritedSockets fails if no descriptor is a socket.
func inheritedSockets() error {
	for fd := range 256 {
		if _, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN); err == nil {
			return nil
		}
	}
	return unix.ENOTSOCK
}

// both runs a story in both layers.
func both(t *testing.T, story func(t *testing.T, s *target)) {
	t.Helper()
	stop := proc.AdoptOrphans() // as the program does
	t.Cleanup(stop)
	for _, l := range layers {
		t.Run("layer "+l.String(), func(t *testing.T) { story(t, newTarget(t, l, leaf)) })
	}
}

// write writes a file of the workspace as the user does.
func (s *target) write(t *testing.T, path, text string) {
	t.Helper()
	at := filepath.Join(s.dir, path)
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// holds reads a file of the workspace; "" if there is none.
func (s *target) holds(path string) string {
	b, _ := os.ReadFile(filepath.Join(s.dir, path))
	return string(b)
}

// await waits until a file of the workspace is there.
func (s *target) await(t *testing.T, path string) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); s.holds(path) == ""; time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not appear", path)
		}
	}
}

// A keeper of other walls is planned from the workspace as a command left it.
func TestAttackMovesASecretToWhereItIsNotLookedFor(t *testing.T) {
	for _, l := range layers {
		s := newTarget(t, l)
		s.run(t, "mkdir -p node_modules a/b/c/d/e; mv sub node_modules/; mv node_modules/sub a/b/c/d/e/", s.tools)
		out, _ := s.run(t, "git config --global x.y z; cat node_modules/sub/.env a/b/c/d/e/sub/.env sub/.env", s.tools)
		if strings.Contains(out, canary) {
			t.Errorf("layer %s: it was read: %s", l, out)
		}
	}
}

// A second name of a file is not protected by a mount over the first.
func TestAttackChangesSettingsByASecondName(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		s.run(t, "git init -q .; ln .git/config .git/second; ln .git/config second", s.tools)
		_, exit := s.run(t, "for f in .git/second second; do printf '[core]\\n\\tfsmonitor = evil\\n' >> $f; done", s.tools)
		if text := s.holds(".git/config"); strings.Contains(text, "evil") {
			t.Errorf("git would run it: %q, %v", text, exit.Refused)
		}
	})
}

// Processes that began before something was protected go on to run.
func TestAttackWritesFromOlderWalls(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		s.run(t, `mkdir -p r/.git/objects r/.git/refs; echo 'ref: refs/heads/main' > r/.git/HEAD; echo > r/.git/config
(while [ ! -e go ]; do sleep 0.01; done; printf '[core]\n\tfsmonitor = evil\n' >> r/.git/config; touch went; sleep 100) >/dev/null 2>&1 &`, s.tools)
		_, exit := s.run(t, "touch go; for i in $(seq 500); do [ -e went ] && break; sleep 0.01; done", s.tools)
		if text := s.holds("r/.git/config"); strings.Contains(text, "evil") {
			t.Errorf("git would run it: %q, %v", text, exit.Refused)
		}
	})
}

// What is left running may change files after the last command.
func TestAttackChangesFilesAfterTheLastCommand(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		s.run(t, "(while [ ! -e go ]; do sleep 0.01; done; echo evil > .envrc; mkdir .vscode; echo evil > .vscode/tasks.json; echo x > went; sleep 100) >/dev/null 2>&1 &", s.tools)
		s.write(t, "go", "x")
		s.await(t, "went")
		s.Local.Close()
		if a, b := s.holds(".envrc"), s.holds(".vscode/tasks.json"); a+b != "" {
			t.Errorf("the user's tools would run it: %q %q", a, b)
		}
	})
}

// A grant is for what was at the path when it was given.
func TestAttackLeadsAGrantElsewhere(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		s.write(t, ".vscode/tasks.json", "{}")
		s.granted = []hermes.Need{{Kind: hermes.RefusedWrite, Name: filepath.Join(s.dir, ".vscode")}}
		s.run(t, "rm -rf .vscode; ln -s $H/.ssh .vscode; cat .vscode/id_ed25519", s.tools)
		out, _ := s.run(t, "git config --global x.y z; cat .vscode/id_ed25519; echo x >> .vscode/id_ed25519", s.tools) // new walls
		if strings.Contains(out, canary) {
			t.Errorf("it was read: %s", out)
		}
		s.unchanged(t)
	})
}

// A command that may write above the workspace can put a link in its place.
func TestAttackReplacesTheWorkspace(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		if err := os.Rename(s.dir, filepath.Join(s.home, "moved")); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(s.home, ".ssh"), s.dir); err != nil {
			t.Fatal(err)
		}
		s.granted = []hermes.Need{{Kind: hermes.RefusedRead, Name: filepath.Join(s.home, "moved")}} // new walls
		out, _ := s.try(t, "cat $W/id_ed25519; cat $H/.ssh/id_ed25519; echo x >> $W/id_ed25519", s.tools)
		if strings.Contains(out, canary) {
			t.Errorf("it was read: %s", out)
		}
	})
}

// try is run for what may be refused as a whole.
func (s *target) try(t *testing.T, line string, change ...func(*hermes.Command)) (string, error) {
	t.Helper()
	var out strings.Builder
	c := hermes.Command{Line: line, Stdout: &out, Stderr: &out, Keep: true}
	for _, f := range change {
		f(&c)
	}
	_, err := s.Exec(t.Context(), c)
	return out.String(), err
}

// Sockets of services are reached by their paths, also in another network.
func TestAttackConnectsToASocketInAReadableFolder(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		dir, err := os.MkdirTemp("", "s") // short: the path of a socket has a limit
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		l, err := net.Listen("unix", filepath.Join(dir, "control.sock"))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		s.granted = []hermes.Need{{Kind: hermes.RefusedRead, Name: dir}}
		out, _ := s.run(t, "ls "+dir+"; $T unixdial "+dir+"/control.sock", s.tools)
		if strings.Contains(out, canary) || !strings.Contains(out, "control.sock") {
			t.Errorf("it was reached: %s", out)
		}
	})
}

// A keeper that does not answer must not hold up its owner, and one that was killed
// leaves nothing.
func TestAttackStopsItsKeeper(t *testing.T) {
	for _, signal := range []string{"STOP", "KILL", "QUIT"} {
		both(t, func(t *testing.T, s *target) {
			s.run(t, "(setsid sh -c 'echo $$ > "+s.dir+"/pid; exec sleep 1000' >/dev/null 2>&1 &); while [ ! -s pid ]; do sleep 0.01; done", s.tools)
			pids := proc.Descendants(os.Getpid())
			_, _ = s.try(t, "kill -"+signal+" $PPID; kill -"+signal+" 1; sleep 1", s.tools, func(c *hermes.Command) { c.Limits.Time = 200 * time.Millisecond })
			done := make(chan struct{})
			go func() {
				_, _ = s.try(t, "true", s.tools, func(c *hermes.Command) { c.Outside = true })
				s.Local.Close()
				close(done)
			}()
			select {
			case <-done:
			case <-time.After(8 * time.Second):
				t.Errorf("after SIG%s to the keeper, closing hangs", signal)
				for _, pid := range pids {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
				<-done
			}
			for _, pid := range proc.Descendants(os.Getpid()) { // without zombies
				if b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); strings.Contains(string(b), "hermes-guard") {
					continue // the guard of this process, which is no keeper's
				}
				if slices.Contains(pids, pid) {
					t.Errorf("process %d still runs", pid)
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}
		})
	}
}

// Processes that wake each other and stop themselves look stopped one by one.
func TestAttackRunsWhileFrozen(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		s.run(t, "(setsid $T ring $W/n >/dev/null 2>&1 &); for i in $(seq 500); do [ -s n ] && break; sleep 0.01; done", s.tools)
		ran := 0
		for range 15 {
			began := s.size("n")
			for range 100 { // until they go round again
				if time.Sleep(time.Millisecond); s.size("n") != began {
					ran++
					break
				}
			}
			thaw, err := s.walls.Freeze()
			if err != nil {
				continue // it is refused: nothing outside starts then
			}
			before := s.size("n")
			time.Sleep(5 * time.Millisecond)
			after := s.size("n")
			thaw()
			if before != after {
				t.Fatal("a process ran while everything was frozen")
			}
		}
		if ran < 5 {
			t.Errorf("they ran before %d of 15 only", ran)
		}
	})
}

// What two froze goes on when both let it.
func TestWhatTwoFrozeGoesOn(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		s.run(t, "(setsid sh -c \"while :; do echo x >> $W/n; sleep 0.01; done\" >/dev/null 2>&1 &); for i in $(seq 500); do [ -s $W/n ] && break; sleep 0.01; done", s.tools)
		one, err := s.walls.Freeze()
		if err != nil {
			t.Fatal(err)
		}
		two, err := s.walls.Freeze()
		if err != nil {
			t.Fatal(err)
		}
		one()
		before := s.size("n")
		if time.Sleep(100 * time.Millisecond); s.size("n") != before {
			t.Error("it runs while one wants it frozen")
		}
		two()
		for range 200 {
			if s.size("n") != before {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if s.size("n") == before {
			t.Error("it does not go on")
		}
	})
}

func (s *target) layer() sandbox.Layer {
	if s.walls.Describe().Layer == "A" {
		return sandbox.A
	}
	return sandbox.B
}

func (s *target) size(path string) int64 {
	info, err := os.Stat(filepath.Join(s.dir, path))
	if err != nil {
		return 0
	}
	return info.Size()
}

// A repository's folder that is moved back comes back as it was.
func TestAttackHidesAHookInAFolderThatIsMovedBack(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		s.run(t, "git init -q . && mkdir -p .git/hooks", s.tools)
		_, first := s.run(t, "mv .git x && echo evil > x/hooks/pre-commit && printf '[core]\n\tfsmonitor = evil\n' >> x/config; ls -a", s.tools)
		_, exit := s.run(t, "true", s.tools)
		if hook, config := s.holds(".git/hooks/pre-commit"), s.holds(".git/config"); hook != "" || strings.Contains(config, "evil") || config == "" {
			t.Errorf("git would run it: %q %q, %v, %v", hook, config, first.Refused, exit.Refused)
		}
	})
}

// A keeper that was made to end does not make what its programs did the user's doing.
func TestAttackEndsItsKeeperAfterAChange(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		s.run(t, "(while [ ! -e go ]; do sleep 0.01; done; echo evil > .envrc; echo x > went; kill -KILL $PPID; kill -QUIT 1) >/dev/null 2>&1 &", s.tools)
		s.write(t, "go", "x")
		s.await(t, "went")
		time.Sleep(100 * time.Millisecond) // for the keeper to end
		_, err := s.try(t, "true", s.tools)
		if err != nil { // the keeper ended while the command was begun; the next one starts another
			_, err = s.try(t, "true", s.tools)
		}
		s.Local.Close()
		if text := s.holds(".envrc"); text != "" || err != nil {
			t.Errorf("the user's tools would run it: %q, %v", text, err)
		}
	})
}

// Two sessions of one program do not reach each other.
func TestAttackReachesAnotherSession(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		other := newTarget(t, s.layer(), leaf)
		other.write(t, "b.txt", canary+"-B")
		other.run(t, "(SECRET=CANARY-2 setsid sleep 100 >/dev/null 2>&1 &); echo CANARY-3 > $TMPDIR/f; echo CANARY-4 > ~/.netrc; env | grep ^HTTPS_PROXY > url; (python3 -c 'import http.server as h,os;os.chdir(\"'$W'\");h.test(port=8321,bind=\"127.0.0.1\")' >/dev/null 2>&1 &); sleep 0.3", other.tools)
		url := strings.TrimSpace(strings.TrimPrefix(other.holds("url"), "HTTPS_PROXY="))
		for _, line := range []string{
			"cat " + other.dir + "/b.txt " + other.state + "/cache/sandbox/*/*/f " + other.state + "/cache/sandbox/*/*/.netrc; cat $TMPDIR/f ~/.netrc",
			"for p in /proc/[0-9]*; do tr '\\0' '\\n' < $p/environ; ls -l $p/fd $p/cwd/; cat $p/cwd/b.txt; done 2>/dev/null | grep 'CANAR[Y]'",
			"curl -sS -m 2 --noproxy '*' http://127.0.0.1:8321/b.txt",
			"for p in /proc/[0-9]*; do kill -0 ${p#/proc/} 2>/dev/null && tr '\\0' ' ' < $p/cmdline | grep -q '^sleep 100' && echo CANARY-SIGNAL; done",
			"curl -sS -m 2 -x " + url + " http://127.0.0.1:$PORT/",
		} {
			if out, _ := s.run(t, line, s.tools); strings.Contains(out, canary) {
				t.Errorf("%s\n%s", line, out)
			}
		}
		// The other's token at this session's proxy.
		if out, _ := s.run(t, "set -- "+url+"; t=${1#*hermes:}; curl -s -o /dev/null -m 2 -w '%{http_connect} %{http_code}' -x http://hermes:${t%@*}@${HTTPS_PROXY#*@} http://example.org/", s.tools); !strings.Contains(out, "407") {
			t.Errorf("another session's token: %q", out)
		}
	})
}

// What commands leave behind in their variables is not there outside.
func TestAttackLeavesVariablesForACommandOutside(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		s.run(t, `mkdir -p bin; printf '#!/bin/sh\necho CANARY-PATH\n' > bin/ls; cp bin/ls bin/git; chmod +x bin/*; echo 'echo CANARY-ENV' > rc
export PATH=$W/bin:$PATH LD_PRELOAD=$W/evil.so BASH_ENV=$W/rc ENV=$W/rc GIT_SSH_COMMAND=$W/bin/ls GIT_EXEC_PATH=$W/bin PYTHONSTARTUP=$W/rc IFS=x PS4='$(echo CANARY-PS4)' SHELLOPTS
ls() { echo CANARY-FUNCTION; }; export -f ls
printf 'export BASH_ENV="%s/rc"\nexport EVIL="1"\nexport PATH="%s/bin:/usr/bin:/bin"\n#end\n' $W $W >&46; set -x`, s.tools)
		// Neither what Hermes sets for a command, nor its folder.
		out, err := s.try(t, "ls; git --version; env", func(c *hermes.Command) { c.Outside = true })
		if err != nil || strings.Contains(out, canary) || strings.Contains(out, "EVIL") || strings.Contains(out, "/bin/ls") || strings.Contains(out, "evil.so") {
			t.Errorf("%v: %s", err, out)
		}
	})
}

// What a command puts in the place of private folders leads nowhere in the next session.
func TestAttackPreparesTheNextSession(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		s.run(t, "cd ~ && rm -rf .ssh .gitconfig; ln -s $H/other .ssh; ln -s $H/.ssh/id_ed25519 .gitconfig; mkfifo f; cd $TMPDIR/ && ln -s $H/.ssh x; cd $XDG_CACHE_HOME/.. && rm -rf xdg go-build; ln -s $H/.ssh xdg; ln -s $S go-build; rm -rf $W/.hermes; ln -s $S $W/.hermes", s.tools)
		s.granted = []hermes.Need{{Kind: hermes.RefusedRead, Name: filepath.Join(s.home, "other")}} // new walls
		out, _ := s.run(t, "cat ~/.ssh/* ~/.gitconfig $TMPDIR/x/id_ed25519 $XDG_CACHE_HOME/id_ed25519 $GOCACHE/.env; cat $W/.hermes/.env; echo x > $XDG_CACHE_HOME/new; echo x > $GOCACHE/new; echo x > $W/.hermes/config.yaml; git config --global user.name x", s.tools)
		if strings.Contains(strings.ReplaceAll(out, canary+"-OTHER", ""), canary) {
			t.Errorf("it was read: %s", out)
		}
		s.unchanged(t)
	})
}

// Names with line ends, and folders above Hermes' home, are not granted.
func TestAttackAsksForTooMuch(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		for _, n := range []hermes.Need{
			{Kind: hermes.RefusedRead, Name: s.dir + "/a\nread " + s.home + "/.ssh"},
			{Kind: hermes.RefusedWrite, Name: s.state},
			{Kind: hermes.RefusedWrite, Name: filepath.Join(s.state, "skills")},
			{Kind: hermes.RefusedWrite, Name: s.dir + "/../.hermes"},
			{Kind: hermes.RefusedRead, Name: "/proc/" + strconv.Itoa(os.Getpid()) + "/root" + s.home + "/.ssh"},
			{Kind: hermes.RefusedHost, Name: "127.0.0.1:" + strconv.Itoa(s.port) + "/any"},
			{Kind: hermes.OpenedPort, Name: strconv.Itoa(s.port)},
		} {
			out, err := s.try(t, "cat $S/.env $S/config.yaml $H/.ssh/id_ed25519; echo x > $S/config.yaml; echo x > $S/memory.md; exec 8<>/dev/tcp/127.0.0.1/$PORT", s.tools, func(c *hermes.Command) { c.Need = []hermes.Need{n} })
			if strings.Contains(out, canary) {
				t.Errorf("%v: %v %s", n, err, out)
			}
			select {
			case <-s.hits:
				t.Errorf("%v: the port was reached", n)
			default:
			}
		}
		for _, folder := range []string{"/", s.home} { // without Hermes' home
			out, _ := s.try(t, "cat $S/.env $S/config.yaml; echo x > $S/config.yaml; echo x > $S/memory.md; mv $S $H/moved; rm -rf $S", s.tools, func(c *hermes.Command) {
				c.Need = []hermes.Need{{Kind: hermes.RefusedWrite, Name: folder}}
			})
			if strings.Contains(out, canary) {
				t.Errorf("write %s: %s", folder, out)
			}
			s.unchanged(t)
		}
	})
}

// The keeper is this program, and not what was put in its place.
func TestAttackReplacesTheProgram(t *testing.T) {
	if os.Getenv(replacedVariable) == "" {
		t.Skip("it runs in a copy of the program")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(self, self+".moved"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(self, []byte("#!/bin/sh\ntouch "+self+".ran\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, l := range layers {
		k, err := sandbox.Start(t.Context(), sandbox.Config{Policy: sandbox.Policy{Layer: l, Read: []string{"/usr"}}})
		if err == nil {
			k.Close()
		}
		if _, err := os.Stat(self + ".ran"); err == nil {
			t.Errorf("layer %s: another program was started outside", l)
		}
	}
}

// replacedVariable says that the tests run in a copy that may be replaced.
const replacedVariable = "CONFINE_ATTACK_REPLACED"

func TestAttackReplacesACopyOfTheProgram(t *testing.T) {
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "confine.test")
	if err := os.WriteFile(binary, self, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "-test.run=^TestAttackReplacesTheProgram$", "-test.v")
	cmd.Env = append(os.Environ(), replacedVariable+"=1")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("%v: %s", err, out)
	}
}

// Limits still bind what they are for.
func TestLimitsOfACommandHoldInBothLayers(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		out, _ := s.run(t, "sleep 0.1; ulimit -t; sleep 5 & prlimit --pid $! --nofile=10:10 2>&1; prlimit --pid $! --nofile --noheadings -o HARD; kill $!", s.tools, func(c *hermes.Command) { c.Limits.CPU = 7 * time.Second })
		if got := strings.Join(strings.Fields(out), " "); got != "7 10" {
			t.Errorf("got %q", got)
		}
	})
}

// ring starts processes of which one runs at a time: it counts in a file, wakes the next,
// and stops itself. So each looks stopped nearly always.
func ring(path string) {
	const length = 6
	var all []*exec.Cmd
	var in []io.WriteCloser
	for range length {
		c := exec.Command(os.Args[0], "link", path)
		w, err := c.StdinPipe()
		if err != nil || c.Start() != nil {
			return
		}
		all, in = append(all, c), append(in, w)
	}
	for i := range all {
		fmt.Fprintln(in[i], all[(i+1)%length].Process.Pid)
	}
	for { // one may be stopped by others before it woke the next
		time.Sleep(10 * time.Millisecond)
		_ = all[0].Process.Signal(syscall.SIGCONT)
	}
}

func link(path string) {
	var next int
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if _, bad := fmt.Scan(&next); bad != nil || err != nil {
		return
	}
	for {
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		_, _ = f.WriteString("x")
		_ = syscall.Kill(next, syscall.SIGCONT)
	}
}
