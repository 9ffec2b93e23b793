package link

import (
	"slices"
	"strings"
)

// What follows are hosts whose owners get nothing out of a link: who writes their pages does not see who asks for which.
var (
	documentation = []string{"docs.python.org", "pkg.go.dev", "developer.mozilla.org", "learn.microsoft.com", "docs.rs", "en.cppreference.com",
		"docs.oracle.com", "kubernetes.io"}
	forges     = []string{"github.com", "gitlab.com", "codeberg.org", "bitbucket.org", "git.kernel.org", "go.googlesource.com"}
	registries = []string{"docker.io", "ghcr.io", "registry.k8s.io", "mcr.microsoft.com"}
)

// untrusted returns what follows a host without what is harmless there: a commit, the digest of an image, the long words
// of documentation.
func untrusted(host, after string) string {
	switch {
	case slices.Contains(forges, host):
		return withoutCommit(host, after)
	case slices.Contains(registries, host):
		if image, digest, ok := strings.Cut(after, "@sha256:"); ok && isHash(digest, 64) {
			return image
		}
	case slices.Contains(documentation, host), strings.HasSuffix(host, ".wikipedia.org"):
		return withoutWords(host, after)
	}
	return after
}

// withoutCommit leaves out one commit behind a word that says that it is one.
func withoutCommit(host, after string) string {
	path, rest := after, ""
	if i := strings.IndexAny(after, "?#"); i >= 0 {
		path, rest = after[:i], after[i:]
	}
	if host == "git.kernel.org" && strings.HasSuffix(path, "/commit/") && isCommit(strings.TrimPrefix(rest, "?id=")) {
		return path
	}
	segments := strings.Split(path, "/")
	for i := 1; i < len(segments); i++ {
		if slices.Contains([]string{"commit", "commits", "tree", "blob", "compare", "+"}, segments[i-1]) && isCommit(segments[i]) {
			return strings.Join(slices.Delete(segments, i, i+1), "/") + rest
		}
	}
	return after
}

func isCommit(s string) bool { return isHash(s, 40) || isHash(s, 64) }

func isHash(s string, length int) bool {
	return len(s) == length && strings.Trim(s, "0123456789abcdef") == ""
}

// withoutWords leaves out segments and a fragment of letters and the signs between words, unless there is a query. Pages
// of docs.rs may have programs of their authors, which can read the fragment.
func withoutWords(host, after string) string {
	if strings.Contains(after, "?") {
		return after
	}
	path, fragment, _ := strings.Cut(after, "#")
	rest := strings.Join(slices.DeleteFunc(strings.Split(path, "/"), isWords), "/")
	if isWords(fragment) && host != "docs.rs" {
		return rest
	}
	return rest + "#" + fragment
}

// isWords reports whether a text is of ASCII letters, dots, dashes and underscores only.
func isWords(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '.' && r != '-' && r != '_'
	})
}
