package app

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"hermes/internal/config"
	"hermes/internal/home"
	"hermes/internal/hostlist"
)

// blocklist forbids the hosts that the user does not want to be visited. It is asked
// before any look-up.
type blocklist struct {
	lists []namedList
	log   *slog.Logger
}

// namedList is the rules of the settings, or of one file.
type namedList struct {
	name string
	*hostlist.Source
}

// makeBlocklist makes the list of the settings, nil if it is off.
func (a *App) makeBlocklist() (*blocklist, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	if err := cfg.RestrictionFault("security", "website_blocklist"); err != nil {
		return nil, fmt.Errorf("the website is blocked, since a setting cannot be used: %w", err)
	}
	set := cfg.Security().WebsiteBlocklist
	if !set.Enabled {
		return nil, nil
	}
	const key = "security.website_blocklist.domains"
	own := &hostlist.Source{Entries: set.Domains, Now: a.opts.Now}
	if err := own.Err(); err != nil {
		return nil, fmt.Errorf("the website is blocked, since %s cannot be used: %w", key, err)
	}
	b := &blocklist{lists: []namedList{{key, own}}, log: a.log()}
	for _, path := range sharedFiles(cfg, set.SharedFiles) {
		b.lists = append(b.lists, namedList{path, &hostlist.Source{Files: []string{path}, Now: a.opts.Now}})
	}
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

// forbids returns the rule that a host must not be visited by, with where it is written. A
// file that could never be read forbids every host, since any could be in it.
func (b *blocklist) forbids(host string, port uint16) (rule string, forbidden bool) {
	if b == nil {
		return "", false
	}
	for _, l := range b.lists {
		if rule, ok := l.Match(host, port); ok {
			return rule + " of " + l.name, true
		}
		err := l.Err()
		if errors.Is(err, hostlist.ErrUnread) {
			return "of a file that cannot be read (" + l.name + ")", true
		}
		if err != nil {
			b.log.Warn("lines of the website blocklist are not used", "err", err)
		}
	}
	return "", false
}
