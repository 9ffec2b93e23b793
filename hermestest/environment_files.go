package hermestest

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	"hermes"
)

func sameFiles(t *testing.T, e hermes.Environment) {
	f, ctx := e.Files(), t.Context()
	do(t, e, "mkdir dir; cd dir; printf 'from the shell' >one")
	if got := mustRead(t, f, "one"); got != "from the shell" {
		t.Errorf("read %q", got)
	}
	if err := f.Write(ctx, "two", []byte("from outside"), 0o644); err != nil {
		t.Fatal(err)
	}
	says(t, e, "cat two; cd ..; cat dir/two", "from outsidefrom outside")
	if got := mustRead(t, f, "dir/one"); got != "from the shell" {
		t.Errorf("after cd, read %q", got)
	}
}

func mustRead(t *testing.T, f hermes.Files, path string) string {
	t.Helper()
	r, err := f.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func writingFiles(t *testing.T, e hermes.Environment) {
	f, ctx := e.Files(), t.Context()
	all := make([]byte, 0, 200_000)
	for len(all) < 200_000 {
		all = append(all, byte(len(all)), '\n', 0, 0xff, '\'')
	}
	if err := f.Write(ctx, "deep/er/all 'of' it", all, 0o640); err != nil {
		t.Fatal(err)
	}
	if got := mustRead(t, f, "deep/er/all 'of' it"); got != string(all) {
		t.Errorf("%d bytes came back changed", len(got))
	}
	if info, err := f.Stat(ctx, "deep/er/all 'of' it"); err != nil || info.Size() != int64(len(all)) || info.IsDir() || info.Name() != "all 'of' it" {
		t.Errorf("stat: %+v, error %v", info, err)
	}
	do(t, e, "printf x >script; chmod 755 script")
	if err := f.Write(ctx, "script", []byte("longer"), 0o600); err != nil {
		t.Fatal(err)
	}
	if info, err := f.Stat(ctx, "script"); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the mode of an existing file is not kept: %v, error %v", info, err)
	}
	if err := f.Write(ctx, "empty", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := mustRead(t, f, "empty"); got != "" {
		t.Errorf("read %q from an empty file", got)
	}
	if err := f.Write(ctx, "deep", []byte("x"), 0o600); err == nil {
		t.Error("a folder can be overwritten by a file")
	}
	says(t, e, "ls -A deep/er | wc -l | tr -d ' '", "1") // no temporary files remain
}

func changingFolders(t *testing.T, e hermes.Environment) {
	f, ctx := e.Files(), t.Context()
	do(t, e, "mkdir d; printf 12345 >d/file; mkdir d/sub; printf x >d/.hidden; printf y >'d/ two  words'")
	entries, err := f.List(ctx, "d")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() {
			name += "/"
		}
		if info, err := entry.Info(); err != nil || name == "file" && info.Size() != 5 {
			t.Errorf("%s: info %v, error %v", name, info, err)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	if want := []string{" two  words", ".hidden", "file", "sub/"}; !slices.Equal(names, want) {
		t.Errorf("listed %q, want %q", names, want)
	}
	if entries, err := f.List(ctx, "d/sub"); err != nil || len(entries) != 0 {
		t.Errorf("an empty folder lists %v, error %v", entries, err)
	}
	if err := f.Rename(ctx, "d/file", "d/.hidden"); err != nil {
		t.Fatal(err)
	}
	if got := mustRead(t, f, "d/.hidden"); got != "12345" {
		t.Errorf("after the rename, read %q", got)
	}
	if err := f.Remove(ctx, "d/.hidden"); err != nil {
		t.Errorf("remove a file: %v", err)
	}
	if err := f.Remove(ctx, "d/sub"); err != nil {
		t.Errorf("remove an empty folder: %v", err)
	}
	if err := f.Remove(ctx, "d"); err == nil {
		t.Error("a folder with something in it was removed")
	}
}

func missingFiles(t *testing.T, e hermes.Environment) {
	f, ctx := e.Files(), t.Context()
	_, statErr := f.Stat(ctx, "none")
	_, listErr := f.List(ctx, "none")
	r, openErr := f.Open(ctx, "none")
	if openErr == nil { // the error may come only with the first read
		_, openErr = io.ReadAll(r)
		r.Close()
	}
	_, realErr := f.RealPath(ctx, "none/at/all")
	for name, err := range map[string]error{
		"stat": statErr, "list": listErr, "open": openErr, "real path": realErr,
		"remove": f.Remove(ctx, "none"), "rename": f.Rename(ctx, "none", "other"),
	} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: error %v is not fs.ErrNotExist", name, err)
		}
	}
}

