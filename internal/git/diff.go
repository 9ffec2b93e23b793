package git

import (
	"context"
	"strings"
)

// Diff returns what is staged, or all that differs from the last commit together with the names of
// new files. With stat it is a table of the files. Paths are files and folders, as they are named
// from the folder; none means all. The filters of all settings are off, so a file that one would
// change is compared as it is. What is longer than [MaxOutput] is cut, and says so.
func (r Repository) Diff(ctx context.Context, staged, stat bool, paths []string) (string, error) {
	r, err := r.Unfiltered(ctx)
	if err != nil {
		return "", err
	}
	args := []string{"--literal-pathspecs", "diff", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty"}
	if stat {
		args = append(args, "--stat")
	}
	switch _, err := r.Run(ctx, "rev-parse", "--verify", "--quiet", "HEAD"); {
	case staged:
		args = append(args, "--cached")
	case err == nil:
		args = append(args, "HEAD")
	} // without a commit: what differs from what is staged
	out, err := r.Run(ctx, append(append(args, "--"), paths...)...)
	if len(out) >= MaxOutput {
		out += "\n… [cut; name paths to see less of it]\n"
	}
	if err != nil || staged {
		return out, err
	}
	names, err := r.Run(ctx, append([]string{"--literal-pathspecs", "ls-files", "--others", "--exclude-standard", "--"}, paths...)...)
	if err != nil || names == "" {
		return out, err
	}
	var b strings.Builder
	b.WriteString(out)
	for name := range strings.Lines(names) {
		b.WriteString("new file, not staged: " + name)
	}
	return b.String(), nil
}
