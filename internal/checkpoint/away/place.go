package away

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"hermes/internal/shellstate"
)

// Shell runs scripts in a place. It may be called concurrently.
type Shell interface {
	// Script runs a text of any length with the POSIX shell of the place and returns its exit
	// code when it has ended. An error means that it did not run or that its outcome is not
	// known.
	Script(ctx context.Context, text string, stdin io.Reader, stdout, stderr io.Writer) (code int, err error)
}

// ErrUnable means that a place lacks what checkpoints need there. The text says what.
var ErrUnable = errors.New("there are no checkpoints in this place")

// Place is a place that has what is needed. Its methods may be called concurrently.
type Place struct {
	shell Shell
	// Home is the home folder of the place.
	Home string
	// Folder is the one in which the place keeps its checkpoints.
	Folder string
}

// The exit codes of the scripts.
const (
	exitBusy    = 41
	exitLost    = 42
	exitMissing = 44
	exitUnable  = 48
)

//go:embed find.sh
var findScript string

// Find asks a place what it has and makes the folder of the checkpoints, which only its user
// can open.
func Find(ctx context.Context, shell Shell) (*Place, error) {
	p := &Place{shell: shell}
	out, code, err := p.run(ctx, findScript)
	if err != nil {
		return nil, err
	}
	home, folder, ok := strings.Cut(strings.TrimSuffix(string(out), "\n"), "\x00")
	if code == 0 && ok && path.IsAbs(home) && path.IsAbs(folder) {
		p.Home, p.Folder = home, folder
		return p, nil
	}
	if code == exitUnable {
		return nil, fmt.Errorf("%w: %s", ErrUnable, strings.TrimSpace(string(out)))
	}
	return nil, fmt.Errorf("%w: it gave an answer that makes no sense (exit status %d)", ErrUnable, code)
}

// maxOutput bounds what a script may print, in bytes.
const maxOutput = 256 << 20

// run runs a script and returns what it printed and its exit code.
func (p *Place) run(ctx context.Context, script string) ([]byte, int, error) {
	var out, problem bounded
	out.limit, problem.limit = maxOutput, 4<<10
	if !utf8.ValidString(script) { // some places are reached in JSON, which would change the names
		script = "s=$(base64 -d <<'E'\n" + base64Lines([]byte(script)) + "E\n)\neval \"$s\""
	}
	code, err := p.shell.Script(ctx, "LC_ALL=C\nexport LC_ALL\numask 077\n"+script, nil, &out, &problem)
	switch {
	case err != nil:
		return nil, code, err
	case out.over:
		return nil, code, errors.New("the place said more than a checkpoint can have")
	case code == exitLost:
		return nil, code, errLost
	case code != 0 && code != exitBusy && code != exitMissing && code != exitUnable:
		said, _, _ := strings.Cut(strings.TrimSpace(problem.String()), "\n")
		return nil, code, fmt.Errorf("the place says: %s", cmp.Or(said, "exit status "+strconv.Itoa(code)))
	}
	return out.Bytes(), code, nil
}

// bounded keeps the beginning of what is written.
type bounded struct {
	bytes.Buffer
	limit int
	over  bool
}

// Write says that all was written.
func (b *bounded) Write(p []byte) (int, error) {
	if room := b.limit - b.Len(); len(p) > room {
		b.over = true
		b.Buffer.Write(p[:max(room, 0)])
		return len(p), nil
	}
	return b.Buffer.Write(p)
}

