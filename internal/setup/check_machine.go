package setup

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"hermes/internal/home"
	"hermes/internal/ioerr"
	"hermes/internal/isolation"
	"hermes/internal/logfile"
	"hermes/internal/text"
)

// shellCheck looks for a shell for the terminal tool.
func shellCheck(d Deps) Check {
	return Check{Name: "shell", Run: func(context.Context) Finding {
		names := []string{"bash", "sh"}
		if d.OS == "windows" {
			names = []string{"bash", "pwsh", "powershell", "cmd"}
		}
		for _, name := range names {
			if path, err := d.LookPath(name); err == nil {
				return Finding{OK, path, ""}
			}
		}
		return Finding{Fail, "found none of " + strings.Join(names, ", "), "Install one to run commands"}
	}}
}

// sandboxCheck names the walls in force around commands, and what this host allows.
func sandboxCheck(d Deps) Check {
	return Check{Name: "sandbox", Run: func(ctx context.Context) Finding {
		mode := d.Load().Terminal().Sandbox
		walls := d.Sandbox(ctx)
		line := strings.TrimSuffix(walls.Line(mode), ".")
		if table := walls.Table(); table != "" {
			line += ". This host: " + table
		}
		switch {
		case walls.Refusal(mode) != "":
			return Finding{Fail, line, "Allow what is missing, or use `hermes config set terminal.sandbox auto`"}
		case mode == isolation.SandboxOff:
			return Finding{Warn, line, "Use `hermes config set terminal.sandbox auto`"}
		case walls.Layer != "A" && walls.Why != "":
			line += " (" + walls.Why + ")"
		}
		return Finding{OK, line, ""}
	}}
}

// backendTime is how long a backend may take to answer.
const backendTime = 30 * time.Second

// backendCheck says what the backend lacks in which commands run.
func backendCheck(d Deps) Check {
	return Check{Name: "backend", Run: func(ctx context.Context) Finding {
		ctx, cancel := context.WithTimeoutCause(ctx, backendTime, errors.New("it did not answer in time"))
		defer cancel()
		name, err := d.Backend(ctx)
		switch {
		case err != nil && name == "":
			return Finding{Fail, err.Error(), ""}
		case err != nil:
			return Finding{Fail, name + ": " + err.Error(), "Repair it, or use `hermes config set terminal.backend local`"}
		case name == "local":
			return Finding{OK, "local: commands run on this machine", ""}
		}
		return Finding{OK, name + ": it answers", ""}
	}}
}

// webCheck says which services search the web and read pages. It asks none of them.
func webCheck(d Deps) Check {
	return Check{Name: "web", Run: func(context.Context) Finding {
		services, err := d.Web()
		if err != nil {
			return Finding{Warn, services + ": " + err.Error(), "See `hermes config show web` and the keys in .env"}
		}
		return Finding{OK, services, ""}
	}}
}

// otherBackendsCheck says what is missing for each backend that is not used. None of it is a
// fault.
func otherBackendsCheck(d Deps) Check {
	return Check{Name: "other backends", Run: func(context.Context) Finding {
		lacks, err := d.OtherBackends()
		if err != nil {
			return Finding{Fail, err.Error(), ""}
		}
		var usable, others []string
		for _, name := range slices.Sorted(maps.Keys(lacks)) {
			if lacks[name] == nil {
				usable = append(usable, name)
			} else {
				others = append(others, name+" ("+lacks[name].Error()+")")
			}
		}
		var parts []string
		if len(usable) > 0 {
			parts = append(parts, "set up: "+strings.Join(usable, ", "))
		}
		if len(others) > 0 {
			parts = append(parts, "not set up: "+strings.Join(others, ", "))
		}
		return Finding{OK, strings.Join(parts, "; "), ""}
	}}
}

// programCheck looks for an optional program; why says what needs it.
func programCheck(d Deps, name, why string) Check {
	return Check{Name: name, Run: func(context.Context) Finding {
		names := []string{name}
		if name == "python" {
			names = []string{"python3", "python"}
		}
		for _, n := range names {
			if path, err := d.LookPath(n); err == nil {
				return Finding{OK, path, ""}
			}
		}
		return Finding{Warn, "not found; " + why, "Install it to use that"}
	}}
}

// searchCheck looks for ripgrep, which is optional.
func searchCheck(d Deps) Check {
	return Check{Name: "ripgrep", Run: func(context.Context) Finding {
		if path, err := d.LookPath("rg"); err == nil {
			return Finding{OK, path, ""}
		}
		return Finding{OK, "not found; the built-in search is used", ""}
	}}
}

