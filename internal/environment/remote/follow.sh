# Prints what a background command writes, and at the end how it ended. $1 is the state
# folder, $2 the slot, $3 the id, $4 the mark of the answer; $5 and $6 say how much of the
# two streams was read before; $7 is empty if the state is kept, $8 is the process that
# holds the command. A later follower takes over.
b=$1/b$3
if [ ! -d "$b" ]; then
	printf '\036%sgone\n\036%send' "$4" "$4"
	exit 0
fi
echo $$ >|"$b/follower"
exec 4<"$b/out" 5<"$b/err"
skip() {
	[ "$1" -ge 65536 ] && dd bs=65536 count=$(($1 / 65536))
	[ $(($1 % 65536)) -gt 0 ] && dd bs=$(($1 % 65536)) count=1
} >/dev/null 2>&1
skip "$5" <&4
skip "$6" <&5
n=0 code= lost=0
while :; do
	kill -0 "$8" || lost=1
	[ -s "$b/code" ] && read -r code <"$b/code"
	[ "$lost$code" = 1 ] && code=137
	if [ "$code" ] || [ $((n % 5)) = 0 ] || [ "$b/out" -nt "$b/seen" ] || [ "$b/err" -nt "$b/seen" ]; then
		: >|"$b/seen"
		cat <&4
		cat <&5 >&6
	fi
	[ "$code" ] && break
	read -r f <"$b/follower" && [ "$f" = $$ ] || exit
	if [ $n -lt 20 ]; then t=0.05; elif [ $n -lt 200 ]; then t=0.2; else t=0.5; fi
	sleep $t || sleep 1
	n=$((n + 1))
done 6>&2 2>/dev/null
[ -s "$b/code" ] && lost=0
printf '\036%sexit %s %s\n' "$4" "$code" "$lost"
[ "$7" ] || cat "$1/s$2"
printf '\036%send' "$4"
printf '\036%send' "$4" >&2
