package docker_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/environment/docker"
	"hermes/internal/environment/enginetest"
	"hermes/internal/environment/remote"
)

// inspected is the part of what an engine says about a container that the options set.
type inspected struct {
	HostConfig struct {
		NanoCpus, Memory, PidsLimit int64
		CapAdd, CapDrop             []string
		SecurityOpt                 []string
		NetworkMode                 string
		Privileged                  bool
		Init                        bool
		Tmpfs                       map[string]string
	}
	Config struct{ Env []string }
}

func TestOptionsAreSet(t *testing.T) {
	both(t, func(t *testing.T, e *enginetest.Engine) {
		c := config(t, e)
		c.Env = map[string]string{"GIVEN": "a b'c", "PATH": "/bin:/sbin"}
		c.Forward = []string{"TOKEN=not stored"}
		r := open(t, e, c)
		says(t, r, `echo "$GIVEN $TOKEN $PATH"`, "a b'c not stored /bin:/sbin")
		out, err := e.Run(t.Context(), "inspect", "--type", "container", r.Name())
		if err != nil {
			t.Fatal(err)
		}
		var all []inspected
		if err := json.Unmarshal([]byte(out), &all); err != nil || len(all) != 1 {
			t.Fatal(err, out)
		}
		h := all[0].HostConfig
		if h.NanoCpus != 1e9 || h.Memory != 256<<20 || h.PidsLimit != 256 || h.Privileged || h.NetworkMode != "none" {
			t.Errorf("limits are %+v", h)
		}
		for dir, size := range map[string]string{"/tmp": "size=512m", "/var/tmp": "size=256m", "/run": "size=64m"} {
			if !strings.Contains(h.Tmpfs[dir], size) {
				t.Errorf("%s is %q", dir, h.Tmpfs[dir])
			}
		}
		if !slices.Contains(h.SecurityOpt, "no-new-privileges") {
			t.Errorf("security options are %q", h.SecurityOpt)
		}
		if strings.Contains(out, "not stored") {
			t.Error("a forwarded variable is stored with the container")
		}
		// What the kernel says is the same for both engines: CHOWN, DAC_OVERRIDE and FOWNER.
		says(t, r, "sed -n 's/^CapEff:\t//p;s/^CapBnd:\t//p;s/^NoNewPrivs:\t/new /p' /proc/self/status", "000000000000000b\n000000000000000b\nnew 1")
		says(t, r, "cat /sys/class/net/*/operstate | wc -l", "1")
		if d := r.Describe(); !slices.Contains(d.Isolation.Lacks, "a limit of the disk") {
			t.Errorf("this engine cannot limit the disk, but it says %q", d.Isolation.Lacks)
		}
	})
}

func TestHostUser(t *testing.T) {
	both(t, func(t *testing.T, e *enginetest.Engine) {
		c := config(t, e)
		c.AsHostUser, c.Mounts.Workspace = true, t.TempDir()
		r := open(t, e, c)
		says(t, r, "id -u; echo $HOME; touch $HOME/x mine && ls", "0\n/home/hermes\nmine")
		if _, err := os.Stat(filepath.Join(c.Mounts.Workspace, "mine")); err != nil {
			t.Error(err)
		}
		if !r.HostWritable() {
			t.Error("a mounted workspace does not count as writable")
		}
	})
}

