package app

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hermes/internal/atomicfile"
	"hermes/internal/policy/shell"
	"hermes/internal/tool/file"
)

// runners are programs that run files of a project which their line does not name.
var runners = strings.Fields(`make gmake just task ninja cmake npm npx pnpm yarn node bun deno go cargo pytest tox nox python python3
	pip pip3 uv poetry ruby rake bundle php composer gradle ./gradlew mvn ./mvnw ant dotnet swift zig docker podman git pre-commit`)

// projectFiles are what they obey in their folder.
var projectFiles = strings.Fields(`Makefile makefile GNUmakefile justfile Taskfile.yml build.ninja CMakeLists.txt package.json go.mod Cargo.toml build.rs
	conftest.py pytest.ini pyproject.toml setup.py setup.cfg tox.ini noxfile.py Rakefile Gemfile composer.json build.gradle build.gradle.kts pom.xml Dockerfile
	docker-compose.yml compose.yaml .pre-commit-config.yaml`)

// maxWrote bounds what the user is shown of them.
const maxWrote = 20

// maxHashed bounds what is read of one of them, in bytes.
const maxHashed = 64 << 20

// wrote lists the files that a command line would run or obey in a folder and that came
// with the session: those that it wrote with its tools, and those that the line names and
// that were changed since the session began. Each is named with a hash of its content, so
// that equal lists mean equal files. It can miss what a named file runs in turn.
func (a *App) wrote(files *file.Toolset) func(session, line, dir string) []string {
	return func(session, line, dir string) []string {
		w := writtenFiles{dir: dir, own: files.Wrote(session), since: a.began(session)}
		shell.Commands(line, func(words []string) bool {
			w.command(words)
			return len(w.found) < maxWrote
		})
		for i, path := range w.found {
			w.found[i] = w.shown(path) + " (" + content(path) + ")"
		}
		return w.found
	}
}

// content identifies what is in a file: the first half of its SHA-256, for a long one that
// of its beginning, with its length and the time of its change.
func content(path string) string {
	f, err := atomicfile.OpenPath(path)
	if err != nil {
		return "cannot be read"
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, io.LimitReader(f, maxHashed)); err != nil {
		return "cannot be read"
	}
	id := fmt.Sprintf("SHA-256 %x", sum.Sum(nil)[:sha256.Size/2])
	info, err := f.Stat()
	if err != nil {
		return "cannot be read"
	}
	if info.Size() > maxHashed {
		id += fmt.Sprintf(" of its first 64 MB, %d bytes, changed %s", info.Size(), changed(info).Format(time.RFC3339Nano))
	}
	return id
}

// began is when a session began; the zero time if that is not known.
func (a *App) began(session string) time.Time {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	db, err := a.Database(ctx)
	if err != nil {
		return time.Time{}
	}
	row, err := db.FindSession(ctx, session)
	if err != nil {
		return time.Time{}
	}
	return row.Started
}

// writtenFiles collects them.
type writtenFiles struct {
	dir   string
	own   []string // real paths
	since time.Time
	found []string // real paths
}

func (w *writtenFiles) command(words []string) {
	for _, word := range words {
		w.path(word)
		if _, value, ok := strings.Cut(word, "="); ok {
			w.path(value)
		}
	}
	if len(words) == 0 || !slices.Contains(runners, words[0]) && !slices.Contains(runners, filepath.Base(words[0])) {
		return
	}
	for _, name := range projectFiles {
		w.path(name)
	}
	w.below(w.dir)
}

// path takes a file that a word names, and for a folder what the session wrote in it.
func (w *writtenFiles) path(word string) {
	if word == "" || strings.ContainsRune(word, 0) {
		return
	}
	if !filepath.IsAbs(word) {
		word = filepath.Join(w.dir, word)
	}
	real, err := filepath.EvalSymlinks(word)
	if err != nil {
		return
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
	case info.IsDir():
		if real != w.dir { // "." is in many lines that run nothing of it
			w.below(real)
		}
	case slices.Contains(w.own, real), !w.since.IsZero() && changed(info).After(w.since):
		w.add(real)
	}
}

// below takes what the session wrote in a folder.
func (w *writtenFiles) below(dir string) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for _, path := range w.own {
		if strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/") {
			w.add(path)
		}
	}
}

// shown is how the user is told of a path.
func (w *writtenFiles) shown(path string) string {
	if rel, err := filepath.Rel(w.dir, path); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return path
}

func (w *writtenFiles) add(path string) {
	if len(w.found) < maxWrote && !slices.Contains(w.found, path) {
		w.found = append(w.found, path)
	}
}
