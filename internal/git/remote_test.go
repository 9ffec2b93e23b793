package git_test

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"io"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/git"
)

// served is a repository that a web server hands out as forges do.
func served(t *testing.T) (r git.Repository, remote git.Remote) {
	t.Helper()
	r = mustRepository(t)
	out, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewTLSServer(&cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(out)), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + filepath.Dir(r.Dir), "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"},
	})
	t.Cleanup(server.Close)
	authority := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	remote = git.Remote{URL: server.URL + "/" + filepath.Base(r.Dir) + "/.git", Env: func() []string {
		return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_SSL_CAINFO=" + authority}
	}}
	return r, remote
}

func mustHead(t *testing.T, r git.Repository) string {
	t.Helper()
	out, err := r.Run(t.Context(), "rev-parse", "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out)
}

func commit(t *testing.T, r git.Repository) string {
	t.Helper()
	must(t, r, "add", ".")
	must(t, r, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x")
	return mustHead(t, r)
}

// files reads a tar: the texts of files, and where links lead.
func files(t *testing.T, archive io.Reader) map[string]string {
	t.Helper()
	all := map[string]string{}
	for r := tar.NewReader(archive); ; {
		h, err := r.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		switch h.Typeflag {
		case tar.TypeReg:
			data, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			all[h.Name] = string(data)
		case tar.TypeSymlink:
			all[h.Name] = "-> " + h.Linkname
		}
	}
}

// TestARemoteIsFetchedAtOneCommit: its files are as the commit has them, whatever its attributes and
// the user's settings say, and no program of either starts.
func TestARemoteIsFetchedAtOneCommit(t *testing.T) {
	t.Parallel()
	r, remote := served(t)
	first := mustHead(t, r)
	ran := filepath.Join(t.TempDir(), "ran")
	write(t, r, ".gitattributes", "b.txt export-ignore\nc.txt export-subst\na.txt filter=spy\n*.txt text eol=crlf\n")
	write(t, r, "c.txt", "$Format:%H$\n")
	if err := os.Mkdir(filepath.Join(r.Dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, r, "sub/d.txt", "d\n")
	if err := os.Symlink("../a.txt", filepath.Join(r.Dir, "sub", "link")); err != nil {
		t.Fatal(err)
	}
	second := commit(t, r)
	home := remote.Env()[1][len("HOME="):]
	settings := "[filter \"spy\"]\n\tsmudge = touch " + ran + "\n[url \"https://127.0.0.1:1/\"]\n\tinsteadOf = https://\n[credential]\n\thelper = !touch " + ran + "\n"
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, branch, err := remote.Newest(t.Context(), ""); err != nil || got != second || branch != "trunk" {
		t.Fatal(got, branch, err)
	}
	if got, _, err := remote.Newest(t.Context(), "trunk"); err != nil || got != second {
		t.Error(got, err)
	}
	if _, _, err := remote.Newest(t.Context(), "other"); err == nil || !strings.Contains(err.Error(), "no branch other") {
		t.Error(err)
	}
	var out bytes.Buffer
	if err := remote.Archive(t.Context(), t.TempDir(), second, "", &out); err != nil {
		t.Fatal(err)
	}
	got := files(t, &out)
	if got["a.txt"] != "a.txt" || got["b.txt"] != "b.txt" || got["c.txt"] != "$Format:%H$\n" || got["sub/d.txt"] != "d\n" || got["sub/link"] != "-> ../a.txt" {
		t.Errorf("%q", got)
	}
	out.Reset()
	if err := remote.Archive(t.Context(), t.TempDir(), first, "", &out); err != nil {
		t.Fatal(err)
	}
	if got := files(t, &out); len(got) != 3 || got["c.txt"] != "c.txt" {
		t.Errorf("the first commit: %q", got)
	}
	out.Reset()
	if err := remote.Archive(t.Context(), t.TempDir(), second, "sub", &out); err != nil {
		t.Fatal(err)
	}
	if got := files(t, &out); len(got) != 2 || got["d.txt"] != "d\n" {
		t.Errorf("the folder: %q", got)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a program of the settings ran")
	}
	remote.Own = true
	if _, _, err := remote.Newest(t.Context(), ""); err == nil {
		t.Error("the settings of the user do not hold although they were allowed")
	}
}

// TestARemoteThatCannotBeUsedIsRefused: what is not there, what is too large, and what would be asked.
func TestARemoteThatCannotBeUsedIsRefused(t *testing.T) {
	t.Parallel()
	r, remote := served(t)
	head := mustHead(t, r)
	for _, c := range []struct{ commit, folder, want string }{
		{strings.Repeat("a", 40), "", "get https://"}, {head[:12], "", "40 hexadecimal digits"}, {strings.ToUpper(head), "", "40 hexadecimal digits"}, {"trunk", "", "40 hexadecimal digits"},
		{head, "sub", "no folder"}, {head, "../x", "is not a folder"}, {head, "a.txt", "no folder"},
	} {
		if err := remote.Archive(t.Context(), t.TempDir(), c.commit, c.folder, io.Discard); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v", c.commit, c.folder, err)
		}
	}
	noise := make([]byte, 1<<20)
	for i, x := 0, uint32(1); i < len(noise); i++ { // nothing that can be compressed
		x = x*1664525 + 1013904223
		noise[i] = byte(x >> 24)
	}
	write(t, r, "large", string(noise))
	remote.MaxBytes = 300 << 10
	if err := remote.Archive(t.Context(), t.TempDir(), commit(t, r), "", io.Discard); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Error("a large one:", err)
	}
	for _, address := range []string{
		"http://example.org/a.git", "ext::sh -c touch% /tmp/x", "https://user:secret@example.org/a.git", "https://token@example.org/a.git", "-u", "--upload-pack=x", "https://example.org/a b", "git://example.org/a.git",
		"https://", "https:///x", "file://host/x", "/tmp/x", "https://-x/y", "https://example.org/a.git?x=1",
	} {
		if err := git.CheckURL(address); err == nil {
			t.Errorf("%q is accepted", address)
		}
	}
	for _, address := range []string{"https://example.org/a.git", "ssh://git@example.org/a.git", "git@example.org:a/b.git", "file:///srv/a.git"} {
		if err := git.CheckURL(address); err != nil {
			t.Error(err)
		}
	}
	if _, _, err := (git.Remote{URL: "git@example.org:a/b.git"}).Newest(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "--credentials") {
		t.Error("a key of the user:", err)
	}
}
