# Figures about a request log. Each function takes the name of a log file.

# count_requests: how many requests the log holds.
count_requests() {
	requests=0
	while read -r time method path status ms; do
		requests=$((requests + 1))
	done <"$1"
	echo "$requests"
}

# count_errors: how many requests failed.
count_errors() {
	errors=0
	while read -r time method path status ms; do
		if [ "$status" -gt 400 ]; then
			errors=$((errors + 1))
		fi
	done <"$1"
	echo "$errors"
}

# error_rate: failed requests per hundred, rounded to the nearest.
error_rate() {
	total=$(count_requests "$1")
	failed=$(count_errors "$1")
	echo $(((failed * 100 + total / 2) / total))
}

# slowest_path: the path of the request that took longest.
slowest_path() {
	longest=-1
	slowest=none
	while read -r time method path status ms; do
		if [ "$ms" -gt "$longest" ]; then
			longest=$ms
			slowest=$path
		fi
	done <"$1"
	echo "$slowest"
}
