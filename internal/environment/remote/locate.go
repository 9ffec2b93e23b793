package remote

import (
	"context"
	"errors"
	"path"
	"strings"

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

// Locate asks all in one script; see [hermes.LocatingFiles].
func (f files) Locate(ctx context.Context, paths ...string) ([]hermes.Located, error) {
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
