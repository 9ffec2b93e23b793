package policy

import (
	"runtime"
	"strings"
)

// PathRules says what belongs to the person and to the agent itself. All paths
// are absolute; empty ones protect nothing.
type PathRules struct {
	Home  string // the person's home folder
	State string // the agent's own home: configuration, secrets, skills
	// SafeRoots, when there are any, are the only places that may be written.
	SafeRoots []string
}

// PathVerdict is what the rules say about one path. The zero value allows.
type PathVerdict struct {
	Deny   bool   // never, in no mode
	Ask    bool   // only with the person's consent
	Key    string // names the rule, for remembered consent
	Reason string // in words for a model: what the file is and what to do instead
}

// Allowed reports that nothing stands against it.
func (v PathVerdict) Allowed() bool { return !v.Deny && !v.Ask }

// Read judges reading. Give it the path as asked for and the path with its
// links followed; the strictest verdict counts.
func (r PathRules) Read(paths ...string) PathVerdict { return strictest(paths, r.read) }

// Write judges creating, changing, moving and deleting, like Read.
func (r PathRules) Write(paths ...string) PathVerdict { return strictest(paths, r.write) }

func strictest(paths []string, judge func(string) PathVerdict) PathVerdict {
	var worst PathVerdict
	for _, p := range paths {
		v := judge(canonical(p))
		if v.Deny {
			return v
		}
		if v.Ask {
			worst = v
		}
	}
	return worst
}

// canonical brings a path to the form rules are written in: forward slashes,
// lower case (a wrong refusal of ~/.SSH costs nothing), no dot segments, no
// doubled slashes, no /private before macOS' etc, var and tmp, no detour
// through a process's root folder.
func canonical(path string) string {
	if runtime.GOOS == "windows" {
		path = strings.ReplaceAll(path, `\`, "/")
	}
	p := strings.ToLower(clean(path))
	for _, dir := range [...]string{"/etc", "/var", "/tmp", "/home"} {
		if rest, ok := strings.CutPrefix(p, "/private"); ok && within(rest, dir) {
			p = rest
		}
	}
	for {
		rest, ok := processFile(p)
		tail, through := strings.CutPrefix(rest, "root/")
		if !ok || !through {
			return p
		}
		p = "/" + tail
	}
}

// clean drops empty and dot segments, as path.Clean does, without touching
// what a drive letter or a share begins with.
func clean(path string) string {
	rooted := strings.HasPrefix(path, "/")
	var out []string
	for _, part := range strings.Split(path, "/") {
		switch {
		case part == "" || part == ".":
		case part == ".." && len(out) > 0 && out[len(out)-1] != "..":
			out = out[:len(out)-1]
		case part == ".." && rooted:
		default:
			out = append(out, part)
		}
	}
	p := strings.Join(out, "/")
	if rooted {
		return "/" + p
	}
	return p
}

// within reports whether path is dir or lies below it. Both are canonical.
func within(path, dir string) bool {
	return dir != "" && (path == dir || below(path, dir) != "")
}

// below gives the rest of path under dir, or "".
func below(path, dir string) string {
	if dir == "" {
		return ""
	}
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(dir, "/")+"/")
	if !ok {
		return ""
	}
	return rest
}

// homeRest gives the rest of a path under somebody's home folder, or "".
func (r PathRules) homeRest(p string) string {
	if r.Home != "" {
		if rest := below(p, canonical(r.Home)); rest != "" {
			return rest
		}
	}
	if rest := below(p, "/root"); rest != "" {
		return rest
	}
	for _, homes := range [...]string{"/home", "/users", "c:/users"} {
		if rest := below(p, homes); rest != "" {
			_, rest, _ = strings.Cut(rest, "/")
			return rest
		}
	}
	return ""
}

// stateRest gives the rest of a path under the agent's own home, with the
// detour through a profile taken off.
func (r PathRules) stateRest(p string) string {
	rest := ""
	if r.State != "" {
		rest = below(p, canonical(r.State))
	}
	if rest == "" {
		rest = below(r.homeRest(p), ".hermes")
	}
	if inner, ok := strings.CutPrefix(rest, "profiles/"); ok {
		if _, file, ok := strings.Cut(inner, "/"); ok {
			return file
		}
	}
	return rest
}

func base(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }

// environmentFile reports a dotenv or direnv file that holds real values, not
// one of the samples that projects share.
func environmentFile(name string) bool {
	if name == ".env" || name == ".envrc" {
		return true
	}
	rest, ok := strings.CutPrefix(name, ".env.")
	if !ok {
		return false
	}
	for _, sample := range [...]string{"example", "sample", "template", "dist", "defaults"} {
		if rest == sample || strings.HasSuffix(rest, "."+sample) {
			return false
		}
	}
	return true
}

// credentialFile reports files under a home folder whose content is a secret.
func credentialFile(rest string) bool {
	switch rest {
	case ".netrc", "_netrc", ".pgpass", ".my.cnf", ".npmrc", ".pypirc", ".git-credentials",
		".config/git/credentials", ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials",
		".vault-token", ".terraform.d/credentials.tfrc.json", ".boto", ".s3cfg", ".docker/config.json",
		".config/gh/hosts.yml", ".claude/.credentials.json", ".codex/auth.json", ".claude.json":
		return true
	}
	return false
}

// ownSecret reports files under the agent's home that no tool may read.
func ownSecret(rest string) bool {
	switch rest {
	case ".env", "auth.json", ".anthropic_oauth.json":
		return true
	}
	return within(rest, "mcp-tokens") || within(rest, "pairing")
}
