# Starts one command in the background, held by a process of its own. The arguments are
# those of run.sh; $7 is the shell that holds it.
__hermes_b=$1/b$3
mkdir -m 700 "$__hermes_b" && mkfifo -m 600 "$__hermes_b/in" "$__hermes_b/close" && : >"$__hermes_b/out" && : >"$__hermes_b/err" || exit
$__hermes_setsid "$7" -c "$__hermes_hold" "$7" "$1" "$2" "$3" "$__hermes_b" "$5" "$6" "$__hermes_env" "$__hermes_line" "$__hermes_inner" "$__hermes_out" "$__hermes_err" "$__hermes_setsid" </dev/null >/dev/null 2>&1 &
__hermes_p=$!
__hermes_n=0
while [ $__hermes_n -lt 200 ] && [ ! -s "$__hermes_b/code" ]; do
	read -r __hermes_i __hermes_d __hermes_l <"$1/p$2" && [ "$__hermes_i" = "$3" ] && break
	__hermes_d=
	__hermes_n=$((__hermes_n + 1))
	sleep 0.02 || sleep 1
done 2>/dev/null
printf '\036%sbegun %s %s\n\036%send' "$4" "$__hermes_p" "$__hermes_d" "$4"
