package git

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// longestChange bounds a command that writes: a checkout of a big repository takes its time.
const longestChange = 5 * time.Minute

// Change runs a git command that changes the repository on this machine, and returns its
// output as valid UTF-8. As with Run no program of the repository's settings starts: hooks,
// the file system monitor and the filters of all settings are off, submodules are left out,
// and nothing is fetched. It takes at most 5 minutes.
//
// Files of filters, such as those of Git LFS, are written as git stores them. Filters
// returns their names.
func (r Repository) Change(ctx context.Context, args ...string) (string, error) {
	if r.There != nil {
		return "", errors.New("git changes only repositories of this machine")
	}
	r, err := r.Unfiltered(ctx)
	if err != nil {
		return "", err
	}
	off := []string{
		"-c", "core.pager=cat", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "submodule.recurse=false",
		"-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "core.editor=true",
	}
	env := r.Env
	r.Env = func() []string {
		return with(env, fetchNothing...)
	}
	return r.run(ctx, longestChange, append(off, args...))
}

// Unfiltered returns the repository with the filters of all settings turned off, also for Run:
// a status may run one.
func (r Repository) Unfiltered(ctx context.Context) (Repository, error) {
	if r.There != nil {
		r.filtersOff = true
		return r, nil
	}
	filters, err := r.Filters(ctx)
	if err != nil {
		return r, err
	}
	r.options = nil
	for _, name := range filters {
		for _, key := range []string{"smudge=", "clean=", "process=", "required=false"} {
			r.options = append(r.options, "-c", "filter."+name+"."+key)
		}
	}
	return r, nil
}

// filtersOffThere is "exec git" with the options of Unfiltered, in the script of the call itself,
// since each script of a place takes time.
const filtersOffThere = `f=$(git config --list --name-only 2>/dev/null | sed -n 's/^\(filter\..*\)\.[^.]*$/\1/p' | sort -u)
case $f in *=*) echo 'a filter of the settings has = in its name; rename it' >&2; exit 1 ;; esac
IFS='
'
set -f; set --
for k in $f; do set -- "$@" -c "$k.smudge=" -c "$k.clean=" -c "$k.process=" -c "$k.required=false"; done
exec git "$@"`

// Filters returns the names of the filters that any settings define, sorted.
func (r Repository) Filters(ctx context.Context) ([]string, error) {
	all, err := r.settings(ctx)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for key := range all {
		section, rest, _ := strings.Cut(key, ".")
		if i := strings.LastIndex(rest, "."); section == "filter" && i > 0 {
			if name := rest[:i]; strings.ContainsAny(name, "=\n") { // -c could not name it
				return nil, fmt.Errorf("the settings of the repository have a filter with the name %q; rename it", name)
			}
			names[rest[:i]] = true
		}
	}
	return slices.Sorted(maps.Keys(names)), nil
}

// settings returns the keys of the settings that git obeys in the repository.
func (r Repository) settings(ctx context.Context) (map[string]bool, error) {
	out, err := r.Run(ctx, "config", "--list", "--name-only", "-z")
	if err != nil {
		return nil, err
	}
	keys := map[string]bool{}
	for key := range strings.SplitSeq(out, "\x00") {
		if key != "" {
			keys[key] = true
		}
	}
	return keys, nil
}

// with adds variables to an environment; those of the same names are replaced.
func with(env func() []string, add ...string) []string {
	var out []string
	if env != nil {
		out = slices.DeleteFunc(slices.Clone(env()), func(v string) bool {
			name, _, _ := strings.Cut(v, "=")
			return slices.ContainsFunc(add, func(a string) bool { return strings.HasPrefix(a, name+"=") })
		})
	}
	return append(out, add...)
}
