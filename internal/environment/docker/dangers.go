package docker

import (
	"encoding/csv"
	"fmt"
	"hermes/internal/environment/remote"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hermes"
)

// dangers are the options that break the walls of a container, or open them by design.
type dangers struct {
	escapes  []string       // what gives commands power over the host
	writable []string       // folders of the host that commands can change
	readable []string       // folders of the host that they can read
	less     []string       // walls that are missing without giving that power
	network  hermes.Network // if an option sets it; "" otherwise
}

func (d dangers) holds() bool { return len(d.escapes) == 0 && len(d.writable) == 0 }

// lacks lists them in short words.
func (d dangers) lacks() (all []string) {
	all = append(all, d.escapes...)
	for _, dir := range d.writable {
		all = append(all, "the host folder "+dir+" can be changed")
	}
	for _, dir := range d.readable {
		all = append(all, "the host folder "+dir+" can be read")
	}
	return append(all, d.less...)
}

// engineSockets are where engines listen. Who reaches one can start a container that is
// the host.
var engineSockets = []string{
	"/run/docker.sock", "/var/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock", "/run/crio/crio.sock",
	"/run/user/0/docker.sock", "/run/user/1000/docker.sock", "/run/user/1000/podman/podman.sock",
}

// capabilities that every container of Docker has unless they are dropped.
var usualCapabilities = []string{
	"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "NET_RAW", "SETFCAP", "SETGID", "SETPCAP",
	"SETUID", "SYS_CHROOT",
}

// switches are the options without a value of the run commands of Docker and podman.
var switches = []string{
	"--privileged", "--init", "--interactive", "--tty", "--detach", "--publish-all", "--read-only", "--no-healthcheck", "--oom-kill-disable",
	"--sig-proxy", "--disable-content-trust", "--quiet", "--use-api-socket", "--replace", "--tls-verify", "--http-proxy", "--env-host",
	"--read-only-tmpfs", "--passwd", "--rmi", "--no-hosts", "--no-hostname", "--rm", "--help",
}

// owned are options that the Runner sets itself, with the reason.
var owned = map[string]string{
	"--name": "the name is how a container is found again", "--entrypoint": "the first process ends unused containers",
	"--rm": "a container must not vanish while it is used", "--cidfile": "the id is read from the client's output",
}

// option is one option of a run command, as its long name.
type option struct {
	name, value string
	attached    bool // the value is in the same argument
}

// shorts are the options with one letter that matter here.
var shorts = map[byte]string{'v': "--volume", 'd': "--detach", 'i': "--interactive", 't': "--tty", 'P': "--publish-all", 'q': "--quiet"}

// optionsOf reads every argument that could be an option as one, also where it may be the
// value of the one before: what is read too much only makes walls count less.
func optionsOf(args []string) (found []option) {
	for i, arg := range args {
		next := ""
		if i+1 < len(args) {
			next = args[i+1]
		}
		switch {
		case strings.HasPrefix(arg, "--"):
			name, value, attached := strings.Cut(arg, "=")
			if !attached && !slices.Contains(switches, name) {
				value = next
			}
			if name == "--net" {
				name = "--network"
			}
			found = append(found, option{name, value, attached || slices.Contains(switches, name)})
		case len(arg) > 1 && arg[0] == '-':
			found = append(found, short(arg[1:], next)...)
		}
	}
	return found
}

// short reads letters behind one dash: switches, and at last one with a value.
func short(letters, next string) (found []option) {
	for i := range len(letters) {
		name, known := shorts[letters[i]]
		if known && name != "--volume" {
			found = append(found, option{name: name, attached: true})
			continue
		}
		rest := strings.TrimPrefix(letters[i+1:], "=")
		if rest == "" {
			return append(found, option{name: name, value: next})
		}
		return append(found, option{name: name, value: rest, attached: true})
	}
	return found
}

// checkExtra refuses arguments that are no options, since the first of them would be taken
// for the image, and options that the Runner sets itself.
func checkExtra(args []string) error {
	valueNext := false
	for _, arg := range args {
		if !strings.HasPrefix(arg, "-") || arg == "-" || arg == "--" {
			if !valueNext {
				return fmt.Errorf("terminal.docker_extra_args: %q is no option; write an option and its value as two entries, or as --option=value", arg)
			}
			valueNext = false
			continue
		}
		all := optionsOf([]string{arg})
		last := all[len(all)-1]
		valueNext = !last.attached
		for _, o := range all {
			if why := owned[o.name]; why != "" {
				return fmt.Errorf("terminal.docker_extra_args: %s cannot be set: %s", o.name, why)
			}
		}
	}
	if valueNext {
		return fmt.Errorf("terminal.docker_extra_args: %q has no value", args[len(args)-1])
	}
	return nil
}

// dangersOf judges the options of a Config.
func dangersOf(c Config) (d dangers) {
	engine := ""
	for _, v := range c.Environ {
		if at, ok := strings.CutPrefix(v, "DOCKER_HOST=unix://"); ok {
			engine = at
		}
	}
	if c.SnapCompat {
		d.less = append(d.less, "no-new-privileges (docker_snap_compat)")
	}
	if c.Workspace != "" {
		d.mount(c.Workspace, false, engine)
	}
	for _, v := range c.Volumes {
		d.volume(v, engine)
	}
	if !c.kept() {
		for _, f := range c.Files {
			d.mount(f.Source, true, engine)
		}
	}
	for _, o := range optionsOf(c.ExtraArgs) {
		d.option(o, engine)
	}
	return d
}

