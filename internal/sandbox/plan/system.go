package plan

import (
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"hermes/internal/policy"
	"hermes/internal/sandbox/gitguard"
)

// systemFolders are readable as a whole. /opt, /nix and /snap hold installed programs.
// Of /var and /run only what programs need: package data, fonts, certificates, the
// resolver's configuration without its sockets, which would carry names out. /proc, /sys and /dev are up to the walls.
const systemFolders = `/usr /bin /sbin /lib /lib32 /lib64 /libx32 /opt /nix/store /nix/var/nix/profiles /snap /gnu/store
	/var/lib/dpkg /var/lib/rpm /var/lib/pacman /var/lib/apt /var/lib/alternatives /var/lib/ca-certificates /var/cache/fontconfig /var/lib/snapd/snaps /var/lib/flatpak/exports
	/run/current-system /run/opengl-driver /run/systemd/resolve/resolv.conf /run/systemd/resolve/stub-resolv.conf /run/resolvconf`

// etcSecrets are patterns below /etc of what holds passwords, keys and connections. The
// table of protected paths adds its own. What others may not read is left out, too.
const etcSecrets = `shadow* gshadow* *- sudoers* security/opasswd ssh/*_key ssl/private pki/private pki/tls/private letsencrypt acme* polkit-1
	NetworkManager/system-connections wireguard ppp openvpn ipsec.secrets ipsec.d swanctl strongswan* tinc vpnc wpa_supplicant iwd netplan
	krb5.keytab *.keytab docker containers/auth.json rancher kubernetes k3s crypttab cryptsetup-keys.d luks* samba/private cifs* *.credentials smbcredentials davfs2
	exim4 postfix dovecot mysql mariadb redis postgresql bind rndc.key sssd ldap.secret libnss-ldap.secret pam_ldap.secret cloud apt/auth.conf apt/auth.conf.d
	msmtprc ssmtp nullmailer snmp zabbix duo vault* consul* hermes gitea gitlab* grafana machine-id-secret credstore credstore.encrypted systemd/credstore`

// maxListed is how many entries of a folder of the system or the home are looked at.
const maxListed = 4096

// system allows reading the system.
func (p *planner) system() {
	p.read(strings.Fields(systemFolders)...)
	p.etc("/etc")
	closed := p.System
	if closed == nil {
		closed = NotForOthers()
	}
	for _, at := range closed {
		if withinAny(at, p.Policy.Read) {
			p.Policy.Hidden = append(p.Policy.Hidden, Carve([]string{at}, p.Grants.Read)...)
		}
	}
}

// NotForOthers lists what root may read in folders of settings, and others may not. For
// other users it lists nothing: the kernel keeps it from them. It is never nil.
func NotForOthers() []string {
	out := []string{}
	if os.Geteuid() != 0 {
		return out
	}
	for _, of := range []struct {
		dir   string
		depth int
	}{{"/etc", 8}, {"/usr/local/etc", 8}, {"/opt", 2}} {
		left := maxSystem
		out = append(out, notForOthers(of.dir, of.depth, &left)...)
	}
	return out
}

// maxSystem is how many entries are looked at in each of these folders.
const maxSystem = 4096

// notForOthers lists what only root and groups may read: whoever made it did not mean it for
// everybody. Folders beyond the bound are listed as well, those that are deeper are not.
func notForOthers(dir string, depth int, left *int) (out []string) {
	f, err := gitguard.OpenFolder(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, err := f.ReadDir(max(*left, 0) + 1)
	if *left -= len(entries); *left < 0 || err != nil && err != io.EOF {
		return []string{dir}
	}
	for _, e := range entries {
		at := filepath.Join(dir, e.Name())
		if t := e.Type(); !t.IsDir() && !t.IsRegular() {
			continue
		}
		info, err := e.Info()
		switch {
		case isGone(err):
		case err != nil || info.Mode().Perm()&0o004 == 0 || info.IsDir() && info.Mode().Perm()&0o001 == 0:
			out = append(out, at)
		case info.IsDir() && depth > 1:
			out = append(out, notForOthers(at, depth-1, left)...)
		}
	}
	return out
}

// etc allows every entry of /etc that holds no secret.
func (p *planner) etc(dir string) {
	var entries []fs.DirEntry
	if f, err := gitguard.OpenFolder(dir); err == nil {
		entries, _ = f.ReadDir(maxListed)
		f.Close()
	}
	var hidden []string
	names := lister{}
	for _, pattern := range etcPatterns() {
		hidden = append(hidden, names.find(dir, strings.Split(strings.ToLower(pattern), "/"))...)
	}
	for _, e := range entries {
		at := filepath.Join(dir, e.Name())
		if e.Type()&os.ModeSymlink != 0 {
			p.etcLink(at, dir, hidden)
			continue
		}
		if info, err := e.Info(); err != nil || info.Mode().Perm()&0o004 == 0 {
			continue // whoever made it did not mean it for everybody
		}
		p.Policy.Read = append(p.Policy.Read, Carve([]string{at}, hidden)...)
	}
}

// etcLink allows what a link such as resolv.conf leads to, if it is a system file.
func (p *planner) etcLink(at, dir string, hidden []string) {
	real, err := filepath.EvalSymlinks(at)
	if err != nil || withinAny(at, hidden) || withinAny(real, hidden) {
		return
	}
	for _, safe := range []string{dir, "/usr", "/lib", "/run/systemd", "/run/resolvconf", "/run/NetworkManager/resolv.conf", "/nix/store", "/var/lib/dpkg", "/opt"} {
		if within(real, safe) {
			p.read(at)
			return
		}
	}
	p.links(at) // as mtab, which leads to /proc
}

func etcPatterns() []string {
	out := strings.Fields(etcSecrets)
	for _, row := range policy.Table() {
		if rest, ok := strings.CutPrefix(row.Pattern, "etc/"); ok && row.Anchor == policy.AtRoot && row.Kind.Read == policy.Denied {
			out = append(out, strings.TrimSuffix(rest, "/"))
		}
	}
	return out
}

// secretsOf lists what exists in a home of what the table of protected paths keeps from
// being read or sent: keys, credentials, browsers, histories. Links are followed.
func secretsOf(home string) []string {
	names := lister{}
	var out []string
	for _, row := range policy.Table() {
		if row.Anchor != policy.AtHome || row.Kind.Read < policy.Local {
			continue
		}
		for _, found := range names.find(home, strings.Split(strings.TrimSuffix(row.Pattern, "/"), "/")) {
			out = append(out, found)
			if real, err := filepath.EvalSymlinks(found); err == nil {
				out = append(out, real)
			}
		}
	}
	return merged(out)
}

// lister remembers the names in folders, in lower case as the table has them.
type lister map[string]map[string][]string

func (l lister) find(dir string, pattern []string) (out []string) {
	names, ok := l[dir]
	if !ok {
		names = map[string][]string{}
		if f, err := gitguard.OpenFolder(followed(dir)); err == nil {
			list, _ := f.Readdirnames(maxListed)
			f.Close()
			for _, name := range list {
				names[strings.ToLower(name)] = append(names[strings.ToLower(name)], name)
			}
		}
		l[dir] = names
	}
	match := slices.Clone(names[pattern[0]])
	if strings.ContainsAny(pattern[0], "*?") {
		for lower, all := range names {
			if ok, _ := path.Match(pattern[0], lower); ok {
				match = append(match, all...)
			}
		}
	}
	for _, name := range match {
		at := filepath.Join(dir, name)
		if len(pattern) == 1 {
			out = append(out, at)
			continue
		}
		out = append(out, l.find(at, pattern[1:])...)
	}
	return out
}
