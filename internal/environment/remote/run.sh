# Runs one command in the foreground. $1 is the state folder, $2 the slot, $3 the id of the
# command, $4 the mark of the answer, $5 the shell; $6 is empty if the state is kept. The
# command writes to 4 and 5.
exec 3<&0
[ "$6" ] || : >|"$1/s$2"
__hermes_run=$3 $__hermes_setsid "$5" -c "$__hermes_inner" "${5##*/}" "$1" "$2" "$3" "$__hermes_env" "$6" "$__hermes_line" <&3 >&4 2>&5 3<&- 4>&- 5>&- &
__hermes_p=$!
exec 3<&- 4>&- 5>&-
{
	wait "$__hermes_p"
	__hermes_code=$?
	__hermes_left=0
	kill -0 "-$__hermes_p" && __hermes_left=$__hermes_p
	: >|"$1/p$2"
} 2>/dev/null
printf '\036%sexit %s %s\n' "$4" "$__hermes_code" "$__hermes_left"
[ "$6" ] || cat "$1/s$2"
[ "$__hermes_files" ] && rm -f "$1/l$2" "$1/v$2"
printf '\036%send' "$4"
printf '\036%send' "$4" >&2
