# Ends processes with all that they started: a signal first, force after $6 twentieths of a
# second. $1 is the state folder; $2 is the slot of one command and $3 its id, or $2 is empty
# and $3 begins the ids of many, without those that the pattern $4 finds; $5 lists groups, for
# a system without /proc.
groups=$5 grace=$6
[ -r /proc/self/stat ] && groups=
if [ "$2" ]; then
	[ -d "$1" ] || mkdir -m 700 "$1"
	: >"$1/e$3" # a command that has not begun yet ends when it sees this
	groups=
	if read -r id pid born <"$1/p$2" && [ "$id" = "$3" ]; then
		groups=$pid
		born() { [ "${20}" = "$born" ]; }
		if read -r line <"/proc/$pid/stat"; then born ${line##*) } || groups=; fi
	fi
fi 2>/dev/null
run=$3 except=$4
member() { # pid, state, group
	for g in $groups; do
		[ "$3" = "$g" ] && [ "${2%%Z*}" ] && echo "$1"
	done
}
running() {
	if [ ! -r /proc/self/stat ]; then
		ps -A -o pid= -o state= -o pgid= | while read -r n s g; do member "$n" "$s" "$g"; done
		return
	fi
	# What has the variable, and what is in the group or in its session.
	for f in $(
		grep -ls -e "__hermes_run=$run" /proc/[0-9]*/environ
		[ "$groups" ] && grep -lsE -e "^[0-9]+ [(].*[)] [^ZX] [0-9]+ ([0-9]+ )?($groups) " /proc/[0-9]*/stat
	); do
		f=${f%/*}
		[ "$except" ] && grep -qsE -e "__hermes_run=($except)" "$f/environ" && continue
		echo "${f#/proc/}"
	done
}
n=0
while :; do
	all=$(running)
	[ "$all" ] || break
	[ "$n" -gt 0 ] || kill -TERM $all
	[ "$n" -lt "$((grace + 80))" ] || exit 1
	[ "$n" -lt "$grace" ] || kill -KILL $all
	sleep 0.05 || { sleep 1 && n=$((n + 19)); }
	n=$((n + 1))
done 2>/dev/null
[ "$groups" ] && [ "$2" ] && rm -f "$1/e$3"
exit 0
