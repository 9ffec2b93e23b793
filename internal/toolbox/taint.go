package toolbox

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/argument"
	"hermes/internal/lazy"
	"hermes/internal/policy"
	"hermes/internal/policy/shell/inspect"
)

// maxSource limits how much of a call is named as the source of its result,
// before it is shortened further.
const maxSource = 200

// provenance records that a result is untrusted text, unless the tool is
// trusted. It is the innermost layer, so a call that did not run has no source.
func (b *Toolbox) provenance(next runner) runner {
	return func(ctx context.Context, c *call) hermes.Result {
		if c.Spec.Trusted {
			return next(ctx, c)
		}
		chosen := b.chosen(ctx, c.Call) // before the call can change what its paths lead to
		r := next(ctx, c)
		named := r.Provenance != ""
		if !named {
			r.Provenance = hermes.ProvenanceSource(c.Spec.Name, b.o.Redact(preview(c.Spec.Name, c.Arguments, maxSource)))
		}
		r.Provenance = hermes.MarkChosen(r.Provenance, func(string) bool { return chosen && !named && !policy.ShowsFetched(r.Text) })
		return r
	}
}

// Read returns the untrusted text that the session had read when its last call began, as in
// [hermes.Message]. Nothing that was read later can have led a program: the model acts by
// calls only.
func (b *Toolbox) Read() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.read
}

// noteRead remembers what a session has read, before a call of it runs.
func (b *Toolbox) noteRead(c *call) {
	if c.Host == nil {
		return
	}
	from := c.Host.Session().Provenance
	b.mu.Lock()
	defer b.mu.Unlock()
	b.read = hermes.AddProvenance(b.read, from)
}

// taint returns the risk of a call that changes what is kept for later sessions
// after this session has read untrusted text, which may have asked for the
// change. Text of trusted folders does not count for what is only remembered. Each kind of change has its own key.
// Only an answer of the user allows it, for this call or for the session.
func (b *Toolbox) taint(c *call) (hermes.Risk, bool) {
	if c.Spec.Persists == nil || c.Host == nil {
		return hermes.Risk{}, false
	}
	kind := c.Spec.Persists(c.Arguments)
	if kind == "" {
		return hermes.Risk{}, false
	}
	from := outside(kind, c.Host.Session().Provenance)
	if from == "" {
		return hermes.Risk{}, false
	}
	reason := "this is kept for later sessions, and this session has read text that you neither wrote nor trusted (" + from + ")"
	if advice := b.lessAsking(c); advice != "" {
		reason += ". " + advice
	}
	return hermes.Risk{Key: "taint:" + kind, NoRemember: true, EveryMode: true, Reason: reason}, true
}

// laterRisks are keys of risks that something runs, or someone gets in, when the session is over.
var laterRisks = []string{
	"runs-later", "tool-settings", "write-shell-start", "path:shell-start-file", "write-tool-config", "path:tool-config", "write-ssh",
	"git-config", "write-git-hooks", "write-env-file", "shadow-program", "path:system-program",
}

// lasts reports whether a risk is that something goes on after the session: Hermes itself is
// changed, or what the machine runs by itself.
func lasts(r hermes.Risk) bool { return own(r) || slices.Contains(laterRisks, r.Key) }

// tainted returns the risks of a call as they are after the session has read untrusted text: what
// lasts, by a file or a command, is asked as a change of memory is, in each mode.
func tainted(c *call, found []hermes.Risk) []hermes.Risk {
	if c.Host == nil || c.Host.Session().Provenance == "" || !slices.ContainsFunc(found, lasts) {
		return found
	}
	found = slices.Clone(found)
	for i, r := range found {
		if lasts(r) {
			found[i].NoRemember, found[i].EveryMode = true, true
			found[i].Reason += "; this session has read text that you may not have written (" + strings.TrimSpace(c.Host.Session().Provenance) + ")"
		}
	}
	return found
}

// canPropose reports whether a change may become a pending change: no user
// could be asked, and there is no other risk.
func (c *call) canPropose(decision hermes.Decision) bool {
	unanswered := decision == hermes.Unattended || decision == hermes.TimedOut
	return unanswered && c.Spec.CanPropose && !slices.ContainsFunc(c.open, func(r hermes.Risk) bool { return !r.NoRemember })
}

// spelled lists all arguments of a call for the user: one per line, with longer
// texts indented below their name, so that no text looks like an argument.
func spelled(arguments json.RawMessage) string {
	var b strings.Builder
	given, ok := argument.Decode(arguments).(map[string]any)
	if !ok {
		return string(arguments)
	}
	spell(&b, given, "")
	return strings.TrimRight(b.String(), "\n")
}

func spell(b *strings.Builder, v any, indent string) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			b.WriteString(indent + name + ":")
			spellValue(b, v[name], indent+"    ")
		}
	case []any:
		for _, item := range v {
			b.WriteString(indent + "-")
			spellValue(b, item, indent+"    ")
		}
	}
}

