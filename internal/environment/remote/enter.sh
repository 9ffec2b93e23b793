# Makes the state folder $1 if it is gone, and enters the folder of the command. $4 is the
# mark of an answer.
[ -d "$1" ] || mkdir -m 700 "$1" 2>/dev/null
if ! cd -- "$__hermes_dir" 2>/dev/null; then
	if [ "$__hermes_must" ]; then
		printf '\036%smissing\n\036%send' "$4" "$4"
		exit 0
	fi
	__hermes_d=$__hermes_dir
	until cd -- "$__hermes_d" 2>/dev/null; do
		__hermes_d=${__hermes_d%/*}
		[ "$__hermes_d" ] || __hermes_d=/
	done
	printf '[the working folder %s no longer exists; running in %s]\n' "$__hermes_dir" "$__hermes_d" >&2
fi
export PWD
if [ "$__hermes_limits" ] && ! (eval "$__hermes_limits") 2>/dev/null; then
	printf '\036%slimits\n\036%send' "$4" "$4"
	exit 0
fi
