# Takes the workspace $ws, removes what was interrupted in it and says its version and
# whether the folder $root is there. A question may follow.
mkdir -p -m 700 -- "$ws" || exit
now=$(date +%s)
if read -r m w t 2>/dev/null <"$ws/owner" && [ "$m" ] && [ "$m" != "$machine" ]; then
	case $t in '' | *[!0-9]*) t=0 ;; esac
	t=$((now - t))
	[ $t -ge $lease ] || [ $t -lt -$lease ] || exit 41
fi
echo "$owner $now" >"$ws/owner.tmp" && mv -f "$ws/owner.tmp" "$ws/owner" || exit
cd -- "$ws" || exit
rm -rf ./*.tmp contents/*.tmp
for d in contents/*/; do
	d=${d%/}
	[ -d "$d" ] && [ ! -f "$d.index" ] && rm -rf "$d"
done
v=
[ -f version ] && read -r v <version
echo "$v"
r=$(cd -P -- "$root" 2>/dev/null && pwd -P && echo .)
if [ "$r" = "$root
." ]; then echo there; elif [ "$r" ]; then echo moved; else echo gone; fi