func spellValue(b *strings.Builder, v any, indent string) {
	switch v := v.(type) {
	case map[string]any, []any:
		b.WriteString("\n")
		spell(b, v, indent)
	case string:
		if !strings.ContainsAny(v, "\r\n") {
			b.WriteString(" " + v + "\n")
			return
		}
		b.WriteString("\n")
		for line := range strings.Lines(v) {
			b.WriteString(indent + strings.TrimRight(line, "\n") + "\n")
		}
	default:
		text, err := argument.Encode(v)
		if err != nil { // what was decoded has a JSON form
			text = json.RawMessage("?")
		}
		b.WriteString(" " + string(text) + "\n")
	}
}

// chosen reports whether the result of a call comes from what the user chose: files
// of a trusted folder, and commands that run there and fetch nothing. All else is
// text from outside.
func (b *Toolbox) chosen(ctx context.Context, c *hermes.Call) bool {
	if b.o.Trusted == nil || c.Host == nil || c.Host.Environment() == nil {
		return false
	}
	files := c.Host.Environment().Files()
	below := func(paths ...string) bool {
		for _, p := range paths {
			full, err := files.Resolve(p)
			if err != nil || ctx.Err() != nil || !b.o.Trusted(full) {
				return false
			}
		}
		return len(paths) > 0
	}
	var in struct {
		Path    string `json:"path"`
		Patch   string `json:"patch"`
		Command string `json:"command"`
		Workdir string `json:"workdir"`
	}
	if json.Unmarshal(c.Arguments, &in) != nil {
		return false
	}
	switch c.Name {
	case "read_file":
		return in.Path != "" && below(in.Path)
	case "search_files":
		return below(cmp.Or(in.Path, "."))
	case "patch":
		paths := filesOfPatch(in.Patch)
		if in.Path != "" {
			paths = append(paths, in.Path)
		}
		return below(paths...)
	case "terminal":
		return in.Workdir == "" && below(append(inspect.Paths(in.Command), ".")...) && inspect.Local(in.Command)
	}
	return false
}

var patchFile = lazy.Regexp(`(?m)^\*\*\* (?:(?:Add|Update|Delete) File|Move to): *(.+?) *$`)

// filesOfPatch returns the files that a patch names.
func filesOfPatch(patch string) []string {
	var paths []string
	for _, m := range patchFile().FindAllStringSubmatch(patch, -1) {
		paths = append(paths, m[1])
	}
	return paths
}

// chosenNotes marks the project files among the sources that a hook added, if they
// are in a trusted folder.
func (b *Toolbox) chosenNotes(c *hermes.Call, provenance string) string {
	here := ""
	if b.o.Trusted != nil && provenance != "" {
		here = folder(c)
	}
	return hermes.MarkChosen(provenance, func(source string) bool {
		return here != "" && hermes.IsProjectFile(source) && b.o.Trusted(here)
	})
}

// outside returns the sources that need approval for a change of this kind. What the
// user chose may be remembered; a skill is also run, so it needs approval even then.
func outside(kind, provenance string) string {
	from := provenance
	if remembered(kind) {
		from = hermes.OutsideProvenance(provenance)
	}
	if kind == "session" { // what another one wrote may be passed on, as what the model itself writes
		from = hermes.WithoutSessions(from)
	}
	return strings.TrimSpace(from)
}

// remembered reports whether a kind of change is only remembered, not run.
func remembered(kind string) bool { return kind == "memory" || kind == "learning" || kind == "session" }

// lessAsking tells the user how to be asked less about a change, if all sources seem
// to be files or commands of the working folder. It goes by the names of the sources,
// which are cut short, so it is good for advice only.
func (b *Toolbox) lessAsking(c *call) string {
	if b.o.TrustCommand == nil || c.Spec.Persists == nil || c.Host == nil {
		return ""
	}
	kind, here := c.Spec.Persists(c.Arguments), folder(c.Call)
	from := c.Host.Session().Provenance
	if from == "" || !remembered(kind) || b.o.Trusted != nil && b.o.Trusted(here) {
		return ""
	}
	below := policy.Trusted([]string{here}, filepath.EvalSymlinks)
	if hermes.OutsideProvenance(hermes.MarkChosen(from, func(source string) bool { return ofFolder(source, here, below) })) != "" {
		return ""
	}
	command := b.o.TrustCommand(here)
	if command == "" {
		return ""
	}
	return "To be asked less about text of this folder, the user can trust it, from the next session on: " + command
}

// ofFolder reports whether a source seems to be of a folder.
func ofFolder(source, dir string, below func(string) bool) bool {
	if hermes.IsProjectFile(source) {
		return true
	}
	tool, what, _ := strings.Cut(strings.TrimSuffix(source, "…"), " ")
	var paths []string
	switch tool {
	case "search_files":
		return true
	case "read_file", "patch":
		paths = []string{what}
	case "terminal":
		line := strings.ReplaceAll(what, ", ", "; ") // see hermes.ProvenanceSource
		if !inspect.Local(line) {
			return false
		}
		paths = append(inspect.Paths(line), ".")
	}
	return len(paths) > 0 && !slices.ContainsFunc(paths, func(p string) bool {
		if !filepath.IsAbs(p) {
			p = filepath.Join(dir, p)
		}
		return !below(p)
	})
}
