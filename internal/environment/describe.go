package environment

import (
	"context"
	"runtime"
	"strings"

	"hermes"
)

// Describe says where the commands run; see [hermes.Environment]. What this machine is
// does not change, and is looked up once.
func (l *Local) Describe(context.Context) hermes.Description {
	d := hermes.Description{
		System: l.system(), Arch: runtime.GOARCH, Home: l.config.Home,
		Isolation: hermes.Isolation{Layer: "none", Text: "No sandbox: commands may do what the user may."},
		Network:   hermes.NetworkHost,
	}
	if sh, err := l.shell(); err == nil { // else the first command reports it
		d.Shell = sh.path
	}
	if w := l.config.Walls; w != nil {
		d.Isolation = w.Describe()
		if b, ok := w.(Bounds); ok {
			d.Network, d.Writable = b.Bounds()
		}
	}
	return d
}

// releaseName reads the name and version of a distribution from an os-release file, ""
// if it has none. kernel is the kernel's own name, which says whether this is WSL.
func releaseName(release, kernel string) string {
	fields := map[string]string{}
	for line := range strings.Lines(release) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if ok {
			fields[name] = strings.Trim(value, `"'`)
		}
	}
	name := strings.TrimSpace(strings.TrimSuffix(fields["NAME"], " GNU/Linux") + " " + fields["VERSION_ID"])
	if name == "" {
		name = "Linux"
	}
	if strings.Contains(strings.ToLower(kernel), "microsoft") {
		name += " (WSL)"
	}
	return name
}
