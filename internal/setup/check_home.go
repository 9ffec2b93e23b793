package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"hermes/internal/config"
	"hermes/internal/ioerr"
	"hermes/internal/text"
)

// homeCheck checks that the home is writable and belongs to the user.
func homeCheck(d Deps) Check {
	return Check{Name: "home", Run: func(context.Context) Finding {
		folder := d.Home.Path()
		info, err := os.Stat(folder)
		if errors.Is(err, fs.ErrNotExist) {
			return future(folder)
		}
		if err != nil {
			return unwritable(folder+" cannot be read", folder, err)
		}
		if !info.IsDir() {
			return Finding{Fail, folder + " is not a folder", "Move it away, or set HERMES_HOME to another folder"}
		}
		if foreign := foreignFiles(d); len(foreign) > 0 {
			return Finding{Warn, "files of another user: " + strings.Join(foreign, ", "),
				"Take ownership: sudo chown -R $(id -un) " + folder}
		}
		if err := probe(folder); err != nil {
			return unwritable(folder+" cannot be written", folder, err)
		}
		return Finding{OK, folder + " (profile " + d.Home.Profile() + ")", ""}
	}}
}

// future checks whether a missing home can be created.
func future(folder string) Finding {
	above := existing(folder)
	if err := probe(above); err != nil {
		return unwritable(folder+" does not exist and cannot be created", above, err)
	}
	return Finding{OK, folder + " does not exist yet; it is created when needed", ""}
}

// existing is the folder itself, or the nearest parent folder that exists.
func existing(folder string) string {
	for {
		above := filepath.Dir(folder)
		if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) || above == folder {
			return folder
		}
		folder = above
	}
}

// unwritable says why nothing can be stored, and what to do.
func unwritable(what, folder string, err error) Finding {
	switch {
	case ioerr.Full(err):
		return Finding{Fail, what + ": the disk is full", "Free space on the disk of " + folder + ", or set HERMES_HOME to another folder"}
	case ioerr.ReadOnly(err):
		return Finding{Fail, what + ": the disk is read-only", "Make the disk of " + folder + " writable, or set HERMES_HOME to another folder"}
	}
	return Finding{Fail, what + ": " + reason(err), "Check its owner and mode: ls -ld " + folder}
}

// probe writes and removes a small file.
func probe(folder string) error {
	f, err := os.CreateTemp(folder, ".doctor-*")
	if err != nil {
		return err
	}
	_, err = f.WriteString("x")
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

// foreignFiles lists important files of another user, as a run in a container or
// with sudo creates them.
func foreignFiles(d Deps) []string {
	var names []string
	for _, path := range []string{d.Home.Path(), d.Home.Config(), d.Home.Env(), d.Home.Database(), d.Home.Logs()} {
		if info, err := os.Stat(path); err == nil && foreign(info) {
			names = append(names, filepath.Base(path))
		}
	}
	return names
}

// privacyCheck checks that other users cannot read the home.
func privacyCheck(d Deps) Check {
	folder := d.Home.Path()
	return Check{
		Name: "privacy",
		Run: func(context.Context) Finding {
			info, err := os.Stat(folder)
			if err != nil || d.OS == "windows" || info.Mode().Perm()&0o077 == 0 {
				return Finding{OK, "only you can read the home", ""}
			}
			return Finding{Warn, fmt.Sprintf("other users can read %s (mode %o)", folder, info.Mode().Perm()), "chmod 700 " + folder}
		},
		Fix: func(context.Context) (string, error) {
			return folder + " is now mode 700", os.Chmod(folder, 0o700)
		},
	}
}

// configCheck checks the settings.
func configCheck(d Deps) Check {
	return Check{
		Name: "settings",
		Run: func(context.Context) Finding {
			c := d.Load()
			worst, notes, first := OK, 0, ""
			for _, p := range c.Check() {
				verdict := map[config.Severity]Verdict{config.Note: OK, config.Warning: Warn, config.Severe: Fail}[p.Severity]
				if verdict > worst {
					worst, first = verdict, p.String()
				}
				notes++
			}
			switch {
			case worst > OK && notes > 1:
				return Finding{worst, fmt.Sprintf("%s (and %d more)", first, notes-1), "See all with `hermes config check`"}
			case worst > OK:
				return Finding{worst, first, ""}
			case notes > 0:
				return Finding{OK, fmt.Sprintf("no problems (notes in `hermes config check`: %d)", notes), ""}
			}
			return Finding{OK, "no problems", ""}
		},
		Fix: func(ctx context.Context) (string, error) {
			done, err := d.Load().Migrate(ctx)
			if err != nil || len(done) == 0 {
				return "", err
			}
			return "renamed outdated settings: " + strings.Join(done, ", "), nil
		},
	}
}

// envCheck checks that other users cannot read the secrets.
func envCheck(d Deps) Check {
	return Check{
		Name: "secrets",
		Run: func(context.Context) Finding {
			var open []string
			for _, path := range secretFiles(d) {
				info, err := os.Stat(path)
				if err == nil && d.OS != "windows" && info.Mode().Perm()&0o077 != 0 {
					open = append(open, path)
				}
			}
			if len(open) > 0 {
				return Finding{Warn, "other users can read " + strings.Join(open, ", "), "chmod 600 " + strings.Join(open, " ")}
			}
			return Finding{OK, "only you can read .env, auth.json and audit.key", ""}
		},
		Fix: func(context.Context) (string, error) {
			var faults []error
			for _, path := range secretFiles(d) {
				if err := os.Chmod(path, 0o600); !errors.Is(err, fs.ErrNotExist) {
					faults = append(faults, err)
				}
			}
			return ".env, auth.json and audit.key are now mode 600", errors.Join(faults...)
		},
	}
}

func secretFiles(d Deps) []string { return []string{d.Home.Env(), d.Home.Auth(), d.Home.AuditKey()} }

// databaseCheck opens the database.
func databaseCheck(d Deps) Check {
	return Check{Name: "database", Run: func(ctx context.Context) Finding {
		info, err := os.Stat(d.Home.Database())
		if errors.Is(err, fs.ErrNotExist) {
			return Finding{OK, "none yet; it is created with the first session", ""}
		}
		if err != nil {
			return Finding{Fail, reason(err), "Check who owns " + d.Home.Database()}
		}
		if err := d.Database(ctx); err != nil {
			return Finding{Fail, ioerr.Text(err), "First make a copy of " + d.Home.Database()}
		}
		return Finding{OK, "no damage, " + text.Size(info.Size()), ""}
	}}
}

// modelCheck checks that a model is usable.
func modelCheck(d Deps) Check {
	return Check{Name: "model", Run: func(ctx context.Context) Finding {
		text, err := d.Model(ctx)
		if err != nil {
			first, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n\n") // the rest is shown where it is needed
			return Finding{Fail, first, "Choose one with `hermes model`"}
		}
		return Finding{OK, text, ""}
	}}
}

func reason(err error) string {
	var onPath *fs.PathError
	if errors.As(err, &onPath) {
		return onPath.Err.Error()
	}
	return ioerr.Text(err)
}
