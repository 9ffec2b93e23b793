package toolbox

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"path/filepath"

	"hermes"
	"hermes/internal/argument"
	"hermes/internal/permission"
)

// seen is a call as rules see it, without its texts and its place: see texts and located.
func (b *Toolbox) seen(c *call) *permission.Call {
	seen := &permission.Call{Tool: c.Name, Toolset: c.Toolset, Writes: c.Spec.EffectOf(c.Arguments) != hermes.EffectNone}
	_, seen.ChangesFiles = c.Tool.(hermes.FileNamer)
	if c.Host == nil {
		seen.Who.Unattended = true
		return seen
	}
	s := c.Host.Session()
	seen.Who = permission.Who{User: s.User, Chat: s.Chat, Model: s.Model, Profile: b.approvals.rules.Profile, Unattended: !s.Attended}
	if s.Platform != "" {
		seen.Who.Platforms = append(seen.Who.Platforms, s.Platform)
	}
	if s.Root.Platform != "" {
		seen.Who.Platforms = append(seen.Who.Platforms, s.Root.Platform)
	}
	return seen
}

// located adds where a call acts. What cannot be found out stays empty, which fits no rule that
// allows; files that cannot be found out are lost, which fits every rule that denies or asks.
func located(ctx context.Context, c *call, seen *permission.Call) {
	if c.Host == nil || c.Host.Environment() == nil {
		seen.Lost = true
		return
	}
	files := c.Host.Environment().Files()
	seen.Workspace, _ = followed(ctx, files, c.Host.Session().Dir)
	seen.Dir, _ = followed(ctx, files, c.subject.Dir)
	seen.Follow = func(path string) string {
		if real, err := followed(ctx, files, path); err == nil {
			return real
		}
		return path
	}
	var in struct {
		Command string `json:"command"`
		Path    string `json:"path"`
	}
	if json.Unmarshal(c.Arguments, &in) == nil {
		seen.Command = in.Command
		seen.Harmless = func(command string) bool { return harmless(ctx, c, command) }
	}
	paths, known := filesOf(ctx, c)
	if !known && !seen.ChangesFiles {
		paths = []string{cmp.Or(in.Path, ".")}
	}
	seen.Files = reached(ctx, files, paths)
	seen.Lost = len(seen.Files) == 0 && (len(paths) > 0 || !known)
}

// filesOf returns the files that a call is about, and false if the tool does not say.
func filesOf(ctx context.Context, c *call) ([]string, bool) {
	if namer, ok := c.Tool.(hermes.FileNamer); ok {
		return namer.Files(ctx, c.Call)
	}
	if c.Spec.Paths == nil {
		return nil, false
	}
	paths := c.Spec.Paths(c.Arguments)
	return paths, len(paths) > 0
}

// harmless reports whether a call with another command would have no risk.
func harmless(ctx context.Context, c *call, command string) bool {
	assessor, ok := c.Tool.(hermes.RiskAssessor)
	fields, isObject := argument.Decode(c.Arguments).(map[string]any)
	if !ok || !isObject {
		return false
	}
	fields["command"] = command
	arguments, err := argument.Encode(fields)
	if err != nil {
		return false
	}
	other := *c.Call
	other.Arguments = arguments
	return len(assessor.AssessRisk(ctx, &other)) == 0
}

// reached returns each name by which the files of a call are reached: the file itself, and the link
// to it. It returns none if one of them cannot be followed.
func reached(ctx context.Context, files hermes.Files, paths []string) []string {
	full := make([]string, len(paths))
	for i, p := range paths {
		var err error
		if full[i], err = files.Resolve(p); err != nil {
			return nil
		}
	}
	var all []string
	if l, ok := files.(hermes.LocatingFiles); ok {
		found, err := l.Locate(ctx, full...)
		if err != nil {
			return nil
		}
		for i, f := range found {
			all = append(all, f.Real, path.Join(f.Dir, path.Base(full[i])))
		}
		return all
	}
	for _, full := range full {
		file, err := followed(ctx, files, full)
		if err != nil {
			return nil
		}
		folder, err := followed(ctx, files, filepath.Dir(full))
		if err != nil {
			return nil
		}
		all = append(all, file, filepath.Join(folder, filepath.Base(full)))
	}
	return all
}

// followed follows the links of an absolute path, of which the last folders may be missing.
func followed(ctx context.Context, files hermes.Files, path string) (string, error) {
	if path == "" {
		return "", fs.ErrNotExist
	}
	found, err := files.RealPath(ctx, path)
	dir := filepath.Dir(path)
	if err == nil || !errors.Is(err, fs.ErrNotExist) || dir == path {
		return found, err
	}
	if dir, err = followed(ctx, files, dir); err != nil {
		return "", err
	}
	return filepath.Join(dir, filepath.Base(path)), nil
}
