package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"hermes/internal/proc"
	"hermes/internal/text"
)

const (
	longestLook     = 30 * time.Second
	longestDownload = 3 * time.Minute
	maxDownload     = 256 << 20 // bytes
)

// Remote is a repository of somebody else, whose files are fetched at one commit. Nothing of it is
// run: no hook, no filter, no submodule. Its methods may be called concurrently.
type Remote struct {
	// URL is https://, ssh://, file:// or user@host:path. See [CheckURL].
	URL string
	// Env returns the whole environment of git, as NAME=value.
	Env func() []string
	// Guard ends git if this process is killed; nil does not.
	Guard *proc.Guard
	// Own lets git use the settings, keys and stored passwords of the user. Without it git sees none
	// of them. It never asks for a password.
	Own bool
	// MaxBytes bounds what is fetched; 0 is 256 MiB.
	MaxBytes int64
}

var (
	fullCommit = regexp.MustCompile(`^[0-9a-f]{40}$`)
	scpForm    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*@[A-Za-z0-9][A-Za-z0-9.-]*:[^:]+$`)
	branchName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/+-]{0,199}$`)
)

// IsCommit reports whether a text is the full id of a commit: 40 hexadecimal digits in lower case.
func IsCommit(s string) bool { return fullCommit.MatchString(s) }

// CheckURL returns why a repository cannot be fetched from an address, nil if it can.
func CheckURL(address string) error {
	_, err := protocolOf(address)
	return err
}

// protocolOf returns the protocol of an address, as git names it.
func protocolOf(address string) (string, error) {
	shown := text.Visible(text.OneLine(address, 200))
	if strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return "", fmt.Errorf("the address %q has a space or a control character", shown)
	}
	if scpForm.MatchString(address) {
		return "ssh", nil
	}
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return "", fmt.Errorf("the address %q cannot be read", shown)
	case u.RawQuery != "" || u.Fragment != "":
		return "", fmt.Errorf("the address %q has a question mark or #", shown)
	}
	_, password := u.User.Password()
	switch {
	case password || u.User != nil && u.Scheme != "ssh":
		return "", errors.New("the address holds a name or a password; leave it out")
	case u.Scheme == "file" && u.Host == "" && strings.HasPrefix(u.Path, "/"):
		return "file", nil
	case (u.Scheme == "https" || u.Scheme == "ssh") && u.Hostname() != "" && !strings.HasPrefix(u.Hostname(), "-") && len(u.Path) > 1:
		return u.Scheme, nil
	}
	return "", fmt.Errorf("the address %q is not one of a repository; use https://, ssh://, file:/// or user@host:path", shown)
}

// Newest returns the newest commit of a branch, and the name of the branch; "" is the one that the
// repository names as its main one. It takes at most 30 s.
func (r Remote) Newest(ctx context.Context, branch string) (commit, name string, err error) {
	if branch != "" && (!branchName.MatchString(branch) || strings.Contains(branch, "..")) {
		return "", "", fmt.Errorf("%q is not the name of a branch", text.VisibleName(branch))
	}
	home, err := os.MkdirTemp("", "hermes-git-")
	if err != nil {
		return "", "", err
	}
	defer os.RemoveAll(home)
	g, err := r.in(home)
	if err != nil {
		return "", "", err
	}
	ref := "HEAD"
	if branch != "" {
		ref = "refs/heads/" + branch
	}
	out, err := g.run(ctx, longestLook, r.options("ls-remote", "--symref", "--", r.URL, ref))
	if err != nil {
		return "", "", r.failed(err)
	}
	name = branch
	for line := range strings.Lines(out) {
		value, of, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if head, ok := strings.CutPrefix(value, "ref: refs/heads/"); ok && of == ref {
			name = cmp.Or(name, head)
		} else if of == ref && IsCommit(value) {
			commit = value
		}
	}
	if commit == "" {
		return "", "", fmt.Errorf("%s has no branch %s", r.URL, cmp.Or(branch, "that it names as its main one"))
	}
	return commit, text.OneLine(name, 200), nil
}

