# docker.sh DIR CLIENT: a Docker engine of one test binary. It obeys the lines "start" and
# "kill" of its input, answers each with one line, and cleans up when its input ends, which
# is also when the test binary is killed.
dir=$1 client=$2 pid=
export DOCKER_HOST="unix://$dir/docker.sock" DOCKER_CONFIG="$dir/config"

start() {
	rm -f "$dir/pid"
	dockerd --data-root "$dir/data" --exec-root "$dir/exec" --pidfile "$dir/pid" -H "$DOCKER_HOST" \
		--iptables=false --ip6tables=false --bridge=none --storage-driver=overlay2 \
		--exec-opt native.cgroupdriver=cgroupfs </dev/null >>"$dir/log" 2>&1 &
	pid=$!
	i=0
	until "$client" version >/dev/null 2>&1 </dev/null; do
		i=$((i + 1))
		if [ $i -gt 300 ] || ! kill -0 $pid 2>/dev/null; then
			echo "the engine does not start: $(tail -n 2 "$dir/log" | tr '\n' ' ')"
			return
		fi
		sleep 0.1
	done
	echo ok
}

# crash ends the engine as a crash would: its containers run on.
crash() {
	own=$(cat "$dir/exec/containerd/containerd.pid") # it dies with the engine, but not at once
	kill -KILL $pid
	wait $pid
	pid=
	while kill -KILL "$own"; do sleep 0.1; done
	echo ok
} 2>/dev/null

# shims prints the processes that hold containers of this engine.
shims() {
	for p in /proc/[0-9]*; do
		case $(tr '\0' ' ' 2>/dev/null <"$p/cmdline") in
		*containerd-shim*"$dir/exec/"*) echo "${p#/proc/}" ;;
		esac
	done
}

finish() {
	if [ "$pid" ]; then
		all=$("$client" ps -aq)
		[ -z "$all" ] || "$client" rm -f $all
		kill -TERM $pid
		i=0
		while kill -0 $pid && [ $i -lt 100 ]; do
			i=$((i + 1))
			sleep 0.1
		done
		kill -KILL $pid
	fi
	for shim in $(shims); do
		kill -KILL $(cat "/proc/$shim/task/$shim/children") "$shim"
	done
	sed -n "s|^[^ ]* \($dir/[^ ]*\).*|\1|p" /proc/mounts | sort -r | while read -r m; do umount -l "$m"; done
	for c in "$dir"/data/containers/*; do
		rmdir /sys/fs/cgroup/*/docker/"${c##*/}"
	done
	rm -rf "$dir"
} >/dev/null 2>&1 </dev/null

trap : HUP INT TERM PIPE # not ignored: the containers would inherit that
while read -r order; do
	case $order in
	start) start ;;
	kill) crash ;;
	esac
done
finish
