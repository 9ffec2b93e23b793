trap '' HUP INT TERM
list=' '
trees=' '
while read -r op id; do
	case $op in
	add) list="$list$id " ;;
	del) case $list in *" $id "*) list="${list%%" $id "*} ${list#*" $id "}" ;; esac ;;
	tree) trees="$trees$id " ;;
	cut) case $trees in *" $id "*) trees="${trees%%" $id "*} ${trees#*" $id "}" ;; esac ;;
	esac
done
# below prints the living processes below one.
below() {
	all=" $1 "
	more=yes
	while [ -n "$more" ]; do
		more=
		for stat in /proc/[0-9]*/stat; do
			read -r line <"$stat" || continue
			pid=${line%% *}
			line=${line##*) }
			parent=${line#? }
			parent=${parent%% *}
			case $all in *" $pid "*) continue ;; esac
			case $line in Z*) continue ;; esac
			case $all in *" $parent "*) all="$all$pid " more=yes ;; esac
		done
	done
	echo "${all#" $1 "}"
}
# The root is stopped first, so that it starts nothing, and killed last, since it adopts orphans.
for root in $trees; do
	kill -STOP "$root" || continue
	for round in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		left=$(below "$root")
		[ -n "$left" ] || break
		kill -KILL $left
	done
	kill -KILL "$root"
done 2>/dev/null
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
