# What the scripts that list have in common. They begin in the folder.
cd -P -- "$root" 2>/dev/null && [ "$(pwd -P && echo .)" = "$root
." ] || exit 44
date +%s
# rules prints the .gitignore file of a folder, if it is a small one.
rules() {
	f=$1/.gitignore
	[ -f "$f" ] && [ ! -L "$f" ] && [ "$(wc -c <"$f")" -le 1048576 ] || return 0
	printf '\n%sa%s\n%sr' "$mark" "$1" "$mark"
	cat "$f"
}
# link prints where a link leads.
link() {
	[ -L "$1" ] || return 0
	printf '\n%sl%s\n%st' "$mark" "$1" "$mark"
	readlink "$1"
}
