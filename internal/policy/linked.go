package policy

import (
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Linked returns the rules with the links of the folders Home and State followed. real
// resolves all links of a path, as filepath.EvalSymlinks does; it may fail for a folder
// that does not exist.
func (r PathRules) Linked(real func(string) (string, error)) PathRules {
	r.RealHome, _ = real(r.Home) // a missing folder protects nothing
	r.RealState, _ = real(r.State)
	return r
}

// Links knows the protected files and folders that are links, as those of people who keep their
// settings in a folder of their own: what such a link leads to is as protected as the name. It may
// be used concurrently.
type Links struct {
	names []string // the absolute paths that may be links
	now   func() time.Time

	mu    sync.Mutex
	until time.Time
	known []linkedName
}

// linkedName is a protected name and where its links lead, in the canonical form.
type linkedName struct{ name, real string }

// linksKept is how long it is not looked again which names are links.
const linksKept = time.Second

// Names that are looked at, below the home folder of the user and below those of Hermes.
const (
	linkedAtHome = `.profile .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .bashrc.d .zshrc .zshenv .zprofile .zlogin .zlogout .inputrc .xprofile .xinitrc
		.gitconfig .ssh .ssh/config .ssh/authorized_keys .aws .netrc .npmrc .gnupg .kube .docker .vimrc .vim .tmux.conf .emacs.d .curlrc .wgetrc
		.config .config/git .config/fish .config/nvim .config/autostart .config/systemd .config/environment.d .local .local/bin bin`
	linkedAtState = "permissions.yaml config.yaml trust.json hook-consents.json .env auth.json SOUL.md memories skills cron hooks plugins scripts"
)

// NewLinks returns the links below the home folder of the user and below the homes of Hermes. now
// is the clock.
func NewLinks(home string, states []string, now func() time.Time) *Links {
	l := &Links{now: now}
	add := func(folder, names string) {
		if folder != "" {
			for name := range strings.FieldsSeq(names) {
				l.names = append(l.names, filepath.Join(folder, name))
			}
		}
	}
	add(home, linkedAtHome)
	for _, s := range states {
		add(s, linkedAtState)
	}
	return l
}

// name returns the protected name by which a canonical path is reached, "" for none.
func (l *Links) name(p string) string {
	if l == nil {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := l.now(); !now.Before(l.until) || l.until.Sub(now) > linksKept {
		l.known, l.until = l.look(), now.Add(linksKept)
	}
	for _, k := range l.known {
		if rest, ok := strings.CutPrefix(p, k.real); ok && (rest == "" || rest[0] == '/') {
			return k.name + rest
		}
	}
	return ""
}

// look follows the names.
func (l *Links) look() []linkedName {
	var known []linkedName
	for _, name := range l.names {
		real, err := filepath.EvalSymlinks(name)
		if err != nil {
			continue
		}
		if k := (linkedName{canonical(name), canonical(real)}); k.name != k.real && k.real != "/" {
			known = append(known, k)
		}
	}
	return known
}
