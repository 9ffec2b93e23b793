package remote

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"hermes"
	"hermes/internal/shellstate"
)

// Files returns the file system that the commands see: that of a [FileServer], else files
// that are read and written by scripts, which need the usual tools (stat, mktemp, xargs,
// readlink), as busybox has them.
func (e *Environment) Files() hermes.Files {
	if s, ok := e.place.runner.(FileServer); ok {
		return s.Files(files{env: e})
	}
	return files{env: e}
}

// files are the files of a place, read and written by scripts.
type files struct {
	env     *Environment
	noLinks bool // what opens or changes a file follows no link
}

var _ hermes.LinklessFiles = files{}

// NoLinks returns the same files, which open and change no file through a link.
// Each command runs in the file's folder, after comparing where the shell arrived
// with where it was sent. Only the target of Rename may still be replaced by a link
// while the command runs.
func (f files) NoLinks() hermes.Files {
	f.noLinks = true
	return f
}

// The exit codes with which the scripts report errors.
const (
	exitMissing = 44
	exitDenied  = 45
	exitFolder  = 46
	exitLink    = 47
)

// enterFolder enters the folder of $p, sets n to the last name and d to the folder,
// and fails if a part of the path is a link. The folders that $make asks for are
// made.
const enterFolder = `d=${p%/*}; [ "$d" ] || d=/
n=./${p##*/}; e=$d
while [ ! -e "$e" ] && [ ! -L "$e" ]; do e=${e%/*}; [ "$e" ] || e=/; done
cd -P -- "$e" 2>/dev/null || exit 45
[ "$(pwd -P)" = "$e" ] || exit 47
if [ "$e" != "$d" ]; then
	[ "$make" ] || exit 44
	r=${d#"$e"}; r=./${r#/}
	mkdir -p -- "$r" && cd -P -- "$r" || exit
	[ "$(pwd -P)" = "$d" ] || exit 47
fi
p=$n
`

// keepTo puts the check for links before a script, if there is to be one.
func (f files) keepTo(make, script string) string {
	if !f.noLinks {
		return script
	}
	return "make=" + make + "\n" + enterFolder + script
}

// Resolve returns the absolute path; see [hermes.Files].
func (f files) Resolve(p string) (string, error) {
	switch {
	case p == "":
		return "", errors.New("the path is empty; name a file or folder")
	case path.IsAbs(p):
		return path.Clean(p), nil
	}
	ctx, cancel := context.WithTimeout(f.env.life, askTime)
	defer cancel()
	known, err := f.env.place.know(ctx)
	if err != nil {
		return "", fmt.Errorf("find out where %s is: %w", p, err)
	}
	return absolute(known.home, joined(f.env.current(known), p)), nil
}

// Stat follows links.
func (f files) Stat(ctx context.Context, p string) (fs.FileInfo, error) {
	text, err := f.run(ctx, "stat", p, `[ -e "$p" ] || exit 44
stat -L -c '%f %s %Y' -- "$p" 2>/dev/null || stat -L -f '%Xp %z %m' -- "$p"`)
	if err != nil {
		return nil, err
	}
	info, err := parseStat(strings.TrimSpace(text))
	if err != nil {
		return nil, err
	}
	resolved, err := f.Resolve(p)
	info.name = path.Base(resolved)
	return info, err
}

// followLinks sets p to its path without links. The readlink of busybox does not follow a
// link to nothing.
const followLinks = `n=0
until r=$(readlink -f -- "$p" 2>/dev/null && echo .); do
	n=$((n + 1))
	[ -L "$p" ] && [ $n -lt 40 ] && t=$(readlink -- "$p" && echo .) || exit 44
	t=${t%??}
	case $t in /*) p=$t ;; *) p=${p%/*}/$t ;; esac
done
p=${r%??}
`

// RealPath follows all links of the path.
func (f files) RealPath(ctx context.Context, p string) (string, error) {
	text, err := f.run(ctx, "follow", p, followLinks+`printf '%s\n' "$p"`)
	if err != nil {
		return "", err
	}
	return path.Clean(strings.TrimSuffix(text, "\n")), nil
}

