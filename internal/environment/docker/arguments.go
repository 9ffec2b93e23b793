package docker

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed box.sh
var boxScript string

// layout is the version of what containers look like; those of another one are not used.
const layout = "1"

// The labels of containers.
const (
	labelAgent   = "hermes-agent"   // "1"
	labelHome    = "hermes-home"    // a hash of the home that made it
	labelOptions = "hermes-options" // a hash of all options and of layout
	labelKept    = "hermes-kept"    // "true" for one that outlives its session
	labelSession = "hermes-task-id"
	labelProfile = "hermes-profile"
	labelLayout  = "hermes-layout"
)

// userHome is the home folder of a user that the image does not know.
const userHome = "/home/hermes"

// quietTicks is in how many parts of its lifetime a container looks whether it is used.
const quietTicks = 6

// plan is the container that a Config asks for.
type plan struct {
	name    string
	home    string // hash
	options string // hash
	kept    bool
	args    []string // options of the create command
	env     []string // variables of the client whose values the container gets
	files   []string // options of the create command, which an engine elsewhere refuses
}

// newPlan derives the plan. The name holds the hash of the options, and a name is given
// only once by an engine: two processes that start at once end up with one container, and
// one with other options is not mistaken for it.
func newPlan(c Config) plan {
	p := plan{home: digest(c.Home), kept: c.kept()}
	p.args = hardening(c)
	p.args = append(p.args, limits(c.Limits)...)
	p.args = append(p.args, user(c)...)
	for _, v := range c.Volumes {
		p.args = append(p.args, "--volume", v)
	}
	if c.Workspace != "" {
		p.args = append(p.args, "--mount", "type=bind,"+quoted("source="+c.Workspace)+",target="+Workspace)
	}
	if !p.kept {
		p.files = fileMounts(c)
	}
	values := p.setEnv(c.Env)
	p.args = append(p.args, c.ExtraArgs...)
	p.options = digest(slices.Concat([]string{layout, c.Image, lifetime(c.Lifetime), strconv.Itoa(c.DiskMB), boxScript}, p.args, values)...)
	whom := []string{"home", c.Home, "session", c.Session}
	switch {
	case p.kept && c.SharedKey != "":
		whom = []string{"key", c.SharedKey}
	case p.kept:
		whom = []string{"home", c.Home}
	}
	p.name = "hermes-" + digest(whom...) + "-" + p.options
	for _, label := range []string{
		labelAgent + "=1", labelHome + "=" + p.home, labelOptions + "=" + p.options, labelKept + "=" + strconv.FormatBool(p.kept),
		labelSession + "=" + c.Session, labelProfile + "=" + c.Profile, labelLayout + "=" + layout,
	} {
		p.args = append(p.args, "--label", label)
	}
	return p
}

// fileMounts mounts files into the home folder, for reading only.
func fileMounts(c Config) (args []string) {
	home := "/root"
	if len(user(c)) > 0 {
		home = userHome
	}
	for _, f := range c.Files {
		args = append(args, "--mount", "type=bind,"+quoted("source="+f.Source)+","+quoted("target="+path.Join(home, f.Path))+",readonly")
	}
	return args
}

// kept reports whether the container outlives its session.
func (c Config) kept() bool { return c.Persistent && c.AcrossProcesses }

// quoted is a field of a line of CSV.
func quoted(field string) string {
	if strings.ContainsAny(field, "\",\n") {
		return `"` + strings.ReplaceAll(field, `"`, `""`) + `"`
	}
	return field
}

// hardening is what every container gets. The capabilities are those that package managers
// need; the temporary folders are in memory, and bounded.
func hardening(c Config) []string {
	args := []string{
		"--cap-drop", "ALL", "--cap-add", "DAC_OVERRIDE", "--cap-add", "CHOWN", "--cap-add", "FOWNER",
		"--pids-limit", "256",
		"--tmpfs", "/tmp:rw,exec,nosuid,nodev,size=512m",
		"--tmpfs", "/var/tmp:rw,noexec,nosuid,nodev,size=256m",
		"--tmpfs", "/run:rw,noexec,nosuid,nodev,size=64m",
	}
	if !c.SnapCompat { // its AppArmor profile lets no program start with this
		args = append(args, "--security-opt", "no-new-privileges")
	}
	return args
}

