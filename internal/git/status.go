package git

import (
	"context"
	"strings"
	"time"
)

// Status is the state of a repository.
type Status struct {
	Branch    string // untrusted text of any length
	Changed   int    // files that git knows
	Untracked []string
}

// maxStatus is how long new files are looked for.
const maxStatus = 2 * time.Second

// Status returns the branch of the repository, the number of its changed files, and the
// files that git does not know. These are omitted if looking for them takes too long. The filters
// of all settings are off, see Diff.
func (r Repository) Status(ctx context.Context) (Status, error) {
	r, err := r.Unfiltered(ctx)
	if err != nil {
		return Status{}, err
	}
	limited, cancel := context.WithTimeout(ctx, maxStatus)
	defer cancel()
	out, err := r.status(limited, "--untracked-files=normal")
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		out, err = r.status(ctx, "--untracked-files=no") // it looks at known files only
	}
	if err != nil {
		return Status{}, err
	}
	head, rest, _ := strings.Cut(out, "\x00")
	head = strings.TrimPrefix(strings.TrimPrefix(head, "## "), "No commits yet on ")
	var s Status
	s.Branch, _, _ = strings.Cut(head, "...")
	s.Changed, s.Untracked = entries(rest)
	return s, nil
}

func (r Repository) status(ctx context.Context, untracked string) (string, error) {
	return r.Run(ctx, "status", "--porcelain=v1", "--branch", "-z", "--ignore-submodules=dirty", untracked)
}

// entries counts the changed files in the output of git status, which ends each
// entry with NUL, and lists the untracked ones.
func entries(out string) (changed int, untracked []string) {
	for out != "" {
		var entry string
		entry, out, _ = strings.Cut(out, "\x00")
		if name, ok := strings.CutPrefix(entry, "?? "); ok {
			untracked = append(untracked, name)
			continue
		}
		changed++
		if strings.ContainsAny(entry[:min(2, len(entry))], "RC") {
			_, out, _ = strings.Cut(out, "\x00") // the name before
		}
	}
	return changed, untracked
}
