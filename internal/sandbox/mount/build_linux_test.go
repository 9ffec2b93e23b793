package mount_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/sandbox/mount"
)

// check runs one script in a root and compares its output.
func check(t *testing.T, o outcome, i int, want string) {
	t.Helper()
	if diff := cmp.Diff(want, o.Runs[i].Out); diff != "" {
		t.Errorf("script %d (status %d), -want +got:\n%s", i, o.Runs[i].Code, diff)
	}
}

func TestProgramsRunInTheNewRoot(t *testing.T) {
	t.Parallel()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	o := build(t, job{
		Root: mount.Root{Read: system(t)},
		Scripts: []string{
			"id -u; id -g; pwd; uname -n",
			"ls -A /run; ls -A /tmp; ls -A /var/tmp; ls -A /dev/pts",
			"echo x > /dev/null && head -c 4 /dev/zero | wc -c && ls /dev/fd/0",
			"echo a > /dev/shm/a && echo b > /tmp/b && echo c > /run/c && cat /dev/shm/a /tmp/b /run/c",
			"for d in / /usr /etc /dev /proc /sys /sys/fs/cgroup; do touch $d/x 2>/dev/null && echo can write $d; done; :",
			"cat /sys/class/net/lo/operstate 2>/dev/null; grep -c lo: /proc/net/dev; grep -vc -e lo: -e '|' /proc/net/dev",
			"umask",
		},
	})
	check(t, o, 0, fmt.Sprintf("%d\n%d\n/\n%s", os.Geteuid(), os.Getegid(), host))
	check(t, o, 1, "ptmx")
	check(t, o, 2, "4\n/dev/fd/0")
	check(t, o, 3, "a\nb\nc")
	check(t, o, 4, "")
	check(t, o, 5, "1\n0")
	if diff := cmp.Diff(mount.Report{}, o.Report); diff != "" {
		t.Errorf("report, -want +got:\n%s", diff)
	}
	if o.Opened != nil {
		t.Errorf("Build left open: %q", o.Opened)
	}
}

func TestHostNameIsSet(t *testing.T) {
	t.Parallel()
	o := build(t, job{Root: mount.Root{Read: system(t), Hostname: "inside"}, Scripts: []string{"uname -n"}})
	check(t, o, 0, "inside")
}

func TestLoopbackWorks(t *testing.T) {
	t.Parallel()
	o := build(t, job{Root: mount.Root{Read: system(t)}, Scripts: []string{
		// fib_trie lists the addresses of interfaces that are on.
		"grep -c 127.0.0.1 /proc/net/fib_trie",
	}})
	if o.Runs[0].Out == "0" {
		t.Error("loopback is off")
	}
}

func TestTerminalsAreMadeInside(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/usr/bin/script"); err != nil {
		t.Skip("needs script")
	}
	o := build(t, job{Root: mount.Root{Read: system(t)}, Scripts: []string{"script -qc tty /dev/null </dev/null"}})
	check(t, o, 0, "/dev/pts/0")
}

func TestLinksOfTheTopExist(t *testing.T) {
	t.Parallel()
	o := build(t, job{Root: mount.Root{Read: system(t)}, Scripts: []string{"readlink /bin /lib64; :"}})
	var want []string
	for _, name := range []string{"/bin", "/lib64"} {
		if to, err := os.Readlink(name); err == nil {
			want = append(want, to)
		}
	}
	check(t, o, 0, strings.Join(want, "\n"))
}

func TestWritableReadableAndAbsent(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	files(t, dir, "ws/a", "lib/b", "lib/sub/c", "other/d", "single", "lone")
	o := build(t, job{
		Root: mount.Root{
			Read: append(system(t), dir+"/lib", dir+"/single", dir+"/nowhere"), Write: []string{dir + "/ws"},
		},
		Scripts: []string{
			"cd " + dir + " && ls && cat ws/a lib/b lib/sub/c single",
			"cd " + dir + " && echo new > ws/new && rm ws/a && ls ws",
			"cd " + dir + "; for f in lib/b lib/x lib/sub/c single; do echo z 2>/dev/null > $f && echo changed $f; done; rm -f lib/b single 2>/dev/null; ls lib",
		},
	})
	check(t, o, 0, "lib\nsingle\nws\nreal a\nreal b\nreal c\nreal single")
	check(t, o, 1, "new")
	check(t, o, 2, "b\nsub")
	if text, err := os.ReadFile(dir + "/ws/new"); string(text) != "new\n" {
		t.Errorf("the host sees %q, %v", text, err)
	}
}

