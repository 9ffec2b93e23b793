package policy

import (
	"runtime"
	"strings"
)

// PathRules names the folders of the user and of the agent. All paths are
// absolute; empty ones protect nothing.
type PathRules struct {
	Home  string // the user's home folder
	State string // the agent's own home: configuration, secrets, skills
	// SafeRoots, if not empty, are the only folders that may be written.
	SafeRoots []string
}

// PathVerdict is the result of judging one path. The zero value allows.
type PathVerdict struct {
	Deny   bool   // forbidden in every mode
	Ask    bool   // needs the user's approval
	Key    string // names the rule, for stored approvals
	Reason string // text for users and models: what the file is and what to do instead
}

// Allowed reports whether the path is allowed without a question.
func (v PathVerdict) Allowed() bool { return !v.Deny && !v.Ask }

// Read judges reading. Pass the path as requested and the path with its links
// followed; the strictest verdict counts.
func (r PathRules) Read(paths ...string) PathVerdict { return strictest(paths, r.read) }

// Write judges creating, changing, moving and deleting. Pass paths as for Read.
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

// canonical converts a path to the form that the rules use: forward slashes,
// lower case (a wrong refusal of ~/.SSH costs nothing), no dot segments, no
// double slashes, no /private before macOS' etc, var and tmp, no /proc/…/root
// prefix.
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

// clean drops empty and dot segments, as path.Clean does, but keeps the start of
// a drive letter or a share.
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

// within reports whether path is dir or is below it. Both are canonical.
func within(path, dir string) bool {
	return dir != "" && (path == dir || below(path, dir) != "")
}

// below returns the part of path below dir, or "".
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

// homeRest returns the part of a path below any user's home folder, or "".
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

// stateRest returns the part of a path below the agent's home or below one of its
// profiles, or "".
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

// environmentFile reports whether a file is a dotenv or direnv file with real
// values, not a sample that projects share.
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

// credentialFile reports whether a file below a home folder holds credentials.
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

// ownSecret reports whether a file below the agent's home must not be read by
// any tool.
func ownSecret(rest string) bool {
	switch rest {
	case ".env", "auth.json", ".anthropic_oauth.json":
		return true
	}
	return within(rest, "mcp-tokens") || within(rest, "pairing")
}