// TestSecretsAreOnNoCommandLine looks at all processes of the machine while a script runs.
func TestSecretsAreOnNoCommandLine(t *testing.T) {
	both(t, func(t *testing.T, e *enginetest.Engine) {
		c := config(t, e)
		c.Env = map[string]string{"GIVEN": "secret-of-the-container"}
		c.Forward = []string{"TOKEN=secret-of-the-script"}
		r := open(t, e, c)
		w := &lookout{word: "started", seen: make(chan struct{})}
		done := make(chan error)
		go func() {
			_, err := r.Exec(t.Context(), remote.Script{Text: `[ "$TOKEN" ] && [ "$GIVEN" ] && echo started; cat; true`, Stdin: blocked(done), Stdout: w})
			done <- err
		}()
		<-w.seen
		for _, file := range mustGlob(t, "/proc/[0-9]*/cmdline") {
			line, err := os.ReadFile(file)
			if err == nil && (strings.Contains(string(line), "secret-of-the-script") || strings.Contains(string(line), "secret-of-the-container")) {
				t.Errorf("a command line shows it: %q", line)
			}
		}
		done <- nil
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// blocked is an input that ends when something comes from the channel.
type blocked chan error

func (b blocked) Read([]byte) (int, error) {
	<-b
	return 0, errors.New("ended")
}

func mustGlob(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) == 0 {
		t.Fatal(err, found)
	}
	return found
}

func TestDangerousOptionsAreSaid(t *testing.T) {
	t.Parallel()
	writable := t.TempDir()
	const holds, breaks = "", "no wall"
	for _, c := range []struct {
		name    string
		args    []string
		volumes []string
		want    string // a part of the description
	}{
		{name: "nothing", want: holds},
		{"harmless", []string{"--shm-size", "1g", "--publish=8080:80", "-v", "cache:/cache", "--cap-add", "SETUID", "--security-opt=no-new-privileges", "--mount", "type=volume,source=a,target=/a", "--privileged=false"}, []string{"my.cache:/x"}, holds},
		{"read-only folder", nil, []string{"/usr/share:/x:ro,z"}, holds},
		{"writable folder", nil, []string{writable + ":/x"}, "can change these folders"},
		{"writable home", nil, []string{"~/code:/x"}, "can change these folders"},
		{"writable folder of options", []string{"--mount", `type=bind,source=` + writable + `,target=/x`}, nil, "can change these folders"},
		{"letters with a value", []string{"-itv" + writable + ":/x"}, nil, "can change these folders"},
		{"privileged", []string{"--privileged"}, nil, breaks},
		{"privileged behind an unknown switch", []string{"--new-switch", "--privileged"}, nil, breaks},
		{"host network", []string{"--net=host"}, nil, breaks},
		{"another container's network", []string{"--network", "container:db"}, nil, breaks},
		{"host processes", []string{"--pid", "host"}, nil, breaks},
		{"host ipc", []string{"--ipc=host"}, nil, breaks},
		{"host users", []string{"--userns=host"}, nil, breaks},
		{"all capabilities", []string{"--cap-add", "ALL"}, nil, breaks},
		{"one of many capabilities", []string{"--cap-add=CHOWN,cap_sys_admin"}, nil, breaks},
		{"device", []string{"--device=/dev/sda"}, nil, breaks},
		{"no seccomp", []string{"--security-opt", "seccomp=unconfined"}, nil, breaks},
		{"socket", nil, []string{"/var/run/docker.sock:/var/run/docker.sock:ro"}, breaks},
		{"folder of a socket", []string{"-v", "/run:/host:ro"}, nil, breaks},
		{"whole host", []string{"--volume=/:/host:ro"}, nil, breaks},
		{"own socket", nil, []string{"/srv/engine:/x:ro"}, breaks},
		{"volumes of others", []string{"--volumes-from", "db"}, nil, breaks},
		{"mount that cannot be read", []string{"--mount", `type=bind,"source=/`}, nil, breaks},
		{"volume that is a folder", []string{"--mount", "type=volume,volume-opt=type=none,volume-opt=device=/etc,target=/x"}, nil, "can change these folders"},
	} {
		r, err := docker.New(docker.Config{
			Home: "/h", Session: "s", Image: "i", ExtraArgs: c.args, Environ: []string{"DOCKER_HOST=unix:///srv/engine/my"},
			Mounts: docker.Mounts{Volumes: c.volumes, UserHome: "/home/me"}, Limits: docker.Limits{DiskMB: 1},
		})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		i := r.Describe().Isolation
		if i.Layer != "container" || i.Holds != (c.want == holds) || r.HostWritable() == i.Holds || !strings.Contains(i.Text, c.want) {
			t.Errorf("%s: %+v", c.name, i)
		}
		if !i.Holds && len(i.Lacks) == 0 {
			t.Errorf("%s: it does not hold, but lacks nothing", c.name)
		}
		r.Close()
	}
}

func TestNetworkIsSaid(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		on   bool
		args []string
		want hermes.Network
	}{
		{false, nil, hermes.NetworkOff}, {true, nil, hermes.NetworkHost}, {true, []string{"--network", "none"}, hermes.NetworkOff}, {false, []string{"--network=mine"}, hermes.NetworkHost},
	} {
		r := mustNew(t, docker.Config{Home: "/h", Session: "s", Image: "i", Limits: docker.Limits{Network: c.on}, ExtraArgs: c.args})
		if got := r.Describe().Network; got != c.want {
			t.Errorf("%+v: got %s", c, got)
		}
	}
}

func TestWrongOptionsAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []docker.Config{
		{},
		{Image: "--privileged"},
		{ExtraArgs: []string{"another-image"}},
		{ExtraArgs: []string{"--privileged", "another-image"}},
		{ExtraArgs: []string{"--shm-size=1g", "another-image"}},
		{ExtraArgs: []string{"-it", "another-image"}},
		{ExtraArgs: []string{"--shm-size"}},
		{ExtraArgs: []string{"--", "another-image"}},
		{ExtraArgs: []string{"--name", "mine"}},
		{ExtraArgs: []string{"--rm"}},
		{ExtraArgs: []string{"--entrypoint="}},
		{Mounts: docker.Mounts{Volumes: []string{"/data"}}},
	} {
		c.Home, c.Session = "/h", "s"
		if c.Image == "" && (len(c.ExtraArgs) > 0 || len(c.Volumes) > 0) {
			c.Image = "i"
		}
		if _, err := docker.New(c); err == nil {
			t.Errorf("%+v is taken", c)
		}
	}
}

