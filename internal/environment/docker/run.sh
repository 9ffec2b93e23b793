# run.sh NONCE MERGED ARGUMENTS-OF-SH...: runs one script. The marks on both streams tell
# what the script wrote from what the client of the engine says, and its exit code from the
# client's.
_hermes_n=$1 _hermes_m=$2
shift 2
true 2>/dev/null >/run/hermes-used
cd /workspace 2>/dev/null || { mkdir -p /workspace && cd /workspace; } 2>/dev/null
printf '\036%s<' "$_hermes_n"
printf '\036%s<' "$_hermes_n" >&2
if [ "$_hermes_m" ]; then
	/bin/sh "$@" 2>&1
else
	/bin/sh "$@"
fi
set -- $?
printf '\036%s>%d;' "$_hermes_n" "$1"
printf '\036%s>%d;' "$_hermes_n" "$1" >&2
exit "$1"
