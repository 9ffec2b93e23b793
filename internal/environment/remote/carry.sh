# Puts a file of the machine of Hermes below the home folder, which is $1 if the place does not say it. Its path there is $3, its
# content the input, $5 bytes. $2 names the record of it, $4 the program that puts it. With $6,
# no other program uses the place. A file that was not put there by such a script, or was changed
# since, is kept: 48. A link that leads out of the home folder is not followed: 49.
h=${HOME:-$1}
case $h in /*) ;; *) echo 'the user has no home folder there' >&2; exit 1 ;; esac
cd -P -- "$h" || exit
h=$(pwd -P)
sum() { { sha256sum <"$1" || shasum -a 256 <"$1" || cksum <"$1"; } 2>/dev/null || { echo 'the place has no sha256sum, shasum or cksum' >&2; return 1; }; }
umask 077
folder() { # makes a folder below the home folder
	d=$1
	while [ ! -e "$d" ] && [ ! -L "$d" ]; do d=$(dirname -- "$d"); done
	d=$(cd -P -- "$d" && pwd -P) || exit
	case $d/ in "${h%/}"/*) mkdir -p -- "$1" || exit ;; *) exit 49 ;; esac
}
r=.hermes/credential-files
k=$r/$2
p=$3
t=$r/$4-$2
folder "$r"
chmod 700 "$r" || exit
trap 'rm -f -- "$t"' EXIT
trap 'exit 143' HUP INT TERM
rm -f -- "$t"
cat >"$t" || exit
[ "$(wc -c <"$t")" -eq "$5" ] || { echo 'the connection was cut' >&2; exit 1; }
new=$(sum "$t") || exit
for o in "$k".*; do
	[ -z "$6" ] || [ "$o" = "$k.$4" ] || rm -f -- "$o"
done
ours=
if [ -e "$p" ] || [ -L "$p" ]; then
	[ -r "$p" ] || exit 45
	[ -f "$p" ] || exit 48
	old=$(sum "$p") || exit
	[ -f "$k" ] && [ ! -L "$p" ] && grep -Fqx -- "$old" "$k" && ours=1
	if [ "$old" = "$new" ]; then
		[ "$ours" ] && : >"$k.$4" && echo put
		exit 0
	fi
	[ "$ours" ] || exit 48
fi
folder "$(dirname -- "$p")"
: >"$k.$4" || exit # first: without it, the record is never removed
[ -f "$k" ] || printf '%s\n' "$p" >"$k" || exit
printf '%s\n' "$new" >>"$k" && chmod 600 "$t" && mv -f -- "$t" "$p" && echo put
