package reference

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"hermes/internal/patch"
	"hermes/internal/text"
)

// Limits of what @diff shows of the files that git does not know.
const (
	maxUntracked      = 200      // names
	maxUntrackedShown = 30       // files with their content
	maxUntrackedFile  = 8 << 10  // bytes of one of them
	maxUntrackedText  = 64 << 10 // bytes of all
)

// changes returns what git shows for @diff, @staged or @git:N, without secrets.
func (s Sources) changes(ctx context.Context, r Reference) (string, error) {
	args := []string{"diff"}
	switch r.Kind {
	case Staged:
		args = []string{"diff", "--cached"}
	case Commits:
		args = []string{"log", "-p", fmt.Sprintf("-%d", r.From)}
	}
	out, err := s.Git.Changes(ctx, args...)
	if err != nil {
		return "", err
	}
	if r.Kind == Diff {
		names, err := s.untracked(ctx)
		if err != nil {
			return "", err
		}
		if names != "" {
			out = strings.TrimLeft(strings.TrimRight(out, "\n")+"\n\nUntracked files:\n"+names, "\n")
		}
	}
	if strings.TrimSpace(out) == "" {
		return "(no changes)", nil
	}
	return s.Mask(out), nil
}

// untracked lists the files of the repository that git neither knows nor ignores:
// their names, and below them the content of small text files that may be read
// like other references.
func (s Sources) untracked(ctx context.Context) (string, error) {
	root, err := s.Git.Run(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return "", err
	}
	root = strings.TrimRight(root, "\r\n")
	out, err := s.Git.Run(ctx, "ls-files", "--others", "--exclude-standard", "--full-name", "-z", "--", ":/")
	if err != nil {
		return "", err
	}
	var names, contents strings.Builder
	shown := 0
	list := strings.FieldsFunc(out, func(c rune) bool { return c == 0 })
	for i, name := range list {
		if i == maxUntracked {
			fmt.Fprintf(&names, "and %d more\n", len(list)-maxUntracked)
			break
		}
		content, why := "", "not shown"
		if shown < maxUntrackedShown && contents.Len() < maxUntrackedText {
			content, why = s.newFile(ctx, root+"/"+name) // a slash is one everywhere
		}
		names.WriteString(text.OneLine(name, maxUntrackedName))
		if why != "" {
			fmt.Fprintf(&names, " (%s)", why)
		}
		names.WriteString("\n")
		if content != "" {
			shown++
			contents.WriteString("\n" + patch.Unified("/dev/null", "b/"+text.OneLine(name, maxUntrackedName), "", content))
		}
	}
	return names.String() + contents.String(), nil
}

// maxUntrackedName is the maximum length of a name that is shown, in characters.
const maxUntrackedName = 200

// newFile returns the content of a small text file, or why it is not shown.
func (s Sources) newFile(ctx context.Context, path string) (content, why string) {
	d := s.disk()
	path = d.absolute(path)
	st, err := d.stat(ctx, path)
	if err != nil {
		return "", "cannot be read"
	}
	real, err := s.resolve(ctx, path)
	if err != nil {
		return "", "not shown: " + strings.TrimSuffix(err.Error(), " and is not attached")
	}
	if !st.Mode().IsRegular() {
		return "", "not a regular file"
	}
	f, st, err := d.open(ctx, real)
	if err != nil {
		return "", "cannot be read"
	}
	defer f.Close()
	switch {
	case !st.Mode().IsRegular():
		return "", "cannot be read"
	case st.Size() > maxUntrackedFile:
		return "", text.Size(st.Size()) + ", not shown"
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxUntrackedFile+1))
	switch {
	case err != nil || len(raw) > maxUntrackedFile:
		return "", "cannot be read"
	case bytes.IndexByte(raw, 0) >= 0 || !utf8.Valid(raw):
		return "", "not text"
	}
	return string(raw), ""
}
