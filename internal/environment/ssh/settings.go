package ssh

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	sshconfig "github.com/kevinburke/ssh_config"
)

// settings are the client's configuration as the library way reads it.
type settings struct {
	files []*sshconfig.Config
	home  string
	user  string // on this machine
	agent string // the address of the agent
}

// host is where to log in, and how.
type host struct {
	alias, name, user string
	port              int
	keys, known       []string // files
	lookup            string   // the name of its key, if not name
	jump              string
	agent             string
	only              bool // no other keys than these
}

// address is where the key of the host is looked up.
func (h host) address() string {
	if h.lookup != "" {
		return net.JoinHostPort(h.lookup, "22")
	}
	return net.JoinHostPort(h.name, strconv.Itoa(h.port))
}

func readSettings(c Config) (*settings, error) {
	s := &settings{home: c.Home}
	for _, v := range c.Env {
		name, value, _ := strings.Cut(v, "=")
		switch name {
		case "USER", "USERNAME", "LOGNAME":
			s.user = value
		case "SSH_AUTH_SOCK":
			s.agent = value
		}
	}
	files := []string{c.File}
	if c.File == "" {
		files = []string{filepath.Join(c.Home, ".ssh", "config"), "/etc/ssh/ssh_config"}
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) && c.File == "" {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the ssh configuration: %w", err)
		}
		file, err := sshconfig.DecodeBytes(b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w; install the program ssh, which understands all of it", name, err)
		}
		s.files = append(s.files, file)
	}
	return s, nil
}

// get is the first value of a key for a host.
func (s *settings) get(alias, key string) (string, error) {
	for _, f := range s.files {
		v, err := f.Get(alias, key)
		if err != nil || v != "" {
			return strings.Trim(v, `"`), err
		}
	}
	return "", nil
}

// host is the host of the configuration, with what the user has set for it.
func (s *settings) host(c Config) (host, error) {
	h := host{alias: c.Host, user: c.User, port: c.Port, agent: s.agent}
	var errs []error
	get := func(key string) string {
		v, err := s.get(c.Host, key)
		errs = append(errs, err)
		return v
	}
	h.name = strings.ReplaceAll(get("HostName"), "%h", c.Host)
	if h.name == "" {
		h.name = c.Host
	}
	if v := get("User"); h.user == "" {
		h.user = v
	}
	if h.user == "" {
		h.user = s.user
	}
	if v := get("Port"); h.port == 0 {
		h.port = 22
		if v != "" {
			var err error
			h.port, err = strconv.Atoi(v)
			errs = append(errs, err)
		}
	}
	h.lookup = get("HostKeyAlias")
	h.only = strings.EqualFold(get("IdentitiesOnly"), "yes") || c.Key != ""
	if v := get("IdentityAgent"); v != "" {
		h.agent = s.path(v, h)
	}
	h.jump = get("ProxyJump")
	if v := get("ProxyCommand"); v != "" && !strings.EqualFold(v, "none") && h.jump == "" {
		errs = append(errs, fmt.Errorf("the ssh configuration of %s has a ProxyCommand; install the program ssh, which can run it", c.Host))
	}
	h.keys = s.keys(c, h)
	for _, key := range []struct{ name, usual string }{
		{"UserKnownHostsFile", "~/.ssh/known_hosts ~/.ssh/known_hosts2"},
		{"GlobalKnownHostsFile", "/etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2"},
	} {
		v := get(key.name)
		if v == "" {
			v = key.usual
		}
		for _, file := range strings.Fields(v) {
			h.known = append(h.known, s.path(file, h))
		}
	}
	return h, errors.Join(errs...)
}

// keys are the files of the user's keys.
func (s *settings) keys(c Config, h host) []string {
	if c.Key != "" {
		return []string{c.Key}
	}
	var all []string
	for _, f := range s.files {
		files, _ := f.GetAll(c.Host, "IdentityFile")
		for _, file := range files {
			all = append(all, s.path(strings.Trim(file, `"`), h))
		}
	}
	if len(all) == 0 {
		for _, kind := range []string{"ed25519", "ecdsa", "rsa"} {
			all = append(all, filepath.Join(s.home, ".ssh", "id_"+kind))
		}
	}
	return slices.Compact(all)
}

// path fills in what a path of the configuration leaves open.
func (s *settings) path(path string, h host) string {
	path = strings.NewReplacer("%%", "%", "%d", s.home, "%u", s.user, "%r", h.user, "%h", h.name, "%n", h.alias, "%p", strconv.Itoa(h.port)).Replace(path)
	return expand(path, s.home)
}

// jumps are the hosts on the way to one, and itself as the last.
func (s *settings) jumps(h host, c Config) ([]host, error) {
	hops := []host{h}
	for h.jump != "" && !strings.EqualFold(h.jump, "none") {
		if len(hops) > maxJumps {
			return nil, errors.New("the jump hosts of the ssh configuration form a circle")
		}
		list := strings.Split(h.jump, ",")
		last := strings.TrimPrefix(strings.TrimSpace(list[len(list)-1]), "ssh://")
		before := strings.Join(list[:len(list)-1], ",")
		via := Config{Home: c.Home, Env: c.Env, File: c.File}
		if user, rest, ok := strings.Cut(last, "@"); ok {
			via.User, last = user, rest
		}
		via.Host = last
		if name, port, err := net.SplitHostPort(last); err == nil {
			n, err := strconv.Atoi(port)
			if err != nil {
				return nil, fmt.Errorf("the port of the jump host %s: %w", last, err)
			}
			via.Host, via.Port = name, n
		}
		if err := via.check(); err != nil {
			return nil, fmt.Errorf("a jump host of the ssh configuration: %w", err)
		}
		next, err := s.host(via)
		if err != nil {
			return nil, err
		}
		if before != "" {
			next.jump = before
		}
		h = next
		hops = append([]host{h}, hops...)
	}
	return hops, nil
}
