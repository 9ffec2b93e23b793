package toolbox

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"hermes"
	"hermes/internal/argument"
	"hermes/internal/permission"
)

// byRules returns the risks of a call that the rules of the run do not cover. A rule also holds
// where no user can be asked, so it covers no more than a setting may allow there: neither what only
// the user may allow, nor what changes Hermes itself. It names a command, so it covers nothing that the
// command asks for beyond its walls.
func (b *Toolbox) byRules(ctx context.Context, c *call, open []hermes.Risk) []hermes.Risk {
	rules := b.approvals.rules.Rules
	if len(open) == 0 || !slices.ContainsFunc(rules, func(r permission.Rule) bool { return r.Tool() == c.Name }) {
		return open
	}
	seen := b.ruled(ctx, c)
	rest := slices.DeleteFunc(slices.Clone(open), func(r hermes.Risk) bool {
		_, need := hermes.GrantedNeed(r.Key)
		return !need && AllowedUnattended(r) && rules.Allow(seen, r.Key)
	})
	if len(rest) < len(open) {
		b.o.Log.Info("allowed by a rule of the run", "tool", c.Name, "call", c.ID, "risks", reasons(open))
	}
	return rest
}

// ruled is a call as rules see it. What cannot be found out stays empty, which fits no rule with a
// subject.
func (b *Toolbox) ruled(ctx context.Context, c *call) permission.Call {
	seen := permission.Call{Tool: c.Name}
	if c.Host == nil || c.Host.Environment() == nil {
		return seen
	}
	files := c.Host.Environment().Files()
	seen.Workspace, _ = followed(ctx, files, c.Host.Session().Dir)
	seen.Dir, _ = followed(ctx, files, c.subject.Dir)
	var in struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(c.Arguments, &in) == nil {
		seen.Command = in.Command
		seen.Harmless = func(command string) bool { return harmless(ctx, c, command) }
	}
	if c.Spec.Paths != nil {
		seen.Files = reached(ctx, files, c.Spec.Paths(c.Arguments))
	}
	return seen
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
	var all []string
	for _, p := range paths {
		full, err := files.Resolve(p)
		if err != nil {
			return nil
		}
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
