package config

import (
	"fmt"
	"reflect"
	"slices"

	"hermes/internal/yamledit"
)

// Capability is something that this version cannot do yet. The settings that wait
// for it name it in their tag planned; they are read and kept, but have no effect.
type Capability struct {
	Name    string // as in the tag
	Title   string // as in "no effect before the gateway"
	Package string // the folder that will bring it, "" if it becomes part of an existing one
}

// capabilities lists what planned settings may wait for, sorted by name.
var capabilities = [...]Capability{
	{"azure sign-in", "signing in with Azure", ""},
	{"classic interface", "the classic interface", ""},
	{"codex app server", "the Codex app server", ""},
	{"coding instructions", "coding instructions", ""},
	{"command homes", "a separate home for commands", ""},
	{"cron", "scheduled jobs", "internal/cron"},
	{"display options", "further display options", ""},
	{"execution guidance", "execution guidance", ""},
	{"external proxy", "a separate proxy program for commands", ""},
	{"fast mode", "fast mode", ""},
	{"finite runs", "waiting for background processes of a single question", ""},
	{"gateway", "the gateway", "internal/gateway"},
	{"goals", "standing goals", ""},
	{"kanban", "the kanban board", "internal/tool/kanban"},
	{"language servers", "diagnostics of language servers", "internal/lsp"},
	{"memory checkpoints", "memory services that store whole conversations", ""},
	{"persistent shell", "a shell that lives on between commands", ""},
	{"quick commands", "quick commands", ""},
	{"run budgets", "budgets of time and early warnings", ""},
	{"secret managers", "secret managers", ""},
	{"session chains", "compaction into a new session", ""},
	{"setup", "the setup wizard", "internal/cmd/setup"},
	{"side tasks", "further side tasks", ""},
	{"skill settings", "settings of skills", ""},
	{"skins", "skins", ""},
	{"speech", "speech", "internal/speech"},
	{"stall guards", "stall guards", ""},
	{"terminal breadcrumbs", "resuming by terminal", ""},
	{"tirith", "the tirith scanner", ""},
	{"translations", "translations", ""},
	{"update", "`hermes update`", "internal/cmd/update"},
	{"verification", "verification of finished work", ""},
	{"vim keys", "vim keys", ""},
	{"vision", "the vision tools", "internal/tool/vision"},
	{"web page", "the web page", "internal/web"},
}

// Capabilities lists what planned settings wait for, sorted by name.
func Capabilities() []Capability { return slices.Clone(capabilities[:]) }

// Planned returns the capability that the setting at a path waits for. It reports
// false for settings that have an effect and for unknown ones.
func Planned(path ...string) (Capability, bool) {
	_, f, known := lookup(path)
	if !known || f.planned == "" {
		return Capability{}, false
	}
	return capabilityOf(f.planned), true
}

// capabilityOf finds a capability by its name. One that is not in the list, which a
// test of internal/law refuses, is its own title.
func capabilityOf(name string) Capability {
	for _, c := range capabilities {
		if c.Name == name {
			return c
		}
	}
	return Capability{Name: name, Title: name}
}

// NoEffect says when the setting at a path will have an effect, "" if it has one.
func NoEffect(path ...string) string {
	if c, planned := Planned(path...); planned {
		return "no effect before " + c.Title
	}
	return ""
}

// plannedInUse reports a planned setting that is set. One that promises safety is a
// warning, which is shown at every start.
func plannedInUse(l leaf) (Problem, bool) {
	if l.source == FromDefault {
		return Problem{}, false
	}
	effect := NoEffect(l.path...)
	if effect == "" {
		return Problem{}, false
	}
	p := Problem{Severity: Note, File: l.file, Line: l.line, Key: yamledit.Join(l.path), Text: "is set", Served: "it has " + effect, Planned: true}
	if l.env != "" {
		p.Text = "is set by the variable " + l.env
	}
	if promises(l.field, l.value) {
		p.Severity, p.Text = Warning, p.Text+" but does not protect you yet"
		p.Do = fmt.Sprintf("Do not rely on it; remove it with `hermes config unset %s`", p.Key)
	}
	return p, true
}

// promises reports whether a value promises safety, as the tag promises of its
// field says.
func promises(f field, v reflect.Value) bool {
	switch f.promises {
	case "":
		return false
	case "any":
		return true
	}
	return fmt.Sprint(v.Interface()) == f.promises
}
