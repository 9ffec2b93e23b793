package git

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"hermes/internal/text"
)

// longestFetch bounds a fetch: somebody waits for it.
const longestFetch = 20 * time.Second

// Fetch gets a branch of a remote, such as main of origin, over the network. It never asks
// for a password and uses no credential helper, so that it works for remotes that need
// none, and over ssh with a key of an agent. A repository whose own settings could start a program or lead
// elsewhere is not fetched. It takes at most 20 s.
func (r Repository) Fetch(ctx context.Context, remote, branch string) error {
	out, err := r.Run(ctx, "config", "--list", "--show-scope", "--name-only", "-z")
	if err != nil {
		return fmt.Errorf("read the settings of git: %w", err)
	}
	words := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	for i := 0; i+1 < len(words); i += 2 {
		if scope, key := words[i], words[i+1]; (scope == "local" || scope == "worktree") && !plain(key) {
			return fmt.Errorf("the repository sets %s, which could start a program or lead elsewhere", text.Visible(key))
		}
	}
	env := r.Env
	r.Inside, r.Env = nil, func() []string {
		return with(env, "GIT_ALLOW_PROTOCOL=https:ssh:git:file", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=true", "SSH_ASKPASS=true", "GCM_INTERACTIVE=never",
			"GIT_SSH_COMMAND=ssh -oBatchMode=yes -oConnectTimeout=10", "GIT_SSH_VARIANT=ssh")
	}
	_, err = r.run(ctx, longestFetch, []string{
		"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "credential.helper=", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
		"fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--upload-pack", "git-upload-pack", "--", remote,
		"+refs/heads/" + branch + ":refs/remotes/" + remote + "/" + branch,
	})
	return err
}

// plain reports whether a key of a repository's own settings starts no program and sends
// nothing to another place. Sections and names are in lower case, as git prints them.
func plain(key string) bool {
	section, rest, _ := strings.Cut(key, ".")
	name := rest[strings.LastIndex(rest, ".")+1:]
	switch section {
	case "core":
		return slices.Contains([]string{"repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase", "precomposeunicode", "symlinks", "autocrlf", "eol", "safecrlf", "hidedotfiles", "compression", "sharedrepository", "worktree"}, name)
	case "remote":
		return slices.Contains([]string{"url", "fetch", "pushurl", "push", "prune", "tagopt", "gh-resolved"}, name)
	case "branch", "user", "init", "pull", "push", "rebase", "lfs", "gc", "color", "column", "merge", "commit", "submodule", "advice", "extensions", "gui":
		return name != "update" && name != "partialclone"
	}
	return false
}