// word is 64 random bits, which no file name can have by chance.
func word() string {
	b := make([]byte, 8)
	rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

func quote(s string) string { return shellstate.Quote(s) }

// Resolve returns the real path of a folder, and of one that is missing the path itself.
func (p *Place) Resolve(ctx context.Context, dir string) (string, error) {
	if dir == "~" || strings.HasPrefix(dir, "~/") {
		dir = p.Home + dir[1:]
	}
	if !path.IsAbs(dir) {
		return "", fmt.Errorf("%s is not an absolute path of the place", dir)
	}
	out, code, err := p.run(ctx, "cd -P -- "+quote(dir)+" 2>/dev/null || exit 44\npwd -P")
	real := strings.TrimSuffix(string(out), "\n")
	switch {
	case err != nil:
		return "", err
	case code == exitMissing:
		return path.Clean(dir), nil
	case !path.IsAbs(real):
		return "", fmt.Errorf("the place does not say where %s is", dir)
	}
	return real, nil
}

// Exists reports whether something is at a path, of which the last name may be a link that leads nowhere.
func (p *Place) Exists(ctx context.Context, at string) (bool, error) {
	at = quote(at)
	_, code, err := p.run(ctx, "[ -e "+at+" ] || [ -L "+at+" ] || exit 44")
	return err == nil && code == 0, err
}

// Root returns the folder that a snapshot is made of for changes of a file, or in a folder,
// and the path in it, "." for itself: work if it is in that, else the nearest folder above with
// a repository, else its own folder or what of it exists. Links are followed. The home folder
// is never the root of a file below.
func (p *Place) Root(ctx context.Context, work, at string) (root, rel string, err error) {
	out, _, err := p.run(ctx, "work="+quote(work)+"\nhome="+quote(p.Home)+"\np="+quote(at)+"\n"+rootScript)
	if err != nil {
		return "", "", err
	}
	real, root, ok := strings.Cut(string(out), "\x00")
	root = strings.TrimSuffix(root, "\x00")
	if !ok || !path.IsAbs(real) || !path.IsAbs(root) || real != root && !strings.HasPrefix(real, strings.TrimSuffix(root, "/")+"/") {
		return "", "", fmt.Errorf("the place does not say where %s is", at)
	}
	return root, cmp.Or(strings.TrimPrefix(strings.TrimPrefix(real, root), "/"), "."), nil
}

//go:embed root.sh
var rootScript string

// Kept is what a place has of one workspace.
type Kept struct {
	ID   string
	List []byte // the list of snapshots
	Size int64  // bytes
}

var workspaceName = regexp.MustCompile(`^w-[0-9a-f]{16}$`)

// All returns what the place has of all workspaces.
func (p *Place) All(ctx context.Context) ([]Kept, error) {
	folder := quote(p.Folder)
	out, _, err := p.run(ctx, "[ -d "+folder+" ] || exit 0 # it was replaced by another place\ncd -- "+folder+` || exit
for d in w-*; do
	[ -s "$d/snapshots.json" ] || continue
	k=$(du -sk "$d") && n=$(wc -c <"$d/snapshots.json") && printf '%s %s %s\n' "$d" $n "${k%%[!0-9]*}" && cat "$d/snapshots.json"
done
true`)
	if err != nil {
		return nil, err
	}
	var all []Kept
	for len(out) > 0 {
		line, rest, _ := bytes.Cut(out, []byte("\n"))
		words := strings.Fields(string(line))
		if len(words) != 3 || !workspaceName.MatchString(words[0]) {
			return nil, errSense
		}
		n, errN := strconv.Atoi(words[1])
		k, errK := strconv.ParseInt(words[2], 10, 64)
		if errN != nil || errK != nil || n < 0 || n > len(rest) {
			return nil, errSense
		}
		all = append(all, Kept{ID: strings.TrimPrefix(words[0], "w-"), List: rest[:n], Size: k << 10})
		out = rest[n:]
	}
	return all, nil
}

var errSense = errors.New("the place gave an answer that makes no sense")

// One returns what the place has of one workspace; without one it is the zero value.
func (p *Place) One(ctx context.Context, id string) (Kept, error) {
	all, err := p.All(ctx)
	for _, k := range all {
		if k.ID == id {
			return k, nil
		}
	}
	return Kept{}, err
}
