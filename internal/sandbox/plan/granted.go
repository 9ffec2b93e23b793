package plan

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"hermes/internal/policy"
	"hermes/internal/sandbox/gitguard"
)

// Inside is what a folder holds that a grant for the folder does not open.
type Inside struct {
	// Runs are repositories, and files and folders that git or the user's tools run or
	// obey. Secrets are environment files and private keys. All are absolute.
	Runs, Secrets []string
	// Whole says that the folder was looked at wholly.
	Whole bool

	found gitguard.Found
	named []gitguard.Named
}

// The bounds of the search for secrets.
const (
	maxLooked = 4096    // entries
	maxPEM    = 1 << 16 // bytes of one file
)

// LookInside looks for what a folder holds that is protected or hidden in a workspace, as far
// as some bounds allow. It follows no link, and finds nothing in what is no folder.
func LookInside(u gitguard.User, folder string) Inside {
	in := Inside{Whole: true}
	if !isFolder(folder) {
		return in
	}
	s, err := u.Take(folder)
	if err != nil {
		return Inside{}
	}
	in.found, in.Whole = s.Found, len(s.Found.Unlooked) == 0
	in.named, _ = s.Named()
	for _, r := range in.found.Repos {
		in.Runs = append(in.Runs, filepath.Join(folder, filepath.FromSlash(r.Dir), r.Name))
	}
	for _, rel := range in.found.Tools {
		in.Runs = append(in.Runs, filepath.Join(folder, filepath.FromSlash(rel)))
	}
	in.secrets(folder)
	return in
}

var errEnough = errors.New("enough was looked at")

// secrets looks for environment files and private keys, by their names.
func (in *Inside) secrets(folder string) {
	left := maxLooked
	err := filepath.WalkDir(folder, func(at string, d fs.DirEntry, err error) error {
		if left--; left < 0 {
			return errEnough
		}
		if err != nil {
			in.Whole = false // what cannot be looked at
			return nil
		}
		if d.Type().IsRegular() && secretFile(at) {
			in.Secrets = append(in.Secrets, at)
		}
		return nil
	})
	in.Whole = in.Whole && err == nil
}

// secretFile reports whether a file holds secrets, wherever it is. direnv runs .envrc: it is
// protected, and not hidden, as in a workspace.
func secretFile(at string) bool {
	name := filepath.Base(at)
	if name == ".envrc" || !(policy.PathRules{}).Secret("/-/"+name) {
		return false
	}
	if filepath.Ext(name) != ".pem" { // most are certificates, which programs need
		return true
	}
	f, err := gitguard.OpenFile(at)
	if err != nil {
		return true
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxPEM))
	return err != nil || len(text) == maxPEM || bytes.Contains(text, []byte("PRIVATE KEY"))
}

// inside protects and hides what a granted folder holds, as if it were a workspace: the user
// allowed the folder by its name. What a grant names itself stays open. It reports whether
// the folder can be granted. Servers, hooks and plugins read what they declared, secrets included.
func (p *planner) inside(folder string, write bool) bool {
	if !write && !p.commands() || !p.writes() || p.reads() && within(folder, p.Workspace) {
		return true
	}
	in := LookInside(gitguard.UserOf(p.home0, p.Environ), folder)
	if n := len(in.Runs) + len(in.Secrets); n > maxKept {
		p.note("the grant %s is ignored: it holds %d repositories, files with secrets and files that tools obey; grant what is needed of it", folder, n)
		return false
	}
	if !p.rules.Secret(filepath.Join(folder, "x")) && (write || !withinAny(folder, p.Policy.Read)) { // else secrets are what the grant is for
		for _, at := range in.Secrets {
			if !slices.Contains(p.Grants.Read, at) && !slices.Contains(p.Grants.Write, at) {
				p.Policy.Hidden = append(p.Policy.Hidden, at)
			}
		}
	}
	if !write {
		return true
	}
	for _, rel := range in.found.Tools {
		p.protect(filepath.Join(folder, filepath.FromSlash(rel)))
	}
	for _, r := range in.found.Repos {
		if r.Form == gitguard.File {
			p.protect(filepath.Join(folder, filepath.FromSlash(r.Dir), r.Name))
		}
		if r.Git != "" && !r.Outside {
			p.obeyed(r.Git, 0)
		}
	}
	for _, n := range in.named {
		p.namedByGit(n)
	}
	return true
}