func TestNestedPaths(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	files(t, dir, "ro/rw/ro/rw/f", "ro/rw/ro/f", "ro/rw/f", "ro/f", "rw/ro/f", "rw/ro/rw/f", "rw/f")
	o := build(t, job{
		Root: mount.Root{
			Read:  append(system(t), dir+"/ro/rw/ro", dir+"/ro", dir+"/rw/ro"),
			Write: []string{dir + "/rw/ro/rw", dir + "/rw", dir + "/ro/rw", dir + "/ro/rw/ro/rw"},
		},
		Scripts: []string{"cd " + dir + " && for f in $(find . -name f | sort); do echo x 2>/dev/null >> $f && echo $f; done; mv rw/ro rw/z 2>/dev/null; rm -rf rw/ro 2>/dev/null; :"},
	})
	check(t, o, 0, "./ro/rw/f\n./ro/rw/ro/rw/f\n./rw/f\n./rw/ro/rw/f")
}

func TestAllOfTheHostReadOnly(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	files(t, dir, "ws/f")
	o := build(t, job{
		Root: mount.Root{Read: []string{"/"}, Write: []string{dir + "/ws"}},
		Scripts: []string{
			"echo x > " + dir + "/ws/f && touch /usr/x /etc/x /var/x 2>/dev/null; cat " + dir + "/ws/f",
			"ls -A /run; cat /proc/1/cmdline | tr '\\0' ' '; ls " + filepath.Dir(dir),
		},
	})
	check(t, o, 0, "x")
	check(t, o, 1, "inside "+filepath.Base(dir))
}

func TestHomeAndTempAreOurs(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	files(t, dir, "home/secret", "home/proj/deep/ws/f", "home/.cargo/bin/cargo", "cache/home/.history", "cache/temp/old", "tmpws/f")
	home := dir + "/home"
	before := tree(t, home)
	o := build(t, job{
		Root: mount.Root{
			Read: append(system(t), home+"/.cargo"), Write: []string{home + "/proj/deep/ws"},
			Home: home, PrivateHome: dir + "/cache/home", Temp: dir + "/cache/temp",
		},
		Scripts: []string{
			"cd " + home + " && find . -type f | sort && echo x > .profile && echo x > proj/deep/ws/g",
			"ls -A /tmp /var/tmp && echo x > /tmp/new",
			"cd " + home + "; rm .cargo/bin/cargo 2>/dev/null; mv proj z 2>/dev/null || echo stays; cat .cargo/bin/cargo",
		},
	})
	check(t, o, 0, "./.cargo/bin/cargo\n./.history\n./proj/deep/ws/f")
	if !strings.HasPrefix(dir, "/tmp/") { // else the folders of dir are there as well
		check(t, o, 1, "/tmp:\nold\n\n/var/tmp:\nold")
	}
	check(t, o, 2, "stays\nreal cargo")
	want := append(before, "---------- "+home+"/proj/deep/ws/g")
	slices.Sort(want)
	got := tree(t, home)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the user's home changed, -want +got:\n%s", diff)
	}
	for _, path := range []string{"home/.profile", "temp/new", "home/proj/deep/ws/"} {
		if _, err := os.Stat(dir + "/cache/" + path); err != nil {
			t.Error(err)
		}
	}
}

// A program of an earlier sandbox may have filled the private home.
func TestThingsInTheWayInPrivateHome(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	files(t, dir, "home/.cargo/f", "home/.rustup/f", "home/.file", "home/.keep", "private/.rustup", "private/.keep/full", "elsewhere/")
	if err := os.Symlink(dir+"/elsewhere", dir+"/private/.cargo"); err != nil {
		t.Fatal(err)
	}
	files(t, dir, "private/.file/")
	o := build(t, job{
		Root: mount.Root{
			Read: append(system(t), dir+"/home/.cargo", dir+"/home/.rustup", dir+"/home/.file", dir+"/home/.keep"),
			Home: dir + "/home", PrivateHome: dir + "/private",
		},
		Scripts: []string{"cd " + dir + "/home && cat .cargo/f .rustup/f .file"},
	})
	check(t, o, 0, "real f\nreal f\nreal .file")
	if got := tree(t, dir+"/elsewhere"); len(got) != 1 {
		t.Errorf("a link was followed: %q", got)
	}
	if len(o.Report.Skipped) != 1 || o.Report.Skipped[0].Path != dir+"/home/.keep" {
		t.Errorf("skipped: %+v", o.Report.Skipped)
	}
}

func TestWorkspaceIsHome(t *testing.T) {
	t.Parallel()
	home := folder(t)
	files(t, home, ".ssh/id", ".netrc", "code/f")
	private := folder(t)
	before := tree(t, home)
	o := build(t, job{
		Root: mount.Root{
			Read: system(t), Write: []string{home}, Home: home, PrivateHome: private,
			Hidden: []string{home + "/.ssh", home + "/.netrc", home + "/.aws"},
		},
		Scripts: []string{"cd " + home + "; ls -A . .ssh; cat .netrc code/f; touch .ssh/x .netrc 2>/dev/null; rm -rf .ssh .netrc 2>/dev/null; stat -c %a .ssh .netrc"},
	})
	check(t, o, 0, ".:\n.netrc\n.ssh\ncode\n\n.ssh:\nreal f\n555\n444")
	if diff := cmp.Diff(before, tree(t, home)); diff != "" {
		t.Errorf("the user's home changed, -want +got:\n%s", diff)
	}
	if got := tree(t, private); len(got) != 1 {
		t.Errorf("the private home is not used, but holds %q", got)
	}
}