// terminalCheck checks what the chat can show on this terminal.
func terminalCheck(d Deps) Check {
	return Check{Name: "terminal", Run: func(context.Context) Finding {
		if !d.Terminal.Output {
			return Finding{OK, "output is not a terminal; the chat needs one", ""}
		}
		kind := d.Getenv("TERM")
		colors := "colours"
		if strings.Contains(d.Getenv("COLORTERM"), "truecolor") || strings.Contains(d.Getenv("COLORTERM"), "24bit") {
			colors = "true colour"
		}
		switch {
		case d.OS != "windows" && (kind == "" || kind == "dumb"):
			return Finding{Warn, "TERM is empty or dumb; the output is plain", "Set TERM, for example to xterm-256color"}
		case d.Getenv("NO_COLOR") != "":
			colors = "no colours (NO_COLOR)"
		}
		if d.OS != "windows" && !utf8Locale(d.Getenv) {
			return Finding{Warn, "the locale is not UTF-8; letters and lines may look wrong", "Set LANG, for example to C.UTF-8"}
		}
		if c := d.Terminal.Columns; c > 0 && c < 40 {
			return Finding{Warn, fmt.Sprintf("only %d columns wide", c), "Make the window wider"}
		}
		return Finding{OK, fmt.Sprintf("%s, %d columns, %s", kind, d.Terminal.Columns, colors), ""}
	}}
}

func utf8Locale(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := strings.ToLower(getenv(name)); value != "" {
			return strings.Contains(value, "utf-8") || strings.Contains(value, "utf8")
		}
	}
	return false
}

// The free space below which the disk check fails or warns.
const (
	criticalSpace = 256 << 20
	elevatedSpace = 512 << 20
)

// diskCheck checks the free space where the home is or will be.
func diskCheck(d Deps) Check {
	return Check{Name: "disk", Run: func(context.Context) Finding {
		folder := existing(d.Home.Path())
		free, err := d.Free(folder)
		switch {
		case err != nil:
			return Finding{OK, "free space unknown: " + ioerr.Text(err), ""}
		case free == 0:
			return Finding{Fail, "the disk is full; nothing can be stored", "Free space on the disk of " + folder}
		case free < criticalSpace:
			return Finding{Fail, "only " + text.Size(int64(free)) + " left, too little to work safely", "Free space on the disk of " + folder}
		case free < elevatedSpace:
			return Finding{Warn, "only " + text.Size(int64(free)) + " left", "Free space on the disk of " + folder}
		}
		return Finding{OK, text.Size(int64(free)) + " free", ""}
	}}
}

// sizeCheck checks the size of logs and caches.
func sizeCheck(d Deps) Check {
	return Check{
		Name: "logs and caches",
		Run: func(context.Context) Finding {
			logs, err := logfile.List(d.Home.Logs())
			if err != nil {
				return Finding{Warn, ioerr.Text(err), "Check who owns " + d.Home.Logs()}
			}
			var total int64
			for _, l := range logs {
				total += l.Bytes
			}
			over := overQuota(d)
			if len(over) > 0 {
				return Finding{Warn, "over quota: " + strings.Join(over, ", "), "`hermes doctor --fix` removes the oldest files"}
			}
			return Finding{OK, fmt.Sprintf("logs %s, caches within their quotas", text.Size(total)), ""}
		},
		Fix: func(context.Context) (string, error) {
			var freed home.Amount
			for _, c := range home.Classes() {
				one, err := d.Home.Prune(c, d.Now())
				if err != nil {
					return "", err
				}
				freed.Files += one.Files
				freed.Bytes += one.Bytes
			}
			return fmt.Sprintf("removed %s, %s", text.Plural(freed.Files, "old file", "old files"), text.Size(freed.Bytes)), nil
		},
	}
}

func overQuota(d Deps) []string {
	var over []string
	for _, c := range home.Classes() {
		use, err := d.Home.Usage(c)
		if err == nil && (c.Bytes > 0 && use.Bytes > c.Bytes || c.Files > 0 && use.Files > c.Files) {
			over = append(over, fmt.Sprintf("%s (%s)", c.Name, text.Size(use.Bytes)))
		}
	}
	return over
}

// clockCheck checks the clock, since TLS fails if it is far off.
func clockCheck(d Deps) Check {
	return Check{Name: "clock", Run: func(context.Context) Finding {
		now := d.Now()
		if now.Before(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)) {
			return Finding{Fail, "the clock says " + now.Format(time.DateOnly) + ", which is in the past; secure connections will fail", "Set the clock"}
		}
		if info, err := os.Stat(d.Home.Database()); err == nil && info.ModTime().Sub(now) > 24*time.Hour {
			return Finding{Warn, "the database was changed in the future (" + info.ModTime().Format(time.DateOnly) + ")", "Check the clock"}
		}
		if zone := d.Load().General().Timezone; zone != "" {
			if _, err := time.LoadLocation(zone); err != nil {
				return Finding{Warn, fmt.Sprintf("unknown time zone %q; the system time zone is used", zone),
					"Set one, for example: hermes config set timezone Europe/Berlin"}
			}
		}
		return Finding{OK, now.Format("2006-01-02 15:04 MST"), ""}
	}}
}
