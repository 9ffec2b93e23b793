package app

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"hermes/internal/config"
	"hermes/internal/home"
	"hermes/internal/hostlist"
)

// domainsKey is the setting with the user's own rules.
const domainsKey = "security.website_blocklist.domains"

// blocklist refuses the hosts that the user does not want to be visited. It is asked
// before any look-up, for requests of tools and of children alike.
type blocklist struct {
	domains hostlist.List
	wrong   error // lines of domains that are no rules
	shared  *hostlist.Files
	log     *slog.Logger
}

// makeBlocklist makes the list of the settings, nil if it is off.
func (a *App) makeBlocklist() (*blocklist, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	set := cfg.Security().WebsiteBlocklist
	if !set.Enabled {
		return nil, nil
	}
	b := &blocklist{shared: hostlist.NewFiles(a.opts.Now, sharedFiles(cfg, set.SharedFiles)...), log: a.log()}
	b.domains, b.wrong = hostlist.Parse(set.Domains)
	return b, nil
}

// sharedFiles returns the paths of the files with rules. Relative ones are in Hermes'
// home.
func sharedFiles(cfg *config.Config, names []string) []string {
	userHome, _ := os.UserHomeDir() // without one ~ stays as it is
	paths := make([]string, len(names))
	for i, name := range names {
		if paths[i] = home.Expand(name, userHome); !filepath.IsAbs(paths[i]) {
			paths[i] = filepath.Join(cfg.Home().Root(), paths[i])
		}
	}
	return paths
}

// refuses says why a host must not be visited, "" if it may be. Rules that cannot be
// read refuse every host, since any could be among them.
func (b *blocklist) refuses(host string, port uint16) string {
	if b == nil {
		return ""
	}
	if r, ok := b.domains.Find(host, port); ok {
		return fmt.Sprintf("the rule %q of %s blocks it", r.Text, domainsKey)
	}
	if b.wrong != nil {
		return fmt.Sprintf("%s cannot be used: %s", domainsKey, oneLine(b.wrong))
	}
	r, ok, err := b.shared.Find(host, port)
	switch {
	case err != nil:
		return "a file of security.website_blocklist.shared_files cannot be used: " + oneLine(err)
	case ok:
		return fmt.Sprintf("the rule %s of security.website_blocklist.shared_files blocks it", r)
	}
	if err := b.shared.Check(); err != nil {
		b.log.WarnContext(context.Background(), "lines of the website blocklist are not used", "err", err)
	}
	return ""
}

func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }
