package provider

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/proc"
	"hermes/internal/transport/acp"
	"hermes/internal/transport/base"
)

// Programs says how programs are started that answer as models.
type Programs struct {
	// Dir is the folder that their sessions run in. It should be empty; it is
	// created if it is missing. Without one, no program is used.
	Dir   string
	Guard *proc.Guard // ends them if this process is killed; may be nil
	// Mark returns the variables and files that tell what they start that an
	// agent started it; nil marks nothing.
	Mark func() (env []string, files []*os.File)
	// Find says why a program cannot be found; nil looks in PATH.
	Find func(program string) error
	// Plugins asks the models of plugins; nil knows none.
	Plugins Plugins
}

// command returns the program of a service and its arguments: those of the settings,
// else of the variables, else of the catalogue; nil if the service is not a program.
func (c *Catalogue) command(e endpoint) []string {
	argv := slices.Clone(e.Command)
	if len(argv) > 0 {
		argv[0] = cmp.Or(c.firstVar(e.CommandVars), argv[0])
		if args := c.firstVar(e.ArgsVars); args != "" {
			argv = append(argv[:1], strings.Fields(args)...)
		}
	}
	if e.custom.Command != "" {
		if len(argv) == 0 {
			argv = []string{""}
		}
		argv[0] = e.custom.Command
	}
	if len(argv) > 0 && e.custom.Args != nil {
		argv = append(argv[:1], e.custom.Args...)
	}
	return argv
}

// Program returns the program of a service by its name, "" if the service is none.
func (c *Catalogue) Program(name string) string {
	if e, err := c.endpoint(name); err == nil && len(e.argv) > 0 {
		return e.argv[0]
	}
	return ""
}

// asProgram fills in a service that is a program. It needs neither address nor key.
func (c *Catalogue) asProgram(e endpoint, argv []string) (endpoint, error) {
	if e.custom.BaseURL != "" {
		return e, fmt.Errorf("providers.%s in config.yaml has both command and base_url; remove one of them", e.Name)
	}
	e.argv, e.Protocol, e.BaseURL, e.Unavailable = argv, ProtocolACP, "", ""
	e.Model = cmp.Or(e.custom.Model, e.Model, acp.AnyModel)
	find := c.cfg.Programs.Find
	if find == nil {
		find = func(program string) error { _, err := exec.LookPath(program); return err }
	}
	switch err := find(argv[0]); {
	case c.cfg.Programs.Dir == "":
		e.absent = fmt.Sprintf("provider %q is a program, which this run does not start", e.Name)
	case err != nil:
		e.absent = fmt.Sprintf("provider %q needs the program %s, which was not found; install it, or set providers.%s.command in config.yaml", e.Name, argv[0], e.Name)
	}
	return e, nil
}

// program is the transport of a service that is a program.
func (c *Catalogue) program(ch choice, w base.Config) hermes.Model {
	w.Key, w.Header = "", nil
	if ch.id == pluginService {
		return c.pluginModel(ch, w)
	}
	var marks []string
	var files []*os.File
	if c.cfg.Programs.Mark != nil {
		marks, files = c.cfg.Programs.Mark()
	}
	return acp.New(acp.Config{
		Config: w, Command: ch.argv, Env: append(c.programEnv(ch.Env), marks...), Files: files, Dir: c.cfg.Programs.Dir, Guard: c.cfg.Programs.Guard,
		Version: strings.TrimPrefix(c.cfg.UserAgent, "hermes/"),
	})
}

// programEnv is the environment of a program: what any program needs to run, to find
// its own files and to reach its service, and the variables of its own. The keys of
// Hermes are not in it.
func (c *Catalogue) programEnv(own []string) []string {
	names := []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TMP", "TEMP",
		"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
	}
	for _, proxy := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"} {
		names = append(names, proxy, strings.ToLower(proxy))
	}
	if runtime.GOOS == "windows" {
		names = append(names, "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "USERNAME",
			"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "HOMEDRIVE", "HOMEPATH")
	}
	var env []string
	for _, name := range append(names, own...) {
		if v := c.cfg.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}
