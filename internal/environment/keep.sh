__hermes_line=$1 __hermes_file=$2
shift 2
__hermes_keep() {
	__hermes_code=$?
	set +eux
	[ -n "$__hermes_kept" ] || { export -p; echo "#end"; } >"$__hermes_file"
	__hermes_kept=1
	return "$__hermes_code"
}
trap '{ __hermes_keep; } 2>/dev/null' EXIT
eval "$__hermes_line"
{ __hermes_keep; } 2>/dev/null
