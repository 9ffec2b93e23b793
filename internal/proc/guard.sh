trap '' HUP INT TERM
list=' '
while read -r op id; do
	case $op in
	add) list="$list$id " ;;
	del) case $list in *" $id "*) list="${list%%" $id "*} ${list#*" $id "}" ;; esac ;;
	esac
done
for id in $list; do
	kill -TERM "-$id"
	kill -CONT "-$id"
done 2>/dev/null
for wait in 1 2 3 4 5 6 7 8 9 10; do
	left=
	for id in $list; do
		kill -0 "-$id" && left="$left $id"
	done 2>/dev/null
	list=$left
	[ -n "$list" ] || exit 0
	sleep 0.1 2>/dev/null || sleep 1
done
for id in $list; do
	kill -KILL "-$id"
done 2>/dev/null
