package app

import (
	"context"
	"os"
	"slices"
	"sync"

	"hermes"
	"hermes/internal/config"
	"hermes/internal/credential"
	"hermes/internal/credentialfile"
	"hermes/internal/environment"
	"hermes/internal/environment/remote"
)

// carriedFiles are the files of this machine that the commands of a session may read.
type carriedFiles struct {
	set     *credentialfile.Set
	refused []error
}

// credentialFiles finds the files that the user, and the skills that are offered, name. Those of skills are the
// ones of Hermes' home only, and of the same skills whose variables are passed on.
func (a *App) credentialFiles(cfg *config.Config) carriedFiles {
	var c carriedFiles
	c.set, c.refused = credentialfile.NewSet(a.locator(cfg), cfg.Terminal().CredentialFiles, a.skillFiles(context.Background()))
	for _, err := range c.refused {
		a.log().Warn("a file is not passed to commands", "setting", "terminal.credential_files", "err", err)
	}
	return c
}

// locator says what names of files mean.
func (a *App) locator(cfg *config.Config) credentialfile.Locator {
	userHome, _ := os.UserHomeDir() // without one, no file is found in it
	variables := a.variables(cfg)
	l := credentialfile.Locator{
		UserHome: userHome, Home: cfg.Home().Path(), Rules: pathRules(cfg),
		HoldsKey: func(text string) bool { return environment.HoldsKey(variables, text) },
	}
	for _, p := range credential.Programs() {
		if at := p.File(userHome, a.opts.Getenv); at != "" {
			l.Logins = append(l.Logins, at)
		}
	}
	return l
}

// skillFiles lists the files that skills want passed to commands.
func (a *App) skillFiles(ctx context.Context) []string {
	lib, err := a.skills()
	if err != nil {
		return nil
	}
	wanted, err := lib.CredentialFiles(ctx)
	if err != nil {
		a.log().Warn("list the files of skills", "err", err)
	}
	return wanted
}

// there lists the files that can be read now.
func (c carriedFiles) there() (list []remote.HomeFile) {
	read, _ := c.set.Changed(true) // the carrier tells the problems
	for _, f := range read {
		list = append(list, remote.HomeFile{Source: f.Real, Path: f.There})
	}
	return list
}

// carrier brings the files into a place, nil if there are none.
func (c carriedFiles) carrier() remote.Carrier {
	if len(c.set.Files()) == 0 && len(c.refused) == 0 {
		return nil
	}
	return &carrier{c.set, c.refused}
}

// carrier is a remote.Carrier.
type carrier struct {
	set     *credentialfile.Set
	refused []error // not told yet
}

// Changed reads what has changed.
func (c *carrier) Changed(all bool) (files []remote.CarriedFile, problems []string) {
	read, errs := c.set.Changed(all)
	for _, f := range read {
		files = append(files, remote.CarriedFile{Path: f.There, Data: f.Data})
	}
	for _, err := range append(c.refused, errs...) {
		problems = append(problems, "Commands do not get a file of terminal.credential_files or of a skill: "+err.Error()+".")
	}
	c.refused = nil
	return files, problems
}

// granted adds the files outside of Hermes' home to what the user allowed commands on this machine.
func (c carriedFiles) granted(more func() []hermes.Need) func() []hermes.Need {
	if len(c.set.Files()) == 0 {
		return more
	}
	return func() []hermes.Need {
		var list []hermes.Need
		if more != nil {
			list = more()
		}
		for _, at := range c.set.Sources(false) {
			list = append(list, hermes.Need{Kind: hermes.RefusedRead, Name: at})
		}
		return list
	}
}

// given lists the files in Hermes' home, which cannot be granted.
func (c carriedFiles) given() []string { return c.set.Sources(true) }

// untold is implemented by environments that get files of this machine.
type untold interface{ Untold() []string }

// carriedHook tells the user what a place did not get, and once what commands on this machine do not.
func (a *App) carriedHook(cfg *config.Config) hermes.Hook {
	here := func() []string { // only of the setting: a skill says itself what it lacks
		named := cfg.Terminal().CredentialFiles
		if len(named) == 0 {
			return nil
		}
		set, refused := credentialfile.NewSet(a.locator(cfg), named, nil)
		_, problems := (&carrier{set, refused}).Changed(true)
		return problems
	}
	var told sync.Once
	return hermes.Hook{Name: "credential files", AfterTool: func(_ context.Context, c *hermes.Call, _ *hermes.Result) {
		n, tells := c.Host.(hermes.Notifier)
		if !tells {
			return
		}
		var list []string
		if env, ok := c.Host.Environment().(untold); ok {
			list = env.Untold()
		} else {
			told.Do(func() { list = here() })
		}
		for _, text := range slices.Compact(list) {
			n.Notify(hermes.Notice{Level: hermes.NoticeWarning, Text: text})
		}
	}}
}
