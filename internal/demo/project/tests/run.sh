#!/bin/sh
# Test the figures. Stops at the first failure, so that the last line says what to look at.
cd "$(dirname "$0")/.." || exit 1
. ./lib/stats.sh

number=0
check() { # check NAME GOT WANT
	number=$((number + 1))
	if [ "$2" = "$3" ]; then
		echo "ok $number - $1"
		return
	fi
	echo "not ok $number - $1: got [$2], want [$3]"
	exit 1
}

empty=tests/empty.log

check "counts the requests" "$(count_requests sample.log)" 8
check "finds the slowest path" "$(slowest_path sample.log)" /reports
check "counts a status of 400 as an error" "$(count_errors sample.log)" 3
check "gives the error rate of the sample" "$(error_rate sample.log)" 38
check "counts nothing in an empty log" "$(count_requests "$empty")" 0
check "gives an empty log an error rate of 0" "$(error_rate "$empty" 2>/dev/null)" 0

echo "all $number tests passed"
