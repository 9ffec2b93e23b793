# Runs one command on the terminal that this script has. The arguments are those of run.sh.
__hermes_run=$3 "$5" -c "$__hermes_inner" "${5##*/}" "$1" "$2" "$3" "$__hermes_env" "$6" "$__hermes_line"
__hermes_code=$?
: >|"$1/p$2"
[ "$__hermes_files" ] && rm -f "$1/l$2" "$1/v$2"
printf '\036%sexit %s 0\n\036%send' "$4" "$__hermes_code" "$4"
