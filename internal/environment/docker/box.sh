# box.sh TICKS SECONDS: the first process of a container. Scripts are started beside it. It
# ends, and the container with it, after TICKS times SECONDS in which no script ran and no
# Hermes said that it is still there; 0 is never.
trap 'exit 0' TERM INT
quiet=0
while :; do
	sleep "$2" &
	wait $!
	if [ -e /run/hermes-used ]; then
		rm -f /run/hermes-used
		quiet=0
		continue
	fi
	quiet=$((quiet + 1))
	[ "$1" -eq 0 ] || [ $quiet -lt "$1" ] || exit 0
done