// Archive fetches one commit and writes its files, or those of one folder of it, to out as a tar. They
// are as the commit has them: no attribute of the repository leaves a file out or changes one. The
// commit is the full id, and what arrives is checked against it. scratch is a new folder for the time of
// the call. It takes at most 3 minutes.
func (r Remote) Archive(ctx context.Context, scratch, commit, folder string, out io.Writer) error {
	if !IsCommit(commit) {
		return fmt.Errorf("%q is not the full id of a commit, which has 40 hexadecimal digits", text.VisibleName(commit))
	}
	if folder != "" && (!filepath.IsLocal(filepath.FromSlash(folder)) || strings.ContainsAny(folder, ":\\\n")) {
		return fmt.Errorf("%q is not a folder of the repository", text.VisibleName(folder))
	}
	g, err := r.in(scratch)
	if err != nil {
		return err
	}
	if _, err := g.run(ctx, longestLook, r.options("init", "--quiet", "--bare", "--object-format=sha1", "--template=", ".")); err != nil {
		return err
	}
	if err := r.fetch(ctx, g, commit); err != nil {
		return err
	}
	if got, err := g.run(ctx, longestLook, r.options("rev-parse", "--verify", "--quiet", "--end-of-options", commit+"^{commit}")); err != nil || strings.TrimSpace(got) != commit {
		return fmt.Errorf("%s did not send the commit %s", r.URL, commit)
	}
	// These rank above the attributes that the repository itself has.
	attributes := "* -export-ignore -export-subst -text -eol -ident -filter -working-tree-encoding\n"
	if err := os.MkdirAll(filepath.Join(scratch, "info"), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(scratch, "info", "attributes"), []byte(attributes), 0o600); err != nil {
		return err
	}
	tree := commit
	if folder = strings.Trim(folder, "/"); folder != "" {
		tree += ":" + folder
		if kind, err := g.run(ctx, longestLook, r.options("cat-file", "-t", tree)); err != nil || strings.TrimSpace(kind) != "tree" {
			return fmt.Errorf("the commit has no folder %s", text.Visible(folder))
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, longestDownload, errors.New("git takes too long"))
	defer cancel()
	complaints := output{limit: 4 << 10}
	code, err := g.start(ctx, r.options("archive", "--format=tar", tree), out, &complaints)
	switch {
	case err != nil:
		return fmt.Errorf("run git: %w", err)
	case code != 0:
		return errors.New(cmp.Or(text.OneLine(complaints.String(), 300), "git archive failed"))
	}
	return nil
}

// fetch gets one commit without its history, and gives up when it is too large.
func (r Remote) fetch(ctx context.Context, g Repository, commit string) error {
	most := cmp.Or(r.MaxBytes, maxDownload)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	large := fmt.Errorf("the repository is larger than %s", text.Size(most))
	watching := make(chan struct{})
	var tooLarge atomic.Bool
	look := func() {
		if size(g.Dir) > most {
			tooLarge.Store(true)
			cancel(large)
		}
	}
	go func() { // ends with ctx
		defer close(watching)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				look()
			}
		}
	}()
	_, err := g.run(ctx, longestDownload, r.options("fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--upload-pack=git-upload-pack", "--", r.URL, commit))
	look() // it may be done before the first tick
	cancel(nil)
	<-watching
	if tooLarge.Load() {
		return large
	}
	return r.failed(err)
}

// size is how large the files of a folder are together. Those that vanish meanwhile do not count.
func size(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}

// failed adds what helps to a complaint of git.
func (r Remote) failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("get %s: %w", r.URL, err)
}

// options are the arguments of git before and with a command: none of the settings that could start
// a program or fetch something else holds.
func (r Remote) options(args ...string) []string {
	off := []string{
		"-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "submodule.recurse=false",
		"-c", "transfer.fsckObjects=true", "-c", "fetch.fsckObjects=true", "-c", "transfer.bundleURI=false", "-c", "fetch.uriProtocols=",
		"-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=30", "-c", "tar.umask=0022", "-c", "protocol.version=2",
	}
	if !r.Own {
		off = append(off, "-c", "credential.helper=")
	}
	return append(off, args...)
}

// in returns git in a folder, with the variables that it may have.
func (r Remote) in(dir string) (Repository, error) {
	protocol, err := protocolOf(r.URL)
	if err != nil {
		return Repository{}, err
	}
	if protocol == "ssh" && !r.Own {
		return Repository{}, errors.New("an address of ssh needs a key of yours; allow it with --credentials, or use https://")
	}
	env := r.Env
	return Repository{Dir: dir, Guard: r.Guard, Env: func() []string {
		var all []string
		if env != nil {
			all = slices.DeleteFunc(slices.Clone(env()), func(v string) bool { return !r.passes(v) })
		}
		add := []string{
			"GIT_ALLOW_PROTOCOL=" + protocol, "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=true", "SSH_ASKPASS=true", "GCM_INTERACTIVE=never",
			"GIT_SSH_COMMAND=ssh -oBatchMode=yes -oConnectTimeout=10 -oStrictHostKeyChecking=yes", "GIT_SSH_VARIANT=ssh", "GIT_NO_LAZY_FETCH=1", "LC_ALL=C",
		}
		if !r.Own { // nor the passwords of .netrc
			add = append(add, "HOME="+dir, "XDG_CONFIG_HOME="+dir, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_ATTR_NOSYSTEM=1")
			if runtime.GOOS != "windows" { // where the settings of the system say which certificates hold
				add = append(add, "GIT_CONFIG_SYSTEM="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
			}
		}
		return with(func() []string { return all }, add...)
	}}, nil
}

// passes reports whether git gets a variable of the environment.
func (r Remote) passes(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	switch {
	case slices.Contains([]string{"GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_EXEC_PATH"}, name):
		return true
	case strings.HasPrefix(name, "GIT_"):
		return false
	}
	return r.Own || !strings.HasPrefix(name, "SSH_")
}
