package egresstest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/cgi"
	"path/filepath"
	"strings"
	"testing"
)

// Files serves texts by path. What is escaped in the path of a request is escaped here.
type Files map[string]string

// ServeHTTP serves one of the files.
func (f Files) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, ok := f[r.URL.EscapedPath()]
	if !ok {
		http.NotFound(w, r)
		return
	}
	kind := "application/octet-stream"
	switch {
	case strings.HasPrefix(text, "<!DOCTYPE html>"):
		kind = "text/html"
	case strings.HasPrefix(text, "{"):
		kind = "application/json"
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write([]byte(text))
}

// zipped packs names and texts.
func zipped(t testing.TB, entries ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(entries); i += 2 {
		w, err := z.Create(entries[i])
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(entries[i+1]))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// tarred packs names and texts, compressed. Those below bin are programs.
func tarred(t testing.TB, entries ...string) string {
	t.Helper()
	var b bytes.Buffer
	g := gzip.NewWriter(&b)
	w := tar.NewWriter(g)
	for i := 0; i < len(entries); i += 2 {
		mode := int64(0o644)
		if strings.Contains(entries[i], "/bin/") {
			mode = 0o755
		}
		if err := w.WriteHeader(&tar.Header{Name: entries[i], Mode: mode, Size: int64(len(entries[i+1]))}); err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(entries[i+1]))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Python is an index, below /simple/, of a package demo whose module has a variable word,
// "hello". It links to the files at a host, and serves them, too.
func Python(t testing.TB, host string) Files {
	t.Helper()
	wheel := zipped(t, "demo.py", "word = 'hello'\n",
		"demo-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n",
		"demo-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
		"demo-1.0.dist-info/RECORD", "demo.py,,\ndemo-1.0.dist-info/METADATA,,\ndemo-1.0.dist-info/WHEEL,,\ndemo-1.0.dist-info/RECORD,,\n")
	sum := sha256.Sum256([]byte(wheel))
	return Files{
		"/simple/demo/":              "<!DOCTYPE html><html><body><a href=\"https://" + host + "/demo-1.0-py3-none-any.whl#sha256=" + hex.EncodeToString(sum[:]) + "\">demo</a></body></html>",
		"/demo-1.0-py3-none-any.whl": wheel,
		"/simple/pip/":               "<!DOCTYPE html><html><body></body></html>",
	}
}

// Node is a registry at a host of one package, demo or @scope/demo, that exports "hello" and
// has a program demo, which prints it.
func Node(t testing.TB, host, name string) Files {
	t.Helper()
	program := map[string]string{"demo": "bin/demo.js"}
	pack := tarred(t, "package/package.json", `{"name":"`+name+`","version":"1.0.0","main":"index.js","bin":{"demo":"bin/demo.js"}}`,
		"package/index.js", "module.exports = 'hello'\n", "package/bin/demo.js", "#!/usr/bin/env node\nconsole.log(require('../index.js'))\n")
	sum := sha512.Sum512([]byte(pack))
	document, err := json.Marshal(map[string]any{"name": name, "dist-tags": map[string]string{"latest": "1.0.0"}, "versions": map[string]any{"1.0.0": map[string]any{
		"name": name, "version": "1.0.0", "main": "index.js", "bin": program,
		"dist": map[string]string{"tarball": "https://" + host + "/" + name + "/-/demo-1.0.0.tgz", "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return Files{"/" + strings.Replace(name, "/", "%2f", 1): string(document), "/" + name + "/-/demo-1.0.0.tgz": pack}
}

// Go is a module proxy of a module example.test/demo with a constant Word, "hello".
func Go(t testing.TB) Files {
	t.Helper()
	at := "example.test/demo@v1.0.0/"
	return Files{
		"/example.test/demo/@v/list": "v1.0.0\n", "/example.test/demo/@v/v1.0.0.info": `{"Version":"v1.0.0","Time":"2020-01-01T00:00:00Z"}`,
		"/example.test/demo/@latest":       `{"Version":"v1.0.0","Time":"2020-01-01T00:00:00Z"}`,
		"/example.test/demo/@v/v1.0.0.mod": "module example.test/demo\n",
		"/example.test/demo/@v/v1.0.0.zip": zipped(t, at+"go.mod", "module example.test/demo\n", at+"demo.go", "package demo\n\nconst Word = \"hello\"\n"),
	}
}

// Rust is a sparse registry at a host, below /index/, of a crate demo with a constant WORD,
// "hello".
func Rust(t testing.TB, host string) Files {
	t.Helper()
	crate := tarred(t, "demo-1.0.0/Cargo.toml", "[package]\nname = \"demo\"\nversion = \"1.0.0\"\nedition = \"2021\"\n", "demo-1.0.0/src/lib.rs", "pub const WORD: &str = \"hello\";\n")
	sum := sha256.Sum256([]byte(crate))
	return Files{
		"/index/config.json":   `{"dl":"https://` + host + `/dl/{crate}-{version}.crate"}`,
		"/index/de/mo/demo":    `{"name":"demo","vers":"1.0.0","deps":[],"cksum":"` + hex.EncodeToString(sum[:]) + `","features":{},"yanked":false}` + "\n",
		"/dl/demo-1.0.0.crate": crate,
	}
}

// Git serves the bare repositories in a folder, for reading and writing. programs is what
// "git --exec-path" prints.
func Git(programs, folder string) http.Handler {
	return &cgi.Handler{
		Path: filepath.Join(programs, "git-http-backend"), Stderr: new(bytes.Buffer),
		Env: []string{"GIT_PROJECT_ROOT=" + folder, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=tester", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"},
	}
}
