# Copies files beside the contents, as $copy.tmp/N/f.
p=$ws/contents/$copy.tmp
# take copies the file $2 under the number $1, unless its stamp is $3 or a folder of it is a link.
take() {
	[ -f "$2" ] && [ ! -L "$2" ] && [ "$(stat -c "$stamp" "$2")" != "$3" ] || return 0
	d=${2%/*}
	[ "$(cd -P -- "$d" 2>/dev/null && pwd -P && echo .)" = "$root${d#.}
." ] || return 0
	mkdir -p -m 700 "$ws/contents" "$p" "$p/$1" && cp -P -- "$2" "$p/$1/f" 2>/dev/null
}