func TestOddNames(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	name := "a b\nc\t'\"\\ (deleted)"
	files(t, dir, name+"/f", name+"/.git/config", "r "+name+"/f")
	o := build(t, job{
		Root: mount.Root{
			Read: append(system(t), dir+"/r "+name), Write: []string{dir + "/" + name},
			Protected: []string{dir + "/" + name + "/.git/config"}, Hidden: []string{dir + "/" + name + "/f"},
		},
		Env:     []string{"WS=" + dir + "/" + name, "RO=" + dir + "/r " + name},
		Scripts: []string{`cat "$RO/f" "$WS/f"; touch "$WS/new"; mv "$WS/.git" "$WS/x" 2>/dev/null; ls -A "$WS"`},
	})
	check(t, o, 0, "real f\n.git\nf\nnew")
}

func TestDevicesOfTheHostAreNotThere(t *testing.T) {
	t.Parallel()
	o := build(t, job{
		Root: mount.Root{Read: append(system(t), "/dev", "/proc", "/run", "/sys", "/dev/vda"), Devices: []string{"/dev/kmsg", "/etc/passwd", "/dev/nothing"}},
		Scripts: []string{
			"ls /dev | tr '\\n' ' '",
			"chmod 600 /dev/null 2>/dev/null; rm /dev/null 2>/dev/null; stat -c %a /dev/null",
		},
	})
	want := "fd full kmsg null ptmx pts random shm stderr stdin stdout tty urandom zero"
	if _, err := os.Stat("/dev/kmsg"); err != nil {
		want = strings.Replace(want, "kmsg ", "", 1)
	}
	check(t, o, 0, want)
	check(t, o, 1, "666")
	if got := len(o.Report.Skipped); got != 6 {
		t.Errorf("skipped: %+v", o.Report.Skipped)
	}
}

func TestRefusedRoots(t *testing.T) {
	t.Parallel()
	for _, r := range []mount.Root{
		{Read: []string{"relative"}}, {Write: []string{"/"}}, {Hidden: []string{"/a/../b"}},
		{PrivateHome: "/tmp"}, {Home: "/", PrivateHome: "/tmp"}, {Read: []string{"/a\x00b"}},
	} {
		if o := mayBuild(t, job{Root: r}); o.Error == "" || o.Unavailable {
			t.Errorf("%+v: got %q", r, o.Error)
		}
	}
}

func TestHostMountsAreUnchanged(t *testing.T) {
	before, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	dir := folder(t)
	files(t, dir, "ws/.git/config")
	build(t, job{Root: mount.Root{Read: system(t), Write: []string{dir}, Protected: []string{dir + "/ws/.git/config"}}})
	after, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(before), string(after)); diff != "" {
		t.Errorf("-before +after:\n%s", diff)
	}
}

func TestManyPaths(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	r := mount.Root{Read: system(t)}
	for i := range 300 {
		path := fmt.Sprintf("%s/%03d/lib", dir, i)
		files(t, path, "f")
		r.Read = append(r.Read, path)
	}
	o := build(t, job{Root: r, Scripts: []string{"cat " + dir + "/*/lib/f | wc -l; grep -c ' " + dir + "' /proc/self/mounts"}})
	check(t, o, 0, "300\n300")
	t.Logf("%d reads: %s", len(r.Read), o.Took)
}

// The whole must stay small beside the start of the process; the bound is wide,
// because other tests run at the same time.
func TestBuildIsFast(t *testing.T) {
	dir := folder(t)
	r := mount.Root{Read: system(t), Write: []string{dir + "/ws"}, Home: "/home/somebody", PrivateHome: dir + "/home", Temp: dir + "/temp"}
	files(t, dir, "home/", "temp/", "ws/.git/")
	for i := range 30 {
		files(t, dir, fmt.Sprintf("lib%d/f", i), fmt.Sprintf("ws/.git/p%d", i))
		r.Read = append(r.Read, fmt.Sprintf("%s/lib%d", dir, i))
		r.Protected = append(r.Protected, fmt.Sprintf("%s/ws/.git/p%d", dir, i))
	}
	var took []time.Duration
	for range 11 {
		took = append(took, build(t, job{Root: r}).Took)
	}
	slices.Sort(took)
	t.Logf("median %s, fastest %s, slowest %s", took[5], took[0], took[10])
	if took[0] > 50*time.Millisecond {
		t.Errorf("the fastest of %d took %s", len(took), took[0])
	}
}