func links(t *testing.T, e hermes.Environment) {
	f, ctx := e.Files(), t.Context()
	do(t, e, "mkdir real; printf old >real/file; ln -s real dir; ln -s real/file link; ln -s real/new dangling")
	base, err := f.RealPath(ctx, ".")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"dir/file": "/real/file", "link": "/real/file", "dir/not-yet": "/real/not-yet", "dangling": "/real/new", "real/../link": "/real/file",
	} {
		if got, err := f.RealPath(ctx, path); err != nil || got != base+want {
			t.Errorf("real path of %s: %q, error %v, want …%s", path, got, err, want)
		}
	}
	if info, err := f.Stat(ctx, "dir"); err != nil || !info.IsDir() {
		t.Errorf("stat does not follow links: %v, error %v", info, err)
	}
	if err := f.Write(ctx, "link", []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	says(t, e, "cat real/file; test -L link && echo ' link'", "new link")
}

// lead compares the answers of one look with those that are asked one by one.
func lead(t *testing.T, e hermes.Environment) {
	l, ok := e.Files().(hermes.LocatingFiles)
	if !ok {
		t.Skip("these files are asked one by one")
	}
	f, ctx := e.Files(), t.Context()
	do(t, e, "mkdir -p 'real/a b\n'; printf old >real/file; ln -s real dir; ln -s real/file link; ln -s real/new dangling; ln -s loop loop; printf x >\"real/q'\nuote\"; ln -s / top")
	base, err := f.RealPath(ctx, ".")
	if err != nil {
		t.Fatal(err)
	}
	wants := map[string]string{ // where it leads, if that is not where it is
		"": "", "/real/file": "", "/dir/file": "/real/file", "/link": "/real/file", "/dangling": "/real/new", "/loop": "", "/dir/not/yet/there": "/real/not/yet/there",
		"/dir": "/real", "/real/a b\n": "", "/dir/q'\nuote": "/real/q'\nuote", "/top/no-such-folder/x": "../no-such-folder/x", "/top": "..",
	}
	var asked []string
	for p := range wants {
		asked = append(asked, base+p)
	}
	found, err := l.Locate(ctx, asked...)
	if err != nil || len(found) != len(asked) {
		t.Fatalf("%d answers, error %v", len(found), err)
	}
	for i, p := range asked {
		got, short := found[i], strings.TrimPrefix(p, base)
		want := base + cmp.Or(wants[short], short)
		if above, ok := strings.CutPrefix(wants[short], ".."); ok {
			want = path.Join("/", above)
		}
		if got.Real != want {
			t.Errorf("%q leads to %q, want %q", short, got.Real, want)
		}
		if dir, err := f.RealPath(ctx, path.Dir(p)); err == nil && got.Dir != dir {
			t.Errorf("the folder of %q is %q, want %q", short, got.Dir, dir)
		}
		info, err := f.Stat(ctx, want)
		if (err == nil) != (got.Info != nil) {
			t.Errorf("%q: %v, and asked alone %v", short, got.Info, err)
		} else if err == nil && (got.Info.Mode() != info.Mode() || got.Info.Size() != info.Size() || !got.Info.ModTime().Equal(info.ModTime()) || got.Info.Name() != info.Name()) {
			t.Errorf("%q: %v, and asked alone %v", short, got.Info, info)
		}
	}
}

