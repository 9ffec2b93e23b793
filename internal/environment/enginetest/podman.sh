# podman.sh DIR CLIENT: the storage of a podman of one test binary. It waits for the end of
# its input, which is also when the test binary is killed, and cleans up.
dir=$1 client=$2
export CONTAINERS_CONF="$dir/containers.conf" CONTAINERS_STORAGE_CONF="$dir/storage.conf" HOME="$dir" XDG_RUNTIME_DIR="$dir/run"

start() {
	cat >"$CONTAINERS_CONF" <<-EOF
	[containers]
	default_ulimits = ["nofile=1024:20000", "nproc=4096:4096"]
	netns = "none"
	[engine]
	cgroup_manager = "cgroupfs"
	runtime = "runc"
	events_logger = "file"
	tmp_dir = "$dir/tmp"
	EOF
	cat >"$CONTAINERS_STORAGE_CONF" <<-EOF
	[storage]
	driver = "overlay"
	graphroot = "$dir/data"
	runroot = "$dir/run"
	EOF
	if said=$("$client" info 2>&1 </dev/null); then echo ok; else echo "podman does not work: $(echo "$said" | tail -n 1)"; fi
}

# left prints the processes that hold or clean up containers of this storage.
left() {
	for p in /proc/[0-9]*; do
		case $(tr '\0' ' ' 2>/dev/null <"$p/cmdline") in
		*/conmon\ *" $dir/"* | "$client --root $dir/"*) echo "${p#/proc/}" ;;
		esac
	done
}

finish() {
	"$client" rm -f -t 0 -a
	i=0
	while [ -n "$(left)" ] && [ $i -lt 100 ]; do # a container that has just ended is still cleaned up by podman
		i=$((i + 1))
		sleep 0.1
	done
	kill -KILL $(left)
	i=0
	while [ -e "$dir" ] && [ $i -lt 50 ]; do
		[ $i -eq 0 ] || sleep 0.1
		i=$((i + 1))
		sed -n "s|^[^ ]* \($dir/[^ ]*\).*|\1|p" /proc/mounts | sort -r | while read -r m; do umount -l "$m"; done
		rm -rf "$dir"
	done
} >/dev/null 2>&1 </dev/null

trap : HUP INT TERM PIPE # not ignored: the containers would inherit that
while read -r order; do
	case $order in
	start) start ;;
	esac
done
finish