// limits leaves the disk to run, since few engines can limit it.
func limits(l Limits) (args []string) {
	if l.CPU > 0 {
		args = append(args, "--cpus", strconv.FormatFloat(l.CPU, 'g', -1, 64))
	}
	if l.MemoryMB > 0 {
		args = append(args, "--memory", strconv.Itoa(l.MemoryMB)+"m")
	}
	if !l.Network {
		args = append(args, "--network", "none")
	}
	return args
}

// user is for systems with user ids. An image does not know the user: it gets a home folder.
func user(c Config) []string {
	if !c.AsHostUser || os.Getuid() < 0 {
		return nil
	}
	return []string{
		"--user", fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid()), "--env", "HOME=" + userHome,
		"--tmpfs", userHome + ":rw,exec,nosuid,nodev,mode=1777,size=512m",
	}
}

// setEnv names the variables of the container. Their values are in the environment of the
// client, because all users of a machine see command lines; but not those that would
// change what the client does. It returns what the hash of the options has to hold.
func (p *plan) setEnv(env map[string]string) (values []string) {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		value := name + "=" + env[name]
		values = append(values, value)
		if steersClient(name) {
			p.args = append(p.args, "--env", value)
			continue
		}
		p.args = append(p.args, "--env", name)
		p.env = append(p.env, value)
	}
	return values
}

// steersClient reports whether clients, or the system below them, obey a variable.
func steersClient(name string) bool {
	upper := strings.ToUpper(name)
	for _, prefix := range []string{"DOCKER_", "CONTAINER", "PODMAN_", "BUILDAH_", "STORAGE_", "REGISTRY_", "XDG_", "LD_", "DYLD_", "GO", "SSL_", "SSH_"} {
		if strings.HasPrefix(upper, prefix) {
			return true
		}
	}
	return strings.HasSuffix(upper, "_PROXY") || slices.Contains([]string{
		"PATH", "HOME", "USER", "TMPDIR", "TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "SYSTEMROOT", "PATHEXT", "PROGRAMDATA",
	}, upper)
}

// variants are the parts of a create command that not every engine knows.
type variants struct {
	init, disk, files bool
	podman            bool
}

// create is the command that makes the container, without starting it.
func (p plan) create(c Config, v variants) []string {
	args := []string{"create", "--name", p.name, "--entrypoint", "/bin/sh"}
	if v.init {
		args = append(args, "--init")
	}
	if v.disk {
		args = append(args, "--storage-opt", "size="+strconv.Itoa(c.DiskMB)+"m")
	}
	if v.podman {
		args = append(args, "--env-host=false", "--http-proxy=false")
		if c.AsHostUser && os.Getuid() > 0 {
			args = append(args, "--userns", "keep-id")
		}
	}
	args = append(args, p.args...)
	if v.files {
		args = append(args, p.files...)
	}
	ticks := quietTicks
	if c.Lifetime == 0 {
		ticks = 0
	}
	return append(args, c.Image, "-c", boxScript, "hermes-box", strconv.Itoa(ticks), lifetime(c.Lifetime))
}

// lifetime is the time of one tick in seconds, as sleep takes it.
func lifetime(d time.Duration) string {
	if d == 0 {
		d = time.Hour * quietTicks
	}
	return strconv.Itoa(max(1, int((d / quietTicks).Seconds())))
}

// digest is a short hash of texts.
func digest(texts ...string) string {
	h := sha256.New()
	for _, t := range texts {
		fmt.Fprintf(h, "%d:%s", len(t), t)
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}