// Open streams the file. An error may only show at the first Read.
func (f files) Open(ctx context.Context, p string) (io.ReadCloser, error) {
	check := ""
	if f.noLinks {
		check = `[ -L "$p" ] && exit 47
`
	}
	line, err := f.line(p, f.keepTo("", check+`[ -e "$p" ] || exit 44
[ -d "$p" ] && exit 46
[ -r "$p" ] || exit 45
exec cat -- "$p"`))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	r, w := io.Pipe()
	s := &stream{PipeReader: r, cancel: cancel, done: make(chan struct{})}
	go func() { // ends with the command; Close waits
		defer close(s.done)
		exit, err := f.env.run(ctx, hermes.Command{Line: line, Dir: "/", Stdout: w}, true)
		w.CloseWithError(cmp.Or(err, failure("open", p, exit.Code, ""), io.EOF))
	}()
	return s, nil
}

// stream is a file that a command prints.
type stream struct {
	*io.PipeReader
	cancel context.CancelFunc
	done   chan struct{}
}

func (s *stream) Close() error {
	err := s.PipeReader.Close()
	s.cancel()
	<-s.done
	return err
}

// Write replaces the file atomically. What a connection that was cut has stored in part
// never takes its place.
func (f files) Write(ctx context.Context, p string, data []byte, mode fs.FileMode) error {
	follow := `if [ -L "$p" ]; then
` + followLinks + `fi
`
	if f.noLinks {
		follow = `[ -L "$p" ] && exit 47
`
	}
	usual := strconv.FormatUint(uint64(mode.Perm()), 8)
	if mode == 0 {
		usual = `$(printf %o $((0666 & ~0$(umask))))`
	}
	line, err := f.line(p, f.keepTo("1", follow+`m=`+usual+`
[ -d "$p" ] && exit 46
if [ -e "$p" ]; then
	[ -w "$p" ] || exit 45
	m=$(stat -c %a -- "$p" 2>/dev/null || stat -f %Lp -- "$p") || exit
else
	mkdir -p -- "$(dirname -- "$p")" || exit
fi
t=$(mktemp "$(dirname -- "$p")/.hermes-XXXXXX") || exit
trap 'rm -f -- "$t"' EXIT
trap 'exit 143' HUP INT TERM
cat >"$t" || exit
[ "$(wc -c <"$t")" -eq `+strconv.Itoa(len(data))+` ] || { echo 'the connection was cut' >&2; exit 1; }
chmod "$m" "$t" && mv -f -- "$t" "$p"`))
	if err != nil {
		return err
	}
	_, err = f.output(ctx, "write", p, hermes.Command{Line: line, Stdin: bytes.NewReader(data)})
	return err
}

// List returns the entries of a folder, sorted by name.
func (f files) List(ctx context.Context, dir string) ([]fs.DirEntry, error) {
	text, err := f.run(ctx, "list", dir, `[ -e "$p" ] || exit 44
cd -- "$p" && [ -r . ] || exit 45
stat -c x . >/dev/null 2>&1 && set -- -c '%f %s %Y %n' || set -- -f '%Xp %z %m %N'
printf '%s\0' ./* ./.[!.]* ./..?* | xargs -0 stat "$@" -- 2>/dev/null
true`)
	if err != nil {
		return nil, err
	}
	return parseList(text)
}

// Remove deletes a file or an empty folder.
func (f files) Remove(ctx context.Context, p string) error {
	_, err := f.run(ctx, "remove", p, f.keepTo("", `[ -e "$p" ] || [ -L "$p" ] || exit 44
if [ -d "$p" ] && [ ! -L "$p" ]; then rmdir -- "$p"; else rm -f -- "$p"; fi`))
	return err
}

// Rename moves a file or folder and replaces an existing target.
func (f files) Rename(ctx context.Context, from, to string) error {
	target, err := f.Resolve(to)
	if err != nil {
		return err
	}
	check := ""
	if f.noLinks {
		check = "(p=$to; make=1\n" + enterFolder + ") || exit\n"
	}
	_, err = f.run(ctx, "rename", from, `to=`+shellstate.Quote(target)+"\n"+check+f.keepTo("", `[ -e "$p" ] || [ -L "$p" ] || exit 44
mkdir -p -- "$(dirname -- "$to")" || exit
if [ -d "$to" ] && [ ! -L "$to" ]; then
	[ -d "$p" ] && [ ! -L "$p" ] || exit 46
	rmdir -- "$to" || exit
fi
mv -f -- "$p" "$to"`))
	return err
}

