package remote

import (
	"context"
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"hermes"
	"hermes/internal/shellstate"
)

var _ hermes.LocatingFiles = files{}

// locateScript prints for each argument its path without links, that of its folder and what
// stat says of it, each followed by a zero byte. real sets r to a path without links, of
// which the last folders may be missing.
const locateScript = `real() {
	q=$1 rest=
	until r=$(p=$q
` + followLinks + `printf '%s.' "$p"); do
		[ "$q" != / ] || { r=$1; return; }
		rest=/${q##*/}$rest q=${q%/*}
		[ "$q" ] || q=/
	done
	r=${r%.}
	[ -z "$rest" ] || r=${r%/}$rest
}
for f; do
	d=${f%/*}
	real "${d:-/}"; dir=$r
	real "$f"
	printf '%s\0%s\0' "$r" "$dir"
	[ ! -e "$r" ] || stat -L -c '%f %s %Y' -- "$r" 2>/dev/null || stat -L -f '%Xp %z %m' -- "$r" || exit
	printf '\0'
done`

// maxLocated is how many paths one script looks for: its text must not become too long.
const maxLocated = 200

// Locate asks for many paths in one script; see [hermes.LocatingFiles].
func (f files) Locate(ctx context.Context, paths ...string) ([]hermes.Located, error) {
	all := make([]hermes.Located, 0, len(paths))
	for part := range slices.Chunk(paths, maxLocated) {
		found, err := f.locate(ctx, part)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

func (f files) locate(ctx context.Context, paths []string) ([]hermes.Located, error) {
	words := []string{"set --"}
	for _, p := range paths {
		words = append(words, shellstate.Quote(p))
	}
	text, err := f.output(ctx, "locate", strings.Join(paths, ", "), hermes.Command{Line: strings.Join(words, " ") + "\n" + locateScript})
	if err != nil {
		return nil, err
	}
	said := strings.Split(text, "\x00")
	if len(said) != 3*len(paths)+1 {
		return nil, errors.New("the place gave an answer that makes no sense; try again")
	}
	all := make([]hermes.Located, len(paths))
	for i := range all {
		part := said[3*i : 3*i+3]
		all[i] = hermes.Located{Real: path.Clean(part[0]), Dir: path.Clean(part[1])} // busybox says //new for a new file in /
		if part[2] == "" {
			continue
		}
		info, err := parseStat(strings.TrimSpace(part[2]))
		if err != nil {
			return nil, err
		}
		info.name = path.Base(all[i].Real)
		all[i].Info = info
	}
	return all, nil
}

// Names lists what a name that is being typed may become: the entries of its folder that begin with it, a folder with a
// slash at its end, sorted, at most so many. A name may begin with ~/; a relative one is below the folder in which the
// session began. It runs one script, and none in a place that was not used before or that does not
// run now. What cannot be listed is empty.
func (e *Environment) Names(ctx context.Context, word string, most int) []string {
	ctx, cancel := e.bound(ctx)
	defer cancel()
	known := e.place.known()
	if known == nil || e.register(e.id+"names") != nil {
		return nil
	}
	defer e.unregister(e.id + "names")
	begun, prefix := path.Split(word)
	dir := absolute(known.home, joined(joined(known.dir, e.first), begun))
	var out bounded
	code, err := e.place.runner.Exec(ctx, Script{Text: arguments(dir, prefix, strconv.Itoa(most)) + namesScript, Stdout: &out, Running: true})
	if err != nil || code != 0 {
		return nil
	}
	var names []string
	for name := range strings.SplitSeq(out.String(), "\x00") {
		if strings.HasPrefix(name, prefix) && name != "" && utf8.ValidString(name) && !strings.ContainsFunc(name, unicode.IsControl) && len(names) < most {
			names = append(names, begun+name)
		}
	}
	slices.Sort(names)
	return names
}

// namesScript ends with a name that is whole.
const namesScript = `cd -- "$1" 2>/dev/null || exit 1
n=0
for f in "$2"*; do
	[ -e "$f" ] || [ -L "$f" ] || continue
	[ -d "$f" ] && f=$f/
	printf '%s\0' "$f"
	n=$((n + 1))
	[ $n -lt "$3" ] || break
done
`
