# Prints the real path of $p, as far as it exists, and the root for it.
n=0 rest=
while :; do
	if [ -d "$p" ]; then
		r=$(cd -P -- "$p" 2>/dev/null && pwd -P && echo .) && r=${r%??} && break
	fi
	if [ -L "$p" ] && [ $n -lt 40 ]; then
		n=$((n + 1))
		t=$(readlink "$p" && echo .)
		t=${t%??}
		case $t in /*) p=$t ;; *) p=${p%/*}/$t ;; esac
		continue
	fi
	b=${p##*/}
	case $b in
	.. ) exit 44 ;;
	'' | .) ;;
	*) rest=/$b$rest ;;
	esac
	p=${p%/*}
	[ "$p" ] || p=/
done
[ "$r" = / ] && [ "$rest" ] && r=
real=$r$rest
w=$(cd -P -- "$work" 2>/dev/null && pwd -P && echo .) && w=${w%??} || w=
root=
if [ "$w" ] && [ "$w" != "$home" ]; then
	case $real/ in "${w%/}"/*) root=$w ;; esac
fi
if [ ! "$root" ]; then
	d=$r
	while :; do
		[ -e "$d/.git" ] && [ "${d:-/}" != "$home" ] && root=$d && break
		[ "$d" ] && [ "$d" != / ] || break
		d=${d%/*}
	done
fi
printf '%s\000%s\000' "$real" "${root:-${r:-/}}"