func noLinks(t *testing.T, e hermes.Environment) {
	linkless, ok := e.Files().(hermes.LinklessFiles)
	if !ok {
		t.Skip("these files cannot refuse links")
	}
	f, ctx := linkless.NoLinks(), t.Context()
	do(t, e, "mkdir -p real/sub; printf old >real/file; ln -s real dir; ln -s real/file link; ln -s real/new dangling")
	base, err := f.RealPath(ctx, ".")
	if err != nil {
		t.Fatal(err)
	}
	data := []byte("new")
	for name, err := range map[string]error{
		"write below a link": f.Write(ctx, base+"/dir/x", data, 0o644), "write deep below a link": f.Write(ctx, base+"/dir/a/b", data, 0o644),
		"write a link": f.Write(ctx, base+"/link", data, 0o644), "write a link to nothing": f.Write(ctx, base+"/dangling", data, 0o644),
		"remove below a link": f.Remove(ctx, base+"/dir/file"), "rename from below a link": f.Rename(ctx, base+"/dir/file", base+"/x"),
		"rename to below a link": f.Rename(ctx, base+"/real/file", base+"/dir/x"),
	} {
		if !errors.Is(err, hermes.ErrLink) {
			t.Errorf("%s: error %v, want ErrLink", name, err)
		}
	}
	for _, name := range []string{"/dir/file", "/link", "/dangling"} {
		r, err := f.Open(ctx, base+name)
		if err == nil { // the error may come only with the first read
			_, err = io.ReadAll(r)
			r.Close()
		}
		if !errors.Is(err, hermes.ErrLink) {
			t.Errorf("open %s: error %v, want ErrLink", name, err)
		}
	}
	if got := mustRead(t, f, base+"/real/file"); got != "old" {
		t.Errorf("read %q", got)
	}
	for _, name := range []string{"/none", "/none/below"} {
		if err := f.Remove(ctx, base+name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("remove %s, which is missing: error %v", name, err)
		}
	}
	says(t, e, "cat real/file; find . | wc -l | tr -d ' '", "old7")
	for name, err := range map[string]error{
		"write": f.Write(ctx, base+"/real/file", data, 0o644), "write deeper": f.Write(ctx, base+"/real/a b/c/file", data, 0o644),
		"remove a link": f.Remove(ctx, base+"/link"), "rename over a link": f.Rename(ctx, base+"/real/sub", base+"/real/other"),
		"rename": f.Rename(ctx, base+"/real/a b/c/file", base+"/moved/file"),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func umask(t *testing.T, e hermes.Environment) {
	f, ctx := e.Files(), t.Context()
	do(t, e, "touch from-shell; mkdir folder; printf x >existing; chmod 666 existing")
	for _, name := range []string{"from-tool", "sub/from-tool", "existing"} {
		if err := f.Write(ctx, name, []byte("x"), 0); err != nil {
			t.Fatal(err)
		}
	}
	for name, like := range map[string]string{"from-tool": "from-shell", "sub/from-tool": "from-shell", "sub": "folder"} {
		got, err := f.Stat(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := f.Stat(ctx, like)
		if err != nil {
			t.Fatal(err)
		}
		if got.Mode() != want.Mode() {
			t.Errorf("%s has mode %v, one of the shell %v", name, got.Mode(), want.Mode())
		}
	}
	if err := f.Write(ctx, "exact", []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"existing", "exact"} {
		if info, err := f.Stat(ctx, name); err != nil || info.Mode().Perm() != 0o666 {
			t.Errorf("%s: mode %v, error %v, want 0666", name, info, err)
		}
	}
}

func paths(t *testing.T, e hermes.Environment) {
	f := e.Files()
	here, err := f.Resolve(".")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"a/../b": here + "/b", "/etc/./x/": "/etc/x", "": ""} {
		got, err := f.Resolve(path)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%q resolves to %q, error %v, want %q", path, got, err, want)
		}
	}
	if got, err := f.Resolve("~/x"); err != nil || strings.Contains(got, "~") || !strings.HasSuffix(got, "/x") {
		t.Errorf("~/x resolves to %q, error %v", got, err)
	}
	do(t, e, "mkdir below; cd below")
	if got, err := f.Resolve("x"); err != nil || got != here+"/below/x" {
		t.Errorf("after cd, x resolves to %q, error %v", got, err)
	}
}
