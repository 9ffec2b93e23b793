#!/bin/sh
# Print a short report about a request log.
set -u
here=$(dirname "$0")
. "$here/lib/stats.sh"

if [ $# -ne 1 ] || [ ! -r "$1" ]; then
	echo "usage: sh report.sh LOGFILE" >&2
	exit 2
fi

echo "requests:   $(count_requests "$1")"
echo "errors:     $(count_errors "$1")"
echo "error rate: $(error_rate "$1") percent"
echo "slowest:    $(slowest_path "$1")"
