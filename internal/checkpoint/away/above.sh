# Prints the rules from above the folder.
top= d=$root
while :; do
	[ -e "$d/.git" ] && top=$d && break
	[ "$d" ] || break
	d=${d%/*}
done
if [ "$top" ]; then
	g=$top/.git
	if [ -f "$g/info/exclude" ]; then
		printf '\n%sa%s\n%sr' "$mark" "$top" "$mark"
		cat "$g/info/exclude"
	fi
	rest=${root#"$top"} d=$top
	while [ "$rest" ]; do
		rules "$d"
		rest=${rest#/}
		d=$d/${rest%%/*}
		case $rest in */*) rest=/${rest#*/} ;; *) rest= ;; esac
	done
fi
true