// mountable lists the files that commands in the container cannot replace on the host.
func mountable(c Config) []remote.HomeFile {
	files := slices.Clone(c.Files)
	c.Files = nil
	var folders []string
	for _, dir := range dangersOf(c).writable {
		folders = append(folders, dir)
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			folders = append(folders, real)
		}
	}
	return slices.DeleteFunc(files, func(f remote.HomeFile) bool { return below(f.Source, folders...) })
}

// option judges one of the extra arguments.
func (d *dangers) option(o option, engine string) {
	value := strings.ToLower(o.value)
	escape := func(yes bool) {
		if yes {
			d.escapes = append(d.escapes, strings.TrimSuffix(o.name+" "+o.value, " "))
		}
	}
	switch o.name {
	case "--privileged", "--use-api-socket":
		escape(value != "false")
	case "--cap-add":
		for name := range strings.SplitSeq(strings.ToUpper(o.value), ",") {
			escape(!slices.Contains(usualCapabilities, strings.TrimPrefix(name, "CAP_")))
		}
	case "--device", "--device-cgroup-rule", "--gpus", "--volumes-from", "--cgroup-parent", "--rootfs", "--pod", "--volume-driver":
		escape(true)
	case "--pid", "--ipc", "--uts", "--userns", "--cgroupns", "--network":
		host := value == "host" || strings.HasPrefix(value, "container:") || strings.HasPrefix(value, "ns:")
		escape(host)
		if o.name == "--network" {
			d.network = hermes.NetworkHost
			if value == "none" {
				d.network = hermes.NetworkOff
			}
		}
	case "--security-opt":
		escape(!slices.Contains([]string{"no-new-privileges", "no-new-privileges=true", "no-new-privileges:true"}, value))
	case "--volume":
		d.volume(o.value, engine)
	case "--mount":
		d.mountOption(o.value, engine)
	case "--env-host":
		if value != "false" {
			d.less = append(d.less, "the variables of the client are visible (--env-host)")
		}
	}
}

// volume judges SOURCE:TARGET[:OPTIONS]. A source that is no path is a volume of the engine.
func (d *dangers) volume(v, engine string) {
	source, rest, found := cutSource(v)
	if !found || !isPath(source) {
		return
	}
	_, options, _ := strings.Cut(rest, ":")
	d.mount(source, slices.ContainsFunc(strings.Split(options, ","), func(o string) bool { return o == "ro" || o == "readonly" }), engine)
}

// cutSource cuts at the first colon, but not behind the letter of a Windows drive.
func cutSource(v string) (source, rest string, found bool) {
	from := 0
	if len(v) > 2 && (v[0]|0x20 >= 'a' && v[0]|0x20 <= 'z') && v[1] == ':' && (v[2] == '\\' || v[2] == '/') {
		from = 2
	}
	i := strings.IndexByte(v[from:], ':')
	if i < 0 {
		return v, "", false
	}
	return v[:from+i], v[from+i+1:], true
}

func isPath(source string) bool {
	return strings.ContainsAny(source, `/\\`) || strings.HasPrefix(source, ".") || strings.HasPrefix(source, "~")
}

// mountOption judges the value of --mount, which is a line of CSV. One that cannot be read
// counts as the worst.
func (d *dangers) mountOption(v, engine string) {
	fields, err := csv.NewReader(strings.NewReader(v)).Read()
	if err != nil {
		d.escapes = append(d.escapes, "--mount "+v)
		return
	}
	var kind, source string
	readOnly := false
	for _, f := range fields {
		key, value, has := strings.Cut(strings.TrimSpace(f), "=")
		switch strings.ToLower(key) {
		case "type":
			kind = value
		case "source", "src":
			source = value
		case "readonly", "ro":
			readOnly = !has || value == "true" || value == "1"
		case "volume-opt", "volume-driver": // a volume may be a folder of the host, too
			source, kind = v, "bind"
		}
	}
	if kind == "bind" || kind == "glob" || kind == "devpts" || isPath(source) {
		d.mount(source, readOnly, engine)
	}
}

// mount judges a folder or file of the host.
func (d *dangers) mount(source string, readOnly bool, engine string) {
	resolved := filepath.Clean(source)
	if real, err := filepath.EvalSymlinks(resolved); err == nil {
		resolved = real
	}
	info, err := os.Stat(resolved)
	switch {
	case slices.ContainsFunc(append([]string{engine}, engineSockets...), func(s string) bool { return s != "" && below(s, source, resolved) }),
		strings.HasSuffix(source, ".sock"), strings.Contains(filepath.ToSlash(source), "/pipe/"), err == nil && info.Mode().Type() == os.ModeSocket:
		d.escapes = append(d.escapes, "a socket of the host is reachable through "+source)
	case err == nil && info.Mode()&os.ModeDevice != 0:
		d.escapes = append(d.escapes, "the device "+source)
	}
	if readOnly {
		d.readable = append(d.readable, source)
		return
	}
	d.writable = append(d.writable, source)
}

// below reports whether a path is one of the folders, or in one.
func below(path string, dirs ...string) bool {
	for _, dir := range dirs {
		dir = strings.TrimSuffix(filepath.ToSlash(filepath.Clean(dir)), "/")
		if path == dir || strings.HasPrefix(path, dir+"/") {
			return true
		}
	}
	return false
}