// line puts the resolved path before a script, as $p.
func (f files) line(p, script string) (string, error) {
	resolved, err := f.Resolve(p)
	if err != nil {
		return "", err
	}
	return "p=" + shellstate.Quote(resolved) + "\n" + script, nil
}

func (f files) run(ctx context.Context, verb, p, script string) (string, error) {
	line, err := f.line(p, script)
	if err != nil {
		return "", err
	}
	return f.output(ctx, verb, p, hermes.Command{Line: line})
}

func (f files) output(ctx context.Context, verb, p string, c hermes.Command) (string, error) {
	var out listing
	var problem bounded
	c.Stdout, c.Stderr = &out, &problem
	c.Dir = "/"
	exit, err := f.env.run(ctx, c, true)
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", verb, p, err)
	}
	if out.over {
		return "", fmt.Errorf("%s %s: it has too many entries; use a command", verb, p)
	}
	return out.String(), failure(verb, p, exit.Code, problem.String())
}

// maxListing is the most that is read of what a script prints about files.
const maxListing = 64 << 20

// listing keeps what a script prints, unless it is too much.
type listing struct {
	bytes.Buffer
	over bool
}

// Write says that all was written.
func (l *listing) Write(p []byte) (int, error) {
	if l.over = l.over || l.Len()+len(p) > maxListing; !l.over {
		l.Buffer.Write(p)
	}
	return len(p), nil
}

// failure turns the exit code of a script into an error.
func failure(verb, p string, code int, problem string) error {
	var cause error
	switch code {
	case 0:
		return nil
	case exitMissing:
		cause = fs.ErrNotExist
	case exitDenied:
		cause = fs.ErrPermission
	case exitLink:
		cause = hermes.ErrLink
	case exitFolder:
		cause = errors.New("it is a folder")
	default:
		cause = errors.New(cmp.Or(strings.TrimSpace(problem), "exit status "+strconv.Itoa(code)))
	}
	return &fs.PathError{Op: verb, Path: p, Err: cause}
}

// entry is a file as reported by stat.
type entry struct {
	name     string
	mode     fs.FileMode
	size     int64
	modified time.Time
}

func (e *entry) Name() string               { return e.name }
func (e *entry) Size() int64                { return e.size }
func (e *entry) Mode() fs.FileMode          { return e.mode }
func (e *entry) ModTime() time.Time         { return e.modified }
func (e *entry) IsDir() bool                { return e.mode.IsDir() }
func (e *entry) Sys() any                   { return nil }
func (e *entry) Type() fs.FileMode          { return e.mode.Type() }
func (e *entry) Info() (fs.FileInfo, error) { return e, nil }

// parseStat parses "mode size time", with the raw mode in hexadecimal.
func parseStat(text string) (*entry, error) {
	fields := strings.SplitN(text, " ", 4)
	if len(fields) < 3 {
		return nil, fmt.Errorf("unexpected output of stat: %q", text)
	}
	mode, errMode := strconv.ParseUint(fields[0], 16, 32)
	size, errSize := strconv.ParseInt(fields[1], 10, 64)
	modified, errTime := strconv.ParseInt(fields[2], 10, 64)
	if err := errors.Join(errMode, errSize, errTime); err != nil {
		return nil, fmt.Errorf("unexpected output of stat: %q: %w", text, err)
	}
	e := &entry{mode: shellstate.FileMode(mode), size: size, modified: time.Unix(modified, 0)}
	if len(fields) == 4 {
		e.name = strings.TrimPrefix(fields[3], "./")
	}
	return e, nil
}

// parseList parses one line per entry. A name may contain line ends: a line that
// does not begin an entry continues the name before it. Names that are none, such as those
// that lead to another folder, are not listed.
func parseList(text string) ([]fs.DirEntry, error) {
	var all []*entry
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		e, err := parseStat(line)
		switch {
		case line == "" && len(all) == 0:
		case err == nil && strings.Count(line, " ") >= 3 && strings.HasPrefix(strings.SplitN(line, " ", 4)[3], "./"):
			all = append(all, e)
		case len(all) == 0:
			return nil, err
		default:
			all[len(all)-1].name += "\n" + line
		}
	}
	entries := make([]fs.DirEntry, 0, len(all))
	for _, e := range all {
		if e.name != "" && e.name != "." && e.name != ".." && !strings.Contains(e.name, "/") {
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}
