#!/bin/sh
# Stands in for apptainer: takes the command lines that the real one takes, exactly, and
# runs the commands here, below another root if $ROOT is set. $STATE has a folder for each
# instance; $INSIDE_HOME is the home folder of commands, without which they have none.
fatal() {
	echo "FATAL:   $*" >&2
	exit 255
}
echo "$*" | head -n 1 | cut -c 1-2000 >>"$STATE/log"
case "$1 $2" in
"instance start")
	[ "$3 $4 $5" = "--containall --no-home --workdir" ] && [ -d "$6" ] || fatal "bad options: $*"
	shift 6
	case $1 in
	--overlay) [ -f "$2" ] || fatal "no overlay $2"; shift 2 ;;
	--writable-tmpfs) shift ;;
	*) fatal "nothing is writable: $*" ;;
	esac
	if [ "$1" = --memory ]; then
		case $2 in *[!0-9m]* | m) fatal "bad memory $2" ;; *m) ;; *) fatal "bad memory $2" ;; esac
		[ "$2" = 77m ] && fatal "while applying cgroups config: rootless cgroups require a D-Bus session"
		shift 2
	fi
	[ "$1" = --cpus ] && { [ "$2" = 1.5 ] || fatal "bad cpus $2"; shift 2; }
	while [ "$1" = --bind ]; do
		case $2 in /*:/*:ro) [ -f "${2%%:*}" ] || fatal "no file $2" ;; *) fatal "bad bind $2" ;; esac
		case $2 in *nobind*) fatal "container creation failed: mount hook function failure" ;; esac
		shift 2
	done
	[ $# = 2 ] || fatal "accepts at least 2 arg(s), received $#: $*"
	[ "$1" = missing.sif ] && fatal "could not open image $PWD/missing.sif: no such file or directory"
	mkdir "$STATE/$2" 2>/dev/null || fatal "instance $2 already exists"
	echo "INFO:    instance started successfully" >&2
	;;
"instance stop")
	[ $# = 3 ] && [ -d "$STATE/$3" ] || fatal "no instance found with name $3"
	for f in $(grep -lszx "STANDIN_INSTANCE=$3" /proc/[0-9]*/environ); do # the whole name: it may begin that of another
		f=${f#/proc/}
		kill -KILL "${f%/*}" 2>/dev/null
	done
	rmdir "$STATE/$3"
	echo "INFO:    Stopping $3 instance" >&2
	;;
"exec --cleanenv")
	name=${3#instance://}
	[ "$3" = "instance://$name" ] || fatal "no instance in $3"
	[ -d "$STATE/$name" ] || fatal "no instance found with name $name"
	[ "$PWD" = / ] || fatal "started in $PWD"
	shift 3
	[ "$1 $2" = "sh -c" ] || fatal "not a shell: $1"
	if [ "$ROOT" ]; then
		exec env -i PATH=/bin HOME=/root STANDIN_INSTANCE="$name" proot -r "$ROOT" -b /proc -b /dev -w / /bin/"$@"
	fi
	exec env -i PATH="$PATH" HOME="${INSIDE_HOME:-/nowhere}" TMPDIR="$TMPDIR" STANDIN_INSTANCE="$name" "$@"
	;;
"overlay create")
	[ "$3 $4" = "--sparse --size" ] && [ "$5" -gt 0 ] && [ $# = 6 ] || fatal "bad options: $*"
	echo "$5" >"$6"
	;;
*) fatal "unknown command: $*" ;;
esac
