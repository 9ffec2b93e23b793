# Says what the place is, one fact a line, then its variables. $1 is the name of the
# state folder, $2 the mark of the answer.
__hermes_s=
for __hermes_d in "${TMPDIR:-/tmp}" /tmp /var/tmp /dev/shm "$HOME"; do
	__hermes_s=$__hermes_d/$1
	{ mkdir -m 700 "$__hermes_s" || [ -O "$__hermes_s" ]; } 2>/dev/null && break
	__hermes_s=
done
printf '%s\n' "$2"
echo "state $__hermes_s"
echo "dir $(pwd)"
echo "home ${HOME:-$(cd ~ 2>/dev/null && pwd)}"
for __hermes_d in bash sh setsid perl; do
	echo "$__hermes_d $(command -v "$__hermes_d" 2>/dev/null)"
done
echo "kernel $(uname -s 2>/dev/null)"
echo "machine $(uname -m 2>/dev/null)"
[ -r /proc/sys/kernel/osrelease ] && read -r __hermes_d </proc/sys/kernel/osrelease && echo "build $__hermes_d"
command -v sw_vers >/dev/null 2>&1 && echo "macos $(sw_vers -productVersion)"
for __hermes_d in /etc/os-release /usr/lib/os-release; do
	[ -r "$__hermes_d" ] || continue
	while IFS= read -r __hermes_l; do printf 'release %s\n' "$__hermes_l"; done <"$__hermes_d"
	break
done
echo variables
export -p
printf '#end\n%s' "$2"