// TestFailuresSayWhatToDo has clients that say what real ones said, and one that is missing.
func TestFailuresSayWhatToDo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, said, want string }{
		{"denied", "permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: Get \"http://%2Fvar%2Frun%2Fdocker.sock/v1.41/info\": dial unix /var/run/docker.sock: connect: permission denied", "usermod -aG docker"},
		{"down", "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?", "is not reachable; start it"},
		{"podman is down", "Cannot connect to Podman. Please verify your connection to the Linux system using `podman system connection list`", "is not reachable; start it"},
		{"else", "Error response from daemon: something odd", "something odd"},
	} {
		client := filepath.Join(t.TempDir(), "docker")
		if err := os.WriteFile(client, []byte("#!/bin/sh\necho \""+strings.ReplaceAll(strings.ReplaceAll(c.said, "`", "'"), `"`, `'`)+"\" >&2; exit 1\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		fails(t, docker.Config{Program: client}, c.name, c.want)
	}
	fails(t, docker.Config{Program: "no-such-client"}, "missing", "no-such-client is not installed")
}

func fails(t *testing.T, c docker.Config, name, want string) {
	t.Helper()
	c.Home, c.Session, c.Life = t.TempDir(), "s", docker.Life{Lifetime: time.Minute}
	if c.Image == "" {
		c.Image = "i"
	}
	r := mustNew(t, c)
	defer r.Close()
	code, err := r.Exec(t.Context(), remote.Script{Text: "true"})
	if !errors.Is(err, remote.ErrNotRun) || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: got %d, %v; want %q", name, code, err, want)
	}
}

func TestMissingImageAndShellAreErrors(t *testing.T) {
	both(t, func(t *testing.T, e *enginetest.Engine) {
		c := config(t, e)
		c.Image = "127.0.0.1:1/no/such:1" // the registry refuses the connection
		fails(t, docker.Config{Program: c.Program, Environ: c.Environ, Image: c.Image}, "image", "cannot be pulled")
		empty := "/bin"
		if strings.HasSuffix(e.Program, "podman") {
			empty += ":notmpcopyup"
		}
		fails(t, docker.Config{Program: c.Program, Environ: c.Environ, Image: enginetest.Image, ExtraArgs: []string{"--tmpfs", empty}}, "no shell", "/bin/sh")
	})
}
